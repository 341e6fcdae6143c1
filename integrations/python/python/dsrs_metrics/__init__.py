"""Metrics for programs built on language models: DSPy's functions, compiled.

>>> from dsrs_metrics import EM, F1, f1_batch
>>> EM("The Eiffel Tower", ["Eiffel Tower", "Louvre"])
True
>>> f1_batch(["Eiffel Tower in Paris", "Rome"], ["Paris", ["Rome", "Roma"]])
[0.4, 1.0]
"""

from ._errors import Error, InputError, PanicError
from ._native import (
    EM,
    F1,
    HotPotEM,
    HotPotF1,
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
    normalize_text,
    normalize_text_batch,
    precision_batch,
    precision_score,
)

__all__ = [
    "EM",
    "F1",
    "Error",
    "HotPotEM",
    "HotPotF1",
    "InputError",
    "PanicError",
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
    "normalize_text",
    "normalize_text_batch",
    "precision_batch",
    "precision_score",
]
