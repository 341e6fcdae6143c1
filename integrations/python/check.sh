#!/usr/bin/env bash
# Builds the wheel, installs it into a Python environment of its own, and runs the tests, the examples of the documentation,
# the type checker, and the comparison with DSPy's values. The environment and the cargo target are outside the clone.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/../.." && pwd)"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/dsrs-metrics"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$cache/target}"
mkdir -p "$cache"

venv="$cache/python"
packages="$(grep -E '^(dspy|duckdb|pandas|polars|pyarrow|pytest)==' "$root/.ci/peers.txt")
maturin==1.16.0
mypy==2.4.1"
if [ "$(cat "$venv/installed" 2>/dev/null)" != "$packages" ]; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    # shellcheck disable=SC2086 # One argument a package.
    "$venv/bin/pip" install --quiet $packages
    printf '%s\n' "$packages" > "$venv/installed"
fi
export PATH="$venv/bin:$PATH" VIRTUAL_ENV="$venv"

# The variables with which maturin compiles pyo3, so that clippy does not compile it again.
cd "$here"
cargo clippy --locked --no-default-features -- -D warnings
cargo clippy --locked -- -D warnings
wheels="$CARGO_TARGET_DIR/wheels-python"
rm -rf "$wheels"
# Unoptimized, because the tests compare values and do not measure time.
maturin build --quiet --locked --profile dev --out "$wheels"
pip install --quiet --force-reinstall --no-deps "$wheels"/*.whl

# Not in the folder of the sources, so that the installed package is imported.
cd "$here/tests"
python -m pytest -p no:cacheprovider -c "$here/pyproject.toml" --rootdir "$here" "$here/tests"
python ../benches/versus_dspy.py --quick
