"""The Python peers: what is measured, on which rows, and the goal."""

from dataclasses import dataclass
from typing import Callable, Optional

import numpy
from dspy.evaluate.metrics import EM, F1, normalize_text
from rapidfuzz import distance, process
from rouge_score import rouge_scorer
from sacrebleu.metrics import BLEU, CHRF

from rows import ANSWERS, CONTEXTS, LONG, LONG_ASCII


@dataclass
class Work:
    label: str
    name: str
    """The name that the driver knows."""
    make: Callable
    """Prepares a pass over rows, untimed, and returns the function that makes it and returns the results."""
    tables: list
    goal: Optional[float]
    """The ratio that we want to reach."""


def each(score):
    return lambda pairs: lambda: [score(prediction, references) for prediction, references in pairs]


def similarity(scorer):
    return each(lambda prediction, references: scorer.normalized_similarity(prediction, references[0]))


def batched(scorer):
    def make(pairs):
        predictions = [prediction for prediction, _ in pairs]
        references = [references[0] for _, references in pairs]
        function, float64 = scorer.normalized_similarity, numpy.float64
        return lambda: process.cpdist(predictions, references, scorer=function, dtype=float64, workers=1)

    return make


def sentences(new):
    """A new object for each pass: sacrebleu caches the words of the strings that it has seen."""

    def make(pairs):
        metric = new()
        return lambda: [metric.sentence_score(prediction, references).score / 100 for prediction, references in pairs]

    return make


def corpus_bleu(pairs):
    predictions = [prediction for prediction, _ in pairs]
    most = max(len(references) for _, references in pairs)
    references = [[row[at] if at < len(row) else None for _, row in pairs] for at in range(most)]
    metric = BLEU()
    return lambda: [metric.corpus_score(predictions, references).score / 100]


def rouge(name, use_stemmer=False):
    def make(pairs):
        scorer = rouge_scorer.RougeScorer([name], use_stemmer=use_stemmer)
        return lambda: [
            max(scorer.score(reference, prediction)[name].fmeasure for reference in references)
            for prediction, references in pairs
        ]

    return make


def sentence_bleu():
    return BLEU(effective_order=True)


INDEL, LEVENSHTEIN = distance.Indel, distance.Levenshtein
SHORT = [ANSWERS, CONTEXTS]

WORKS = [
    Work("normalize_text", "normalize_text", each(lambda prediction, _: normalize_text(prediction)), [ANSWERS], 100),
    Work("EM", "em", each(EM), [ANSWERS], 100),
    Work("F1", "f1", each(F1), [ANSWERS], 100),
    Work("EM", "em", each(EM), [LONG_ASCII], None),
    Work("F1", "f1", each(F1), [LONG_ASCII], None),
    Work("EM", "em", each(EM), LONG, 50),
    Work("F1", "f1", each(F1), LONG, 50),
    Work("Indel similarity (cpdist)", "indel", batched(INDEL), SHORT, 1),
    Work("Indel similarity (pairs)", "indel", similarity(INDEL), SHORT, 1),
    Work("Levenshtein similarity (cpdist)", "levenshtein", batched(LEVENSHTEIN), SHORT, 1),
    Work("Levenshtein similarity (pairs)", "levenshtein", similarity(LEVENSHTEIN), SHORT, 1),
    Work("sentence BLEU", "sentence_bleu", sentences(sentence_bleu), SHORT, 50),
    Work("corpus BLEU", "corpus_bleu", corpus_bleu, SHORT, 50),
    Work("chrF", "chrf", sentences(CHRF), SHORT, 50),
    Work("ROUGE-1", "rouge1", rouge("rouge1"), SHORT, 50),
    Work("ROUGE-1 of stems", "rouge_1_stems", rouge("rouge1", True), SHORT, 50),
    Work("ROUGE-2", "rouge2", rouge("rouge2"), SHORT, 50),
    Work("ROUGE-L", "rouge_l", rouge("rougeL"), SHORT, 50),
]
