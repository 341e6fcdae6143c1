#!/usr/bin/env python3
"""Compares how the command line pairs rows with a join written here.

    check_pairs.py PROGRAM PAIRS SEED

Generates pairs of files: in several formats, with and without ids, in the same and in another order, with line breaks in
cells, blank lines, missing and duplicate rows. Scores both with exact match, runs `compare` and `agree`, and checks the
counts, or that the program refuses. A pairing by position must be named as one. Prints the counts of each kind.
"""

import collections
import csv
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile

TEXTS = ["6 * 7?", "a, b", 'say "hi"', "two\nlines", "x\r\n\r\ny", "é", "it's", "[1", "{", " a ", "-1", "=1"]
MAP = ["--map", "gold.question=question", "--map", "gold.answer=answer", "--map", "pred.answer=output"]


class Case:
    """Rows with a key each, and how a file shows them."""

    def __init__(self, rng, folder):
        self.rng, self.folder = rng, folder

    def rows(self):
        count = self.rng.randint(2, 7)
        texts = [f"{self.rng.choice(TEXTS)}{number if self.rng.random() < 0.7 else ''}" for number in range(count)]
        keys = list(range(1, count + 1))
        self.rng.shuffle(keys)
        answer = lambda: self.rng.choice("abc")
        return [{"key": key, "question": text, "answer": answer()} for key, text in zip(keys, texts)]

    def predicted(self, rows):
        return [row | {"output": self.rng.choice([row["answer"], row["answer"], "d"])} for row in rows]

    def write(self, name, rows, ids):
        """Writes the rows in some format. `ids` is the kind of their ids."""
        kind = self.rng.choice(["jsonl", "json", "csv"])
        shown = []
        for row in rows:
            row = dict(row)
            key = row.pop("key")
            if ids == "named":
                row = {"id": f"r{key}"} | row
            elif ids == "numbers":
                row = {"id": key} | row
            elif ids == "column":
                row |= {"name": f"r{key}"}
            shown.append(row)
        path = self.folder / f"{name}.{kind}"
        path.write_text(self.text(kind, shown), encoding="utf-8", newline="")
        return path

    def text(self, kind, rows):
        if kind == "json":
            return json.dumps(rows, indent=self.rng.choice([None, 2]), ensure_ascii=False)
        if kind == "jsonl":
            blank = lambda: self.rng.choice(["", "", "\n", " \n\r\n"])
            return "".join(blank() + json.dumps(row) + "\n" for row in rows)
        cells = io.StringIO(newline="")
        writer = csv.DictWriter(cells, list(rows[0]), lineterminator=self.rng.choice(["\n", "\r\n"]))
        writer.writeheader()
        writer.writerows(rows)
        return cells.getvalue()


def id_of(kind, row, number):
    return {"named": f"r{row['key']}", "column": f"r{row['key']}", "numbers": str(row["key"])}.get(kind, str(number))


def joined(a, b, ids_a, ids_b):
    """The pairs of rows, or why there are none; and whether they are by position."""
    keyed = []
    for rows, ids in [(a, ids_a), (b, ids_b)]:
        keys = [id_of(ids, row, number) for number, row in enumerate(rows, 1)]
        if len(set(keys)) < len(keys):
            return "duplicate", False
        keyed.append(dict(zip(keys, rows)))
    by_position = "none" in (ids_a, ids_b)
    if keyed[0].keys() != keyed[1].keys():
        return "other rows", by_position
    pairs = [(row, keyed[1][key]) for key, row in keyed[0].items()]
    gold = lambda row: (row["question"], row["answer"])
    if any(gold(row) != gold(other) for row, other in pairs):
        return "other gold", by_position
    return pairs, by_position


def labels_joined(rows, labels, ids, label_ids):
    if label_ids == "none":
        return "no ids"
    keys = [id_of(label_ids, row, number) for number, row in enumerate(labels, 1)]
    if len(set(keys)) < len(keys):
        return "duplicate"
    by_key = dict(zip(keys, labels))
    found = [(row, by_key.get(id_of(ids, row, number))) for number, row in enumerate(rows, 1)]
    pairs = [(row, label) for row, label in found if label]
    return pairs or "no common ids"


def is_right(row):
    return row["output"] == row["answer"]


