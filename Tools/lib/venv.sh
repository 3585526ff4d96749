# A throwaway Python environment for the tests. Needs common.sh and packages.sh.

venv=$root/.build/test-venv

need_venv() {
    python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3 python3-venv)
}

# ensure_venv: makes it anew when the requirements, or the Python it was made with, are others than before. The mark
# is written last, so one that was interrupted is made again.
ensure_venv() {
    local requirements=$root/Tools/test-requirements.txt mark
    mark="$(python3 --version) $(sha256sum <"$requirements") $root"
    [[ -f $venv/mark && $(<"$venv/mark") == "$mark" ]] && return
    say "Making the tests' Python environment..."
    rm -rf "$venv"
    python3 -m venv "$venv" &&
        "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --requirement "$requirements" &&
        printf '%s\n' "$mark" >"$venv/mark"
}
