#!/usr/bin/env bash
# Counts the instructions of one call of each kernel under callgrind and compares them with counts.txt:
#
#   benches/kernels/check.sh [FILTER]       ends with 1 if a count differs by more than 3%, on the same toolchain
#   benches/kernels/check.sh --update       writes counts.txt
#
# Instructions of one call = (instructions of N+M calls - instructions of N calls) / M, so that the start of the
# program and the reading of the inputs do not count. Needs valgrind.
set -euo pipefail
cd "$(dirname "$0")"

counts="$PWD/counts.txt"
filter="${1:-}"
[ "$filter" != --update ] || filter=""
command -v valgrind > /dev/null || { echo "valgrind is not installed; run apt-get install valgrind" >&2; exit 2; }

# The packages of the README's commands too: cargo then selects the same features, and compiles the library once.
packages=(dsrs-metrics dsrs-metrics-macros dsrs-metrics-examples dsrs-metrics-kernels)
binary="$(cargo build --quiet --locked --release "${packages[@]/#/--package=}" --bin kernels \
    --message-format=json-render-diagnostics | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p')"
# Some crates choose a version of a function by the processor.
processor="$(uname -m)"
! grep -qw avx2 /proc/cpuinfo || processor+=" with AVX2"
toolchain="$(rustc --version | cut -d' ' -f1,2), $(getconf GNU_LIBC_VERSION), $(valgrind --version), $processor"

# Functions of libc that exist for several processors are taken in the version for all of them.
export GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-AVX,-AVX512F,-ERMS,-FSRM

instructions() { # kernel, calls
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$binary" "$1" "$2" 2>&1 \
        | sed -n 's/.*Collected : //p'
}

measure() { # kernel: prints its name and the instructions of one call
    local few=2 many=12
    [[ "$1" != */short ]] || { few=10; many=110; }
    local start end
    start="$(instructions "$1" "$few")"
    end="$(instructions "$1" "$many")"
    printf '%s %s\n' "$1" "$(((end - start) / (many - few)))"
}
export -f instructions measure
export binary

found="$("$binary" | grep -F -- "$filter" | xargs -P "$(nproc)" -I{} bash -c 'measure {}' | sort)"

if [ "${1:-}" = --update ]; then
    {
        echo "# Instructions of one call of each kernel; written by benches/kernels/check.sh --update."
        echo "# $toolchain"
        printf '%s\n' "$found"
    } > "$counts"
    cat "$counts"
    exit
fi

recorded="$(sed -n '2s/^# //p' "$counts")"
failed=0
while read -r name now; do
    expected="$(awk -v name="$name" '$1 == name { print $2 }' "$counts")"
    percent="$(awk -v now="$now" -v expected="${expected:-0}" \
        'BEGIN { if (expected) printf "%+.1f", 100 * (now - expected) / expected; else print "new" }')"
    printf '%-24s %12s %12s %8s%%\n' "$name" "${expected:--}" "$now" "$percent"
    awk -v percent="$percent" 'BEGIN { exit !(percent == "new" || percent > 3 || percent < -3) }' && failed=1
done <<< "$found"
if [ -z "$filter" ] && [ "$(wc -l <<< "$found")" != "$(grep -vc '^#' "$counts")" ]; then
    echo "counts.txt and the program have different kernels; run benches/kernels/check.sh --update" >&2
    exit 1
fi
if [ "$failed" = 1 ] && [ "$recorded" != "$toolchain" ]; then
    # Another compiler or C library has other counts.
    echo "not compared: the counts were recorded with $recorded, and this is $toolchain" >&2
    failed=0
elif [ "$failed" = 1 ]; then
    echo "instruction counts differ by more than 3%; if that is intended, run benches/kernels/check.sh --update" >&2
fi
exit "$failed"
