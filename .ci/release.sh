#!/usr/bin/env bash
# Whether a release would work, from the archives that `cargo package` writes:
#
# Checks their contents, builds and runs a newcomer's crate that depends on them, and checks them with the oldest Rust and the
# oldest direct dependencies that they declare, and for other targets. Nothing is uploaded.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
packaged="$CARGO_TARGET_DIR/packaged"

part() { printf '\n-- %s (%s s)\n' "$1" "$SECONDS"; }

part "archives"
.ci/packages.py --archives "$packaged"

part "a newcomer's crate"
mkdir -p "$packaged/newcomer/src/bin"
lock="$PWD/Cargo.lock"
cd "$packaged/newcomer"
cat > Cargo.toml << 'MANIFEST'
[package]
name = "newcomer"
edition = "2024"

[dependencies]
dsrs-metrics = { version = "*", features = ["cli"] }
tokio = { version = "1", features = ["macros", "rt-multi-thread"] }

[workspace]
MANIFEST
cat > src/main.rs << 'SOURCE'
use dsrs_metrics::prelude::*;

/// Whether the greeting is polite.
#[metric]
fn greets(#[pred] answer: &str) -> bool {
    answer.starts_with("Dear")
}

dsrs_metrics::main![Greets];
SOURCE
cat > rows.jsonl << 'ROWS'
{"gold": {"answer": "Dear Ada"}, "pred": {"answer": "Dear Ada"}}
{"gold": {"answer": "Dear Bob"}, "pred": {"answer": "Hey Bob"}}
ROWS
# The programs that the README of the archive shows.
rm -f src/bin/*
awk '/^```rust/ { block = ""; inside = 1; next }
    /^```/ { if (inside && block ~ /fn main\(/) printf "%s", block > sprintf("src/bin/readme_%d.rs", ++count); inside = 0 }
    inside { block = block $0 "\n" }' ../dsrs-metrics-*/README.md
[ "$(find src/bin -name '*.rs' | wc -l)" -ge 2 ] || { echo "the README has fewer than two programs; show a metric and an evaluation"; exit 1; }
cp "$lock" Cargo.lock
cargo build --quiet
for program in src/bin/*.rs; do
    cargo run --quiet --bin "$(basename "$program" .rs)"
done
scores="$(cargo run --quiet --bin newcomer -- score rows.jsonl -m greets,em)"
expected='greets  50.00% [9.45, 90.55] (1/2, 0 failed)
em      50.00% [9.45, 90.55] (1/2, 0 failed)'
[ "$scores" = "$expected" ] || { printf 'expected\n%s\nfound\n%s\n' "$expected" "$scores"; exit 1; }
cd ..

rust="$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' dsrs-metrics-[0-9]*/Cargo.toml)"
part "Rust $rust and the oldest direct dependencies"
if rustup toolchain install --profile minimal --no-self-update "$rust" > /dev/null 2>&1; then
    rm -f Cargo.lock
    # An unstable option of cargo; the code is compiled without it.
    RUSTC_BOOTSTRAP=1 cargo generate-lockfile --quiet -Z direct-minimal-versions
    cargo "+$rust" check --quiet --locked -p dsrs-metrics --all-features
else
    echo "not checked: rustup cannot install Rust $rust"
fi

# Features without C, which has no compiler for these targets here.
for checked in "wasm32-unknown-unknown --no-default-features" \
    "aarch64-unknown-linux-gnu --features cli,schema,sparql" \
    "aarch64-apple-darwin --features cli,schema,sparql" \
    "x86_64-pc-windows-gnu --features cli,schema,sparql"; do
    read -r target features <<< "$checked"
    part "$target $features"
    cp "$lock" Cargo.lock
    if rustup target add "$target" > /dev/null 2>&1 || [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; then
        # shellcheck disable=SC2086 # An option and its value.
        RUSTFLAGS="-D warnings" cargo check --quiet -p dsrs-metrics --target "$target" $features
    else
        echo "not checked: no standard library for $target, and rustup cannot install it"
    fi
done
