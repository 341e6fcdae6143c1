"""Compares the text metrics of dsrs-metrics with their Python peers: results first, then speed.

Samples of both sides alternate, so that noise on the machine reaches both.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import rows
from peers import WORKS

SAMPLE_SECONDS = 0.05
TOLERANCE = 1e-9


class Driver:
    """The Rust program with our side."""

    def __init__(self, path):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([path], stdin=pipe, stdout=pipe, text=True, encoding="utf-8")

    def call(self, **command):
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"the driver stopped at {str(command)[:200]}")
        return json.loads(line)

    def seconds(self, work, data, passes):
        return self.call(time=work, of=data, passes=passes) / 1e9


def peer_seconds(make, pairs, passes):
    """The time of some passes, each with a new peer, because some of them cache what they have seen."""
    seconds = 0.0
    for _ in range(passes):
        run = make(pairs)
        start = time.perf_counter()
        run()
        seconds += time.perf_counter() - start
    return seconds


def passes_for(seconds_of):
    """How many passes a sample needs."""
    passes = 1
    while True:
        seconds = seconds_of(passes)
        if seconds >= SAMPLE_SECONDS:
            return passes
        passes = max(passes + 1, int(passes * min(10, 1.2 * SAMPLE_SECONDS / max(seconds, 1e-9))))


def check(driver, work, data, pairs):
    ours, theirs = driver.call(scores=work.name, of=data), list(work.make(pairs)())
    assert len(ours) == len(theirs), f"{work.name} of {data}: {len(ours)} results, {len(theirs)} of the peer"
    for at, (a, b) in enumerate(zip(ours, theirs)):
        same = a == b if isinstance(b, str) else abs(a - b) <= TOLERANCE
        if not same:
            sys.exit(f"{work.name} of {data}, row {at}: {a!r}, the peer has {b!r}; {str(pairs[at])[:300]}")


def measure(driver, work, data, pairs, samples):
    """The median seconds of a row on both sides."""
    ours_passes = passes_for(lambda passes: driver.seconds(work.name, data, passes))
    their_passes = passes_for(lambda passes: peer_seconds(work.make, pairs, passes))
    ours, theirs = [], []
    for _ in range(samples):
        ours.append(driver.seconds(work.name, data, ours_passes) / ours_passes)
        theirs.append(peer_seconds(work.make, pairs, their_passes) / their_passes)
    return statistics.median(ours) / len(pairs), statistics.median(theirs) / len(pairs)


def shown(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def print_row(work, data, pairs, ours, theirs):
    size = sum(len(text.encode()) for prediction, references in pairs for text in (prediction, *references))
    rate = size / len(pairs) / ours / 1e6
    goal = "-" if work.goal is None else f"{work.goal} x"
    cells = [f"{work.label}, {data}", len(pairs), shown(ours), f"{rate:.0f} MB/s", shown(theirs), f"{theirs / ours:.1f} x", goal]
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def first_line(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def print_versions():
    peers = ", ".join(f"{name} {version(name)}" for name in ("dspy", "rapidfuzz", "rouge-score", "sacrebleu"))
    print(f"\n{processor()}, {os.cpu_count()} cores (one is used); {platform.system()} {platform.release()}")
    print(f"{first_line('rustc', '--version')}; Python {platform.python_version()}; {peers}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("driver")
    parser.add_argument("--quick", action="store_true", help="few rows and samples: compares the results")
    parser.add_argument("--samples", type=int, default=11)
    parser.add_argument("--only", default="", help="the works whose label contains this")
    arguments = parser.parse_args()
    quick = arguments.quick
    driver = Driver(arguments.driver)
    tables = {name: pairs[:20] if quick else pairs for name, pairs in rows.tables().items()}
    for name, pairs in tables.items():
        driver.call(rows=name, pairs=pairs)
    print("| work | rows | ours, median | | peer, median | ratio | goal |\n| --- | --- | --- | --- | --- | --- | --- |")
    for work in WORKS:
        for data in work.tables if arguments.only.lower() in work.label.lower() else ():
            check(driver, work, data, tables[data])
            ours, theirs = measure(driver, work, data, tables[data], 1 if quick else arguments.samples)
            print_row(work, data, tables[data], ours, theirs)
    print_versions()


main()
