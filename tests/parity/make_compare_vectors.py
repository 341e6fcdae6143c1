"""Writes tests/parity/compare_vectors.jsonl.gz: two systems on the same rows, and the tests of their scores of all rows.

Run with the versions in .ci/peers.txt:

    python tests/parity/make_compare_vectors.py            # writes the vectors
    python tests/parity/make_compare_vectors.py --check    # compares the committed ones with what the peers compute now

The p-value is that of approximate randomization (Riezler and Maxwell 2005): from sacrebleu's paired test for BLEU, and
computed here for the scores of scikit-learn and scipy. Few rows are exchanged in all ways. Standard error and interval
are those of the paired bootstrap (Koehn 2004). The seed is fixed.
"""

import gzip
import itertools
import json
import os
import pathlib
import sys
import warnings

import numpy as np
from scipy import stats
from sklearn import metrics

SEED = 20261123
DRAWS = 2_000
OUT = pathlib.Path(__file__).with_name("compare_vectors.jsonl.gz")

os.environ["SACREBLEU_SEED"] = str(SEED)

LABELS = {
    "macro_f1": lambda gold, pred: metrics.f1_score(gold, pred, average="macro"),
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "cohen_kappa": metrics.cohen_kappa_score,
    "matthews_correlation": metrics.matthews_corrcoef,
}
NUMBERS = {
    "spearman_correlation": lambda gold, pred: stats.spearmanr(gold, pred).statistic,
    "auroc": metrics.roc_auc_score,
    "brier_score": metrics.brier_score_loss,
}


def tested(rng, rows, difference):
    """`difference(a, b)` is that of the scores with these rows of each system; a row of system 0 or 1 is (row, system)."""
    own = [(row, 0) for row in range(rows)], [(row, 1) for row in range(rows)]
    observed = difference(*own)
    is_exact = rows <= 10
    ways = itertools.product((0, 1), repeat=rows) if is_exact else rng.integers(0, 2, (DRAWS, rows)).tolist()
    extreme = count = 0
    for way in ways:
        sides = [(row, flip) for row, flip in enumerate(way)], [(row, 1 - flip) for row, flip in enumerate(way)]
        extreme += abs(difference(*sides)) >= abs(observed) * (1 - 1e-9)
        count += 1
    if is_exact:
        return {"p": extreme / count, "is_exact": True, "difference": observed, "stderr": 0.0, "ci95": [0.0, 0.0]}
    samples = []
    for _ in range(DRAWS):
        drawn = rng.integers(0, rows, rows).tolist()
        samples.append(difference([(row, 0) for row in drawn], [(row, 1) for row in drawn]))
    samples = np.array(samples)
    samples = samples[np.isfinite(samples)]
    low, high = np.quantile(samples, [0.025, 0.975])
    return {
        "p": (extreme + 1) / (count + 1),
        "is_exact": False,
        "difference": observed,
        "stderr": float(samples.std(ddof=1)),
        "ci95": [float(low), float(high)],
    }


def of_values(rng, name, score, gold, a, b):
    gold, systems = np.array(gold), (np.array(a), np.array(b))

    def of(side):
        rows = [row for row, _ in side]
        try:
            return float(score(gold[rows], [systems[system][row] for row, system in side]))
        except ValueError:
            return float("nan")

    vector = {"metric": name, "gold": gold.tolist(), "a": a, "b": b}
    return vector | tested(rng, len(a), lambda a, b: of(b) - of(a))


def of_bleu(rng):
    from sacrebleu.metrics import BLEU
    from sacrebleu.significance import PairedTest

    words = "the a dog cat house sees runs over under green small big tree and then".split()
    sentence = lambda: rng.choice(words, rng.integers(5, 15)).tolist()
    noisy = lambda text, rate: [rng.choice(words) if rng.random() < rate else word for word in text]
    gold = [sentence() for _ in range(150)]
    a, b = ([" ".join(noisy(text, rate)) for text in gold] for rate in (0.35, 0.3))
    gold = [" ".join(text) for text in gold]
    bleu = BLEU()
    rows = [np.array(bleu._extract_corpus_statistics(side, [gold])) for side in (a, b)]

    def of(side):
        return bleu._compute_score_from_stats(sum(rows[system][row] for row, system in side).tolist()).score / 100

    vector = {"metric": "bleu.corpus", "gold": gold, "a": a, "b": b} | tested(rng, 150, lambda a, b: of(b) - of(a))
    systems = [("a", a), ("b", b)]
    _, tests = PairedTest(systems, {"BLEU": BLEU()}, [gold], test_type="ar", n_samples=DRAWS)()
    return vector | {"p": tests["BLEU"][1].p_value}


def vectors():
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(SEED)
    for rows in (8, 60):
        for name, score in LABELS.items():
            gold = rng.choice(["x", "y", "z"], rows).tolist()
            noisy = lambda rate: [str(rng.choice(["x", "y", "z"])) if rng.random() < rate else it for it in gold]
            yield of_values(rng, name, score, gold, noisy(0.6), noisy(0.35))
        for name, score in NUMBERS.items():
            gold = rng.random(rows) if name == "spearman_correlation" else rng.integers(0, 2, rows)
            noisy = lambda noise: np.clip(gold + rng.normal(0, noise, rows), 0, 1).round(3).tolist()
            yield of_values(rng, name, score, gold.tolist(), noisy(0.8), noisy(0.6))
    yield of_bleu(rng)


def main():
    found = [json.dumps(vector) for vector in vectors()]
    if "--check" in sys.argv:
        with gzip.open(OUT, "rt") as committed:
            same = found == committed.read().splitlines()
        sys.exit(0 if same else f"{OUT.name}: the peers compute other figures")
    with OUT.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
        packed.write("".join(line + "\n" for line in found).encode())


main()
