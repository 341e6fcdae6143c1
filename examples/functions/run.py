"""The program stage: calls a function with recorded arguments and writes what it returns.

The work directory has `program.py`, which defines the function; `entry_point`, its name; and `calls`, one call on each
line. `results` gets one line for each call, as a Python literal: `("returned", value)` or `("raised", name)`.
"""

with open("entry_point") as name:
    entry_point = name.read().strip()
# The calls come from the data set. `eval` starts faster than the module `ast`.
with open("calls") as lines:
    calls = [eval(line, {}) for line in lines]
namespace = {"__name__": "program"}
with open("program.py") as source:
    exec(compile(source.read(), "program.py", "exec"), namespace)
with open("results", "w") as results:
    for args, kwargs in calls:
        try:
            result = ("returned", namespace[entry_point](*args, **kwargs))
        except Exception as error:
            result = ("raised", type(error).__name__)
        print(repr(result), file=results)
