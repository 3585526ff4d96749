# Makes sure that Swift is there, and sets how it builds. Needs common.sh.

swift_major=6
swift_minor=3

require_swift() {
    local advice="Swift $swift_major.$swift_minor or newer is needed. Get it from https://www.swift.org/install/linux/"
    command -v swift >/dev/null || die "there is no swift on PATH. $advice"
    local answer
    answer=$(swift --version 2>&1 </dev/null) ||
        die "the swift on PATH does not start. The page that it comes from lists the libraries it needs:" \
            "https://www.swift.org/install/linux/
It says: $answer"
    [[ $answer =~ Swift\ version\ ([0-9]+)\.([0-9]+) ]] ||
        die "the swift on PATH, $(command -v swift), is not the Swift compiler. $advice"
    local major=${BASH_REMATCH[1]} minor=${BASH_REMATCH[2]}
    ((major > swift_major || (major == swift_major && minor >= swift_minor))) ||
        die "the swift on PATH is $major.$minor. $advice"
}

# Lets Package.swift make warnings errors. Every debug build of the scripts does, or each would compile all modules anew.
warnings_are_errors() {
    export VAULT_WARNINGS_AS_ERRORS=1
}
