"""The types of what metrics read and return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol, TypedDict, Union

Answers = Union[str, list[str]]
"""The reference answers of a row: one, or several that are equally good."""

Row = Any
"""A `dspy.Example` or `dspy.Prediction`, a dict, an object with attributes, or the value of the only field."""


class ArrayColumn(Protocol):
    """A column in one piece, as functions return it; `pyarrow.array(..)` and `polars.Series(..)` take it without a copy."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


class StreamColumn(Protocol):
    """A column or table in chunks."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


Column = Union[ArrayColumn, StreamColumn]
"""A column or table of pyarrow, polars, pandas, DuckDB or another library with Arrow's PyCapsule interface."""

LanguageModel = Union[str, Callable[..., Any]]
"""`"provider:model"`, or a callable that is called with `messages=` and returns a str or a list of one."""


class Field(TypedDict):
    """A field that a metric reads."""

    name: str
    type: str
    required: bool


class Param(TypedDict):
    """A parameter of a metric."""

    name: str
    type: str
    default: Any
    doc: str
    required: bool


class Range(TypedDict):
    """The interval of a score."""

    min: float
    max: float


class Spec(TypedDict):
    """The declaration of a metric. Where a score does not depend on it, `missing` is absent."""

    name: str
    doc: str
    tier: Literal["proxy", "truth"]
    cost_msats: int
    kind: Literal["bool", "number", "corpus"]
    threshold: float | None
    range: Range | None
    direction: Literal["higher_is_better", "lower_is_better"]
    strict: bool
    is_async: bool
    gold: list[Field]
    pred: list[Field]
    params: list[Param]
    version: str


class Part(TypedDict):
    """One of several named scores."""

    name: str
    value: float
    feedback: str | None


class Details(TypedDict):
    """A score with its explanation."""

    score: float
    passed: bool | None
    confidence: float
    details: str | None
    feedback: str | None
    cost_msats: int
    metadata: dict[str, Any]
    parts: list[Part]
    components: list[dict[str, Any]]
    missing_fields: list[str]
