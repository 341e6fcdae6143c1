"""`dspy.Evaluate` and the optimizers of DSPy with our metrics."""

import json

import dspy
import pytest
from dspy.evaluate import metrics as theirs
from dspy.teleprompt import BootstrapFewShot, BootstrapFewShotWithRandomSearch
from dspy.teleprompt.gepa.gepa_utils import DspyAdapter
from dspy.utils.dummies import DummyLM

import dsrs_metrics as ours
from dsrs_metrics import metric


class Recorded(dspy.Module):
    """A program whose predictions are recorded."""

    def __init__(self, rows):
        super().__init__()
        self.rows = rows

    def forward(self, row):
        return dspy.Prediction(**self.rows[row]["pred"])


def test_evaluate_gives_equal_results(qa):
    rows = qa[::3]
    assert len({row["model"] for row in rows}) == 3
    devset = [dspy.Example(row=number, **row["gold"]).with_inputs("row") for number, row in enumerate(rows)]
    evaluate = dspy.Evaluate(devset=devset, num_threads=2, display_progress=False, provide_traceback=True)
    pairs = [
        (theirs.answer_exact_match, ours.answer_exact_match),
        (theirs.answer_exact_match, metric("answer_exact_match")),
        (theirs.answer_passage_match, ours.answer_passage_match),
        (theirs.answer_passage_match, metric("answer_passage_match")),
        (lambda gold, pred, trace=None: theirs.F1(pred.answer, gold.answer), metric("f1")),
        (lambda gold, pred, trace=None: theirs.HotPotF1(pred.answer, gold.answer), metric("hotpot_f1")),
    ]
    results = {}
    for expected, found in pairs:
        if expected not in results:
            results[expected] = evaluate(Recorded(rows), metric=expected)
        result = evaluate(Recorded(rows), metric=found)
        assert result.score == results[expected].score
        assert [row[2] for row in result.results] == [row[2] for row in results[expected].results]
        assert 0 < result.score < 100


def test_evaluate_averages_feedback(qa):
    devset = [dspy.Example(row=number, **row["gold"]).with_inputs("row") for number, row in enumerate(qa[:50])]
    evaluate = dspy.Evaluate(devset=devset, num_threads=1, display_progress=False)
    plain = evaluate(Recorded(qa), metric=metric("f1"))
    assert evaluate(Recorded(qa), metric=metric("f1", feedback=True)).score == plain.score


TRAINSET = [
    dspy.Example(question=f"What is {number}+{number}?", answer=str(2 * number)).with_inputs("question")
    for number in range(1, 7)
]
# The model knows three of six answers.
KNOWN = {
    example.question: {"answer": example.answer if number % 2 else "unknown"} for number, example in enumerate(TRAINSET)
}


@pytest.mark.parametrize("make", [lambda: metric("em"), lambda: metric("f1", threshold=0.5)])
def test_bootstrap_keeps_the_demos_that_the_metric_accepts(make):
    with dspy.context(lm=DummyLM(KNOWN)):
        optimizer = BootstrapFewShot(metric=make(), max_bootstrapped_demos=6, max_labeled_demos=0)
        compiled = optimizer.compile(dspy.Predict("question -> answer"), trainset=TRAINSET)
    assert [demo.answer for demo in compiled.demos] == ["4", "8", "12"]


def test_random_search_compares_programs_by_the_metric():
    with dspy.context(lm=DummyLM(KNOWN)):
        optimizer = BootstrapFewShotWithRandomSearch(
            metric=metric("answer_exact_match"), max_labeled_demos=1, num_candidate_programs=1, num_threads=1
        )
        compiled = optimizer.compile(dspy.Predict("question -> answer"), trainset=TRAINSET)
    assert {candidate["score"] for candidate in compiled.candidate_programs} == {50.0}


def test_gepa_reads_the_feedback_of_the_metric(tmp_path):
    reflection = DummyLM([{"new_instruction": "Answer with a number only."}] * 100, adapter=dspy.JSONAdapter())
    with dspy.context(lm=DummyLM(KNOWN)):
        optimizer = dspy.GEPA(
            metric=metric("f1", feedback=True),
            max_metric_calls=40,
            reflection_lm=reflection,
            num_threads=1,
            reflection_minibatch_size=3,
            log_dir=str(tmp_path),
        )
        compiled = optimizer.compile(dspy.Predict("question -> answer"), trainset=TRAINSET, valset=TRAINSET)
    assert isinstance(compiled, dspy.Predict)
    prompts = [message["content"] for call in reflection.history for message in call["messages"]]
    feedback = json.dumps('0 in common; missing: "2"; extra: "unknown"').strip('"')
    assert any(feedback in prompt for prompt in prompts)


