#!/usr/bin/env bash
# Makes the pictures of the README from a run of the quickstart: the printed text, and the scores in its HTML report.
# Needs Chromium, Node.js and the packages of tests/browser, which `.ci/run tools` installs.
set -euo pipefail
cd "$(dirname "$0")/../.."
DSRS_METRICS_RECORD=1 DSRS_METRICS_REQUIRE=1 cargo test -p dsrs-metrics-tests --test browser pictures::
