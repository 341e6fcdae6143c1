"""Writes tests/parity/sampled_vectors.jsonl.gz: means and differences of all rows from a metric on a sample and a cheaper one on
all, on 1,400 random inputs, computed with numpy and scipy; and the point estimates of ppi-python 0.2.3.

    PYTHONPATH=FOLDER python tests/parity/make_sampled_vectors.py     # writes the vectors; FOLDER has ppi_py
    python tests/parity/make_sampled_vectors.py --check               # compares all but the estimates of ppi-python

Scores aren't recorded: both sides draw them with SplitMix64 from the seed.
"""

import gzip
import json
import pathlib
import sys

import numpy as np
from scipy import stats

from make_sequential_vectors import is_close, splitmix

OUT = pathlib.Path(__file__).with_name("sampled_vectors.jsonl.gz")
Z = stats.norm.ppf(0.975)


def wilson(share, sample, rows):
    if sample == rows:
        return share, share
    n = sample * (rows - 1) / (rows - sample)
    centre, half = share + Z**2 / 2 / n, Z * np.sqrt(share * (1 - share) / n + Z**2 / 4 / n**2)
    low, high = (centre - half) / (1 + Z**2 / n), (centre + half) / (1 + Z**2 / n)
    return max(0, min(low, share)), min(1, max(high, share))


def worth(sample, rows, plain, width):
    if sample == rows or plain == 0:
        return sample
    return 1 / (1 / rows + (width / plain) ** 2 * (1 / sample - 1 / rows))


def share(case):
    rows, passed, sample = (np.array(column, float) for column in zip(*case["strata"]))
    weights, rates = rows / rows.sum(), passed / sample
    low, high = np.array([wilson(*stratum) for stratum in zip(rates, sample, rows)]).T
    mean = min(1.0, weights @ rates)
    low = max(0.0, mean - np.sqrt(np.sum((weights * (rates - low)) ** 2)))
    high = min(1.0, mean + np.sqrt(np.sum((weights * (high - rates)) ** 2)))
    plain = wilson(passed.sum() / sample.sum(), sample.sum(), rows.sum())
    return mean, low, high, worth(sample.sum(), rows.sum(), plain[1] - plain[0], high - low)


def scores(case):
    """A score in [0, 1] and a proxy for each row."""
    score, noise = splitmix(case["seed"], 2 * case["rows"]).reshape(-1, 2).T
    return score, case["correlation"] * score + (1 - abs(case["correlation"])) * noise


def slope_of(y, f):
    sampled = f[: len(y)]
    return np.mean((y - y.mean()) * (sampled - sampled.mean())) / np.var(f, ddof=1)


def powered(case, y, f, slope_of):
    """The mean of all rows, and the half-widths of the means of what the proxy leaves and of the sample."""
    n = case["sample"]
    y = y[:n]
    slope = slope_of(y, f)
    rest = y - slope * f[:n]
    half = [stats.t.ppf(0.975, n - 1) * np.std(it, ddof=1) / np.sqrt(n) for it in (rest, y)]
    return rest.mean() + slope * f.mean(), half


def number(case):
    n, rows = case["sample"], case["rows"]
    mean, half = powered(case, *scores(case), slope_of)
    half = np.sqrt(1 - n / rows) * np.array(half)
    return mean, mean - half[0], mean + half[0], worth(n, rows, half[1], half[0])


def difference(case):
    """Of the population: what is left for the rows outside of the sample, and the sample for all."""
    n, rows = case["sample"], case["rows"]
    least_squares = lambda y, f: np.polyfit(f[:n], y, 1)[0]
    mean, (rest, plain) = powered(case, *(it - 0.5 for it in scores(case)), least_squares)
    half = np.sqrt((1 - n / rows) * (n - 1) / (n - 2) * rest**2 + n / rows * plain**2)
    return mean, mean - half, mean + half, min(rows, max(n, n * (plain / half) ** 2))


def cases():
    rng = np.random.default_rng(60)
    for _ in range(500):
        rows = rng.integers(5, 500, rng.integers(1, 6))
        sample = np.array([rng.integers(1, of + 1) for of in rows])
        passed = np.array([rng.integers(0, of + 1) for of in sample])
        yield {"of": "share", "strata": np.stack([rows, passed, sample], 1).tolist()}
    for number in range(900):
        rows = int(rng.integers(100, 600))
        yield {
            "of": "number" if number < 500 else "difference",
            "seed": int(rng.integers(0, 2**53)),
            "rows": rows,
            "sample": int(rng.integers(60, rows)),
            "correlation": round(float(rng.uniform(-0.9, 0.99)), 2),
        }


def by_ppi(case):
    """The estimate of ppi-python; `None` if its weight, which is at most 1, is not the best one."""
    from ppi_py import ppi_mean_pointestimate

    (y, f), n = scores(case), case["sample"]
    if slope_of(y[:n], f) * (1 - n / len(f)) > 1:
        return None
    return float(ppi_mean_pointestimate(y[:n], f[:n], f[n:]).squeeze())


def vectors():
    for case in cases():
        of = {"share": share, "number": number, "difference": difference}[case["of"]]
        case["estimate"] = [float(it) for it in of(case)]
        yield case


def main():
    if sys.argv[1:] == ["--check"]:
        committed = [json.loads(line) for line in gzip.decompress(OUT.read_bytes()).splitlines()]
        for new, old in zip(vectors(), committed, strict=True):
            if not all(is_close(old[key], new[key]) for key in new):
                sys.exit(f"{old} is now {new}")
        print(f"{len(committed)} vectors, as committed")
        return
    lines = []
    for case in vectors():
        if case["of"] == "number" and case["correlation"] > 0.2:
            case["ppi"] = by_ppi(case)
        lines.append(json.dumps(case))
    OUT.write_bytes(gzip.compress("\n".join(lines).encode() + b"\n", mtime=0))


if __name__ == "__main__":
    main()
