"""The exceptions of dsrs_metrics."""

from __future__ import annotations

__all__ = ["Error", "InputError", "PanicError"]


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


class InputError(Error, ValueError):
    """Rows that a metric cannot compare."""


class PanicError(Error, RuntimeError):
    """A bug of this package: the compiled code panicked."""


for _exception in (Error, InputError, PanicError):
    _exception.__module__ = "dsrs_metrics"
