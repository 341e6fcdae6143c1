"""Writes tests/parity/stats_vectors.jsonl.gz: scores, and what scipy and statsmodels compute from them.

Run with the versions in .ci/peers.txt:

    python tests/parity/make_stats_vectors.py            # writes the vectors
    python tests/parity/make_stats_vectors.py --check    # compares the committed ones with what the peers compute now

The seed is fixed. A figure that a peer does not define is null.
"""

import gzip
import json
import math
import pathlib
import sys
import types
import warnings

import numpy as np
from scipy import stats
from scipy.linalg import fractional_matrix_power
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

SEED = 20261122
OUT = pathlib.Path(__file__).with_name("stats_vectors.jsonl.gz")


def number(value):
    value = float(value)
    return value if math.isfinite(value) else None


def mean(scores):
    scores = np.array(scores)
    stderr = stats.sem(scores)
    low, high = stats.t.interval(0.95, len(scores) - 1, loc=scores.mean(), scale=stderr)
    return {
        "of": "mean",
        "scores": scores.tolist(),
        "mean": number(scores.mean()),
        "variance": number(scores.var(ddof=1)),
        "stderr": number(stderr),
        "ci95": [number(low), number(high)],
    }


def clusters(scores, groups):
    """The mean with CR2 of Bell and McCaffrey (2002) by whole matrices. The degrees of freedom are the harmonic mean of
    those for independent rows and those for groups of equal rows."""
    scores, n = np.array(scores), len(scores)
    members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    residual = np.eye(n) - np.ones((n, n)) / n
    adjusted = [fractional_matrix_power(residual[np.ix_(rows, rows)], -0.5).real.sum(0) for rows in members]
    sums = [weights @ (scores - scores.mean())[rows] for weights, rows in zip(adjusted, members)]
    stderr = np.sqrt(np.square(sums).sum()) / n
    deviations = np.array([residual[:, rows] @ weights for weights, rows in zip(adjusted, members)])
    inverse = []
    for covariance in (np.eye(n), 1.0 * (groups[:, None] == groups[None, :])):
        of_sums = deviations @ covariance @ deviations.T
        inverse.append(np.square(of_sums).sum() / np.trace(of_sums) ** 2)
    half = stats.t.ppf(0.975, 2 / sum(inverse)) * stderr
    return {
        "of": "clusters",
        "scores": scores.tolist(),
        "groups": [int(group) for group in groups],
        "mean": number(scores.mean()),
        "stderr": number(stderr),
        "ci95": [number(scores.mean() - half), number(scores.mean() + half)],
    }


def flips(wins, losses):
    result = mcnemar([[0, wins], [losses, 0]], exact=True)
    return {"of": "flips", "wins": wins, "losses": losses, "p_value": min(1.0, number(result.pvalue))}


def permutation(differences):
    """All assignments of signs."""
    result = stats.permutation_test(
        (np.array(differences),), lambda x, axis: x.sum(axis=axis), permutation_type="samples", n_resamples=np.inf
    )
    return {"of": "permutation", "differences": list(differences), "p_value": number(result.pvalue)}


def adjusted(p_values):
    return {"of": "holm", "p_values": list(p_values), "adjusted": multipletests(p_values, method="holm")[1].tolist()}


def bca(scores, means):
    """The interval from given means of samples, so that no random number of scipy's is needed."""
    scores, means = np.array(scores), np.array(means)
    given = types.SimpleNamespace(bootstrap_distribution=means)
    result = stats.bootstrap((scores,), np.mean, n_resamples=0, bootstrap_result=given, method="BCa")
    return {
        "of": "bca",
        "scores": scores.tolist(),
        "means": means.tolist(),
        "ci95": [number(result.confidence_interval.low), number(result.confidence_interval.high)],
    }


def power(deviation, difference):
    z = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    return {
        "of": "power",
        "deviation": deviation,
        "difference": difference,
        "rows": math.ceil((z * deviation / difference) ** 2),
    }


def attempts(n, c, k):
    """The estimator of the Codex paper, and its counterpart for all attempts, in exact integers."""
    return {
        "of": "attempts",
        "n": n,
        "c": c,
        "k": k,
        "pass_at": 1 - math.comb(n - c, k) / math.comb(n, k),
        "pass_hat": math.comb(c, k) / math.comb(n, k),
    }


def vectors():
    random = np.random.default_rng(SEED)
    for _ in range(100):
        n = int(random.integers(2, 200))
        yield mean(np.round(random.beta(*random.uniform(0.2, 4, 2), n), 3).tolist() + [0.0])
        yield mean((random.random(n) < random.random()).astype(float).tolist() + [0.0, 1.0])
    for _ in range(20):
        n = int(random.integers(2, 200))
        yield mean((1000 + 1e-6 * random.normal(size=n)).tolist())
    for _ in range(80):
        n = int(random.integers(4, 200))
        groups = random.integers(0, random.integers(2, max(3, n // 2)), n)
        groups[:2] = [0, 1]
        yield clusters(np.round(random.random(n) + 0.3 * np.sin(groups), 3).tolist(), groups)
    for wins in range(0, 40, 3):
        for losses in range(0, 40, 2):
            if wins + losses:
                yield flips(wins, losses)
    for wins, losses in [(400, 460), (5000, 5100), (0, 300)]:
        yield flips(wins, losses)
    for _ in range(40):
        n = int(random.integers(2, 13))
        yield permutation(np.round(random.normal(0.1, 1, n), int(random.integers(0, 4))).tolist())
    for _ in range(40):
        yield adjusted(random.beta(0.4, 2, int(random.integers(1, 20))).tolist())
    for _ in range(40):
        yield power(float(random.uniform(0.05, 1)), float(random.uniform(0.001, 0.4)))
    for n in (1, 2, 5, 10, 200):
        for c in sorted({0, 1, n // 3, n // 2, n - 1, n}):
            for k in sorted({1, 2, 5, n} & set(range(1, n + 1))):
                yield attempts(n, c, k)


    for _ in range(40):
        # Not rounded, so that no mean of a sample equals the mean except for the last digit.
        scores = random.beta(*random.uniform(0.2, 3, 2), int(random.integers(8, 60)))
        means = [random.choice(scores, len(scores)).mean() for _ in range(200)]
        yield bca(scores.tolist(), means)


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