def main():
    program, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    counts, wrong = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run = lambda *args: subprocess.run([program, *map(str, args)], capture_output=True, text=True, cwd=folder, check=False)
        for number in range(count):
            for old in folder.iterdir():
                old.unlink()
            case = Case(random.Random(f"{seed} {number}"), folder)
            problem = check(case, run, counts)
            if problem:
                wrong += 1
                print(f"pair {number}: {problem}")
    for kind, found in sorted(counts.items()):
        print(f"{found:6} {kind}")
    print(f"{count} pairs, {wrong} differences")
    sys.exit(bool(wrong))


def check(case, run, counts):
    rng = case.rng
    rows = case.rows()
    kinds = ["none", "none", "named", "numbers", "column"]
    ids_a = rng.choice(kinds)
    ids_b = ids_a if rng.random() < 0.7 else rng.choice(kinds)
    a, b = case.predicted(rows), case.predicted(rows)
    if rng.random() < 0.4:
        rng.shuffle(b)
    if rng.random() < 0.15:
        b.pop(rng.randrange(len(b)))
    if b and rng.random() < 0.1:
        b.append(dict(rng.choice(b)))
    if b and rng.random() < 0.1:
        b[0]["question"] += "!"
    for name, data, ids in [("a", a, ids_a), ("b", b, ids_b)]:
        mapped = ["--map", "id=name"] if ids == "column" else []
        scored = run("score", case.write(name, data, ids), *MAP, *mapped, "-m", "em", "--out", f"{name}.out.jsonl")
        keys = [id_of(ids, row, number) for number, row in enumerate(data, 1)]
        if (scored.returncode != 0) != (len(set(keys)) < len(keys)):
            return f"score of {ids}: exit {scored.returncode}, {scored.stderr}"
        if scored.returncode:
            counts["duplicate ids refused"] += 1
            return None
    return check_compare(run, counts, a, b, ids_a, ids_b) or check_agree(case, run, counts, a, ids_a)


def check_compare(run, counts, a, b, ids_a, ids_b):
    compared = run("compare", "a.out.jsonl", "b.out.jsonl", "--json")
    expected, by_position = joined(a, b, ids_a, ids_b)
    if isinstance(expected, str):
        counts[f"compare, {expected}: refused"] += 1
        if compared.returncode != 2:
            return f"compare of {ids_a} and {ids_b}, {expected}: exit {compared.returncode}"
        return "--only-paired is advised" if by_position and "--only-paired" in compared.stderr else None
    if compared.returncode != 0:
        return f"compare of {ids_a} and {ids_b}: exit {compared.returncode}, {compared.stderr}"
    report = json.loads(compared.stdout)
    counts["compare, paired by position, named" if by_position else "compare, paired by id"] += 1
    if report.get("paired_by_position", False) != by_position:
        return f"pairs of {ids_a} and {ids_b}: by position {by_position}, and the report says otherwise"
    wins = sum(is_right(y) > is_right(x) for x, y in expected)
    losses = sum(is_right(y) < is_right(x) for x, y in expected)
    found = report["metrics"]["em"]
    found = found["n"], found["wins"], found["losses"]
    return None if found == (len(expected), wins, losses) else f"{found}, expected {(len(expected), wins, losses)}"


def check_agree(case, run, counts, a, ids):
    rng = case.rng
    labels = [row | {"correct": rng.choice([is_right(row), is_right(row), rng.random() < 0.5])} for row in a]
    rng.shuffle(labels)
    label_ids = rng.choice(["none", ids, ids, "named"])
    mapped = ["--map", "id=name"] if label_ids == "column" else []
    path = case.write("labels", labels, label_ids)
    agreed = run("agree", "a.out.jsonl", "--label", "correct", "--labels", path, *mapped, "--json")
    expected = labels_joined(a, labels, ids, label_ids)
    if isinstance(expected, str):
        counts[f"agree, {expected}: refused"] += 1
        return None if agreed.returncode == 2 else f"agree of {ids} and {label_ids}, {expected}: exit {agreed.returncode}"
    if any((x["question"], x["answer"]) != (y["question"], y["answer"]) for x, y in expected):
        return f"the join of this script is wrong for {ids} and {label_ids}"
    if agreed.returncode != 0:
        return f"agree of {ids} and {label_ids}: exit {agreed.returncode}, {agreed.stderr}"
    report = json.loads(agreed.stdout)
    counts["agree, joined by id"] += 1
    accuracy = report["metrics"]["em"]["accuracy"]
    right = sum(is_right(row) == label["correct"] for row, label in expected)
    found = accuracy["n"], accuracy["successes"]
    return None if found == (len(expected), right) else f"agree: {found}, expected {(len(expected), right)}"


main()
