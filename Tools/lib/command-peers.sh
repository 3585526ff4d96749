# The command beside other commands that print a secret: rows of Tools/bench, whose variables and functions these use.
# Each store has the defaults of its Debian package and one entry. All of it is in the benchmark's throwaway home.

command_peers=(age pass secret-tool)
# Those whose entry was stored and read back.
usable_peers=()
stores=

# prepare_stores: creates a store for each command. One that cannot be installed or created costs its own row alone.
prepare_stores() {
    local peer words
    stores=$work/stores
    mkdir -m 700 "$stores" "$stores/run"
    unset "${!PASSWORD_STORE_@}"
    export GNUPGHOME=$stores/gnupg PASSWORD_STORE_DIR=$stores/pass
    export XDG_RUNTIME_DIR=$stores/run DBUS_SESSION_BUS_ADDRESS=unix:path=$stores/bus
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
    age)
        age-keygen -o "$stores/age.key" &&
            age -r "$(age-keygen -y "$stores/age.key")" -o "$stores/age" <"$work/value"
        ;;
    pass)
        mkdir -m 700 "$GNUPGHOME" &&
            gpg --batch --quiet --passphrase "" --quick-generate-key bench@example.org default default never &&
            pass init bench@example.org && pass insert --multiline --force token <"$work/value"
        ;;
    secret-tool) start_keyring && secret-tool store --label=token name token <"$work/value" ;;
    esac
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
    age) command=(-d -i "$stores/age.key" "$stores/age") ;;
    pass) command=(show token) ;;
    secret-tool) command=(lookup name token) ;;
    esac
    command=("$(command -v "$1")" "${command[@]}")
}

# measure_stores: a row for each store beside `vault get`.
measure_stores() {
    local peer label median ours ratio measured line
    command_on get 10
    line=(vault "${command[@]}")
    for peer in "${usable_peers[@]}"; do
        reading "$peer"
        line+=(-- "$peer ${command[1]}" "${command[@]}")
    done
    measured=$("$work/run" 25 "$work/value" "${line[@]}") || {
        note "the other commands were not measured beside vault get: one of them failed"
        return 0
    }
    while IFS=$'\t' read -r label median ratio _; do
        if [[ $label == vault ]]; then
            ours=$median
        else
            row "\`vault get\`, beside \`$label\`" "$ours ms" "$median ms" "$(ratio 1 "$ratio")" x 1
        fi
    done <<<"$measured"
    note "age's identity, pass's gpg-agent and secret-tool's keyring are there without a passphrase, or unlocked."
}

# Ends the daemons that the stores started.
end_stores() {
    [[ -n $stores ]] || return 0
    [[ ! -d $stores/gnupg ]] || gpgconf --kill all || true
    [[ ! -f $stores/daemons ]] || xargs kill <"$stores/daemons" 2>/dev/null || true
}
