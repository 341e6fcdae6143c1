"""Writes tests/parity/corpus_vectors.jsonl.gz: labels and numbers of many rows, and the scores of the reference packages.

Run with the versions in .ci/peers.txt:

    python tests/parity/make_corpus_vectors.py            # writes the vectors
    python tests/parity/make_corpus_vectors.py --check    # compares the committed ones with what the peers compute now

The seed is fixed. A score that is not defined is null, and so is a Matthews correlation of constant labels, for which
scikit-learn returns 0. No package has the expected calibration error; it is computed here with numpy by its definition.
"""

import gzip
import json
import math
import pathlib
import random
import sys
import warnings

import krippendorff
import numpy as np
from scipy import stats
from sklearn import metrics

SEED = 20261122
OUT = pathlib.Path(__file__).with_name("corpus_vectors.jsonl.gz")


def number(compute):
    """The figure, or None if the package raises or returns NaN."""
    try:
        value = float(compute())
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def alpha(gold, pred, level):
    names = sorted(set(gold) | set(pred))
    values = [[names.index(label) if level == "nominal" else float(label) for label in side] for side in (gold, pred)]
    return number(lambda: krippendorff.alpha(reliability_data=values, level_of_measurement=level))


def labels(gold, pred, subset):
    is_number = all(label.isdigit() for label in gold + pred)
    # As numbers, so that classes are in the order of numbers.
    ordered = ([int(label) for label in gold], [int(label) for label in pred]) if is_number else (gold, pred)
    is_constant = len(set(gold)) == 1 or len(set(pred)) == 1
    scores = {
        "accuracy": number(lambda: metrics.accuracy_score(gold, pred)),
        "macro_f1": number(lambda: metrics.f1_score(gold, pred, average="macro", zero_division=0)),
        "micro_f1": number(lambda: metrics.f1_score(gold, pred, average="micro", zero_division=0)),
        "balanced_accuracy": number(lambda: metrics.balanced_accuracy_score(gold, pred)),
        "matthews_correlation": None if is_constant else number(lambda: metrics.matthews_corrcoef(gold, pred)),
        "cohen_kappa": number(lambda: metrics.cohen_kappa_score(*ordered)),
        "cohen_kappa linear": number(lambda: metrics.cohen_kappa_score(*ordered, weights="linear")),
        "cohen_kappa quadratic": number(lambda: metrics.cohen_kappa_score(*ordered, weights="quadratic")),
        "krippendorff_alpha": alpha(gold, pred, "nominal"),
    }
    if is_number:
        scores["krippendorff_alpha ordinal"] = alpha(gold, pred, "ordinal")
        scores["krippendorff_alpha interval"] = alpha(gold, pred, "interval")
    # Every label of the subset is in the data.
    subset = [label for label in subset if label in gold + pred]
    if subset:
        scores["macro_f1 subset"] = number(lambda: metrics.f1_score(gold, pred, labels=subset, average="macro", zero_division=0))
        scores["micro_f1 subset"] = number(lambda: metrics.f1_score(gold, pred, labels=subset, average="micro", zero_division=0))
    return {"of": "labels", "gold": gold, "pred": pred, "subset": subset, "scores": scores}


def calibration_error(truth, probability, bins):
    truth, probability = np.array(truth, dtype=float), np.array(probability)
    edges = np.ceil(probability * bins) - 1
    place = np.clip(edges, 0, bins - 1)
    total = 0.0
    for at in np.unique(place):
        rows = place == at
        total += rows.sum() * abs(probability[rows].mean() - truth[rows].mean())
    return total / len(truth)


def probabilities(truth, probability):
    scores = {
        "auroc": number(lambda: metrics.roc_auc_score(truth, probability)),
        "brier_score": number(lambda: metrics.brier_score_loss(truth, probability, pos_label=1)),
        "expected_calibration_error 10": number(lambda: calibration_error(truth, probability, 10)),
        "expected_calibration_error 4": number(lambda: calibration_error(truth, probability, 4)),
    }
    return {"of": "probabilities", "truth": truth, "probability": probability, "scores": scores}


def ranks(gold, pred):
    scores = {"spearman_correlation": number(lambda: stats.spearmanr(gold, pred).statistic)}
    return {"of": "ranks", "gold": gold, "pred": pred, "scores": scores}


def vectors():
    rng = random.Random(SEED)
    words = ["yes", "no", "maybe", "none", "Paris", "\u6771\u4eac", "a b"]
    for gold, pred in [(["a"], ["a"]), (["a"], ["b"]), (["a", "a"], ["a", "b"]), (["a", "b"], ["a", "a"]), (["a", "a"], ["a", "a"])]:
        yield labels(gold, pred, ["a"])
    for _ in range(120):
        pool = rng.sample(words, rng.randint(1, 5)) if rng.random() < 0.6 else [str(n) for n in rng.sample(range(13), rng.randint(2, 6))]
        rows, noise = rng.randint(1, 80), rng.random()
        weights = [rng.random() ** 2 + 0.01 for _ in pool]
        gold = rng.choices(pool, weights, k=rows)
        pred = [rng.choice(pool) if rng.random() < noise else label for label in gold]
        yield labels(gold, pred, rng.sample(pool, rng.randint(1, len(pool))))
    for _ in range(120):
        rows, bias = rng.randint(1, 80), rng.random()
        probability = [rng.choice([round(rng.random(), 1), rng.random(), rng.choice([0.0, 0.25, 0.5, 1.0])]) for _ in range(rows)]
        truth = [int(rng.random() < (p if rng.random() < bias else 0.5)) for p in probability]
        yield probabilities(truth, probability)
    for _ in range(120):
        rows, levels = rng.randint(1, 60), rng.choice([1, 3, 10, 1000])
        gold = [float(rng.randrange(levels)) for _ in range(rows)]
        pred = [value * rng.choice([1, 1, -1]) + rng.choice([0.0, rng.gauss(0, levels / 3)]) for value in gold]
        yield ranks(gold, pred)


def close(a, b):
    return a == b or (a is not None and b is not None and abs(a - b) <= 1e-12 * max(1.0, abs(a)))


def main():
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    found = list(vectors())
    if "--check" in sys.argv:
        committed = [json.loads(line) for line in gzip.decompress(OUT.read_bytes()).decode().splitlines()]
        assert len(committed) == len(found), (len(committed), len(found))
        for one, now in zip(committed, found):
            one_scores, now_scores = one.pop("scores"), now.pop("scores")
            assert one == now and one_scores.keys() == now_scores.keys(), (one, now)
            assert all(close(one_scores[key], now_scores[key]) for key in one_scores), (one_scores, now_scores)
        print(len(found), "vectors, as committed")
        return
    lines = "".join(json.dumps(vector, allow_nan=False) + "\n" for vector in found)
    OUT.write_bytes(gzip.compress(lines.encode(), 9, mtime=0))
    print(len(found), "vectors")


if __name__ == "__main__":
    main()
