"""DSPy's functions: the same values and exceptions."""

from types import SimpleNamespace

import dspy
import pytest
from dspy.evaluate import metrics as theirs

import dsrs_metrics as ours

STRINGS = [
    "",
    "A",
    "The,  Eiffel  Tower!",
    "t.he end",
    "C++",
    "-5",
    "3.14",
    "yes",
    "No!",
    "noanswer",
    "ÉCOLE école",
    "e\u0301cole\u0323\u0301",
    "İstanbul ſtraße ﬁne ５",
    "東京 タワー",
    "a\u00a0b\u2003c\x1cd\x85e",
    "the the the cat",
    "cat cat the",
    "ὈΔΥΣΣΕΎΣ ΑΣ",
]
OVER_LISTS = ["EM", "F1", "HotPotF1"]
OF_PAIRS = ["em_score", "f1_score", "hotpot_f1_score", "precision_score"]


def pairs(qa):
    """Predictions and answers of the shared rows, and all pairs of the strings above."""
    yield from ((row["pred"]["answer"], row["gold"]["answer"]) for row in qa)
    yield from ((one, [other, "cat"]) for one in STRINGS for other in STRINGS)


def test_normalize_text_equals_dspy(qa):
    strings = STRINGS + [answer for prediction, answers in pairs(qa) for answer in [prediction, *answers]]
    expected = [theirs.normalize_text(string) for string in strings]
    assert [ours.normalize_text(string) for string in strings] == expected
    assert ours.normalize_text_batch(strings) == expected


@pytest.mark.parametrize("name", OVER_LISTS)
def test_functions_over_lists_equal_dspy(name, qa):
    expected = [getattr(theirs, name)(prediction, answers) for prediction, answers in pairs(qa)]
    assert [getattr(ours, name)(prediction, answers) for prediction, answers in pairs(qa)] == expected
    assert 0 < sum(expected) < len(expected)
    batch = getattr(ours, {"EM": "em", "F1": "f1", "HotPotF1": "hotpot_f1"}[name] + "_batch")
    assert batch(*zip(*pairs(qa), strict=True)) == expected


@pytest.mark.parametrize("name", OF_PAIRS)
def test_functions_of_pairs_equal_dspy(name, qa):
    rows = [(prediction, answers[0]) for prediction, answers in pairs(qa)]
    expected = [getattr(theirs, name)(*row) for row in rows]
    assert [getattr(ours, name)(*row) for row in rows] == expected
    assert 0 < sum(expected) < len(expected)


def test_precision_batch_is_the_best_precision():
    assert ours.precision_batch(["eiffel tower in paris"], [["Eiffel", "Eiffel Tower"]]) == [0.5]


def test_exact_match_of_hotpot_is_exact_match():
    assert ours.HotPotEM("Yes.", ["no", "yes"]) is True
    assert ours.HotPotEM("yes it is", ["yes"]) is False


@pytest.mark.parametrize("frac", [1.0, 1, 0.6, 0.0, float("nan")])
def test_answer_exact_match_equals_dspy(frac, qa):
    rows = [(dspy.Example(answer=answers), dspy.Prediction(answer=prediction)) for prediction, answers in pairs(qa)]
    expected = [theirs.answer_exact_match(*row, frac=frac) for row in rows]
    assert [ours.answer_exact_match(*row, frac=frac) for row in rows] == expected
    assert ours.answer_exact_match_batch(*zip(*pairs(qa), strict=True), frac=frac) == expected


def test_answer_passage_match_equals_dspy(qa):
    rows = [(row["gold"]["answer"], row["pred"]["context"]) for row in qa[::7]]
    rows += [("ÉCOLE, the", ["Une école!"]), ("", ["x"]), ("x", []), ([], ["x"]), ("the", ["a cat"])]
    examples = [(dspy.Example(answer=answers), dspy.Prediction(context=context)) for answers, context in rows]
    expected = [theirs.answer_passage_match(*row) for row in examples]
    assert [ours.answer_passage_match(*row) for row in examples] == expected
    assert set(expected) == {True, False}
    answers, contexts = zip(*rows, strict=True)
    assert ours.answer_passage_match_batch(contexts, answers) == expected


def test_rows_are_read_as_dspy_reads_them():
    class Own(dspy.Example):
        def __getattr__(self, key):
            return "Paris" if key == "answer" else super().__getattr__(key)

    predict = dspy.Predict("question -> answer")
    predict.answer = "paris"
    for pred in [predict, SimpleNamespace(answer="Paris!"), Own(), dspy.Prediction(answer="Paris")]:
        for gold in [dspy.Example(answer="Paris"), Own(answer="Rome"), SimpleNamespace(answer=["x", "Paris"])]:
            assert ours.answer_exact_match(gold, pred, None) is True
            assert ours.answer_exact_match(example=gold, pred=pred, trace=[1], frac=0.5) is True


WRONG = [
    (lambda metrics: metrics.EM("x", "y"), ValueError),
    (lambda metrics: metrics.F1("x", ("y",)), ValueError),
    (lambda metrics: metrics.HotPotF1("x", None), ValueError),
    (lambda metrics: metrics.EM("x", []), ValueError),
    (lambda metrics: metrics.EM(1, ["x"]), TypeError),
    (lambda metrics: metrics.F1("x", ["x", None]), TypeError),
    (lambda metrics: metrics.normalize_text(b"x"), TypeError),
    (lambda metrics: metrics.EM("x"), TypeError),
    (lambda metrics: metrics.answer_exact_match(dspy.Example(answer=3), dspy.Prediction(answer="3")), ValueError),
    (lambda metrics: metrics.answer_exact_match(dspy.Example(x=3), dspy.Prediction(answer="3")), AttributeError),
    (lambda metrics: metrics.answer_exact_match(dspy.Example(answer="3"), dspy.Prediction()), AttributeError),
    (lambda metrics: metrics.answer_passage_match(dspy.Example(answer={}), dspy.Prediction(context=[])), ValueError),
    (lambda metrics: metrics.answer_passage_match(dspy.Example(answer="x"), dspy.Prediction(context=None)), TypeError),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
@pytest.mark.parametrize("metrics", [theirs, ours])
def test_wrong_input_raises_what_dspy_raises(number, metrics):
    call, exception = WRONG[number]
    with pytest.raises(exception):
        call(metrics)


def test_messages_of_wrong_input():
    messages = []
    for call, _ in WRONG[:6]:
        with pytest.raises((ValueError, TypeError)) as raised:
            call(ours)
        messages.append(str(raised.value))
    assert messages == [
        "`answers_list` must be a list, got <class 'str'>",
        "`answers_list` must be a list, got <class 'tuple'>",
        "`answers_list` must be a list, got <class 'NoneType'>",
        "no reference answer to compare the prediction with; give at least one",
        "expected str, found int",
        "expected str, found NoneType",
    ]


def test_a_string_instead_of_passages_and_a_lone_surrogate_are_errors():
    with pytest.raises(TypeError, match="expected a list of strings, found str"):
        ours.answer_passage_match(dspy.Example(answer="x"), dspy.Prediction(context="x"))
    with pytest.raises(UnicodeEncodeError):
        ours.normalize_text("\ud800")
