# Which packages' archives an executable is linked from, and their revisions. Needs common.sh and packages.sh.
#
# A static executable alone can bring the fixes of what is in it. So a release build asks for the newest revisions, and
# the executable says which it has: `vault version --json`.

# When it was last asked for newer revisions.
asked=$root/.build/libraries.asked
# Whether a build asks at all.
asks_for_libraries=true

# linked_archives PRODUCT: the paths of all archives that do not come with Swift.
linked_archives() {
    local folder library
    for library in sodium:libsodium expat:expat nettle:nettle; do
        folder=$(pkg-config --variable=libdir "${library#*:}") || return
        printf '%s\n' "$folder/lib${library%:*}.a"
    done
    if uses_libpq "$1"; then
        for library in pq:libpq ssl:libssl crypto:libcrypto; do
            folder=$(pkg-config --variable=libdir "${library#*:}") || return
            printf '%s\n' "$folder/lib${library%:*}.a"
        done
    fi
    for library in libc.a libm.a libpthread.a libdl.a librt.a libutil.a; do gcc "-print-file-name=$library"; done
    for library in libstdc++.a libgcc.a libgcc_eh.a; do gcc "-print-file-name=$library"; done
}

# linked_packages PRODUCT: the packages that these archives are from; nothing where there is no dpkg.
linked_packages() {
    command -v dpkg-query >/dev/null || return 0
    local archives
    mapfile -t archives < <(linked_archives "$1" | xargs -r readlink -e)
    packages_of "${archives[@]}"
}

# packages_of FILES...: the packages that have them. Other files are passed over.
packages_of() { { dpkg-query --search "$@" 2>/dev/null || true; } | sed 's/: .*//; s/:.*//' | sort -u; }

# library_table PRODUCT: a line for each of these packages: its name and version, and those of its source.
library_table() {
    local packages
    mapfile -t packages < <(linked_packages "$1")
    ((${#packages[@]} == 0)) || dpkg-query --show \
        --showformat='${db:Status-Status} ${Package} ${Version} ${source:Package} ${source:Version}\n' \
        "${packages[@]}" | sed -n 's/^installed //p' | sort -u
}

# make_library_object PRODUCT OBJECT: what says in the executable what it is linked from, as an object file.
make_library_object() {
    local table
    table=$(library_table "$1") || return
    printf 'const char *vault_linked_libraries(void) { return "%s"; }\n' "${table//$'\n'/\\n}" |
        gcc -O2 -Wall -Werror -x c -c - -o "$2"
}

# check_linked PRODUCT DEPENDENCIES: that the linker, which has written this list of its inputs, has read no archive of a
# package that the table leaves out.
check_linked() {
    command -v dpkg-query >/dev/null || return 0
    local archives unknown
    mapfile -t archives < <(tr -d '\\' <"$2" | tr -s ' \t' '\n' | grep '\.a$' | sort -u | xargs -r readlink -e)
    ((${#archives[@]} > 0)) || return 0
    unknown=$(packages_of "${archives[@]}" | grep -vxFf <(linked_packages "$1")) || return 0
    say "Tools/lib/libraries.sh does not know ${unknown//$'\n'/, }, which $1 is linked from."
    return 1
}

# ask_for_newer_libraries PRODUCT: installs the newest revisions of what is linked. At most once a day, since it asks the
# package archives; without them, what is here is linked.
ask_for_newer_libraries() {
    $asks_for_libraries && [[ -z $(find "$asked" -mtime -1 2>/dev/null) ]] || return 0
    command -v apt-get >/dev/null && command -v dpkg-query >/dev/null || return 0
    mkdir -p "$root/.build" && touch "$asked" 2>/dev/null || return 0
    local packages before quick=(-o Acquire::Retries=0 -o Acquire::http::Timeout=15 -o Acquire::https::Timeout=15)
    mapfile -t packages < <({ linked_packages "$1" && linked_packages vault-shared 2>/dev/null; } | sort -u)
    ((${#packages[@]} > 0)) || return 0
    say "Asking for newer revisions of ${packages[*]} (once a day)..."
    before=$(dpkg-query --show "${packages[@]}")
    # A build asks nobody for a password for this.
    if { ((EUID != 0)) && ! sudo -n true 2>/dev/null; } || ! apt_get "${quick[@]}" update >/dev/null 2>&1 ||
        ! apt_get "${quick[@]}" install -y --no-install-recommends --only-upgrade "${packages[@]}" >/dev/null 2>&1; then
        say "Warning: that was not possible here, so what is installed is linked. It may lack fixes."
    elif [[ $before != "$(dpkg-query --show "${packages[@]}")" ]]; then
        say "Installed newer ones."
    fi
}
