"""Records the arguments with which the test of a function calls it.

Prints one call on each line, as a Python literal `(args, kwargs)`. The work directory has `reference.py`, a correct
solution; `test.py`, which defines `check(candidate)`; and `entry_point`, the name of the function.
"""

import ast
import random
import sys

namespace = {"__name__": "reference"}
for path in ("reference.py", "test.py"):
    with open(path) as source:
        exec(compile(source.read(), path, "exec"), namespace)
with open("entry_point") as name:
    reference = namespace[name.read().strip()]
stdout, sys.stdout = sys.stdout, sys.stderr


def candidate(*args, **kwargs):
    call = repr((args, kwargs))
    if ast.literal_eval(call) != (args, kwargs):
        sys.exit(f"expected arguments that are plain data, found {call}")
    print(call, file=stdout)
    return reference(*args, **kwargs)


# `check.py` makes the same random choices.
random.seed(0)
namespace["check"](candidate)
