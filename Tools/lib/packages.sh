# Installs Debian packages that are missing. Needs common.sh.

# Runs a command as root: directly, or through sudo. Without a terminal sudo must not wait for a password.
as_root() {
    if ((EUID == 0)); then
        "$@"
    elif { : </dev/tty; } 2>/dev/null; then
        sudo "$@"
    else
        sudo -n "$@"
    fi
}

# apt_get ARGS...: apt-get that asks nothing and leaves standard input alone: a secret may be waiting there.
apt_get() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 "$@" </dev/null
}

# install_packages NAMES...: shows apt-get's own words only when it fails.
install_packages() {
    local advice="Please install these packages, then run this again: $*"
    command -v apt-get >/dev/null || die "this system has no apt-get (Debian and its kin have). $advice"
    if ((EUID != 0)) && ! command -v sudo >/dev/null; then
        die "only root can install packages, and there is no sudo. $advice"
    fi
    say "Installing $*..."
    local log
    log=$(mktemp)
    if ! {
        apt_get install -y --no-install-recommends "$@" || {
            apt_get update && apt_get install -y --no-install-recommends "$@"
        }
    } >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        die "apt-get could not install them. $advice"
    fi
    rm -f "$log"
}

# The checks ask for what is used (a command, a file), not for a package's name, so that what was installed in
# another way counts too. `missing` gathers package names.
missing=()

need_command() { # COMMAND PACKAGE
    command -v "$1" >/dev/null || missing+=("$2")
}

need_file() { # PATTERN PACKAGE
    compgen -G "$1" >/dev/null || missing+=("$2")
}

has_archive() { # NAME, as pkg-config knows it, ARCHIVE
    local folder
    folder=$(pkg-config --variable=libdir "$1" 2>/dev/null) && [[ -f $folder/$2 ]]
}

# What the static release build needs beside Swift. g++ brings the C and C++ libraries' headers and archives.
need_build_packages() {
    need_command pkg-config pkg-config
    has_archive libsodium libsodium.a || missing+=(libsodium-dev)
    has_archive expat libexpat.a || missing+=(libexpat1-dev)
    has_archive nettle libnettle.a || missing+=(nettle-dev)
    need_file '/usr/include/stdio.h' g++
    need_file '/usr/lib/gcc/*/*/libstdc++.a' g++
}

# What VaultShared needs, and its static executable.
need_database_packages() {
    has_archive libpq libpq.a || missing+=(libpq-dev)
    has_archive libssl libssl.a || missing+=(libssl-dev)
}

need_database_server() {
    need_file '/usr/lib/postgresql/*/bin/postgres' postgresql
}

# The package of the server would start a cluster of its own.
prevent_main_cluster() {
    as_root mkdir -p /etc/postgresql-common
    echo 'create_main_cluster = false' | as_root tee /etc/postgresql-common/createcluster.conf >/dev/null
}

# What the sweeps need beside the build. Needs venv.sh.
need_sweep_packages() {
    need_command strace strace
    need_command prlimit util-linux
    need_command mount mount
    need_database_server
    need_venv
}

# lacking NEED: prints the packages that NEED, a need_... function, finds missing and that this run does not install.
lacking() {
    [[ ${VAULT_INSTALLS_PACKAGES-} == false ]] || return 0
    local missing=()
    "$1"
    printf '%s\n' "${missing[*]}"
}

# Installs what the need_... calls before it found missing; with VAULT_INSTALLS_PACKAGES=false it ends the script.
install_missing() {
    ((${#missing[@]} > 0)) || return 0
    local names
    mapfile -t names < <(printf '%s\n' "${missing[@]}" | sort -u)
    [[ ${VAULT_INSTALLS_PACKAGES-} != false ]] ||
        die "packages are missing. This installs them: sudo apt-get install --no-install-recommends ${names[*]}"
    [[ " ${names[*]} " != *' postgresql '* ]] || prevent_main_cluster
    install_packages "${names[@]}"
    missing=()
    hash -r
}
