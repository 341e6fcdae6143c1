"""Writes tests/parity/cell_vectors.jsonl.gz: lists as Python's `repr` and `json.dumps` write them into cells.

    python tests/parity/make_cell_vectors.py            # writes the file
    python tests/parity/make_cell_vectors.py --check    # tells whether this Python still writes the same

The seed is fixed. Characters whose escape depends on Python's version of Unicode are left out.
"""

import ast
import gzip
import json
import pathlib
import random
import sys

SEED = 20261129
OUT = pathlib.Path(__file__).with_name("cell_vectors.jsonl.gz")

PARTS = """a Paris Rome b's "so" ' " \\ \\\\ \\n \\' \\" [ ] , { } : # None True null 1 é 東京 𝐀 😀 \u0301 None's ''' \"\"\"""".split()
SPACES = ["", " ", "\n", "\r\n", "\t", "\x00", "\x07", "\x0b", "\x1b", "\x7f", "\x85", "\xa0", "\xad", "\u200b", "\u2028", "\ue000", "\U000e0001"]


def string(rng):
    return "".join(rng.choice(PARTS) + rng.choice(SPACES) for _ in range(rng.choice([0, 1, 1, 2, 3, 6])))


def value(rng, depth=0):
    draw = rng.random()
    if draw < 0.85:
        return string(rng)
    if draw < 0.9:
        return rng.choice([None, True, False])
    if draw < 0.96 or depth > 1:
        return rng.choice([0, -1, 7, 2**53, 0.5, -0.25, 1e-05, 1e22])
    if draw < 0.98:
        return [value(rng, depth + 1) for _ in range(rng.randint(0, 2))]
    return {string(rng): value(rng, depth + 1) for _ in range(rng.randint(0, 2))}


def vectors():
    rng = random.Random(SEED)
    for number in range(800):
        strings = number % 4 != 0
        row = [string(rng) if strings else value(rng) for _ in range(rng.choice([0, 1, 1, 2, 3, 5]))]
        python = repr(row)
        assert ast.literal_eval(python) == row
        yield {"value": row, "python": python, "json": json.dumps(row, ensure_ascii=rng.random() < 0.5)}


def main():
    lines = [json.dumps(vector, separators=(",", ":")) + "\n" for vector in vectors()]
    if "--check" in sys.argv:
        old = gzip.decompress(OUT.read_bytes()).decode().split("\n")
        new = "".join(lines).split("\n")
        differ = sum(a != b for a, b in zip(old, new)) + abs(len(old) - len(new))
        said = f"{differ} of them differ" if differ else "as committed"
        print(f"{len(lines)} vectors, {said}")
        sys.exit(bool(differ))
    with OUT.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as out:
        out.write("".join(lines).encode())
    print(f"{len(lines)} vectors, {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
