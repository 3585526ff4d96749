# The files that belong to the command besides the executable: completions and the manual page.

# install_data BINARY NAME SHARE [ZSH]: writes those of a command into a share folder. ZSH is zsh's folder in it.
install_data() {
    local binary=$1 name=$2 share=$3 zsh=${4:-site-functions}
    mkdir -p "$share"/{bash-completion/completions,"zsh/$zsh",fish/vendor_completions.d,man/man1} &&
        "$binary" completions bash >"$share/bash-completion/completions/$name" &&
        "$binary" completions zsh >"$share/zsh/$zsh/_$name" &&
        "$binary" completions fish >"$share/fish/vendor_completions.d/$name.fish" &&
        "$binary" man >"$share/man/man1/$name.1"
}

# The names under which git, docker and others start the command.
helper_names() {
    sed -n 's/^    case [A-Za-z]* = "\(.*\)"$/\1/p' "$root/Sources/VaultCommand/CommandLine/HelperName.swift"
}
