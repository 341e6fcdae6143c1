"""Metrics for programs built on language models.

DSPy's functions, and the built-in metrics of dsrs-metrics for ``dspy.Evaluate`` and DSPy's optimizers.

>>> from dsrs_metrics import EM, f1_batch, metric
>>> EM("The Eiffel Tower", ["Eiffel Tower", "Louvre"])
True
>>> f1_batch(["Eiffel Tower in Paris", "Rome"], ["Paris", ["Rome", "Roma"]])
[0.4, 1.0]
>>> metric("answer_exact_match")({"answer": "Paris"}, {"answer": "paris!"})
True
"""

from ._errors import (
    AbstainedError,
    Error,
    InputError,
    MetricError,
    PanicError,
    ParameterError,
)
from ._native import (
    EM,
    F1,
    HotPotEM,
    HotPotF1,
    Metric,
    answer_exact_match,
    answer_exact_match_batch,
    answer_passage_match,
    answer_passage_match_batch,
    em_batch,
    em_score,
    f1_batch,
    f1_score,
    hotpot_f1_batch,
    hotpot_f1_score,
    metric,
    metrics,
    normalize_text,
    normalize_text_batch,
    precision_batch,
    precision_score,
)
from ._types import Details, Field, Param, Part, Range, Spec

__all__ = [
    "EM",
    "F1",
    "AbstainedError",
    "Details",
    "Error",
    "Field",
    "HotPotEM",
    "HotPotF1",
    "InputError",
    "Metric",
    "MetricError",
    "PanicError",
    "Param",
    "ParameterError",
    "Part",
    "Range",
    "Spec",
    "answer_exact_match",
    "answer_exact_match_batch",
    "answer_passage_match",
    "answer_passage_match_batch",
    "em_batch",
    "em_score",
    "f1_batch",
    "f1_score",
    "hotpot_f1_batch",
    "hotpot_f1_score",
    "metric",
    "metrics",
    "normalize_text",
    "normalize_text_batch",
    "precision_batch",
    "precision_score",
]
