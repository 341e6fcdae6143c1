"""Types of the compiled part of dsrs_metrics."""

import inspect
from collections.abc import Coroutine, Iterable
from typing import Any, Literal, final, overload

from ._types import Answers, ArrayColumn, Column, Details, LanguageModel, Row, Spec

__all__ = [
    "EM",
    "F1",
    "HotPotEM",
    "HotPotF1",
    "Metric",
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

@final
class Metric:
    def __call__(
        self,
        gold: Row,
        pred: Row,
        trace: Any = None,
        pred_name: str | None = None,
        pred_trace: Any = None,
    ) -> Any: ...
    def acall(
        self,
        gold: Row,
        pred: Row,
        trace: Any = None,
        pred_name: str | None = None,
        pred_trace: Any = None,
    ) -> Coroutine[Any, Any, Any]: ...
    def details(
        self,
        gold: Row,
        pred: Row,
        trace: Any = None,
        pred_name: str | None = None,
        pred_trace: Any = None,
    ) -> Details: ...
    @overload
    def batch(
        self,
        golds: Column,
        preds: Column | Iterable[Row],
        *,
        concurrency: int = 32,
        return_exceptions: Literal[False] = False,
    ) -> ArrayColumn: ...
    @overload
    def batch(
        self,
        golds: Iterable[Row] | None,
        preds: Column,
        *,
        concurrency: int = 32,
        return_exceptions: Literal[False] = False,
    ) -> ArrayColumn: ...
    @overload
    def batch(
        self,
        golds: Iterable[Row] | None,
        preds: Iterable[Row],
        *,
        concurrency: int = 32,
        return_exceptions: Literal[False] = False,
    ) -> list[float]: ...
    @overload
    def batch(
        self,
        golds: Iterable[Row] | None,
        preds: Iterable[Row],
        *,
        concurrency: int = 32,
        return_exceptions: bool,
    ) -> list[float | Exception]: ...
    @overload
    def batch(
        self,
        golds: Column | Iterable[Row] | None,
        preds: Column | Iterable[Row],
        *,
        concurrency: int = 32,
        return_exceptions: Literal[True],
    ) -> list[float | Exception]: ...
    def evaluate(
        self,
        golds: Column | Iterable[Row] | None,
        preds: Column | Iterable[Row],
        *,
        concurrency: int = 32,
        failure_score: float = 0.0,
        label: str | None = None,
        tags: dict[str, str] | None = None,
    ) -> dict[str, Any]: ...
    def with_feedback(self) -> Metric: ...
    @property
    def name(self) -> str: ...
    @property
    def __name__(self) -> str: ...
    @property
    def spec(self) -> Spec: ...
    @property
    def identity(self) -> dict[str, Any]: ...
    @property
    def __signature__(self) -> inspect.Signature: ...
    def __copy__(self) -> Metric: ...
    def __deepcopy__(self, memo: Any) -> Metric: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

def metric(
    name: str,
    /,
    *,
    lm: LanguageModel | None = None,
    offline: bool = False,
    feedback: bool = False,
    **params: Any,
) -> Metric: ...
def metrics() -> list[str]: ...
def normalize_text(s: str) -> str: ...
def EM(prediction: str, answers_list: list[str]) -> bool: ...
def F1(prediction: str, answers_list: list[str]) -> float: ...
def HotPotF1(prediction: str, answers_list: list[str]) -> float: ...
def HotPotEM(prediction: str, answers_list: list[str]) -> bool: ...
def em_score(prediction: str, ground_truth: str) -> bool: ...
def f1_score(prediction: str, ground_truth: str) -> float: ...
def hotpot_f1_score(prediction: str, ground_truth: str) -> float: ...
def precision_score(prediction: str, ground_truth: str) -> float: ...
def answer_exact_match(example: Any, pred: Any, trace: Any = None, frac: float = 1.0) -> bool: ...
def answer_passage_match(example: Any, pred: Any, trace: Any = None) -> bool: ...
@overload
def normalize_text_batch(texts: Column) -> ArrayColumn: ...
@overload
def normalize_text_batch(texts: Iterable[str]) -> list[str]: ...
@overload
def em_batch(predictions: Column, answers: Column | Iterable[Answers]) -> ArrayColumn: ...
@overload
def em_batch(predictions: Iterable[str], answers: Column) -> ArrayColumn: ...
@overload
def em_batch(predictions: Iterable[str], answers: Iterable[Answers]) -> list[bool]: ...
@overload
def f1_batch(predictions: Column, answers: Column | Iterable[Answers]) -> ArrayColumn: ...
@overload
def f1_batch(predictions: Iterable[str], answers: Column) -> ArrayColumn: ...
@overload
def f1_batch(predictions: Iterable[str], answers: Iterable[Answers]) -> list[float]: ...
@overload
def hotpot_f1_batch(predictions: Column, answers: Column | Iterable[Answers]) -> ArrayColumn: ...
@overload
def hotpot_f1_batch(predictions: Iterable[str], answers: Column) -> ArrayColumn: ...
@overload
def hotpot_f1_batch(predictions: Iterable[str], answers: Iterable[Answers]) -> list[float]: ...
@overload
def precision_batch(predictions: Column, answers: Column | Iterable[Answers]) -> ArrayColumn: ...
@overload
def precision_batch(predictions: Iterable[str], answers: Column) -> ArrayColumn: ...
@overload
def precision_batch(predictions: Iterable[str], answers: Iterable[Answers]) -> list[float]: ...
@overload
def answer_exact_match_batch(
    predictions: Column, answers: Column | Iterable[Answers], frac: float = 1.0
) -> ArrayColumn: ...
@overload
def answer_exact_match_batch(
    predictions: Iterable[str], answers: Column, frac: float = 1.0
) -> ArrayColumn: ...
@overload
def answer_exact_match_batch(
    predictions: Iterable[str], answers: Iterable[Answers], frac: float = 1.0
) -> list[bool]: ...
@overload
def answer_passage_match_batch(
    contexts: Column, answers: Column | Iterable[Answers]
) -> ArrayColumn: ...
@overload
def answer_passage_match_batch(
    contexts: Iterable[Iterable[str]], answers: Column
) -> ArrayColumn: ...
@overload
def answer_passage_match_batch(
    contexts: Iterable[Iterable[str]], answers: Iterable[Answers]
) -> list[bool]: ...
