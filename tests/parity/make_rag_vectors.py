"""Writes tests/parity/rag_vectors.jsonl.gz: verdicts of a scripted model, and the scores that ragas computes from them.

Run with the version in PEER, in a virtual environment of its own:

    pip install ragas==0.4.3 rapidfuzz langchain-community==0.3.31
    python tests/parity/make_rag_vectors.py            # writes the vectors
    python tests/parity/make_rag_vectors.py --check    # compares the committed ones with what ragas computes now

The seed is fixed. A row has the verdicts that a model may give: "answer" has for each statement of the answer the contexts that
support it and whether the reference does, "reference" for each statement of the reference the contexts that support it and whether
the answer does, "useful" whether each context was. "entities" are those of the reference, "found" those of the contexts. "questions" are
the vectors of the question and of three questions for the answer; the first two are also those of answer and reference. "topics" has
for each topic whether it was answered and whether it is allowed. "texts" and
"reference_texts" are contexts for the metrics without a model. In "scores", null is ragas' NaN or its error; the scores of factual
correctness are those before rounding, except for the last one.
"""

import asyncio
import gzip
import importlib.metadata
import json
import math
import os
import pathlib
import random
import sys
import unittest.mock
import warnings

os.environ["RAGAS_DO_NOT_TRACK"] = "true"
warnings.filterwarnings("ignore")

from ragas import SingleTurnSample
from ragas.embeddings.base import BaseRagasEmbedding
from ragas.llms.base import InstructorBaseRagasLLM
from ragas.messages import AIMessage, HumanMessage
from ragas.metrics import (
    IDBasedContextPrecision,
    IDBasedContextRecall,
    NonLLMContextPrecisionWithReference,
    NonLLMContextRecall,
)
from ragas.metrics.collections.factual_correctness import metric as factual_correctness
from ragas.metrics.collections import (
    AnswerCorrectness,
    AnswerRelevancy,
    ContextEntityRecall,
    ContextPrecisionWithoutReference,
    ContextPrecisionWithReference,
    ContextRecall,
    FactualCorrectness,
    Faithfulness,
    NoiseSensitivity,
    TopicAdherence,
)

SEED = 20261129
ROWS = 500
PEER = "0.4.3"
OUT = pathlib.Path(__file__).with_name("rag_vectors.jsonl.gz")
WORDS = ["the", "louvre", "is", "in", "paris", "since", "1793", "museum"]


class Scripted(InstructorBaseRagasLLM):
    """A model that gives these replies, one after the other."""

    def __init__(self, replies):
        self.replies = iter(replies)

    def generate(self, prompt, response_model):
        return response_model.model_validate(next(self.replies))

    async def agenerate(self, prompt, response_model):
        return self.generate(prompt, response_model)


class Vectors(BaseRagasEmbedding):
    """A model that returns these vectors by text."""

    def __init__(self, vectors):
        self.vectors = vectors

    def embed_text(self, text, **kwargs):
        return self.vectors[text]

    async def aembed_text(self, text, **kwargs):
        return self.vectors[text]


def statements(count):
    return {"statements": [f"s{at}" for at in range(count)]}


def verdicts(flags):
    return {"statements": [{"statement": "s", "reason": "r", "verdict": int(flag)} for flag in flags]}


def score(metric, replies, **fields):
    try:
        value = asyncio.run(metric(llm=Scripted(replies)).ascore(**fields)).value
    except (ValueError, IndexError):
        return None
    return None if math.isnan(value) else float(value)


def unrounded(scored):
    """Calls a function while ragas does not round its score."""
    with unittest.mock.patch.object(factual_correctness.np, "round", lambda value, digits: value):
        return scored()


def without_model(metric, **fields):
    value = asyncio.run(metric.single_turn_ascore(SingleTurnSample(**fields)))
    return None if math.isnan(value) else float(value)


