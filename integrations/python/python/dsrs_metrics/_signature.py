"""The signature of a metric's call, as DSPy's optimizers inspect it."""

from __future__ import annotations

import inspect
from typing import Any


def _call(
    gold: Any, pred: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None
) -> Any:
    raise NotImplementedError


SIGNATURE = inspect.signature(_call)
