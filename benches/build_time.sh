#!/usr/bin/env bash
# Time to build the library, in a fresh clone of the last commit with empty target folders: the quickstart; a
# package of its own with one `#[metric]` and no default features; and `cargo check` after an edit of a built-in metric,
# of the harness and of the contract, the best of three. Crates are those that cargo compiled. Dependencies are downloaded
# before. Run it on an idle machine. Usage: benches/build_time.sh
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
unset CARGO_TARGET_DIR CARGO_INCREMENTAL CARGO_PROFILE_DEV_DEBUG
git clone --quiet "$root" "$work/clone"
cd "$work/clone"
cargo fetch --quiet

# Prints the seconds that a command takes, and keeps what it prints.
seconds() {
    local start end
    start=$(date +%s%N)
    "$@" > "$work/output" 2>&1 || { cat "$work/output" >&2 && exit 1; }
    end=$(date +%s%N)
    echo "$(((end - start) / 10000000))" | sed -E 's/^(.*)(..)$/\1.\2/; s/^\./0./'
}

compiled() { grep -c '^ *Compiling' "$work/output"; }

echo "first score: $(seconds cargo run --example quickstart) s, $(compiled) crates"

mkdir -p "$work/own/src"
cp Cargo.lock "$work/own"
cat > "$work/own/Cargo.toml" << TOML
[package]
name = "own"
edition = "2024"
[workspace]
[dependencies]
dsrs-metrics = { path = "../clone/dsrs-metrics", default-features = false }
TOML
cat > "$work/own/src/main.rs" << 'RUST'
use dsrs_metrics::prelude::*;

/// Whether the intents are equal.
#[metric]
fn intent_accuracy(#[gold] expected_intent: &str, #[pred] intent: &str) -> bool {
    expected_intent == intent
}

fn main() {
    let score = IntentAccuracy.score(&example! { "expected_intent" => "a" }, &prediction! { "intent" => "a" });
    assert_eq!(score.unwrap().value, 1.0);
}
RUST
cargo fetch --quiet --manifest-path "$work/own/Cargo.toml"
echo "one metric: $(seconds cargo run --manifest-path "$work/own/Cargo.toml") s, $(compiled) crates"

cargo check --quiet -p dsrs-metrics
for file in crates/builtin/src/metrics/proxies/length.rs crates/run/src/evaluate/summary/tally.rs crates/core/src/score/scored.rs; do
    best="$(for edit in 1 2 3; do
        printf '\n#[allow(dead_code)]\nfn edited_%s() {}\n' "$edit" >> "$file"
        seconds cargo check -p dsrs-metrics
    done | sort -n | head -1)"
    echo "check after an edit of $file: $best s"
done
