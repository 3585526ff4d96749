# The Debian packages of other stores of secrets. Needs packages.sh.

# need_store NAME: looks for what the store's command needs. False if there is no store of that name.
need_store() {
    case $1 in
    pass | gopass)
        need_command "$1" "$1"
        need_command gpg gnupg
        need_command git git
        ;;
    keepassxc-cli) need_command keepassxc-cli keepassxc ;;
    secret-tool)
        need_command secret-tool libsecret-tools
        need_command gnome-keyring-daemon gnome-keyring
        need_command dbus-run-session dbus-daemon
        need_command dbus-daemon dbus-daemon
        need_command dbus-send dbus-bin
        ;;
    systemd-creds) need_command systemd-creds systemd ;;
    age | openssl | sqlcipher) need_command "$1" "$1" ;;
    *) return 1 ;;
    esac
}