HERITAGE_GOLD = {"expected_intent": "temporal", "expected_entities": ["Louvre", "Paris"]}
HERITAGE_PRED = {"intent": "temporal", "entities": ["Louvre"], "sparql_query": "SELECT ?year {", "answer": "1793"}
HERITAGE_SCORES = {
    "intent_accuracy": 1.0,
    "entity_f1": 2 / 3,
    "sparql_syntax_valid": 0.0,
    "answer_present": 1.0,
    "sources_used": 0.0,
}


def test_objectives_are_the_named_scores_or_the_components_or_the_score():
    def objectives(name, gold, pred):
        result = metric(name, feedback=True)(gold, pred)
        assert type(result.objective_scores) is dict
        return result.objective_scores

    gold, pred = {"answer": "the cat sat"}, {"answer": "the cat"}
    assert objectives("rouge_1", gold, pred) == {"f1": 0.8, "precision": 1.0, "recall": 2 / 3}
    assert objectives("f1", gold, pred) == {"f1": 2 / 3}
    assert objectives("heritage_rag", HERITAGE_GOLD, HERITAGE_PRED) == HERITAGE_SCORES
    # A composite that passes or fails has the scores of its components, too.
    strict = {name: score for name, score in HERITAGE_SCORES.items() if name != "sources_used"}
    assert objectives("heritage_rag_strict", HERITAGE_GOLD, HERITAGE_PRED) == strict


@pytest.mark.parametrize("capture_traces", [False, True])
def test_the_adapter_of_gepa_reads_the_objectives(capture_traces):
    program = dspy.Predict("question -> intent, entities: list[str], sparql_query, answer")
    batch = [dspy.Example(question=name, **HERITAGE_GOLD).with_inputs("question") for name in ["first", "second"]]
    replies = {"first": HERITAGE_PRED, "second": {**HERITAGE_PRED, "intent": "spatial", "answer": " "}}
    adapter = DspyAdapter(program, metric("heritage_rag", feedback=True), {}, num_threads=1)
    with dspy.context(lm=DummyLM({name: {**reply, "entities": '["Louvre"]'} for name, reply in replies.items()})):
        result = adapter.evaluate(batch, {"self": "Answer."}, capture_traces=capture_traces)
    second = {**HERITAGE_SCORES, "intent_accuracy": 0.0, "answer_present": 0.0}
    assert result.objective_scores == [HERITAGE_SCORES, second]
    weights = [0.25, 0.25, 0.20, 0.15, 0.15]
    expected = [sum(w * s for w, s in zip(weights, row.values())) for row in result.objective_scores]
    assert result.scores == pytest.approx(expected)


class Written(dspy.Module):
    """A program whose answer depends on its instruction: a short one has the better precision, a long one the better recall."""

    def __init__(self):
        super().__init__()
        self.write = dspy.Predict("question -> answer")

    def forward(self, question):
        is_short = "short" in self.write.signature.instructions
        answer = "Paris" if is_short else "It is Paris, the capital of France in Europe today"
        with dspy.context(lm=DummyLM([{"answer": answer}])):
            return self.write(question=question)


def test_gepa_keeps_the_best_programs_of_each_objective(tmp_path):
    trainset = [dspy.Example(question=f"{n}?", answer="Paris, the capital").with_inputs("question") for n in range(4)]
    optimizer = dspy.GEPA(
        metric=metric("rouge_1", feedback=True),
        max_metric_calls=40,
        reflection_lm=DummyLM([{"new_instruction": "Write a short answer."}] * 100, adapter=dspy.JSONAdapter()),
        num_threads=1,
        reflection_minibatch_size=2,
        track_stats=True,
        gepa_kwargs={"frontier_type": "objective"},
        log_dir=str(tmp_path),
    )
    found = optimizer.compile(Written(), trainset=trainset, valset=trainset).detailed_results
    assert found.objective_pareto_front == pytest.approx({"f1": 0.5, "precision": 1.0, "recall": 1.0})
    short = set(range(1, len(found.candidates)))
    assert short and found.per_objective_best_candidates == {"f1": short, "precision": short, "recall": {0}}
    assert found.val_aggregate_subscores[0] == pytest.approx({"f1": 6 / 13, "precision": 0.3, "recall": 1.0})
