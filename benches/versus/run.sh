#!/usr/bin/env bash
# Compares the speed of the text metrics with that of their Python peers and prints a table; see README.md.
# `run.sh --quick` compares the results, with a few rows and samples.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/../.." && pwd)"

python="${DSRS_METRICS_PYTHON:-}"
if [ -z "$python" ]; then
    peers="${XDG_CACHE_HOME:-$HOME/.cache}/dsrs-metrics/versus"
    wanted="$(cat "$here/requirements.txt")"
    if [ "$(cat "$peers/installed" 2>/dev/null)" != "$wanted" ]; then
        rm -rf "$peers" && mkdir -p "$(dirname "$peers")"
        python3 -m venv "$peers"
        "$peers/bin/pip" install --quiet -r "$here/requirements.txt"
        printf '%s\n' "$wanted" > "$peers/installed"
    fi
    python="$peers/bin/python"
fi

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target}"
cargo build --quiet --release --manifest-path "$root/Cargo.toml" -p dsrs-metrics-versus

# Both sides on one core, the one that fewer interrupts use.
pinned=()
command -v taskset > /dev/null && pinned=(taskset -c "$(($(nproc) - 1))")
exec "${pinned[@]}" "$python" "$here/versus.py" "$CARGO_TARGET_DIR/release/versus" "$@"
