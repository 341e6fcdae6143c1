#!/usr/bin/env bash
# Whether a release would work, from the archives that `cargo package` writes:
#
# Checks their contents, follows the tutorial and runs the programs of the README with them, and checks them with the oldest Rust
# and the oldest direct dependencies that they declare, and for other targets. Nothing is uploaded.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
packaged="$CARGO_TARGET_DIR/packaged"

part() { printf '\n-- %s (%s s)\n' "$1" "$SECONDS"; }

part "archives"
.ci/packages.py --archives "$packaged"

# With the packages of the step `tests`, so that the library is not compiled again.
part "the tutorial and the programs of the README"
DSRS_METRICS_PACKAGED="$packaged/registry" cargo test --quiet --workspace --test guide -- --nocapture

lock="$PWD/Cargo.lock"
cd "$packaged"
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

# Features without C, which has no compiler for these targets here. Nothing is linked, so the C code of the allocator is left out.
export CC_aarch64_unknown_linux_gnu=true AR_aarch64_unknown_linux_gnu=true
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
