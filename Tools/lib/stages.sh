# Runs the stages of a test run, one after the other, and sums them up. Needs common.sh, and packages.sh if a stage needs
# packages.

logs=$root/.build/test-logs
# The seconds that each stage took when it last passed, one line for each: SECONDS NAME.
kept_seconds=$root/.build/test-seconds
summary=()
failed_logs=()

start_stages() {
    rm -rf "$logs"
    mkdir -p "$logs"
}

# stage NAME COMMAND...: runs it in a subshell, so that an exit there ends only the stage.
stage() {
    local name=$1 log="$logs/${1//[^a-z]/-}.log" began=$SECONDS status result=ok closing seconds former
    shift
    printf '\n=== %s ===\n' "$name"
    ("$@") </dev/null 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    seconds=$((SECONDS - began))
    former=$(former_seconds "$name")
    closing=$(closing_line "$log")
    if ((status != 0)); then
        result=FAILED
        closing="$closing (${log#"$root/"})"
        failed_logs+=("$log")
    else
        keep_seconds "$name" "$seconds"
    fi
    summary+=("$(printf '%-8s %-20s %5d s %10s   %s' "$result" "$name" "$seconds" "${former:+(was $former)}" "$closing")")
}

# former_seconds NAME: prints nothing for a stage that has never passed.
former_seconds() { sed -n "s/^\([0-9]*\) $1\$/\1/p" "$kept_seconds" 2>/dev/null; }

# keep_seconds NAME SECONDS
keep_seconds() {
    local others
    others=$(grep -vx "[0-9]* $1" "$kept_seconds" 2>/dev/null)
    printf '%s\n' ${others:+"$others"} "$2 $1" >"$kept_seconds"
}

# skip NAME REASON
skip() {
    printf '\n=== %s ===\nskipped: %s\n' "$1" "$2"
    summary+=("$(printf '%-8s %-20s %18s   %s' skipped "$1" '' "$2")")
}

# stage_needing NEED NAME COMMAND...: runs a stage. NEED is a need_... function: if it finds packages missing that this run
# does not install, the stage is skipped.
stage_needing() {
    local packages
    packages=$(lacking "$1")
    if [[ -n $packages ]]; then
        skip "$2" "missing packages: $packages"
    else
        stage "${@:2}"
    fi
}

# closing_line LOG: the last line that is not empty, which is where swift test, pytest and our own stages say how it
# went, without colours.
closing_line() {
    sed 's/\x1b\[[0-9;]*m//g' "$1" | grep -v '^[[:space:]]*$' | tail -n 1 | cut -c 1-120
}

# failures LOG: the lines with which compilers, Swift's tests, sanitizers, sweeps and pytest report one, and what follows
# them; if there is no such line, the end of the log. Of a log that was cut, the end is what is left.
failures() {
    printf '\n=== failures in %s ===\n' "${1#"$root/"}"
    {
        grep -aE -A 12 ': error: |✘|ERROR: |^FAILED |^E  ' "$1" || tail -n 20 "$1"
    } | cut -c 1-300 | head -n 60
}

end_stages() {
    local log
    for log in "${failed_logs[@]}"; do failures "$log"; done
    printf '\n=== summary ===\n'
    printf '%s\n' "${summary[@]}"
    if ((${#failed_logs[@]} > 0)); then
        printf '%d of %d stages failed\n' "${#failed_logs[@]}" "${#summary[@]}"
        exit 1
    fi
    printf 'all stages passed\n'
}
