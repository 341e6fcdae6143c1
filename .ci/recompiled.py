#!/usr/bin/env python3
"""The share of the library that a rebuild compiles again, per commit: .ci/recompiled.py [COMMITS]

Each of the last COMMITS (400) commits that changes sources of the library compiles the packages that it touches and
those that depend on them. Files of the time before the packages count for the package that has their module today. The
weight of a package is its lines of code, and 150 for each metric and judge that an attribute expands.
"""

import pathlib
import re
import subprocess
import sys

EXPANSION = 150
MODULES = {
    "values": "text stats json retrieval messages structured".split(),
    "code": "syntax sparql".split(),
    "lm": ["lm"],
    "sandbox": ["sandbox"],
    "core": "core composite judge __private program.rs".split(),
    "run": "data evaluate scoring results agreement".split(),
    "builtin": ["metrics"],
    "cli": ["cli"],
}


def dependencies(manifest):
    section = re.search(r"^\[dependencies\]$(.*?)^\[", manifest.read_text(), re.S | re.M)[1]
    return {name for name in re.findall(r"^dsrs-metrics-(\w+)", section, re.M) if name != "macros"}


def dependents(packages, changed):
    """The packages that have to be compiled after a change of some."""
    found = set(changed)
    while more := {name for name, below in packages.items() if below & found} - found:
        found |= more
    return found


def package(path):
    parts = path.split("/")
    if parts[0] == "crates" and len(parts) > 3 and parts[2] == "src":
        return parts[1]
    if parts[:2] == ["dsrs-metrics", "src"]:
        shipped = parts[2:4] == ["judge", "shipped"]
        named = (name for name, modules in MODULES.items() if parts[2] in modules)
        return "builtin" if shipped else next(named, "facade")
    return None


def weight(folder):
    lines = attributes = 0
    for file in folder.rglob("*.rs"):
        code = [line.strip() for line in file.read_text().splitlines()]
        lines += sum(bool(line) and not line.startswith("//") for line in code)
        attributes += sum(line.startswith(("#[metric", "#[judge(")) or line == "#[judge]" for line in code)
    return lines + EXPANSION * attributes


def main():
    commits = sys.argv[1] if len(sys.argv) > 1 else "400"
    manifests = {path.parent.name: path for path in pathlib.Path("crates").glob("*/Cargo.toml")}
    manifests["facade"] = pathlib.Path("dsrs-metrics/Cargo.toml")
    packages = {name: dependencies(path) for name, path in manifests.items()}
    packages["facade"] = set(packages) - {"facade"}
    weights = {name: weight(path.parent / "src") for name, path in manifests.items()}
    total = sum(weights.values())
    git = ["git", "log", f"-{commits}", "--no-merges", "--name-only", "--format=format:@"]
    log = subprocess.run(git, capture_output=True, text=True, check=True)
    shares = []
    for commit in log.stdout.split("@"):
        changed = {package(path) for path in commit.split()} - {None}
        if changed:
            shares.append(sum(weights[name] for name in dependents(packages, changed & set(packages))) / total)
    for name, lines in sorted(weights.items(), key=lambda it: -it[1]):
        alone = sum(weights[other] for other in dependents(packages, {name})) / total
        print(f"{name:8} {lines:6} lines with expansions; an edit compiles {alone:4.0%} again")
    print(f"{len(shares)} of {commits} commits change the library; on average {sum(shares) / len(shares):.0%} of it is compiled again")


main()
