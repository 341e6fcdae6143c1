#!/usr/bin/env python3
"""Lines of code of the runtime crate and of the packages below it by module, without blank lines, comments,
documentation and tests.

    .ci/lines.py [FOLDER..]
"""

import pathlib
import re
import sys

FOLDERS = sys.argv[1:] or ["dsrs-metrics/src", *map(str, sorted(pathlib.Path("crates").glob("*/src")))]


def items(lines):
    """The lines, without the items below `#[cfg(test)]`."""
    lines = iter(lines)
    for line in lines:
        if not re.match(r"#\[cfg\((all\()?test", line):
            yield line
            continue
        depth, has_begun = 0, False
        for line in lines:
            if line.startswith("#["):
                continue
            depth += line.count("{") - line.count("}")
            has_begun |= "{" in line
            if (has_begun and depth <= 0) or (not has_begun and line.endswith(";")):
                break


def code(path):
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    return sum(1 for line in items(lines) if line and not line.startswith("//"))


modules = {}
for folder in map(pathlib.Path, FOLDERS):
    for path in folder.rglob("*.rs"):
        parts = path.relative_to(folder).parts
        if path.name != "tests.rs" and "tests" not in parts[:-1]:
            module = f"{folder.parent}/{parts[0].removesuffix('.rs') if len(parts) > 1 else '(root)'}"
            modules[module] = modules.get(module, 0) + code(path)
for module, lines in sorted(modules.items(), key=lambda module: -module[1]):
    print(f"{lines:7} {module}")
print(f"{sum(modules.values()):7} in all")
