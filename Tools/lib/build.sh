# Builds the static release executables, each only when its sources changed. Sources the rest of lib.

source "${BASH_SOURCE[0]%/*}/common.sh"
source "${BASH_SOURCE[0]%/*}/packages.sh"
source "${BASH_SOURCE[0]%/*}/swift.sh"

binaries=$root/.build/bin

# Types are found through direct calls rather than by their names at run time: the latter searches all the conformances
# of a static executable, which takes 0.1 ms of each start.
direct_metadata=(-Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors)

# is_current PRODUCT: whether its executable is newer than all that it is made of. Its modification time is the moment
# its build began. Folders are looked at too (a file removed or renamed changes its folder), times of change rather
# than of modification (a copy may keep an old one), and the C libraries' archives, so that a security update of them counts.
is_current() {
    local binary=$binaries/$1
    [[ -x $binary ]] || return 1
    local sources=("$root/Package.swift" "$root/Sources")
    [[ $1 == vault ]] || sources+=("$root/Tools/Benchmark")
    local archive
    for archive in /usr/lib/*/lib{sodium,expat}.a; do
        [[ ! -f $archive ]] || sources+=("$archive")
    done
    local changed
    changed=$(find "${sources[@]}" -cnewer "$binary" -print -quit) && [[ -z $changed ]]
}

# ensure_built PRODUCT: afterwards .build/bin/PRODUCT is the current, fully static, stripped executable.
ensure_built() {
    is_current "$1" && return 0
    require_swift
    need_build_packages
    install_missing
    { mkdir -p "$binaries" && [[ -w $binaries ]]; } 2>/dev/null ||
        die "cannot write to $binaries, where the executable is to be built. Give $(id -un) the right to write there," \
            "or work in a copy of the project."
    # A build in another terminal may be under way: wait, and look again. The parentheses keep the lock from
    # the program that is run in the end.
    (
        { exec 9>"$root/.build/static.lock"; } 2>/dev/null || die "cannot write to $root/.build/static.lock."
        flock -n 9 || {
            say "Waiting for another build to end..."
            flock 9
        }
        is_current "$1" || build "$1"
    ) || exit
}

# build PRODUCT: into a scratch path of its own, so that it doesn't undo what a plain `swift build` built. A warning is no
# error here: people who install the command may have a newer compiler.
build() {
    local scratch=$root/.build/static log=$root/.build/static.log began
    began=$(date +%s.%N)
    say "Building $1 (once, about a minute)..."
    # SwiftPM does not see a change of these archives; without the old executable it links again.
    rm -f "$scratch/release/$1"
    if ! env -u VAULT_WARNINGS_AS_ERRORS swift build --package-path "$root" --scratch-path "$scratch" -c release --product "$1" \
        -Xswiftc -static-executable -Xlinker --strip-all "${direct_metadata[@]}" </dev/null 9>&- >"$log" 2>&1; then
        cat "$log" >&2
        die "the build of $1 failed; its words are above, and in $log."
    fi
    place "$scratch/release/$1" "$binaries/$1" "@$began" ||
        die "could not put the executable in $binaries; is the disk full?"
}

# place FROM TO [TIME]: copies an executable beside its place and renames it over it, so that whoever starts it
# meanwhile gets the whole old or the whole new one.
place() {
    local temporary
    temporary=$(mktemp "${2%/*}/.${2##*/}.XXXXXX") || return
    cp "$1" "$temporary" && chmod 0755 "$temporary" && touch -d "${3:-now}" "$temporary" &&
        mv -fT "$temporary" "$2" && return
    rm -f "$temporary"
    return 1
}
