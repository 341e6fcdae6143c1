#!/usr/bin/env bash
# Compile time of the attributes: `cargo check` of N one-line `#[metric]` functions against plain functions, of N `#[judge]`
# structs against plain structs with the derives that a user would otherwise write, and of N `#[eval]` functions with three
# gates against the programs alone, as tests. The crates are checked in turns; the table has the best of several runs.
# Usage: benches/check_time.sh [N] [RUNS]; default 500 and 5.
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"
count="${1:-500}" runs="${2:-5}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
crates=(functions metrics structs judges programs evals)

item() { # crate, number
    local n="$2"
    case "$1" in
        functions) echo "fn metric_$n(expected_$n: &str, answer_$n: &str) -> bool { expected_$n == answer_$n }" ;;
        metrics) echo "#[metric] fn metric_$n(#[gold] expected_$n: &str, #[pred] answer_$n: &str) -> bool { expected_$n == answer_$n }" ;;
        structs) echo "/// Is the answer right?
#[derive(Debug, Clone, Serialize, Deserialize)] struct Right$n { question_$n: String, answer_$n: String, good: bool }" ;;
        judges) echo "/// Is the answer right?
#[judge(cost = \"10 msat\")] struct Right$n { #[input(gold)] question_$n: String, #[input(pred)] answer_$n: String, #[output] good: bool }" ;;
        programs) echo "fn program_$n(question_$n: String) -> Prediction { prediction! { \"answer\" => question_$n } }" ;;
        evals) echo "#[eval(devset = \"rows.jsonl\", metrics(F1, AnswerExactMatch), gate(f1 >= 0.8, answer_exact_match.no_worse(by = 0.02), failed <= 0.1), baseline)]
$(item programs "$n")" ;;
    esac
}

write() { # crate
    mkdir -p "$work/$1/src"
    cat > "$work/$1/Cargo.toml" <<TOML
[package]
name = "$1"
version = "0.0.0"
edition = "2024"
[dependencies]
dsrs-metrics = { path = "$root/dsrs-metrics" }
serde = { version = "1", features = ["derive"] }
[workspace]
TOML
    cp "$root/Cargo.lock" "$work/$1/"
    echo "{}" > "$work/$1/rows.jsonl"
    {
        echo '#![allow(dead_code, unused_imports)]'
        echo 'use dsrs_metrics::prelude::*;'
        echo "use dsrs_metrics::metrics::{AnswerExactMatch, F1};"
        echo 'use serde::{Deserialize, Serialize};'
        for n in $(seq "$count"); do item "$1" "$n"; done
    } > "$work/$1/src/lib.rs"
}

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$work/target}" CARGO_INCREMENTAL=0
declare -A best
check() { # crate
    case "$1" in
        # A function `#[test]` is part of the test only.
        programs | evals) (cd "$work/$1" && cargo check --quiet --lib --profile test) ;;
        *) (cd "$work/$1" && cargo check --quiet) ;;
    esac
}
measure() { # crate
    touch "$work/$1/src/lib.rs"
    local start end
    start=$(date +%s%N)
    check "$1"
    end=$(date +%s%N)
    if [ -z "${best[$1]:-}" ] || [ $((end - start)) -lt "${best[$1]}" ]; then best[$1]=$((end - start)); fi
}

for crate in "${crates[@]}"; do
    write "$crate"
    # Compiles the dependencies.
    check "$crate"
done
for _ in $(seq "$runs"); do
    for crate in "${crates[@]}"; do measure "$crate"; done
done
row() { # attribute, crate with it, crate without it, goal
    awk -v name="$1" -v with="${best[$2]}" -v without="${best[$3]}" -v n="$count" -v goal="$4" 'BEGIN {
        printf "%-9s %8.2f ms %8.2f ms %8.2f ms more (goal %d)\n", name, with / 1e6 / n, without / 1e6 / n, (with - without) / 1e6 / n, goal
    }'
}
printf '%-9s %11s %11s\n' "$count of" each plain
row '#[metric]' metrics functions 9
row '#[judge]' judges structs 16
row '#[eval]' evals programs 30
