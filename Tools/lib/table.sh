# The benchmark's table. Needs common.sh.

# describe_machine FOLDER: what the figures were taken on.
describe_machine() {
    local processor system
    processor=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
    system=$(findmnt -no FSTYPE -T "$1" || stat -f -c %T "$1")
    printf '%s, %s cores; Linux %s; %s\n' "${processor:-$(uname -m)}" "$(nproc)" "$(uname -r)" "$system"
    [[ $system != tmpfs ]] ||
        echo "The folder lies in memory: what is said of durable writes here does not hold for a disk."
}

# thousands NUMBER: with commas.
thousands() {
    local number=$1
    while [[ $number =~ ^([0-9]+)([0-9]{3})(.*)$ ]]; do
        number=${BASH_REMATCH[1]},${BASH_REMATCH[2]}${BASH_REMATCH[3]}
    done
    printf '%s' "$number"
}

start_table() {
    printf '%-40s %14s %14s %10s %12s %5s\n' '' ours floor measured aim met
}

# row LABEL OURS FLOOR MEASURED UNIT AIM: an empty AIM is none.
row() {
    awk -v label="$1" -v ours="$2" -v floor="$3" -v measured="$4" -v unit="$5" -v aim="$6" 'BEGIN {
        space = unit == "x" ? "" : " "
        met = aim == "" ? "" : (measured <= aim + 0 ? "yes" : "NO")
        if (aim != "") aim = "<= " aim space unit
        printf "%-40s %14s %14s %10s %12s %5s\n", label, ours, floor, sprintf("%.2f%s%s", measured, space, unit), aim, met
    }'
}
