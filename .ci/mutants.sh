#!/usr/bin/env bash
# Whether a test notices each small change of the short formulas of `stats`, with `cargo mutants`:
#
#   .ci/mutants.sh [MINUTES]   all mutants, 60 minutes if not said
#   .ci/mutants.sh --quick     every eighth of them, a step of `.ci/run`
#
# The unit tests of a package are run against its mutants. `exclude_re` of `.cargo/mutants.toml` lists the mutants that no test can
# notice, each with its reason. Needs `cargo-mutants` in PATH, which `.ci/run mutants` installs.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
# Enough to notice a mutant.
export PROPTEST_CASES=32
folder="$CARGO_TARGET_DIR/mutants"

# Mutants are made in a copy. Its packages do not depend on the facade, which only the examples of the documentation need, and which
# would be compiled again for each mutant.
rm -rf "$folder" && mkdir -p "$folder/tree"
git ls-files -z -- ':!integrations' ':!fuzz' | xargs -0 cp --parents -t "$folder/tree"
cd "$folder/tree"
sed -i '/^# Examples of the documentation use the library/d; /^dsrs-metrics = { path = "..\/..\/dsrs-metrics"/d' crates/{values,core,run}/Cargo.toml

# Mutants of files, and the tests that run against them: PACKAGE FILES [TEST]..
mutants() {
    local status=0 output
    output="$folder/$1-$(basename "$(dirname "$2")")"
    timeout "$((limit - SECONDS))" cargo mutants --in-place --no-shuffle --colors never --output "$output" "${share[@]}" \
        --package "$1" --file "$2" --cargo-arg=--lib -- "${@:3}" || status=$?
    case "$status" in
        # All are caught, some are missed, or some are caught by the time limit of a mutant, which hides the ones that are missed.
        0 | 2 | 3) cat "$output/mutants.out/missed.txt" >> "$folder/missed.txt" ;;
        124)
            echo "the time limit ended the mutants of $2; write a larger number of minutes" >&2
            exit 1
            ;;
        *) exit "$status" ;;
    esac
}

: > "$folder/missed.txt"
if [ "${1:-}" = --quick ]; then
    limit=1200 share=(--shard 0/8 --sharding round-robin)
else
    limit=$((${1:-60} * 60)) share=()
fi
mutants dsrs-metrics-values 'crates/values/src/stats/{confusion,f_beta,harmonic_mean,interval,pass_at_k}.rs' stats::
if [ -s "$folder/missed.txt" ]; then
    echo "no test notices these changes; add a test of values, or list the change in exclude_re of .cargo/mutants.toml with a reason:" >&2
    cat "$folder/missed.txt" >&2
    exit 1
fi
