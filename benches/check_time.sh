#!/usr/bin/env bash
# Compile time of one metric: `cargo check` of 500 one-line `#[metric]` functions against 500 plain functions, best of
# five runs each, in one go. Prints milliseconds per function.
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"
count="${1:-500}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

crate() { # name, prefix of each function
    mkdir -p "$work/$1/src"
    cat > "$work/$1/Cargo.toml" <<TOML
[package]
name = "$1"
version = "0.0.0"
edition = "2024"
[dependencies]
dsrs-metrics = { path = "$root/dsrs-metrics" }
[workspace]
TOML
    cp "$root/Cargo.lock" "$work/$1/"
    {
        echo '#![allow(dead_code, unused_imports)]'
        echo 'use dsrs_metrics::prelude::*;'
        for n in $(seq "$count"); do
            if [ "$1" = metrics ]; then
                echo "#[metric] fn metric_$n(#[gold] expected_$n: &str, #[pred] answer_$n: &str) -> bool { expected_$n == answer_$n }"
            else
                echo "fn metric_$n(expected_$n: &str, answer_$n: &str) -> bool { expected_$n == answer_$n }"
            fi
        done
    } > "$work/$1/src/lib.rs"
}

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$work/target}" CARGO_INCREMENTAL=0
best() {
    local best=
    (cd "$work/$1" && cargo check --quiet)
    for _ in 1 2 3 4 5; do
        touch "$work/$1/src/lib.rs"
        local start end
        start=$(date +%s%N)
        (cd "$work/$1" && cargo check --quiet)
        end=$(date +%s%N)
        if [ -z "$best" ] || [ $((end - start)) -lt "$best" ]; then best=$((end - start)); fi
    done
    echo "$best"
}

crate plain
crate metrics
plain=$(best plain)
metrics=$(best metrics)
awk -v p="$plain" -v m="$metrics" -v n="$count" 'BEGIN {
    printf "plain functions  %8.2f ms each\n", p / 1e6 / n
    printf "metrics          %8.2f ms each\n", m / 1e6 / n
    printf "a metric costs   %8.2f ms more\n", (m - p) / 1e6 / n
}'
