#!/usr/bin/env bash
# Checks the integrations, workspaces of their own, each with a cargo target folder of its own:
#
#   integrations/check.sh [NAME..]     lints, documentation and tests of those named, or of all
#
# `ballista` is in the workspace of `datafusion`, and checked with it.
set -euo pipefail
cd "$(dirname "$0")"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/dsrs-metrics/integrations"

[ "$#" -gt 0 ] || set -- datafusion dspy-rs python
for name in "$@"; do
    printf '\n-- %s (%s s)\n' "$name" "$SECONDS"
    export CARGO_TARGET_DIR="$cache/$name"
    if [ -x "$name/check.sh" ]; then
        "$name/check.sh"
        continue
    fi
    manifest=(--manifest-path "$name/Cargo.toml")
    cargo clippy --quiet --locked "${manifest[@]}" --workspace --all-targets -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked "${manifest[@]}" --workspace --no-deps
    # A proxy for the network is not one for servers of the tests.
    NO_PROXY=127.0.0.1 cargo test --quiet --locked "${manifest[@]}" --workspace
done
