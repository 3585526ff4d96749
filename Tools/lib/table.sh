# The benchmark's table: on standard output, and as Markdown for README.md. Needs common.sh.

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
    headlines=$1/headlines.md details=$1/details.md notes=$1/notes.md
    printf '%s\n' "| | vault | other | measured | aim |" "| --- | --- | --- | --- | --- |" |
        tee "$headlines" >"$details"
    : >"$notes"
}

# print_head MACHINE
print_head() {
    printf '%s\n' "$1"
    printf '%-50s %14s %14s %10s %12s %5s\n' '' vault other measured aim met
}

# row LABEL VAULT OTHER MEASURED UNIT AIM: an empty AIM is none.
row() {
    print_row "$headlines" "$@"
}

# detail ARGS...: a row that README.md shows only on request.
detail() {
    print_row "$details" "$@"
}

print_row() {
    awk -v markdown="$1" -v label="$2" -v ours="$3" -v other="$4" -v measured="$5" -v unit="$6" -v aim="$7" 'BEGIN {
        space = unit == "x" ? "" : " "
        met = aim == "" ? "" : (measured <= aim + 0 ? "yes" : "NO")
        if (aim != "") aim = "<= " aim space unit
        measured = sprintf(measured < 1 ? "%.3f%s%s" : "%.2f%s%s", measured, space, unit)
        printf "%-50s %14s %14s %10s %12s %5s\n", label, ours, other, measured, aim, met
        sub(/^ +/, "\342\200\246 ", label)
        sub(/^<=/, "\342\211\244", aim)
        if (met == "NO") aim = "**missed:** " aim
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
    ' "$1" < <(print_markdown "$2"))
    printf '%s\n' "$whole" >"$1"
}

# print_markdown MACHINE
print_markdown() {
    printf 'Measured on %s (UTC): %s.\n\n' "$(date -u +%F)" "${1%.}"
    cat "$headlines" - "$notes" <<<""
    printf '\n<details>\n<summary>More figures; aims missed: %s</summary>\n\n' "$(grep -c "missed:" "$details")"
    cat "$details"
    printf '\n</details>\n\n'
}
