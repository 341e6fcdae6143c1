"""DSPy's own examples and tests of its metrics, with our functions in place of its own.

The package on PyPI has no tests of the metrics. Its documentation has examples, which are read from the installed package.
`DSRS_METRICS_DSPY_TESTS` names the folder `tests` of a clone of DSPy, whose tests of metrics and of `Evaluate` run too.
"""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import dspy
import pytest
from dspy.evaluate import metrics as theirs

import dsrs_metrics as ours

REPLACED = [
    "EM",
    "F1",
    "HotPotF1",
    "normalize_text",
    "em_score",
    "f1_score",
    "hotpot_f1_score",
    "precision_score",
    "answer_exact_match",
    "answer_passage_match",
]

# A plugin of pytest that replaces the functions before the tests import them.
PLUGIN = f"""
import dspy, dspy.evaluate, dspy.evaluate.metrics, dsrs_metrics
for name in {REPLACED!r}:
    for module in (dspy, dspy.evaluate, dspy.evaluate.metrics):
        if hasattr(module, name):
            setattr(module, name, getattr(dsrs_metrics, name))
assert dspy.evaluate.metrics.EM is dsrs_metrics.EM
"""


def blocks(function):
    """The code of the examples in a docstring."""
    code = re.findall(r"```python\n(.*?)```", inspect.cleandoc(function.__doc__), re.DOTALL)
    return [inspect.cleandoc(block) for block in code]


@pytest.mark.parametrize("name", REPLACED)
def test_the_examples_of_the_documentation_have_the_same_values(name):
    compared = 0
    for block in blocks(getattr(theirs, name)):
        spaces = [{"dspy": dspy} | {one: getattr(module, one) for one in REPLACED} for module in (theirs, ours)]
        for line in filter(None, map(str.strip, block.splitlines())):
            if line.startswith("import") or re.match(r"\w+ = ", line):
                for space in spaces:
                    exec(line, space)
                continue
            expected, found = (eval(line.split("  #")[0], space) for space in spaces)
            assert found == expected, line
            compared += 1
    assert compared > 0


@pytest.mark.skipif("DSRS_METRICS_DSPY_TESTS" not in os.environ, reason="needs the tests of a clone of DSPy")
def test_dspy_s_own_tests_pass(tmp_path):
    tests = Path(os.environ["DSRS_METRICS_DSPY_TESTS"]).resolve() / "evaluate"
    (tmp_path / "replaced_metrics.py").write_text(PLUGIN)
    files = [str(tests / name) for name in ("test_metrics.py", "test_evaluate.py")]
    options = ["-q", "--extra", "-p", "replaced_metrics", "-p", "no:cacheprovider", "--rootdir", str(tests.parent)]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *files], capture_output=True, text=True, env=environment, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert re.search(r"\d+ passed", run.stdout), run.stdout
