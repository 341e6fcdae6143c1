#!/usr/bin/env python3
"""Compiles beginners' mistakes, one program each, and checks what rustc prints for them.

    tests/ui/mistakes.py [--show] [NAME]...    default: all mistakes; --show prints the messages

`mistakes/AREA.rs` has the mistakes of an area. Each begins with a line that has its name and its class:

    //# NAME | answered | FIX         the message contains FIX, which is what to write instead
    //# NAME | understandable | WHY   the message is about the mistake, but does not contain the fix
    //# NAME | misleading | WHY       the message is about something else
    //# NAME | accepted               not a mistake: it compiles

One mistake is one error, unless the class is followed by another number: `answered 2`.

`//= FOLDER/CASE | CLASS | TEXT` is a case of `fail` or of the macros' own `messages`, whose recorded message is read. A line
`//! extern dm` renames the library in the program, and `//! features cli` checks the library with that feature. White space in messages is ignored, because rustc breaks lines.

The library is checked once for each set of features, and each program with one call of rustc. The command fails if an
answered mistake has lost its fix, if a mistake compiles or has more errors than declared, or if fewer than 89% are answered.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RECORDED = [(HERE / "fail", ".stderr"), (HERE.parents[1] / "dsrs-metrics-macros/tests/messages", ".expected")]
CLASSES = ["answered", "understandable", "misleading", "accepted"]
HEADER = re.compile(r"^//[#=] (.*)$", re.MULTILINE)
LEAST = 0.89


class Mistake:
    def __init__(self, area, header, source, is_recorded):
        fields = [field.strip() for field in header.split("|", 2)] + [""]
        self.name, self.text = f"{area}/{fields[0]}", fields[2]
        self.kind, _, errors = fields[1].partition(" ")
        self.errors = int(errors or 1)
        self.case, self.source, self.is_recorded = fields[0], source, is_recorded
        features = re.search(r"^//! features (\S+)$", source, re.MULTILINE)
        self.features = features.group(1) if features else ""
        if self.kind not in CLASSES or (self.kind != "accepted" and not self.text):
            sys.exit(f"{area}: expected `NAME | CLASS | TEXT`, found `{header}`")

    def program(self):
        """The source as a program; it imports the prelude unless it imports something itself."""
        renamed = re.search(r"^//! extern (\w+)$", self.source, re.MULTILINE)
        lines = self.source.splitlines()
        head = [line for line in lines if line.startswith("#![")]
        body = [line for line in lines if not line.startswith(("#![", "//! "))]
        name = renamed.group(1) if renamed else "dsrs_metrics"
        if not any(line.startswith(("use ", "#![no")) and (f"{name}::" in line or "#![no" in line) for line in lines):
            body.insert(0, f"#[allow(unused_imports)]\nuse {name}::prelude::*;")
        if "fn main" not in self.source and "main![" not in self.source:
            body.append("fn main() {}")
        return name, "\n".join([*head, "#![allow(dead_code)]", *body, ""])


def mistakes(names):
    found = []
    for file in sorted((HERE / "mistakes").glob("*.rs")):
        text = file.read_text()
        headers = list(HEADER.finditer(text))
        ends = [header.start() for header in headers[1:]] + [len(text)]
        for header, end in zip(headers, ends):
            is_recorded = header.group(0).startswith("//=")
            found.append(Mistake(file.stem, header.group(1), text[header.end() : end].strip(), is_recorded))
    every = [mistake.name for mistake in found]
    if twice := {name for name in every if every.count(name) > 1}:
        sys.exit(f"two mistakes of one name: {', '.join(sorted(twice))}")
    return [mistake for mistake in found if not names or any(name in mistake.name for name in names)]


def libraries(features):
    """The crates that a mistake can use, checked with these features of the library."""
    command = ["cargo", "check", "--quiet", "-p", "dsrs-metrics-ui", "--message-format=json"]
    command += [f"--features=dsrs-metrics/{feature}" for feature in features.split(",") if feature]
    checked = subprocess.run(command, cwd=HERE, stdout=subprocess.PIPE, check=True, text=True)
    files = {}
    for line in checked.stdout.splitlines():
        artifact = json.loads(line)
        for file in artifact.get("filenames", []):
            if file.endswith(".rmeta"):
                files[artifact["target"]["name"].replace("-", "_")] = file
    return files


def messages(mistake, files, folder):
    """The errors and warnings of rustc, as it prints them."""
    if mistake.is_recorded:
        paths = [(root / mistake.case).with_suffix(suffix) for root, suffix in RECORDED]
        return next((path.read_text() for path in paths if path.is_file()), None) or sys.exit(f"no case {mistake.case}")
    name, program = mistake.program()
    file = folder / f"{mistake.name.replace('/', '_')}.rs"
    file.write_text(program)
    library = pathlib.Path(files["dsrs_metrics"])
    command = ["rustc", "--edition=2024", "--emit=metadata", "--color=never", f"--out-dir={folder}", str(file)]
    command += ["--extern", f"{name}={library}", "-L", f"dependency={library.parent}"]
    for other in ("serde", "serde_json", "tokio"):
        command += ["--extern", f"{other}={files[other]}"]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, cwd=HERE.parents[1])
    return done.stderr.replace(str(folder) + "/", "")


def joined(text):
    """The text without line breaks, and without the bars that rustc draws at the beginning of a line."""
    return re.sub(r"[\s|]+", " ", text)


def problem(mistake, text):
    errors = re.findall(r"^error(?!: aborting)", text, re.MULTILINE)
    if mistake.kind == "accepted":
        return "does not compile" if errors else None
    if not errors:
        return "compiles"
    if mistake.kind != "answered":
        return None
    if joined(mistake.text) not in joined(text):
        return f"lost its fix: {mistake.text}"
    if len(errors) > mistake.errors and not mistake.is_recorded:
        return f"{len(errors)} errors, expected {mistake.errors}"
    leak = re.search(r"__private|originates in the attribute|'__|__Gold|__Pred", text)
    return f"names what only the expansion knows: {leak.group(0)}" if leak else None


def main():
    is_shown = "--show" in sys.argv
    names = [name for name in sys.argv[1:] if name != "--show"]
    all_of_them = mistakes(names)
    files = {features: libraries(features) for features in sorted({mistake.features for mistake in all_of_them})}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        texts = list(pool.map(lambda mistake: messages(mistake, files[mistake.features], pathlib.Path(folder)), all_of_them))
    failed = 0
    for mistake, text in zip(all_of_them, texts):
        found = problem(mistake, text)
        failed += found is not None
        if found or is_shown:
            print(f"--- {mistake.name} ({mistake.kind}): {found or 'as expected'}\n{text}")
    counts = {kind: sum(mistake.kind == kind for mistake in all_of_them) for kind in CLASSES}
    of = sum(counts.values()) - counts["accepted"]
    for mistake in all_of_them:
        if mistake.kind in ("understandable", "misleading"):
            print(f"{mistake.name}: {mistake.kind}: {mistake.text}")
    share = counts["answered"] / of if of else 1
    print(f"{of} mistakes: {counts['answered']} answered with the fix ({share:.0%}), {counts['understandable']} understandable, ", end="")
    print(f"{counts['misleading']} misleading; {counts['accepted']} accepted as valid; {failed} not as expected")
    sys.exit(failed > 0 or (share < LEAST and not names))


if __name__ == "__main__":
    main()
