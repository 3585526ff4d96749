# The library beside other stores that a program would keep its secrets in: rows of Tools/bench, whose variables and
# functions these use. Each figure is taken in a process of its own, in turns.

peer_rounds=5

# Installs the other stores' libraries, and compiles what measures them.
prepare_peers() {
    need_file '/usr/include/sqlcipher/sqlite3.h' libsqlcipher-dev
    need_file '/usr/include/lmdb.h' liblmdb-dev
    install_missing
    local name
    for name in sqlcipher lmdb; do
        "$compiler" -std=gnu11 -O2 -Wall -Wextra -o "$work/$name" "$root/Tools/Benchmark/c/$name.c" "-l$name"
    done
}

# fill_peers SIZE
fill_peers() {
    local name
    for name in sqlcipher lmdb; do "$work/$name" fill "$work/$1.$name" "$1" >/dev/null; done
}

# figure WHO WHAT SIZE: one figure of the vault or a peer.
figure() {
    case $1 in
    vault) VaultBenchmark "$2" "$work/$3.vault" "$work/$3.key" ;;
    *) "$work/$1" "$2" "$work/$3.$1" "$3" ;;
    esac
}

# load WHO SIZE: the seconds that a single transaction of new entries takes.
load() {
    rm -f "$work"/load.*
    case $1 in
    vault) VaultBenchmark load "$work/load.vault" "$work/load.key" "$2" ;;
    *) "$work/$1" fill "$work/load.$1" "$2" ;;
    esac
}

median() {
    sort -g | awk '{ values[NR] = $1 } END { print (values[int((NR + 1) / 2)] + values[int((NR + 2) / 2)]) / 2 }'
}

# in_turns COMMAND ARGUMENTS...: sets ours, sqlcipher and lmdb to the medians of `COMMAND WHO ARGUMENTS...`.
in_turns() {
    local command=$1 round who
    shift
    rm -f "$work"/turns.*
    for ((round = 0; round < peer_rounds; round++)); do
        for who in vault sqlcipher lmdb; do "$command" "$who" "$@" >>"$work/turns.$who"; done
    done
    ours=$(median <"$work/turns.vault")
    sqlcipher=$(median <"$work/turns.sqlcipher")
    lmdb=$(median <"$work/turns.lmdb")
}

ratio() { # LEFT RIGHT
    awk -v left="$1" -v right="$2" 'BEGIN { print left / right }'
}

# beside LABEL UNIT SQLCIPHER_AIM LMDB_AIM: rows for what in_turns found; an empty aim is none.
beside() {
    local shown
    shown=$(printf '%.4g' "$ours")
    row "$1, beside SQLCipher" "$shown $2" "$(printf '%.4g' "$sqlcipher") $2" "$(ratio "$ours" "$sqlcipher")" x "$3"
    row "  beside LMDB, which encrypts nothing" "$shown $2" "$(printf '%.4g' "$lmdb") $2" \
        "$(ratio "$ours" "$lmdb")" x "$4"
}

measure_peers() {
    local ours sqlcipher lmdb size one eight many mean p99 longest flat
    for size in "${sizes[@]:1}"; do
        in_turns figure get "$size"
        beside "library get, $(thousands "$size") entries" ns "$( ((size < 1000000)) || echo 0.333)" ""
    done
    # Warm reads, but for the conversion.
    detail "library, typed read, beside a get" "" "" \
        "$(ratio "$(figure vault typed 10000)" "$(figure vault get 10000)")" x 1.3
    in_turns figure set 10000
    beside "library set, durable" us 1 1
    IFS=$'\t' read -r one eight many < <(figure vault threads 10000)
    detail "time of a set, 8 threads beside one" "" "" "$(ratio "$one" "$eight")" x ""
    detail "time of a set, 64 threads beside one" "" "" "$(ratio "$one" "$many")" x 0.167
    peer_rounds=3
    for size in 100000 "${sizes[@]:2}"; do
        in_turns load "$size"
        beside "library, load of $(thousands "$size")" s 0.25 ""
    done
    in_turns figure names "$largest"
    beside "library, all names of $(thousands "$largest")" s "" 4
    for size in "${sizes[@]:1}"; do
        IFS=$'\t' read -r mean p99 longest < <(VaultBenchmark sets "$work/$size.vault" "$work/$size.key" 20000)
        detail "p99 of 20,000 sets, $(thousands "$size") entries" "" "" "$(ratio "$p99" 1000)" ms 1
        detail "  the longest of them" "" "" "$(ratio "$longest" 1000)" ms 50
        [[ -z ${flat-} ]] || detail "  their mean, beside 10,000 entries" "" "" "$(ratio "$mean" "$flat")" x 1.2
        flat=${flat-$mean}
    done
}
