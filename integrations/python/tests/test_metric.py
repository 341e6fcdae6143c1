"""`metric(name, **params)`: values, verdicts, explanations, rows, and errors."""

import asyncio
import copy
import inspect
import pickle
from types import SimpleNamespace

import dspy
import pytest
from dspy.evaluate import metrics as theirs

import dsrs_metrics as ours
from dsrs_metrics import metric

GOLD = dspy.Example(question="Where?", answer=["Paris", "Paris, France"]).with_inputs("question")
PRED = dspy.Prediction(answer="in Paris", reasoning="It is there.")


def test_values_equal_dspy(qa):
    golds = [dspy.Example(**row["gold"]) for row in qa]
    preds = [dspy.Prediction(**row["pred"]) for row in qa]
    f1, exact = metric("f1"), metric("answer_exact_match")
    expected = [theirs.F1(pred.answer, gold.answer) for gold, pred in zip(golds, preds, strict=True)]
    assert [f1(gold, pred) for gold, pred in zip(golds, preds, strict=True)] == expected
    assert f1.batch(golds, preds) == expected
    assert f1.batch([gold.answer for gold in golds], [pred.answer for pred in preds]) == expected
    expected = [theirs.answer_exact_match(gold, pred) for gold, pred in zip(golds, preds, strict=True)]
    assert exact.batch(golds, preds) == expected
    assert [exact(gold, pred) for gold, pred in zip(golds, preds, strict=True)] == expected
    passage = metric("answer_passage_match").batch(golds[::9], preds[::9])
    pairs = zip(golds[::9], preds[::9], strict=True)
    assert passage == [theirs.answer_passage_match(gold, pred) for gold, pred in pairs]


def test_the_summary_equals_the_scores(qa):
    golds, preds = [row["gold"] for row in qa], [row["pred"] for row in qa]
    scores = metric("f1").batch(golds, preds)
    summary = metric("f1").evaluate(golds, preds)
    assert summary["scored"] == summary["rows"] == len(qa)
    assert summary["mean"] == pytest.approx(sum(scores) / len(scores), abs=1e-12)
    assert summary["ci95"][0] < summary["score"] < summary["ci95"][1]
    exact = metric("em").evaluate(golds, preds)
    assert exact["score"] == pytest.approx(exact["passed"] / len(qa), abs=1e-12)
    assert exact["ci95"][0] < exact["score"] < exact["ci95"][1] <= 1
    assert summary["name"] == "f1" and summary["parts"] == [] and summary["first_error"] is None


def test_a_failed_row_of_a_summary_is_counted_and_not_hidden():
    summary = metric("f1").evaluate(["x", "y", "z"], ["x", 3, "u"], failure_score=0.5)
    assert (summary["scored"], summary["failed"]) == (2, 1)
    assert (summary["mean"], summary["mean_scored"]) == (0.5, 0.5)
    assert "found the number 3" in summary["first_error"]


def test_a_summary_has_the_manifest_of_the_run():
    f1 = metric("f1", threshold=0.5)
    summary = f1.evaluate(["x", "y"], ["x", 3], label="baseline", tags={"prompt": "v2"}, failure_score=0.25)
    manifest = summary["manifest"]
    assert manifest["format"] == 1 and "file" not in manifest
    run = manifest["run"]
    assert (run["label"], run["tags"]) == ("baseline", {"prompt": "v2"})
    assert (run["rows"], run["failed_rows"], run["ending"], run["failure_score"]) == (2, 1, "complete", 0.25)
    assert run["metrics"] == {"f1": f1.identity}
    assert manifest["process"]["started"].endswith("Z") and manifest["process"]["duration_s"] >= 0
    plain = metric("f1").evaluate(["x"], ["x"])["manifest"]["run"]
    assert "label" not in plain and "tags" not in plain
    assert plain["metrics"]["f1"] != run["metrics"]["f1"]


