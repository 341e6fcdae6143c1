#!/usr/bin/env python3
"""The public items of the library, read from its documentation, which `cargo doc --all-features` has written.

    .ci/public_api.py FOLDER              compares them with tests/public_api.txt, so that a review shows a change
    DSRS_METRICS_RECORD=1 .ci/public_api.py FOLDER     writes that file
    .ci/public_api.py FOLDER --examples   prints per module how many items and methods have an example

FOLDER is `doc/dsrs_metrics` in cargo's target folder. The prelude repeats names, and `judge::schemars` is a crate of others: both are left out.
"""

import difflib
import html
import os
import pathlib
import re
import sys

RECORDED = pathlib.Path(__file__).parent.parent / "tests/public_api.txt"
# Most names that the crate's root may have.
ROOT = 42


def text(markup):
    """The text of a piece of HTML, in one line."""
    words = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", re.sub(r"<br ?/?>|<div", r" \g<0>", markup))))
    return words.replace("( ", "(").replace(", )", ")").strip()


def section(page, name):
    """The part of a page below one of its headings."""
    start = page.find(f'<h2 id="{name}"')
    end = page.find("<h2 id=", start + 1)
    return "" if start < 0 else page[start : end if end > 0 else len(page)]


def members(page):
    """Inherent methods and constants: declaration and documentation."""
    parts = re.split(r'<section id="(?:method|associatedconstant)\.', section(page, "implementations"))[1:]
    for part in parts:
        declaration = re.search(r'<h4 class="code-header">(.*?)</h4>', part, re.S)
        yield text(declaration[1]), part.split('<section id="impl-')[0]


def traits(page):
    headers = re.findall(r'<h3 class="code-header">(.*?)</h3>', section(page, "trait-implementations"), re.S)
    names = (re.search(r"([A-Za-z:]+)(?:<[^ ]*>)? for ", text(header)) for header in headers)
    return sorted({name[1] for name in names if name} - {"StructuralPartialEq"})


def is_builder(path):
    """Whether an attribute writes the item beside a metric: its parameters are fields of the metric's struct."""
    return path.startswith(("metrics::", "judge::shipped::")) and path.endswith("Builder")


def items(folder):
    """The pages of items: path, kind, HTML."""
    for link, path in re.findall(r'<a href="([^"#]+)">([^<]+)</a>', (folder / "all.html").read_text()):
        if not path.startswith(("prelude::", "judge::schemars::")):
            yield path, link.rsplit("/")[-1].split(".")[0], (folder / link).read_text()


def listing(folder):
    for path, kind, page in sorted(items(folder)):
        if is_builder(path):
            continue
        yield f"{path} ({kind})"
        declaration = re.search(r'<pre class="rust item-decl"><code>(.*?)</code></pre>', page, re.S)
        if declaration:
            yield f"    {text(declaration[1])}"
        declarations = [declaration for declaration, _ in members(page)]
        if not any(declaration.startswith("pub const SPEC:") for declaration in declarations):
            yield from sorted(f"    {declaration}" for declaration in declarations)
        implemented = traits(page) if kind in ("struct", "enum") else []
        if implemented:
            yield f"    implements {', '.join(implemented)}"


def examples(folder):
    counts = {}
    for path, _, page in items(folder):
        module = path.split("::")[0] if "::" in path else "(root)"
        own = page.split('<h2 id="implementations"')[0].split('<h2 id="trait-implementations"')[0]
        for documentation in [own, *(documentation for _, documentation in members(page))]:
            of_module = counts.setdefault(module, [0, 0, 0])
            shown = len(re.findall(r'<pre class="rust rust-example-rendered"', documentation))
            of_module[0] += 1
            of_module[1] += shown > 0
            of_module[2] += shown
    counts["all"] = [sum(count[place] for count in counts.values()) for place in range(3)]
    for module, (number, with_example, shown) in sorted(counts.items(), key=lambda it: it[1]):
        print(f"{module:16} {number:5} items and methods, {with_example:4} with an example, {shown / number:.2f} per item")


def main():
    folder = pathlib.Path(sys.argv[1])
    if "--examples" in sys.argv:
        return examples(folder)
    index = (folder / "index.html").read_text()
    names = {text(name).split("\u2060")[0] for name in re.findall(r"<dt>(.*?)</dt>", index, re.S)}
    names = {re.match(r"\w+", name)[0] for name in names}
    if len(names) > ROOT:
        sys.exit(f"the root of the crate has {len(names)} names, expected at most {ROOT}: move some to a module")
    lines = [f"{line}\n" for line in listing(folder)]
    if os.environ.get("DSRS_METRICS_RECORD") == "1":
        RECORDED.write_text("".join(lines))
        return None
    changes = list(difflib.unified_diff(RECORDED.read_text().splitlines(True), lines, "recorded", "documented", n=1))
    if changes:
        sys.stdout.writelines(changes)
        sys.exit("the public API has changed: run DSRS_METRICS_RECORD=1 .ci/public_api.py, and commit tests/public_api.txt")
    print(f"{len(names)} names at the root, {len(lines)} lines of public items as recorded")


main()
