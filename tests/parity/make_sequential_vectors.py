"""Writes tests/parity/sequential_vectors.jsonl.gz: tests by betting and confidence sequences on 1,000 random inputs, computed
with numpy from the formulas of Waudby-Smith and Ramdas (2024), for all rows of an input at once.

    python tests/parity/make_sequential_vectors.py            # writes the vectors
    python tests/parity/make_sequential_vectors.py --check    # compares the committed ones with what numpy computes now

Scores aren't recorded: both sides draw them with SplitMix64 from the seed.
"""

import gzip
import json
import pathlib
import sys

import numpy as np

OUT = pathlib.Path(__file__).with_name("sequential_vectors.jsonl.gz")
SHARES = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.95])


def splitmix(seed, count):
    """Uniform numbers in [0, 1) with 53 bits."""
    out, state, mask = [], seed, (1 << 64) - 1
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        out.append((z ^ (z >> 31)) >> 11)
    return np.array(out) / 2.0**53


def scores(case):
    """Draws a score for each row: missing, at an end of the range, or in between."""
    kind, value = splitmix(case["seed"], 2 * case["taken"]).reshape(-1, 2).T
    low, high = case["range"]
    score = np.where(value < case["rate"], high, np.where(kind < 0.5, low, low + (high - low) * value))
    return np.where(kind < case["missing"], np.nan, score)


def shares(case, towards):
    """The bets of a test without replacement."""
    low, high = case["range"]
    a, b = case["limit"] - low, high - case["limit"]
    distances = [share * min(a, b) for share in (0.75, 0.45, 0.2)]
    while distances[-1] / 2 >= 2 * np.sqrt(a * b / case["rows"]):
        distances.append(distances[-1] / 2)
    return np.array(distances) / towards


def capital(x, limit, low, high, rows, bets):
    """The capital after each row of the bets that the mean is above the limit."""
    y = np.nan_to_num(x - limit, nan=0.0)
    before = np.concatenate([[0.0], np.cumsum(y)[:-1]])
    rest = limit - before / (rows - np.arange(len(y))) if rows else np.full(len(y), limit)
    seen = np.where(np.isnan(x), limit, x)
    with np.errstate(invalid="ignore"):
        factor = 1 + bets[:, None] * ((seen - rest) / (rest - low))[None]
    return np.cumprod(factor, axis=1).mean(axis=0)


def tests(x, case, limit, bets_above, bets_below):
    low, high = case["range"]
    rows = case["rows"] if case["kind"] == "rows" else None
    above = capital(x, limit, low, high, rows, bets_above).max()
    below = capital(-x, -limit, -high, -low, rows, bets_below).max()
    return max(above, 1.0), max(below, 1.0)


def sequence(x, case):
    """The interval between the possible means, by bisection of the largest capitals."""
    low, high = case["range"]
    left = case["rows"] - len(x)

    def end(side):
        inside, outside = np.mean(x), (np.sum(x) + left * (low, high)[side]) / case["rows"]
        for _ in range(60):
            middle = (outside + inside) / 2
            if tests(x, case, middle, SHARES, SHARES)[side] >= 40:
                outside = middle
            else:
                inside = middle
        return inside

    return end(0), end(1)


def cases():
    rng = np.random.default_rng(58)
    written = 0
    while written < 1000:
        low = float(rng.choice([0.0, -1.0, 1.0]))
        high = float(rng.choice([1.0, 5.0])) if low != 1.0 else 5.0
        taken = int(rng.integers(1, 120))
        case = {
            "kind": str(rng.choice(["rows", "population"])),
            "seed": int(rng.integers(0, 2**53)),
            "taken": taken,
            # Far enough from the end that no hypothesis is impossible: the bets are then those of the formula.
            "rows": taken + int(rng.integers(100, 900)) + 20 * taken,
            "range": [low, high],
            "limit": round(float(low + (high - low) * rng.uniform(0.1, 0.95)), 3),
            "rate": round(float(rng.uniform(0, 1)), 2),
            "missing": float(rng.choice([0.0, 0.0, 0.1])),
        }
        x = scores(case)
        if np.isnan(x).all():
            continue
        limit = case["limit"]
        bets = (shares(case, high - limit), shares(case, limit - low)) if case["kind"] == "rows" else (SHARES, SHARES)
        case["above"], case["below"] = tests(x, case, limit, *bets)
        if case["kind"] == "rows" and case["missing"] == 0.0:
            case["interval"] = sequence(x, case)
        yield case
        written += 1


def is_close(a, b):
    """Equal but for the last digits of another version of numpy."""
    if isinstance(a, list):
        return all(map(is_close, a, b))
    return np.isclose(a, b, rtol=1e-9, atol=0) if isinstance(a, float) else a == b


def main():
    lines = [json.dumps(case) for case in cases()]
    if sys.argv[1:] == ["--check"]:
        committed = [json.loads(line) for line in gzip.decompress(OUT.read_bytes()).splitlines()]
        for number, (line, old) in enumerate(zip(lines, committed, strict=True), 1):
            new = json.loads(line)
            if old.keys() != new.keys() or not all(is_close(old[key], new[key]) for key in old):
                sys.exit(f"vector {number} differs: {old} is now {new}")
        print(f"{len(lines)} vectors, as committed")
    else:
        OUT.write_bytes(gzip.compress("\n".join(lines).encode() + b"\n", mtime=0))


if __name__ == "__main__":
    main()
