"""`dspy.Evaluate` and the optimizers of DSPy with our metrics."""

import json

import dspy
import pytest
from dspy.evaluate import metrics as theirs
from dspy.teleprompt import BootstrapFewShot, BootstrapFewShotWithRandomSearch
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
