# Builds the static release executables, each only when its sources changed. Sources the rest of lib.

source "${BASH_SOURCE[0]%/*}/common.sh"
source "${BASH_SOURCE[0]%/*}/packages.sh"
source "${BASH_SOURCE[0]%/*}/libraries.sh"
source "${BASH_SOURCE[0]%/*}/swift.sh"

binaries=$root/.build/bin

# Flags of the compiler's own, which a later one may not know: then these lines go, `vault get` takes longer, and nothing
# else changes.
# - Types are found through direct calls rather than by their names at run time, which searches all the conformances of
#   a static executable, and generic ones are laid out by the compiler where it can. Without both: 1.09 times as long.
# - Values are copied and destroyed without asking their types how. Without it: 1.04 times.
direct_metadata=(
    -Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors
    -Xswiftc -Xfrontend -Xswiftc -prespecialize-generic-metadata
    -Xswiftc -Xfrontend -Xswiftc -disable-type-layout
)

# ld.lld comes with Swift. With a section for each function, it can leave out or move a single one.
linker=(
    -Xswiftc -use-ld=lld -Xswiftc -Xfrontend -Xswiftc -function-sections
    -Xlinker "--script=$root/Tools/lib/constants.ld"
)

# If Tools/order was run: the symbols that a start of `vault` touches, for the linker to put side by side, since each page
# that a start touches costs a fault. Without it, `vault get` takes 1.1 times as long. Names that no longer exist are
# passed over.
order=$root/.build/vault.order

# static_build PRODUCT SCRATCH FLAGS...
static_build() {
    local product=$1 scratch=$2
    shift 2
    if uses_libpq "$product"; then
        prepare_libpq || return
        set -- "$@" "${libpq_linking[@]}"
    fi
    mkdir -p "$scratch"
    local libraries=$scratch/$product.libraries.o inputs=$scratch/$product.inputs
    make_library_object "$product" "$libraries" || return
    [[ ! -f $order ]] || set -- "$@" -Xlinker "--symbol-ordering-file=$order" -Xlinker --no-warn-symbol-ordering
    env -u VAULT_WARNINGS_AS_ERRORS swift build --package-path "$root" --scratch-path "$scratch" -c release \
        --product "$product" -Xswiftc -static-executable "${direct_metadata[@]}" "${linker[@]}" \
        -Xlinker "$libraries" -Xlinker "--dependency-file=$inputs" "$@" </dev/null || return
    check_linked "$product" "$inputs"
}

# dynamic_build PRODUCT SCRATCH FLAGS...: with the C libraries of the system, whose libpq can use Kerberos.
dynamic_build() {
    local product=$1 scratch=$2
    shift 2
    env -u VAULT_WARNINGS_AS_ERRORS swift build --package-path "$root" --scratch-path "$scratch" -c release \
        --product "$product" --static-swift-stdlib "$@" </dev/null
}

# What libpq's archive needs beside itself: two archives of PostgreSQL's own, OpenSSL's, and refusals in place of GSSAPI
# and LDAP, which have no archives.
libpq=$root/.build/libpq
libpq_linking=(
    -Xlinker "$libpq/refusals.o" -Xlinker "-L$libpq" -Xlinker -lpgcommon -Xlinker -lpgport -Xlinker -lssl -Xlinker -lcrypto
)

# uses_libpq PRODUCT
uses_libpq() { [[ $1 == vault-shared* || $1 == VaultSharedExample ]]; }

