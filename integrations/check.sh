#!/usr/bin/env bash
# Checks the integrations, each a workspace of its own with a cargo target folder of its own:
#
#   integrations/check.sh [NAME..]     formatting, lints, documentation and tests of those named, or of all
set -euo pipefail
cd "$(dirname "$0")"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/dsrs-metrics/integrations"

[ "$#" -gt 0 ] || set -- */
for name in "$@"; do
    name="${name%/}"
    printf '\n-- %s (%s s)\n' "$name" "$SECONDS"
    export CARGO_TARGET_DIR="$cache/$name"
    if [ -x "$name/check.sh" ]; then
        "$name/check.sh"
        continue
    fi
    manifest=(--manifest-path "$name/Cargo.toml")
    cargo fmt --check "${manifest[@]}"
    cargo clippy --quiet --locked "${manifest[@]}" --all-targets -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked "${manifest[@]}" --no-deps
    # A proxy for the network is not one for servers of the tests.
    NO_PROXY=127.0.0.1 cargo test --quiet --locked "${manifest[@]}"
done