def test_an_invalid_label_or_tag_is_an_error_before_the_first_row():
    f1 = metric("f1")
    with pytest.raises(ours.ParameterError) as raised:
        f1.evaluate(["x"], ["x"], label=" ")
    assert str(raised.value) == 'invalid label " ": expected at least one character that is not white space'
    assert raised.value.metric == "f1"
    with pytest.raises(ours.ParameterError) as raised:
        f1.evaluate(["x"], ["x"], tags={"prompt": "a\nb"})
    assert str(raised.value) == 'invalid value of a tag "a\\nb": expected no control characters'
    with pytest.raises(TypeError):
        f1.evaluate(["x"], ["x"], tags={"prompt": 2})


def test_an_identity_is_what_a_score_depends_on():
    identity = metric("f1", threshold=0.5, profile="folded").identity
    assert (identity["name"], identity["version"], identity["threshold"]) == ("f1", "1", 0.5)
    assert (identity["parameters"], identity["models"]) == ({"F1.profile": "folded"}, [])
    assert identity == metric("f1", threshold=0.5, profile="folded").identity
    assert metric("f1", feedback=True).identity == metric("f1").identity
    others = [metric("em"), metric("f1"), metric("f1", threshold=0.6, profile="folded")]
    assert all(other.identity != identity for other in others)


def test_a_metric_of_all_rows_is_evaluated_and_not_called():
    accuracy = metric("accuracy")
    assert accuracy.evaluate(["a", "b", "b"], ["a", "b", "a"])["score"] == pytest.approx(2 / 3)
    with pytest.raises(ours.MetricError, match=r'scores all rows together.* metric\("accuracy"\).evaluate'):
        accuracy("a", "a")


def test_a_trace_gives_a_bool():
    exact, f1 = metric("em"), metric("f1", threshold=0.5)
    for trace in [[], [(dspy.Predict("question -> answer"), {"question": "Where?"}, PRED)]]:
        assert exact(GOLD, PRED, trace) is False
        assert exact(GOLD, dspy.Prediction(answer="paris"), trace=trace) is True
        assert f1(GOLD, PRED, trace, "predict", trace) is True
        assert f1(GOLD, dspy.Prediction(answer="Rome"), trace) is False
        assert f1(GOLD, dspy.Prediction(), trace) is False
    assert exact(GOLD, PRED) is False
    assert f1(GOLD, PRED) == 2 / 3 and isinstance(f1(GOLD, PRED), float)


def test_a_metric_without_a_verdict_rejects_a_trace():
    with pytest.raises(ours.MetricError) as raised:
        metric("f1")(GOLD, PRED, [])
    assert str(raised.value) == (
        "metric `f1`: expected a verdict for the trace of an optimizer, found a score only; "
        'set a threshold: metric("f1", threshold=..)'
    )


def test_strict_scores_are_zero_or_one():
    assert metric("f1", threshold=0.5, strict=True)(GOLD, PRED) == 1.0
    assert metric("f1", threshold=0.8, strict=True)(GOLD, PRED) == 0.0


def test_feedback_is_a_prediction_with_and_without_a_trace():
    for with_feedback in [metric("f1", feedback=True), metric("f1").with_feedback()]:
        for trace in [None, []]:
            result = with_feedback(GOLD, PRED, trace)
            assert type(result) is dspy.Prediction
            assert result.score == 2 / 3
            assert result.feedback == 'closest to "Paris": 1 word expected, 2 predicted, 1 in common; extra: "in"'
            assert result["feedback"] == result.feedback


def test_details():
    details = metric("em").details(GOLD, dspy.Prediction(answer="Lyon"))
    assert details == {
        "score": 0.0,
        "passed": False,
        "confidence": 1.0,
        "details": 'expected "Paris" or "Paris, France", found "Lyon"',
        "feedback": None,
        "cost_msats": 0,
        "metadata": {},
        "parts": [],
        "components": [],
        "missing_fields": [],
    }
    assert metric("em").details(GOLD, dspy.Prediction())["missing_fields"] == ["answer"]


