#!/usr/bin/env python3
"""Lines of code of each package of the library, without blank lines, comments, documentation and tests, as rustfmt's defaults
write them:

    .ci/lines.py                          fails if a package has more lines than .ci/lines.txt records
    DSRS_METRICS_RECORD=1 .ci/lines.py    records the numbers

A package may grow. The commit that makes it grow records the number.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORD = ROOT / ".ci/lines.txt"
FOLDERS = [ROOT / "dsrs-metrics/src", *sorted(ROOT.glob("crates/*/src"))]
TEST_MODULE = re.compile(r"#\[cfg\((?:all\()?test\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))? )?mod (\w+);")


def test_files(folder):
    """The files and folders of modules that only tests compile."""
    found = set()
    for path in folder.rglob("*.rs"):
        for name in TEST_MODULE.findall(path.read_text()):
            base = path.parent if path.name in ("mod.rs", "lib.rs", "main.rs") else path.with_suffix("")
            found |= {base / f"{name}.rs", base / name}
    return found


def without_tests(lines):
    """The lines, without the items below `#[cfg(test)]`."""
    lines = iter(lines)
    for line in lines:
        if not re.match(r"#\[cfg\((all\()?test\b", line):
            yield line
            continue
        depth, has_begun = 0, False
        for line in lines:
            if not has_begun and line.startswith("#["):
                continue
            depth += line.count("{") - line.count("}")
            has_begun |= "{" in line
            if (has_begun and depth <= 0) or (not has_begun and line.endswith(";")):
                break


def code(path):
    lines = (line.strip() for line in path.read_text().splitlines())
    return sum(1 for line in without_tests(lines) if line and not line.startswith("//"))


def lines_of(folder, copies):
    copy = copies / folder.relative_to(ROOT)
    shutil.copytree(folder, copy)
    files = sorted(copy.rglob("*.rs"))
    subprocess.run(["rustfmt", "--edition", "2024", "--config-path", copies, *files], check=True, capture_output=True)
    tests = test_files(copy)
    return sum(code(path) for path in files if not any(path == test or test in path.parents for test in tests))


with tempfile.TemporaryDirectory() as copies:
    copies = pathlib.Path(copies)
    (copies / "rustfmt.toml").write_text('edition = "2024"\n')
    counts = {folder.parent.relative_to(ROOT).as_posix(): lines_of(folder, copies) for folder in FOLDERS}
counts["in all"] = sum(counts.values())

if os.environ.get("DSRS_METRICS_RECORD") == "1":
    RECORD.write_text("".join(f"{lines:7} {name}\n" for name, lines in counts.items()))
recorded = {name: int(lines) for lines, name in (line.split(maxsplit=1) for line in RECORD.read_text().splitlines())}
grown = False
for name, lines in counts.items():
    before = recorded.get(name, 0)
    print(f"{lines:7} {name}" + (f" ({lines - before:+})" if lines != before else ""))
    grown |= lines > before and name != "in all"
if grown:
    sys.exit("more lines than .ci/lines.txt records; remove some, or record them: DSRS_METRICS_RECORD=1 .ci/lines.py")
