"""A program that uses the types of the package; `mypy --strict` checks it, and pytest runs it (test_types.py)."""

from typing import Any, assert_type

import dsrs_metrics
from dsrs_metrics import EM, Metric, MetricError, f1_batch, metric


def main() -> None:
    assert_type(EM("Paris", ["paris"]), bool)
    assert_type(f1_batch(["Paris"], [["paris", "Paris, France"]]), list[float])
    f1 = metric("f1", threshold=0.8, lm=None)
    assert_type(f1, Metric)
    assert_type(f1.batch(["Paris"], ["paris"]), list[float])
    assert_type(f1.batch(["Paris"], ["paris"], return_exceptions=True), list[float | Exception])
    details = f1.details({"answer": "Paris"}, {"answer": "Rome"})
    assert_type(details["passed"], bool | None)
    assert_type(f1.spec["range"], dsrs_metrics.Range | None)
    assert_type(f1.identity, dict[str, Any])
    assert_type(f1.evaluate(["a"], ["a"], label="one", tags={"prompt": "v2"}), dict[str, Any])
    try:
        metric("accuracy")("a", "a")
    except MetricError as error:
        assert_type(error.row, int | None)


if __name__ == "__main__":
    main()