def test_rows_are_dspy_rows_dicts_objects_and_bare_values():
    f1 = metric("f1")

    class Slots:
        __slots__ = ("answer",)

        def __init__(self, answer):
            self.answer = answer

    class Own(dspy.Prediction):
        pass

    golds = [GOLD, {"answer": ["Paris"]}, SimpleNamespace(answer="Paris"), Slots("Paris"), "Paris", ("Paris",)]
    preds = [PRED, {"answer": "in Paris"}, SimpleNamespace(answer="in Paris"), Own(answer="in Paris"), "in Paris"]
    for gold in golds:
        for pred in preds:
            assert f1(gold, pred) == 2 / 3, (gold, pred)
    assert metric("is_json")(None, '{"a": 1}') is True
    assert metric("is_json").batch(None, ["{}", "{"]) == [True, False]


def test_only_the_declared_fields_are_read():
    class Gold:
        answer = "Paris"

        @property
        def question(self):
            raise AssertionError("read")

    assert metric("em")(Gold(), {"answer": "paris", "image": object()}) is True


def test_a_parameter_sets_the_field():
    length = metric("length", field="summary", max_chars=3)
    assert length.spec["pred"][0]["name"] == "summary"
    assert length(None, {"summary": "abc", "answer": "abcdef"}) == 1.0
    assert length(None, dspy.Prediction(summary="abcdef", answer="abc")) < 1.0


def test_values_of_every_type_of_json_reach_a_metric():
    tools = metric("json_field_accuracy")
    gold = {"answer": {"name": "x", "n": 1, "f": 0.5, "ok": True, "none": None, "list": [1, ["a"]]}}
    fields = tools.spec["gold"]
    assert [field["name"] for field in fields] == ["answer"]
    assert tools(gold, copy.deepcopy(gold)) == 1.0
    assert tools(gold, {"answer": {**gold["answer"], "n": 2}}) < 1.0


