"""The check stage: runs the test of a function over the results that the program stage wrote.

The function itself does not run here. The test gets a replacement that returns the written results in order. They are
parsed as Python literals, that is as plain data. The work directory has the files of `record.py`, and `calls`.
"""

import ast
import builtins
import random
import sys

with open("calls") as lines:
    calls = [ast.literal_eval(line) for line in lines]
with open("/program/files/results") as lines:
    results = [ast.literal_eval(line) for line in lines]
if len(results) != len(calls):
    sys.exit(f"expected {len(calls)} results, found {len(results)}")
replay = list(zip(calls, results))
replay.reverse()


def candidate(*args, **kwargs):
    call, (outcome, value) = replay.pop()
    if call != (args, kwargs):
        sys.exit(f"expected the call {call}, found {(args, kwargs)}; record the calls again")
    if outcome == "returned":
        return value
    # Only subclasses of `Exception`, so that the program cannot choose `SystemExit` and end the check.
    kind = getattr(builtins, value, None)
    is_exception = isinstance(kind, type) and issubclass(kind, Exception)
    raise (kind if is_exception else Exception)("raised by the program")


namespace = {"__name__": "reference"}
for path in ("reference.py", "test.py"):
    with open(path) as source:
        exec(compile(source.read(), path, "exec"), namespace)
random.seed(0)
namespace["check"](candidate)
