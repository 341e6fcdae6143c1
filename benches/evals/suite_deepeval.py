"""The suite with deepeval's assert_test: prints how many of 200 unchanged runs fail, and the first failure."""

import os
import sys

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"

from deepeval import assert_test
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

RUNS = int(sys.argv[1])


def noise(seed):
    """A number in [0, 1) for a seed (SplitMix64), the same as in suite.rs."""
    bits = (1 << 64) - 1
    mixed = (seed + 1) * 0x9E3779B97F4A7C15 & bits
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & bits
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & bits
    return ((mixed ^ mixed >> 31) >> 11) / (1 << 53)


class Polite(BaseMetric):
    """A judge that finds each reply polite in nine of ten runs."""

    threshold, async_mode, name = 0.5, False, "Polite"
    run = 0

    def measure(self, case, *args, **kwargs):
        row = int(case.actual_output.rsplit(" ", 1)[1])
        self.score = float(noise(1_000 * Polite.run + row) < 0.9)
        self.success = self.score >= self.threshold
        return self.score

    async def a_measure(self, case, *args, **kwargs):
        return self.measure(case)

    def is_successful(self):
        return self.success

    @property
    def __name__(self):
        return self.name


def replies(question):
    return question.replace("question", "reply")


# begin
def test_replies(row):
    question = f"question number {row}"
    case = LLMTestCase(input=question, actual_output=replies(question))
    assert_test(case, [Polite()], run_async=False)


# end

failed_runs, failed_rows, first = 0, 0, None
for run in range(1, RUNS + 1):
    Polite.run, failed = run, 0
    for row in range(40):
        try:
            test_replies(row)
        except AssertionError as error:
            failed += 1
            first = first or str(error)
    failed_runs += failed > 0
    failed_rows += failed
print(f"deepeval: {failed_runs} of {RUNS} unchanged runs fail, {failed_rows / RUNS:.1f} of 40 tests in the mean; the first prints:\n{first}")
