# The command beside other commands that keep a secret: rows of Tools/bench, whose variables and functions these use.
# Each store has the defaults of its Debian package and one entry. All of it is in the benchmark's throwaway home.

command_peers=(openssl age systemd-creds secret-tool pass gopass keepassxc-cli)
# Those whose entry was stored and read back.
usable_peers=()
stores=

# prepare_stores: creates a store for each command. One that cannot be installed or created costs its own rows alone.
prepare_stores() {
    local peer words
    stores=$work/stores
    mkdir -m 700 "$stores" "$stores/run"
    unset "${!PASSWORD_STORE_@}"
    export GNUPGHOME=$stores/gnupg PASSWORD_STORE_DIR=$stores/pass
    export XDG_RUNTIME_DIR=$stores/run DBUS_SESSION_BUS_ADDRESS=unix:path=$stores/bus
    # Its host key, which is otherwise the machine's own. At the usual level it warns about the folder at each start.
    export SYSTEMD_CREDENTIAL_SECRET=$stores/systemd.key SYSTEMD_LOG_LEVEL=err
    export QT_QPA_PLATFORM=offscreen
    for peer in "${command_peers[@]}"; do
        say "Creating a store for $peer..."
        if words=$({ need_store "$peer" && install_missing && create_store "$peer" && reads_back "$peer"; } 2>&1); then
            usable_peers+=("$peer")
        else
            words=$(tail -n 1 <<<"${words//$work\//}")
            note "$peer was not measured: ${words:-it failed without a word}"
        fi
    done
    hash -r
}

# create_store PEER: creates what its entry is kept in, and stores the entry.
create_store() {
    case $1 in
    openssl) head -c 32 /dev/urandom | base64 >"$stores/openssl.key" ;;
    age) age-keygen -o "$stores/age.key" ;;
    secret-tool) start_keyring ;;
    pass | gopass) create_openpgp_store ;;
    keepassxc-cli)
        keepassxc-cli db-create -q --set-key-file "$stores/kdbx.key" "$stores/kdbx" &&
            keepassxc-cli add -q --no-password -k "$stores/kdbx.key" "$stores/kdbx" token
        ;;
    esac || return
    storing "$1"
    ((${#command[@]} == 0)) || "${command[@]}" <"$work/value"
}

# Both read the same folder, and neither asks for a passphrase. gopass stores only what is typed at a terminal, so gpg
# stores its entry.
create_openpgp_store() {
    [[ ! -d $PASSWORD_STORE_DIR ]] || return 0
    mkdir -m 700 "$GNUPGHOME" "$PASSWORD_STORE_DIR" &&
        echo bench@example.org >"$PASSWORD_STORE_DIR/.gpg-id" &&
        gpg --batch --quiet --passphrase "" --quick-generate-key bench@example.org default default never &&
        gpg --batch --quiet -r bench@example.org -o "$PASSWORD_STORE_DIR/token.gpg" -e "$work/value"
}

# Starts a session bus and an unlocked keyring. They write down their ids for end_stores.
start_keyring() {
    local turn
    dbus-daemon --session --nofork --address="$DBUS_SESSION_BUS_ADDRESS" >/dev/null 2>&1 &
    echo $! >>"$stores/daemons"
    for turn in {1..50}; do
        [[ ! -S $stores/bus ]] || break
        sleep 0.1
    done
    printf 'correct horse' | gnome-keyring-daemon --foreground --unlock --components=secrets >/dev/null 2>&1 &
    echo $! >>"$stores/daemons"
    # Before the daemon answers, the bus would start another one, which is locked.
    for turn in {1..50}; do
        ! dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetNameOwner \
            string:org.freedesktop.secrets >/dev/null 2>&1 || return 0
        sleep 0.1
    done
    echo "gnome-keyring-daemon does not answer on its bus" >&2
    return 1
}

# reads_back PEER
reads_back() {
    reading "$1"
    [[ $("${command[@]}" <"$work/value") == "$(<"$work/value")" ]] || {
        echo "it does not return the value that was stored" >&2
        return 1
    }
}

# reading PEER: sets `command` to what prints the entry.
reading() {
    case $1 in
    openssl) command=(enc -d "${cipher[@]}" -pass "file:$stores/openssl.key" -in "$stores/openssl") ;;
    age) command=(-d -i "$stores/age.key" "$stores/age") ;;
    systemd-creds) command=(decrypt --name=token "$stores/systemd" -) ;;
    secret-tool) command=(lookup name token) ;;
    pass | gopass) command=(show token) ;;
    keepassxc-cli) command=(show -q --no-password -k "$stores/kdbx.key" -s -a password "$stores/kdbx" token) ;;
    esac
    command=("$(command -v "$1")" "${command[@]}")
}

# storing PEER: sets `command` to what stores standard input as the entry; to nothing if there is no such command.
storing() {
    case $1 in
    openssl) command=(enc "${cipher[@]}" -pass "file:$stores/openssl.key" -out "$stores/openssl") ;;
    age) command=(-r "$(age-keygen -y "$stores/age.key")" -o "$stores/age") ;;
    systemd-creds) command=(encrypt --with-key=host --name=token - "$stores/systemd") ;;
    secret-tool) command=(store --label=token name token) ;;
    pass) command=(insert --multiline --force token) ;;
    gopass)
        command=()
        return
        ;;
    keepassxc-cli) command=(edit -q --no-password -k "$stores/kdbx.key" -p "$stores/kdbx" token) ;;
    esac
    command=("$(command -v "$1")" "${command[@]}")
}
cipher=(-aes-256-ctr -pbkdf2)

# measure_commands COMMAND: a row for each store beside `vault COMMAND`.
measure_commands() {
    local peer label median ours ratio measured line
    command_on "$work/written" "$1" 10
    line=(vault "${command[@]}")
    for peer in "${usable_peers[@]}"; do
        if [[ $1 == get ]]; then reading "$peer"; else storing "$peer"; fi
        ((${#command[@]} == 0)) || line+=(-- "$peer ${command[1]}" "${command[@]}")
    done
    measured=$("$work/run" "$command_rounds" "$work/value" "${line[@]}") || {
        note "the other commands were not measured beside vault $1: one of them failed"
        return 0
    }
    while IFS=$'\t' read -r label median ratio _; do
        if [[ $label == vault ]]; then
            ours=$median
        else
            row "vault $1, beside $label" "$ours ms" "$median ms" "$(ratio 1 "$ratio")" x ""
        fi
    done <<<"$measured"
}

# Ends the daemons that the stores started.
end_stores() {
    [[ -n $stores ]] || return 0
    [[ ! -d $stores/gnupg ]] || gpgconf --kill all || true
    [[ ! -f $stores/daemons ]] || xargs kill <"$stores/daemons" 2>/dev/null || true
}
