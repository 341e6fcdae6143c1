#!/usr/bin/env python3
"""Prints which messages the recorded cases cover, as templates: text with backticked names and numbers blanked.

    tests/ui/templates.py [FOLDER]...    default: the cases of rustc and of the macros in this repository

One line for each template, sorted, with its kind: `error` (with rustc's code), `note`, `help`, or `label` for the text
behind carets. To see that a change loses no message, compare the output before and after it:

    tests/ui/templates.py > before; ...; tests/ui/templates.py | comm -23 before -
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = [ROOT / "tests/ui/fail", ROOT / "dsrs-metrics-macros/tests/messages"]

MESSAGE = re.compile(r"^\s*(?:= )?((?:error|warning)(?:\[E\d+\])?|note|help): (.*)$")
PLACE = re.compile(r"^\s*(-->|:::) ")
SOURCE = re.compile(r"^\s*(\d+|\.\.\.)?\s*[|~+-]|^\.\.\.$")
LABEL = re.compile(r"^\s*\|(?=[^A-Za-z`]*[\^-]|[\s|]*\|)[\s|/_^~+-]*([^\s|/_^~+#-].*)$")


def messages(text):
    """The (kind, message) pairs of a recorded file; lines that continue a message belong to it."""
    found, is_open = [], False
    for line in text.splitlines():
        if match := MESSAGE.match(line):
            found.append(list(match.groups()))
            is_open = True
        elif PLACE.match(line) or SOURCE.match(line) or not line.strip():
            is_open = False
            if label := LABEL.match(line):
                found.append(["label", label.group(1)])
        elif is_open and not found[-1][1].startswith("the following other types"):
            found[-1][1] += " " + line.strip()
    return found


def template(message):
    return re.sub(r"\d+(\.\d+)*", "0", re.sub(r"`[^`]*`", "`_`", message))


def templates(file):
    return {f"{kind}: {template(message)}" for kind, message in messages(file.read_text())}


def main():
    folders = [pathlib.Path(name) for name in sys.argv[1:]] or FOLDERS
    files = [file for folder in folders for file in folder.glob("*/*") if file.suffix in (".stderr", ".expected")]
    print("\n".join(sorted(set().union(*map(templates, files)))))


if __name__ == "__main__":
    main()
