"""Writes tests/parity/agree_vectors.jsonl.gz: labels, scores and what scikit-learn, scipy and statsmodels make of them.

Run with the versions in .ci/peers.txt:

    python tests/parity/make_agree_vectors.py            # writes the vectors
    python tests/parity/make_agree_vectors.py --check    # compares the committed ones with what the peers say now

The seed is fixed. A figure that a peer calls nan, or refuses, is null.
"""

import gzip
import json
import math
import pathlib
import sys
import warnings

import numpy as np
from scipy.stats import binomtest, spearmanr
from sklearn.metrics import accuracy_score, cohen_kappa_score, confusion_matrix
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint

SEED = 20261121
OUT = pathlib.Path(__file__).with_name("agree_vectors.jsonl.gz")
WEIGHTS = [None, "linear", "quadratic"]


def number(value):
    value = float(value)
    return value if math.isfinite(value) else None


def standard_error(matrix, weights):
    """What statsmodels gives; it has no value where it divides by nothing."""
    result = cohens_kappa(np.array(matrix), wt=weights, return_results=True)
    return number(result.std_kappa)


def classes(label, given, k):
    matrix = confusion_matrix(label, given, labels=range(k)).tolist()
    agreeing, rows = sum(matrix[i][i] for i in range(k)), len(label)
    return {
        "of": "classes",
        "classes": k,
        "label": label,
        "given": given,
        "accuracy": number(accuracy_score(label, given)),
        "wilson": wilson(agreeing, rows),
        "confusion": matrix,
        "kappa": [number(cohen_kappa_score(label, given, labels=range(k), weights=w)) for w in WEIGHTS],
        "standard_error": [standard_error(matrix, w) for w in WEIGHTS],
    }


def wilson(successes, trials):
    interval = binomtest(successes, trials).proportion_ci(0.95, method="wilson")
    low, high = interval.low, interval.high
    other = proportion_confint(successes, trials, alpha=0.05, method="wilson")
    assert abs(low - other[0]) < 1e-12 and abs(high - other[1]) < 1e-12, (successes, trials)
    return [float(low), float(high)]


def ranks(x, y):
    return {"of": "ranks", "x": x, "y": y, "spearman": number(spearmanr(x, y).statistic)}


def share(successes, trials):
    return {"of": "share", "successes": successes, "trials": trials, "wilson": wilson(successes, trials)}


def judged(random, rows, k):
    """Labels and a judge that is right, near or anywhere, with skewed classes."""
    label = random.choice(k, rows, p=random.dirichlet(np.ones(k)))
    near = np.clip(label + random.integers(-1, 2, rows), 0, k - 1)
    kind = random.choice(3, rows, p=random.dirichlet(np.ones(3)))
    given = np.choose(kind, [label, near, random.integers(0, k, rows)])
    return [int(c) for c in label], [int(c) for c in given]


def vectors():
    random = np.random.default_rng(SEED)
    for k in range(2, 8):
        for _ in range(60):
            yield classes(*judged(random, int(random.integers(2, 300)), k), k)
    for n in (1, 2, 10):
        yield classes([0] * n, [0] * n, 2)
        yield classes([0] * n, [1] * n, 2)
    yield classes([0, 1] * 20, [1] * 40, 2)
    yield classes([0, 1] * 20, [0, 1] * 20, 2)
    yield classes([0, 1] * 20, [1, 0] * 20, 2)
    yield classes([0, 4, 0, 4], [4, 0, 0, 4], 5)
    for _ in range(200):
        rows = int(random.integers(2, 200))
        x = random.normal(size=rows)
        y = x * random.normal() + random.normal(size=rows)
        yield ranks(x.tolist(), y.tolist())
        levels = int(random.integers(1, 6))
        yield ranks(np.round(x, 1).tolist(), [float(v) for v in np.clip(np.round(y), -levels, levels)])
        yield ranks(x.tolist(), [float(v) for v in y > 0])
    yield ranks([1.0, 1.0, 1.0], [1.0, 2.0, 3.0])
    yield ranks([0.5, 0.25], [2.0, 2.0])
    yield ranks([0.0, -0.0, 1.0], [1.0, 2.0, 3.0])
    yield ranks([1e308, -1e308, 5e-324, 0.0], [4.0, 3.0, 2.0, 1.0])
    for trials in [*range(1, 31), 100, 1190, 10_000, 1_000_000]:
        for successes in sorted({0, 1, trials // 3, trials // 2, trials - 1, trials}):
            yield share(successes, trials)


def close(a, b):
    if isinstance(a, list):
        return len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= 1e-12 * max(1.0, abs(a))
    return a == b


def check(lines):
    committed = [json.loads(line) for line in gzip.decompress(OUT.read_bytes()).decode().splitlines()]
    now = [json.loads(line) for line in lines]
    assert len(committed) == len(now), (len(committed), len(now))
    for a, b in zip(committed, now):
        assert a.keys() == b.keys() and all(close(a[key], b[key]) for key in a), (a, b)
    print(len(now), "vectors, as committed")


def main():
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    lines = [json.dumps(vector, allow_nan=False) for vector in vectors()]
    if "--check" in sys.argv:
        return check(lines)
    OUT.write_bytes(gzip.compress("".join(line + "\n" for line in lines).encode(), 9, mtime=0))
    print(len(lines), "vectors")


if __name__ == "__main__":
    main()
