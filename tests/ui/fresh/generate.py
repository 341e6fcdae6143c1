#!/usr/bin/env python3
"""Makes mistakes that nobody has seen before, compiles each, and says how many messages name the fix.

    tests/ui/fresh/generate.py [--seed N] [--count N] [--group TEXT] [--show CLASS] [--fixed]

A mistake is a correct program in which one part is what a person writes instead (`forms.py` and the files beside it). Its
fix is known, so a rule decides what its message is:

    answered        the error says the fix, at the line of the mistake or elsewhere
    understandable  the error is at the line of the mistake and gives no other advice
    misleading      the error gives other advice, is at other lines, or names what only the library knows; or something
                    that uses the broken item has an error of its own
    accepted        the program compiles

Equal seeds make equal programs. `--show misleading` prints those programs with their messages, `--show all` every one.
`--fixed` compiles the correct programs instead, which must have no errors.
"""

import argparse
import collections
import concurrent.futures
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import calls, composites, evals, judges, metrics  # noqa: E401, F401 (they register their forms)
from forms import FORMS, Words
from mistakes import libraries

CLASSES = ["answered", "understandable", "misleading", "accepted"]
ADVICE = re.compile(r"write `|did you mean|; add `|; remove |; keep one|consider |try |help: ")
LEAK = re.compile(r"__private|dsrs_metrics_(core|run|builtin|values|lm|cli|macros)\b|__run|__dsrs|_::<impl|originates in the (attribute|derive) macro `(?!dsrs_metrics::async_trait)|originates in the macro `(?!example|prediction|dsrs_metrics::main)|__Gold|__Pred|'__|__judge")


def made(seed, count):
    """The mistakes of a seed, without equal ones."""
    words = Words(seed)
    weights = [times for _, _, times, _ in FORMS]
    found = {}
    while len(found) < count:
        ((_, function, _, _),) = words.choices(FORMS, weights)
        mistake = function(words)
        mistake.form = function.__name__
        if mistake.bad != mistake.good:
            found.setdefault(mistake.bad, mistake)
    return list(found.values())


def program(source):
    head = "#![allow(dead_code, unused_imports, unused_variables)]\nuse dsrs_metrics::prelude::*;\nuse serde_json::Value;\n"
    has_main = "fn main" in source or "main!" in source
    return head + source + ("" if has_main else "fn main() {}\n"), head.count("\n")


def diagnostics(mistake, source, files, folder, index):
    """The errors of rustc, as JSON."""
    text, _ = program(source)
    file = folder / f"m{index}.rs"
    file.write_text(text)
    library = pathlib.Path(files["dsrs_metrics"])
    command = ["rustc", "--edition=2024", "--emit=metadata", "--error-format=json", f"--out-dir={folder}", str(file)]
    command += ["--test"] if "#[eval" in source else []
    command += ["--extern", f"dsrs_metrics={library}", "-L", f"dependency={library.parent}"]
    for other in ("serde", "serde_json", "tokio"):
        command += ["--extern", f"{other}={files[other]}"]
    env = dict(os.environ, CARGO_MANIFEST_DIR=str(HERE), CARGO_PKG_NAME="fresh", CARGO_CRATE_NAME="fresh")
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, env=env)
    lines = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    return [line for line in lines if line.get("level") == "error" and not line["message"].startswith("aborting")]


def said(diagnostic):
    """Everything that a message says, without the source that it shows."""
    parts = [diagnostic["message"]]
    for span in diagnostic["spans"]:
        parts += [span.get("label") or "", span.get("suggested_replacement") or ""]
    return "\n".join(parts + [said(child) for child in diagnostic["children"]])


def joined(text):
    return re.sub(r"\s+", "", text)


def changed(mistake):
    """The lines of the program that differ from the correct one."""
    _, offset = program(mistake.bad)
    bad, good = mistake.bad.splitlines(), mistake.good.splitlines()
    lines = set()
    for tag, start, end, _, _ in difflib.SequenceMatcher(None, bad, good, autojunk=False).get_opcodes():
        if tag != "equal":
            lines.update(range(start + offset + 1, max(end, start + 1) + offset + 2 if start == end else end + offset + 1))
    if len(mistake.at) > 2:
        lines.update(number for number, line in enumerate(bad, offset + 1) if mistake.at in line)
    return lines


def places(diagnostic):
    return {line for span in diagnostic["spans"] if span["is_primary"] for line in range(span["line_start"], span["line_end"] + 1)}


def judged(mistake, errors):
    """The class of a mistake, and why."""
    if not errors:
        return "accepted", ""
    rendered = "\n".join(error["rendered"] for error in errors)
    leak = LEAK.search(rendered)
    if leak:
        return "misleading", f"names `{leak.group(0)}`"
    if mistake.group == "follow-ups" and len(errors) > 1:
        return "misleading", f"{len(errors)} errors"
    texts = joined("\n".join(said(error) for error in errors))
    if any(joined(fix) in texts for fix in mistake.fixes):
        return "answered", ""
    lines = changed(mistake)
    near = [error for error in errors if places(error) & lines or not places(error)]
    if not near:
        return "misleading", "is at other lines"
    if any(ADVICE.search(said(error)) for error in near):
        return "misleading", "gives other advice"
    return "understandable", ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--group", default="")
    parser.add_argument("--show", choices=[*CLASSES, "all"])
    parser.add_argument("--fixed", action="store_true")
    args = parser.parse_args()
    mistakes = [mistake for mistake in made(args.seed, args.count) if args.group in f"{mistake.group} {mistake.form}"]
    files = {features: libraries(features) for features in sorted({mistake.features for mistake in mistakes})}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        sources = [mistake.good if args.fixed else mistake.bad for mistake in mistakes]
        run = lambda index: diagnostics(mistakes[index], sources[index], files[mistakes[index].features], pathlib.Path(folder), index)
        found = list(pool.map(run, range(len(mistakes))))
    if args.fixed:
        broken = [(mistake, errors) for mistake, errors in zip(mistakes, found) if errors]
        for mistake, errors in broken:
            print(f"--- {mistake.group}: {mistake.form}\n{mistake.good}\n{errors[0]['rendered']}")
        print(f"{len(mistakes)} correct programs, {len(broken)} with errors")
        sys.exit(bool(broken))
    counts, errors_of, answers = collections.defaultdict(collections.Counter), collections.Counter(), collections.Counter()
    for mistake, errors in zip(mistakes, found):
        kind, why = judged(mistake, errors)
        counts[mistake.group][kind] += 1
        answers[kind] += 1
        errors_of[min(len(errors), 3)] += 1
        if args.show in (kind, "all"):
            print(f"--- {mistake.group}: {mistake.form}: {kind}{': ' if why else ''}{why}; the fix is {mistake.fixes}\n{mistake.bad}")
            print("\n".join(error["rendered"].strip() for error in errors) + "\n")
    for group, kinds in sorted(counts.items()):
        print(f"{group:28} {sum(kinds.values()):5}  " + "  ".join(f"{kind} {kinds[kind]}" for kind in CLASSES if kinds[kind]))
    total = sum(answers.values())
    print(f"seed {args.seed}: {total} mistakes: " + ", ".join(f"{answers[kind] / total:.1%} {kind}" for kind in CLASSES))
    print("errors each: " + ", ".join(f"{count} have {number}{'' if number < 3 else ' or more'}" for number, count in sorted(errors_of.items())))


if __name__ == "__main__":
    main()