@pytest.mark.parametrize(
    ("call", "exception", "message"),
    [
        (lambda: metric("f11"), ours.ParameterError, "unknown metric `f11`; did you mean `f1`?"),
        (
            lambda: metric("f1", thresold=1),
            ours.ParameterError,
            "metric `f1` has no parameter `thresold`; it takes `profile`; did you mean `threshold`?",
        ),
        (
            lambda: metric("f1", threshold="high"),
            ours.ParameterError,
            "metric `f1`: parameter `threshold`: expected a number, as in 0.8, found `high`",
        ),
        (
            lambda: metric("regex"),
            ours.ParameterError,
            'metric `regex` requires the parameter `pattern` (a regular expression); write metric("regex", pattern=..)',
        ),
        (
            lambda: metric("answer_exact_match", frac=2),
            ours.ParameterError,
            "metric `answer_exact_match`: expected `frac` between 0 and 1, found 2",
        ),
        (
            lambda: metric("answer_exact_match", frac={1}),
            ours.ParameterError,
            "metric `answer_exact_match`: parameter `frac`: "
            "expected a str, bool, number, None, list or dict, found set",
        ),
        (
            lambda: metric("f1")({"anser": "x"}, PRED),
            ours.InputError,
            "metric `f1`: no field `gold.answer`; found `anser`",
        ),
        (
            lambda: metric("f1")(GOLD, 3),
            ours.InputError,
            "metric `f1`: field `pred.answer`: expected a string, found the number 3",
        ),
        (
            lambda: metric("f1")(GOLD, {"answer": {1}}),
            TypeError,
            "field `pred.answer`: expected a str, bool, number, None, list or dict, found set",
        ),
        (
            lambda: metric("f1")(GOLD, {"answer": float("nan")}),
            ValueError,
            "field `pred.answer`: expected a finite number, found NaN",
        ),
        (
            lambda: metric("f1")(GOLD, {"answer": 2**64}),
            ValueError,
            "field `pred.answer`: expected an integer of at most 64 bits, found a larger one",
        ),
        (
            lambda: metric("entity_f1").batch([{}], ["x"]),
            ours.InputError,
            "row 0: metric `entity_f1`: no field `gold.expected_entities`; found no fields",
        ),
        (
            lambda: metric("complete_and_grounded", offline=True)("x", "y"),
            TypeError,
            "expected a row with the fields that the metric reads of `gold` (`question`, `response`), found str; "
            "pass a dict or a dspy.Example",
        ),
        (
            lambda: metric("f1").evaluate([], []),
            ours.InputError,
            "expected at least 1 row, found none; "
            "check the source of the rows",
        ),
        (
            lambda: metric("f1").evaluate(["x"], [{"anser": "x"}]),
            ours.InputError,
            "no prediction has a field `answer`; did you mean `anser`?",
        ),
        (
            lambda: metric("f1").batch(["x"], ["x", "y"]),
            ValueError,
            "expected as many items in `golds` as in `preds`, found 1 and 2",
        ),
        (
            lambda: metric("f1")("x", None),
            TypeError,
            "expected a prediction, found None; pass dspy.Prediction() or {} for a program without a result",
        ),
        (
            lambda: metric("latency")({}, {}),
            ours.MetricError,
            "metric `latency`: expected the program's latency, found none; set or map the field `pred.latency_s` "
            "(seconds), or run the program with `dsrs_metrics::Evaluate`",
        ),
        (
            lambda: metric("tokens")({}, dspy.Prediction(answer="x")),
            ours.MetricError,
            "metric `tokens`: expected the program's token counts, found none; set or map the fields `pred.input_tokens` "
            "and `pred.output_tokens`, or run a program that reports its usage",
        ),
        (
            lambda: metric("cost").batch(None, [{"cost_msats": 1}, {}]),
            ours.MetricError,
            "row 1: metric `cost`: expected the program's cost, found none; set or map the field `pred.cost_msats` "
            "(millisatoshis), or run a program that reports its cost",
        ),
        (
            lambda: metric("f1")(None, "x"),
            ours.InputError,
            "metric `f1`: no field `gold.answer`; found no fields",
        ),
        (lambda: metric("f1", lm=print), ours.ParameterError, "metric `f1` calls no language model; remove `lm`"),
        (lambda: metric("f1", offline=True), ours.ParameterError, "metric `f1` calls no language model; remove `offline`"),
    ],
)
def test_bad_input_is_an_error_that_names_what_to_correct(call, exception, message):
    with pytest.raises(exception) as raised:
        call()
    assert str(raised.value) == message


def test_deep_nesting_is_an_error_and_no_crash():
    value = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ValueError, match="at most 128 levels of nesting"):
        metric("json_field_accuracy")({"answer": value}, {"answer": {}})
    while value:
        value = value.pop()


def test_a_batch_reports_the_first_row_that_failed_or_all():
    golds, preds = ["x"] * 3000, ["x"] * 3000
    preds[700] = preds[2900] = 5
    with pytest.raises(ours.InputError) as raised:
        metric("f1").batch(golds, preds)
    assert (raised.value.row, raised.value.metric) == (700, "f1")
    assert str(raised.value).startswith("row 700: metric `f1`: field `pred.answer`: expected a string")
    scores = metric("f1").batch(golds, preds, return_exceptions=True)
    failed = {row: score for row, score in enumerate(scores) if score != 1.0}
    assert sorted(failed) == [700, 2900]
    assert all(isinstance(error, ours.InputError) and error.row == row for row, error in failed.items())


def test_an_exception_of_a_row_keeps_its_type_and_has_the_index():
    class Broken:
        @property
        def answer(self):
            raise LookupError("broken")

    for row, exception in [(Broken(), LookupError), ("\ud800", UnicodeEncodeError), ({"answer": {1}}, TypeError)]:
        with pytest.raises(exception) as raised:
            metric("f1").batch(["x", "x"], ["x", row])
        assert raised.value.row == 1


