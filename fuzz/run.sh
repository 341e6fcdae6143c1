#!/usr/bin/env bash
# Builds the fuzz targets and runs each for some seconds: fuzz/run.sh [SECONDS] [TARGET..]. Needs a stable toolchain and a
# C++ compiler. Prints a line per target, and ends with 1 if there is a finding, whose input is in fuzz/artifacts.
#
# JOBS=2 runs two targets at a time. New inputs of runs of at least a minute are kept beside the build, for later runs.
set -euo pipefail
cd "$(dirname "$0")"

seconds="${1:-60}"
[[ "$seconds" =~ ^[1-9][0-9]*$ ]] || { echo "expected seconds, found $seconds; write run.sh 60 rows" >&2; exit 2; }
targets=("${@:2}")
[ "${#targets[@]}" -gt 0 ] || 
    targets=(rows selected_rows results judge_reply normalize overlap syntax sparql macros)

work="${CARGO_TARGET_DIR:-$PWD/target}/fuzzing"
host="$(rustc -vV | sed -n 's/^host: //p')"
# What `cargo fuzz --sanitizer none` sets. With `--target`, the flags do not reach build scripts and procedural macros.
flags="-Cpasses=sancov-module"
for option in level=4 inline-8bit-counters pc-table trace-compares; do
    flags+=" -Cllvm-args=-sanitizer-coverage-$option"
done
flags+=" --cfg fuzzing"
CARGO_TARGET_DIR="$work" CARGO_INCREMENTAL=0 RUSTFLAGS="$flags" \
    cargo build --quiet --locked --release --target "$host" "${targets[@]/#/--bin=}"

# In memory where that is possible.
temporary="$( ([ -w /dev/shm ] && mktemp -d -p /dev/shm) || mktemp -d)"
trap 'rm -rf "$temporary"' EXIT
mkdir -p artifacts

# Runs a target and prints its line.
run() {
    local name="$1" log="$temporary/$1.log" found="$temporary/$1" status=0 started=$SECONDS
    [ "$seconds" -lt 60 ] || found="$work/corpus/$name"
    mkdir -p "$found" "$temporary/files-$name"
    local options=(-max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1
        -artifact_prefix="artifacts/$name-")
    # A short run, such as that of CI, draws the same inputs each time. A long one searches for new ones.
    [ "$seconds" -ge 60 ] || options+=(-seed=1)
    [ ! -f "dictionaries/$name.dict" ] || options+=(-dict="dictionaries/$name.dict")
    RUST_BACKTRACE=0 TMPDIR="$temporary/files-$name" "$work/$host/release/$name" "${options[@]}" \
        "$found" "corpus/$name" > "$log" 2>&1 || status=$?
    local executions
    executions="$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
    printf '%-12s %10s executions %6s s %3s findings\n' \
        "$name" "${executions:-?}" "$((SECONDS - started))" "$((status != 0))"
    [ "$status" -ne 0 ] || return 0
    touch "$temporary/failed"
    grep -aE -A 4 'panicked at|ERROR: libFuzzer|SUMMARY|Test unit written' "$log" | head -n 40 >&2
}

for name in "${targets[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-1}" ]; do wait -n || true; done
    run "$name" &
done
wait
[ ! -e "$temporary/failed" ]
