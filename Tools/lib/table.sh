# The benchmark's table: on standard output, and as Markdown for a document. Needs common.sh.

table_begin="<!-- Tools/bench writes this table -->"
table_end="<!-- Tools/bench ends here -->"

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

# start_table FOLDER: the Markdown is gathered in files there.
start_table() {
    rows=$1/rows.md notes=$1/notes.md
    printf '%s\n' "| | vault | other | measured | aim |" "| --- | --- | --- | --- | --- |" >"$rows"
    : >"$notes"
}

# print_head MACHINE
print_head() {
    printf '%s\n' "$1"
    printf '%-64s %12s %12s %10s %12s %5s\n' '' vault other measured aim met
}

# row LABEL VAULT OTHER MEASURED UNIT AIM: an empty AIM is none.
row() {
    awk -v markdown="$rows" -v label="$1" -v ours="$2" -v other="$3" -v measured="$4" -v unit="$5" -v aim="$6" 'BEGIN {
        space = unit == "x" ? "" : " "
        met = aim == "" ? "" : (measured <= aim + 0 ? "yes" : "NO")
        if (aim != "") aim = "<= " aim space unit
        measured = sprintf(measured < 1 ? "%.3f%s%s" : "%.2f%s%s", measured, space, unit)
        plain = label
        gsub(/`/, "", plain)
        printf "%-64s %12s %12s %10s %12s %5s\n", plain, ours, other, measured, aim, met
        sub(/^<=/, "\342\211\244", aim)
        if (met == "NO") aim = "**open:** " aim
        printf "| %s | %s | %s | %s | %s |\n", label, ours, other, measured, aim >> markdown
    }'
}

# note WORDS...: a line below the table.
note() {
    printf -- '- %s\n' "$*" >>"$notes"
}

# check_document PATH: it has to have the table's two lines, each once.
check_document() {
    [[ $(grep -cxF "$table_begin" "$1") == 1 && $(grep -cxF "$table_end" "$1") == 1 ]] ||
        die "$1 has to have these lines once: $table_begin $table_end"
}

# write_table DOCUMENT MACHINE: puts the table between its two lines.
write_table() {
    local whole
    whole=$(awk -v begin="$table_begin" -v end="$table_end" '
        $0 == end { inside = 0 }
        !inside { print }
        $0 == begin { inside = 1; while ((getline line < "-") > 0) print line }
    ' "$1" < <(
        printf 'Measured on %s (UTC): %s.\n\n' "$(date -u +%F)" "${2%.}"
        cat "$rows" - "$notes" <<<""
    ))
    printf '%s\n' "$whole" >"$1"
}