def vector(rng):
    contexts = rng.randint(1, 4)
    flags = lambda: [rng.random() < 0.5 for _ in range(contexts)]
    sparse = lambda: [rng.random() < 0.25 for _ in range(contexts)]
    answer = [{"contexts": sparse(), "other": rng.random() < 0.5} for _ in range(rng.choice([0, 1, 2, 3, 4, 5, 6]))]
    reference = [{"contexts": sparse(), "other": rng.random() < 0.6} for _ in range(rng.choice([0, 1, 2, 3, 4, 5]))]
    useful = flags()
    entities = rng.sample("ABCDEFGH", rng.randint(0, 6))
    found = rng.sample("ABCDEFGH", rng.randint(0, 6))
    text = lambda: " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 4)))
    texts = [text() for _ in range(rng.randint(1, 4))]
    reference_texts = [text() for _ in range(rng.randint(1, 3))]
    ids = [rng.randint(1, 6) for _ in range(rng.randint(0, 5))]
    reference_ids = [rng.randint(1, 6) for _ in range(rng.randint(0, 4))]

    given = {"user_input": "q", "response": "a", "reference": "r", "retrieved_contexts": ["c"] * contexts}
    only = lambda *names: {name: given[name] for name in names}
    supported = lambda rows: [any(row["contexts"]) for row in rows]
    other = lambda rows: [row["other"] for row in rows]
    column = lambda rows, at: verdicts(row["contexts"][at] for row in rows)
    noise = [statements(len(reference)), statements(len(answer))]
    for at in range(contexts):
        noise += [column(reference, at), column(answer, at)]
    noise.append(verdicts(other(answer)))
    # A list of claims without any has no second call.
    claims = lambda rows: [{"claims": ["c"] * len(rows)}] + ([verdicts(other(rows))] if rows else [])
    rounded = lambda **settings: score(
        lambda llm: FactualCorrectness(llm=llm, **settings),
        claims(answer) + claims(reference), **only("response", "reference"),
    )
    factual = lambda **settings: unrounded(lambda: rounded(**settings))
    useful_replies = [{"reason": "r", "verdict": int(flag)} for flag in useful]
    recall = {"classifications": [{"statement": "s", "reason": "r", "attributed": int(flag)} for flag in supported(reference)]}
    questions = [[rng.randint(-3, 5) or 1 for _ in range(3)] for _ in range(4)]
    noncommittal = rng.random() < 0.2
    written = [{"question": f"q{at}", "noncommittal": int(noncommittal)} for at in (1, 2, 3)]
    texts_of = {"q": questions[0], "q1": questions[1], "q2": questions[2], "q3": questions[3], "a": questions[0], "r": questions[1]}
    reason = lambda rows: [{"statement": "s", "reason": "r"} for _ in rows]
    classified = {
        "TP": reason([row for row in answer if row["other"]]),
        "FP": reason([row for row in answer if not row["other"]]),
        "FN": reason([row for row in reference if not row["other"]]),
    }
    correctness = [statements(len(answer)), statements(len(reference))] + ([classified] if answer and reference else [])
    topics = [[rng.random() < 0.6, rng.random() < 0.6] for _ in range(rng.randint(0, 5))]
    about = [{"topics": [f"t{at}" for at in range(len(topics))]}]
    about += [{"refused_to_answer": not answered} for answered, _ in topics]
    about.append({"classifications": [allowed for _, allowed in topics]})
    talk = {"user_input": [HumanMessage(content="u"), AIMessage(content="a")], "reference_topics": ["t"]}
    adherence = lambda mode: score(lambda llm: TopicAdherence(llm=llm, mode=mode), about, **talk)
    scores = {
        "faithfulness": score(Faithfulness, [statements(len(answer)), verdicts(supported(answer))], **only("user_input", "response", "retrieved_contexts")),
        "context_precision": score(ContextPrecisionWithReference, useful_replies, **only("user_input", "reference", "retrieved_contexts")),
        "context_utilization": score(ContextPrecisionWithoutReference, useful_replies, **only("user_input", "response", "retrieved_contexts")),
        "context_recall": score(ContextRecall, [recall], **only("user_input", "reference", "retrieved_contexts")),
        "context_entity_recall": score(ContextEntityRecall, [{"entities": entities}, {"entities": found}], **only("reference", "retrieved_contexts")),
        "noise_relevant": score(NoiseSensitivity, noise, **given),
        "noise_irrelevant": score(lambda llm: NoiseSensitivity(llm=llm, mode="irrelevant"), noise, **given),
        "factual_precision": factual(mode="precision"),
        "factual_recall": factual(mode="recall"),
        "factual_f1": factual(mode="f1"),
        "factual_f2": factual(mode="f1", beta=2.0),
        "factual_f1_rounded": rounded(mode="f1"),
        "answer_relevancy": score(
            lambda llm: AnswerRelevancy(llm=llm, embeddings=Vectors(texts_of)), written, **only("user_input", "response")),
        "answer_correctness": score(
            lambda llm: AnswerCorrectness(llm=llm, embeddings=Vectors(texts_of)), correctness, **only("user_input", "response", "reference")),
        "topic_precision": adherence("precision"),
        "topic_recall": adherence("recall"),
        "topic_f1": adherence("f1"),
        "precision_by_distance": without_model(NonLLMContextPrecisionWithReference(), retrieved_contexts=texts, reference_contexts=reference_texts),
        "recall_by_distance": without_model(NonLLMContextRecall(), retrieved_contexts=texts, reference_contexts=reference_texts),
        "precision_by_id": without_model(IDBasedContextPrecision(), retrieved_context_ids=ids, reference_context_ids=reference_ids),
        "recall_by_id": without_model(IDBasedContextRecall(), retrieved_context_ids=ids, reference_context_ids=reference_ids),
    }
    return {
        "answer": answer, "reference": reference, "useful": useful, "entities": entities, "found": found,
        "texts": texts, "reference_texts": reference_texts, "ids": ids, "reference_ids": reference_ids,
        "questions": questions, "noncommittal": noncommittal, "topics": topics, "scores": scores,
    }


def main():
    found = importlib.metadata.version("ragas")
    assert found == PEER, (found, PEER)
    rng = random.Random(SEED)
    lines = [json.dumps(vector(rng), separators=(",", ":")) for _ in range(ROWS)]
    if "--check" in sys.argv:
        committed = gzip.decompress(OUT.read_bytes()).decode().splitlines()
        assert committed == lines, "the committed vectors differ"
        print(len(lines), "vectors, as committed")
        return
    OUT.write_bytes(gzip.compress("".join(line + "\n" for line in lines).encode(), 9, mtime=0))
    print(len(lines), "vectors")


if __name__ == "__main__":
    main()
