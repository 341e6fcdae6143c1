"""The shared rows of question answering, and the functions of DSPy beside ours."""

import json
import os
import tempfile
from pathlib import Path

import pytest

# DSPy reads this when it is imported: the tests neither read nor write the user's cache.
_CACHE = tempfile.TemporaryDirectory(prefix="dsrs-metrics-dspy-")
os.environ["DSPY_CACHEDIR"] = _CACHE.name


@pytest.fixture(scope="session")
def qa():
    """Rows of three models: dicts with `gold` and `pred`."""
    folder = os.environ.get("DSRS_METRICS_DATA")
    if folder is None:
        if os.environ.get("DSRS_METRICS_REQUIRE"):
            pytest.fail("DSRS_METRICS_DATA is not set; set it to the folder of the shared data")
        pytest.skip("DSRS_METRICS_DATA is not set")
    rows = []
    for file in sorted(Path(folder, "qa").glob("*.jsonl")):
        rows += [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert len(rows) > 3000
    return rows
