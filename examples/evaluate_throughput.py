#!/usr/bin/env python3
"""What the two harnesses themselves cost: this library's `Evaluate` beside DSPy's.

Trivial rows, a trivial program and a trivial metric on both sides, no model in sight.
Needs `pip install dspy`; the interpreter may be named by DSRS_METRICS_PYTHON.

    python3 examples/evaluate_throughput.py [ROWS ...]
"""

import logging
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def with_named_interpreter():
    """Starts over under DSRS_METRICS_PYTHON, if that is another interpreter."""
    named = os.environ.pop("DSRS_METRICS_PYTHON", None)
    if named and Path(named).absolute() != Path(sys.executable).absolute():
        os.execv(named, [named, *sys.argv])


def ours(most_rows):
    """The example's own table, and its lines by number of rows."""
    command = ["cargo", "run", "--release", "--quiet", "--package", "dsrs-metrics-examples"]
    command += ["--example", "evaluate_throughput", "--", str(most_rows)]
    table = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    lines = [line.split() for line in table.splitlines()]
    numbers = [line for line in lines if line and line[0].isdigit()]
    return table, {int(line[0]): float(line[1]) for line in numbers}


def theirs(rows, threads):
    """Microseconds per row of one run of DSPy's Evaluate."""
    import dspy

    class Program(dspy.Module):
        def forward(self, question):
            return dspy.Prediction(answer="2")

    def same(example, prediction, trace=None):
        return example.answer == prediction.answer

    row = {"question": "1 + 1?", "answer": "2"}
    devset = [dspy.Example(**row).with_inputs("question") for _ in range(rows)]
    evaluate = dspy.Evaluate(devset=devset, metric=same, num_threads=threads, display_progress=False)
    started = time.perf_counter()
    result = evaluate(Program())
    seconds = time.perf_counter() - started
    assert result.score == 100.0, result
    return seconds * 1e6 / rows


def main():
    with_named_interpreter()
    sizes = [int(rows) for rows in sys.argv[1:]] or [1_000, 5_000, 10_000]
    table, per_row = ours(1_000_000)
    print(table)
    import dspy

    logging.disable(logging.INFO)
    print(f"us/row, dspy {dspy.__version__} beside dsrs-metrics (run, synchronous metric, one thread)")
    print(f"{'rows':>9}  {'dspy, 1 thread':>14}  {'dspy, 8 threads':>15}  {'dsrs-metrics':>12}")
    for rows in sizes:
        one, eight = theirs(rows, 1), theirs(rows, 8)
        print(f"{rows:>9}  {one:>14.1f}  {eight:>15.1f}  {per_row.get(rows, float('nan')):>12.2f}")


if __name__ == "__main__":
    main()