# prepare_libpq: the two archives come from a package that would bring a compiler of its own: it is unpacked, not
# installed.
prepare_libpq() {
    mkdir -p "$libpq"
    local revision
    revision=$(dpkg-query --show --showformat='${Version}' libpq-dev) || return
    # Of another revision than libpq itself, they would lack its fixes.
    if [[ ! -f $libpq/libpgcommon.a || ! -f $libpq/libpgport.a || $revision != "$(cat "$libpq/revision" 2>/dev/null)" ]]
    then
        local major folder package
        major=$(pkg-config --modversion libpq) && folder=$(mktemp -d) || return
        package=postgresql-server-dev-${major%%.*}
        major=${major%%.*}
        (cd "$folder" && {
            apt-get -qq download "$package=$revision" || apt-get -qq download "$package" || {
                apt_get update && apt-get -qq download "$package"
            }
        } && dpkg -x ./*.deb . && cp "usr/lib/postgresql/$major/lib/"{libpgcommon,libpgport}.a "$libpq") || return
        rm -rf "$folder"
        printf '%s\n' "$revision" >"$libpq/revision"
    fi
    gcc -O2 -Wall -Werror -c "$root/Tools/lib/libpq-static.c" -o "$libpq/refusals.o"
}

# is_current PRODUCT: whether its executable is newer than all that it is made of. Its modification time is the moment
# its build began. Folders are looked at too (a file removed or renamed changes its folder), times of change rather
# than of modification (a copy may keep an old one), the C libraries' archives, so that a security update of them counts,
# and how it is built.
is_current() {
    local binary=$binaries/$1
    [[ -x $binary ]] || return 1
    local sources=("$root/Package.swift" "$root/Sources")
    [[ $1 != VaultBenchmark ]] || sources+=("$root/Tools/Benchmark")
    [[ $1 != VaultSharedExample ]] || sources+=("$root/Tools/SharedExample")
    local file
    local archives=(/usr/lib/*/lib{sodium,expat,nettle,c,m}.a /usr/lib/gcc/*/*/lib{stdc++,gcc,gcc_eh}.a)
    ! uses_libpq "$1" || archives+=(/usr/lib/*/lib{pq,ssl,crypto}.a "$root/Tools/lib/libpq-static.c")
    for file in "${archives[@]}" "$root/Tools/lib/"{build.sh,libraries.sh,constants.ld} "$order"; do
        [[ ! -f $file ]] || sources+=("$file")
    done
    local changed
    changed=$(find "${sources[@]}" -cnewer "$binary" -print -quit) && [[ -z $changed ]]
}

# ensure_built PRODUCT: afterwards .build/bin/PRODUCT is the current, stripped executable: fully static, unless its name
# ends in -dynamic.
ensure_built() {
    is_current "$1" && return 0
    install_needed "$1"
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

# install_needed PRODUCT: what its build needs.
install_needed() {
    require_swift
    need_build_packages
    ! uses_libpq "$1" || need_database_packages
    install_missing
}

# ensure_newest PRODUCT: as ensure_built, for an executable that others get: also one that is current is built again if
# there are newer revisions of what it is linked from.
ensure_newest() {
    install_needed "$1"
    [[ $1 == *-dynamic ]] || ask_for_newer_libraries "$1"
    ensure_built "$1"
}

# build PRODUCT: into a scratch path of its own, so that it doesn't undo what a plain `swift build` built. A warning is no
# error here: people who install the command may have a newer compiler.
build() {
    local product=${1%-dynamic} linking=static log=$root/.build/static.log began
    [[ $product == "$1" ]] || linking=dynamic
    local scratch=$root/.build/$linking
    [[ $linking == dynamic ]] || ask_for_newer_libraries "$product"
    began=$(date +%s.%N)
    say "Building $1 (once, a few minutes)..."
    # SwiftPM sees no change of these archives, nor of what the linker reads; without the old executable it links again.
    rm -f "$scratch/release/$product"
    if ! "${linking}_build" "$product" "$scratch" -Xlinker --strip-all 9>&- >"$log" 2>&1; then
        cat "$log" >&2
        die "the build of $1 failed; its output is above, and in $log."
    fi
    install_binary "$scratch/release/$product" "$binaries/$1" "@$began" ||
        die "could not put the executable in $binaries; is the disk full?"
}

# install_binary FROM TO [TIME]: copies an executable beside its path and renames it over it, so that whoever starts it
# meanwhile gets the whole old or the whole new one.
install_binary() {
    local temporary
    temporary=$(mktemp "${2%/*}/.${2##*/}.XXXXXX") || return
    cp "$1" "$temporary" && chmod 0755 "$temporary" && touch -d "${3:-now}" "$temporary" &&
        mv -fT "$temporary" "$2" && return
    rm -f "$temporary"
    return 1
}
