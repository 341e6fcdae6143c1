"""The exceptions of dsrs_metrics."""

from __future__ import annotations

__all__ = [
    "AbstainedError",
    "Error",
    "InputError",
    "MetricError",
    "PanicError",
    "ParameterError",
]


class Error(Exception):
    """The base of the exceptions of this package.

    ``metric`` is the name of the metric or function, ``row`` the index of the row in a batch.
    """

    metric: str | None
    row: int | None

    def __init__(self, message: str, metric: str | None = None, row: int | None = None) -> None:
        super().__init__(message)
        self.metric = metric
        self.row = row


class ParameterError(Error, ValueError):
    """A metric that cannot be created: an unknown name, or an invalid parameter."""


class InputError(Error, ValueError):
    """Rows that a metric cannot read or compare."""


class MetricError(Error, RuntimeError):
    """A metric that failed, or that has no verdict for an optimizer."""


class AbstainedError(Error, RuntimeError):
    """A metric that has no score for this row, without having failed."""


class PanicError(Error, RuntimeError):
    """A bug of this package: the compiled code panicked."""


for _exception in (
    Error,
    ParameterError,
    InputError,
    MetricError,
    AbstainedError,
    PanicError,
):
    _exception.__module__ = "dsrs_metrics"