def test_the_exceptions_are_of_python_s_kinds():
    assert issubclass(ours.ParameterError, ValueError) and issubclass(ours.InputError, ValueError)
    for exception in [ours.MetricError, ours.AbstainedError, ours.PanicError]:
        assert issubclass(exception, RuntimeError) and issubclass(exception, ours.Error)
    error = pickle.loads(pickle.dumps(ours.InputError("message", "f1", 3)))
    assert (str(error), error.metric, error.row) == ("message", "f1", 3)


def test_every_metric_has_a_spec_or_names_the_parameter_that_it_needs(monkeypatch):
    monkeypatch.delenv("DSRS_LM", raising=False)
    names = ours.metrics()
    assert len(names) == len(set(names)) > 60
    described = 0
    lm = {"lm": lambda _: "{}"}
    for name, settings in [("semantic_similarity", {}), ("answer_relevancy", lm), ("answer_correctness", lm)]:
        with pytest.raises(ours.ParameterError, match="no embedding model configured; set DSRS_EMBED"):
            metric(name, **settings)
        names.remove(name)
    for name in names:
        try:
            made = metric(name)
        except ours.ParameterError as error:
            if "needs a language model" not in str(error):
                assert f'write metric("{name}", ' in str(error) or "set `required`, `forbidden` or both" in str(error)
                continue
            try:
                made = metric(name, offline=True)
            except ours.ParameterError as error:
                # A judge of several calls.
                assert "the judge has no offline stand-in" in str(error)
                made = metric(name, **lm)
        spec = made.spec
        assert (spec["name"], made.name, made.__name__) == (name, name, name)
        assert spec["tier"] in ("proxy", "truth") and spec["doc"] and "```" not in spec["doc"]
        reserved = {"lm", "offline", "feedback", "name"} & {param["name"] for param in spec["params"]}
        assert not reserved
        described += 1
    assert described > len(names) - 12


def test_the_spec_shows_the_instance():
    spec = metric("f1", threshold=0.8, profile="folded").spec
    assert (spec["threshold"], spec["range"]) == (0.8, {"min": 0.0, "max": 1.0})
    assert spec["gold"] == [{"name": "answer", "type": "a string or list of strings", "required": True}]
    assert spec["params"][0]["default"] == "dspy"


def test_a_metric_can_be_inspected_copied_and_pickled():
    f1 = metric("f1", threshold=0.8, feedback=True)
    assert list(inspect.signature(f1).parameters) == ["gold", "pred", "trace", "pred_name", "pred_trace"]
    inspect.signature(f1).bind(None, None, None, None, None)
    assert repr(f1) == 'metric("f1", threshold=0.8, feedback=True)'
    assert copy.copy(f1) is f1 and copy.deepcopy(f1) is f1
    restored = pickle.loads(pickle.dumps(f1))
    assert repr(restored) == repr(f1) and restored(GOLD, PRED).score == 2 / 3


def test_a_call_can_be_awaited():
    async def scores():
        f1 = metric("f1")
        return await asyncio.gather(*(f1.acall(GOLD, PRED) for _ in range(8)))

    assert asyncio.run(scores()) == [2 / 3] * 8


def test_tokens_come_from_the_usage_that_dspy_tracks():
    pred = dspy.Prediction(answer="x")
    pred.set_lm_usage({"openai/gpt": {"prompt_tokens": 40, "completion_tokens": 2}, "other": {"prompt_tokens": 1}})
    assert metric("tokens")(GOLD, pred) == 43.0
    assert metric("tokens").batch([GOLD], [pred]) == [43.0]
    assert metric("tokens").evaluate([GOLD], [pred])["mean"] == 43.0


def test_a_prediction_without_fields_scores_zero_and_none_is_an_error():
    assert metric("f1").batch(["x"] * 3, ["x", dspy.Prediction(), {}]) == [1.0, 0.0, 0.0]
    with pytest.raises(TypeError, match="^row 1: expected a prediction, found None; pass dspy.Prediction"):
        metric("f1").batch(["x", "x"], ["x", None])
