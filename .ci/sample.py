#!/usr/bin/env python3
"""A random sample of the documentation, for an editor who marks what a native engineer would write differently:

    .ci/sample.py [SEED]

Prints 60 public items, each with the first paragraph of its documentation, and 40 paragraphs of pages. Without a seed, the
clock is the seed, and the first line names it. Paragraphs of fewer than 3 words in items and 12 in pages, code, tables and
headings are not drawn.
"""

import pathlib
import random
import re
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = [*ROOT.glob("crates/*/src/**/*.rs"), *ROOT.glob("dsrs-metrics*/src/**/*.rs")]
PAGES = [*ROOT.glob("dsrs-metrics/docs/**/*.md"), *ROOT.glob("*.md")]
ATTRIBUTE = r"^ *#\[.*\n(?:^(?! *(?:///|pub |fn |#)).*\n)*?"
DOCUMENTED = re.compile(rf"((?:^ *///.*\n)+)(?:{ATTRIBUTE})*?^ *(pub (?!\().*)$", re.MULTILINE)
LINK = re.compile(r"\[(`[^`]*`|[^\]0-9][^\]]*)\](\([^)]*\)|\[[^\]]*\])?")


def prose(text):
    return LINK.sub(r"\1", " ".join(text.split()))


def items():
    for path in sorted(SOURCES):
        for documentation, signature in DOCUMENTED.findall(path.read_text()):
            lines = [line.strip()[3:].strip() for line in documentation.splitlines()]
            first = prose("\n".join(lines).strip().split("\n\n")[0])
            if len(first.split()) >= 3 and not first.startswith("```"):
                yield f"`{signature[:100].strip()}`\n    {first}"


def paragraphs():
    for path in sorted(PAGES):
        text = re.sub(r"^ *```.*?^ *```", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
        for paragraph in re.split(r"\n\s*\n", text):
            paragraph = " ".join(paragraph.split())
            if len(paragraph.split()) >= 12 and not paragraph.startswith(("|", "#", "[", "<")):
                yield f"({path.relative_to(ROOT)}) {prose(paragraph)}"


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else time.time_ns() // 1_000_000
    print(f"seed {seed}")
    for title, texts, count in [("Items", list(items()), 60), ("Paragraphs", list(paragraphs()), 40)]:
        print(f"\n{title} ({count} of {len(texts)})")
        for number, text in enumerate(random.Random(seed).sample(texts, count), 1):
            print(f"{number}. {text}")


main()
