# What every script here shares: where the project is, and how to speak. Sourced, never run.

library=$(readlink -f "${BASH_SOURCE[0]}")
root=${library%/Tools/lib/common.sh}
program=Tools/${0##*/}

# Says one line on standard error; standard output belongs to the program that is run.
say() {
    printf '%s\n' "$*" >&2
}

# Ends the script with a sentence.
die() {
    say "$program: $*"
    exit 1
}

# Ends the script as a usage error: the sentence, then the usage.
die_usage() {
    say "$program: $1"
    say "$2"
    exit 2
}
