"""Judges: a callable as the language model, concurrency, errors, Ctrl-C, and scores without a model."""

import multiprocessing
import pickle
import signal
import threading
import time
import warnings

import dspy
import pytest
from dspy.utils.dummies import DummyLM

import dsrs_metrics as ours
from dsrs_metrics import metric

GOLD = dspy.Example(question="Capital of France?", response="Paris is the capital of France.")
PRED = dspy.Prediction(response="The capital is Paris.")
REPLY = '{"reasoning": "Half of it.", "recall": 0.5, "precision": 1.0}'


@pytest.fixture(autouse=True)
def no_model(monkeypatch):
    monkeypatch.delenv("DSRS_LM", raising=False)


class Model:
    def __init__(self, reply=REPLY, seconds=0.0):
        self.reply, self.seconds = reply, seconds
        self.calls, self.running, self.most = [], 0, 0
        self.lock = threading.Lock()

    def __call__(self, messages):
        with self.lock:
            self.calls.append(messages)
            self.running += 1
            self.most = max(self.most, self.running)
        time.sleep(self.seconds)
        with self.lock:
            self.running -= 1
        return self.reply


def test_a_callable_is_the_model_of_a_judge():
    model = Model()
    judge = metric("semantic_f1", lm=model)
    assert judge(GOLD, PRED) == pytest.approx(2 / 3)
    assert judge(GOLD, PRED, trace=[]) is True
    assert metric("semantic_f1", lm=model, threshold=0.9)(GOLD, PRED, trace=[]) is False
    system, user = model.calls[0]
    assert (system["role"], user["role"]) == ("system", "user")
    assert "The capital is Paris." in user["content"]
    details = judge.details(GOLD, PRED)
    assert details["details"] == "Half of it." and details["metadata"]["calls"] == 1
    assert judge.with_feedback()(GOLD, PRED).feedback == "Half of it."


@pytest.mark.parametrize("reply", [[REPLY], [{"text": REPLY, "logprobs": None}]])
def test_replies_of_dspy_are_accepted(reply):
    assert metric("semantic_f1", lm=Model(reply))(GOLD, PRED) == pytest.approx(2 / 3)


def test_a_model_of_dspy_is_the_model_of_a_judge():
    class Lm(DummyLM):
        def __call__(self, prompt=None, messages=None, **kwargs):
            assert messages
            return [REPLY]

    assert metric("semantic_f1", lm=Lm([]))(GOLD, PRED) == pytest.approx(2 / 3)


def test_a_batch_calls_the_model_concurrently_and_releases_the_lock():
    model = Model(seconds=0.05)
    scores = metric("semantic_f1", lm=model).batch([GOLD] * 24, [PRED] * 24, concurrency=8)
    assert scores == pytest.approx([2 / 3] * 24)
    assert len(model.calls) == 24 and 2 <= model.most <= 8
    summary = metric("semantic_f1", lm=model).evaluate([GOLD] * 4, [PRED] * 4)
    assert summary["scored"] == 4 and summary["score"] == pytest.approx(2 / 3)


def test_errors_of_the_model_are_errors_of_the_metric():
    def broken(messages):
        raise KeyError("boom")

    with pytest.raises(ours.MetricError) as raised:
        metric("semantic_f1", lm=broken)(GOLD, PRED)
    assert str(raised.value) == "metric `semantic_f1`: python:function: KeyError: 'boom'"
    with pytest.raises(ours.MetricError, match="expected the reply of `lm` as a str or a list of one, found int"):
        metric("semantic_f1", lm=lambda messages: 3)(GOLD, PRED)
    with pytest.raises(ours.MetricError) as raised:
        metric("semantic_f1", lm=broken).batch([GOLD] * 3, [PRED] * 3)
    assert raised.value.row == 0
    with pytest.raises(TypeError, match='expected `lm` as "provider:model" or a callable, found int'):
        metric("semantic_f1", lm=3)


def test_a_wrong_name_of_a_model_is_an_error_before_the_first_row():
    with pytest.raises(ours.ParameterError, match="unknown provider in model `opnai:gpt-6-luna`; did you mean"):
        metric("semantic_f1", lm="opnai:gpt-6-luna")


def test_trap_43_a_judge_without_a_model_is_an_error_before_the_first_row():
    for params in [{}, {"threshold": 0.1}, {"feedback": True}]:
        with pytest.raises(ours.ParameterError) as raised:
            metric("semantic_f1", **params)
        assert str(raised.value) == (
            'metric `semantic_f1` needs a language model; write metric("semantic_f1", lm="provider:model"), set '
            'DSRS_LM=provider:model, or write metric("semantic_f1", offline=True) to score by token overlap instead'
        )
    with pytest.raises(ours.ParameterError, match="expected `lm` or `offline=True`, found both; remove one of them"):
        metric("semantic_f1", lm=Model(), offline=True)


def test_a_judge_that_is_asked_to_score_offline_says_so(monkeypatch):
    # A configured model is not called, nor is its name read.
    monkeypatch.setenv("DSRS_LM", "nobody:m")
    judge = metric("semantic_f1", offline=True)
    assert 0 < judge(GOLD, PRED) < 1
    assert judge.details(GOLD, PRED)["details"].startswith("judge: offline-lexical. ")
    assert judge.evaluate([GOLD] * 2, [PRED] * 2)["judged_offline"] == 2
    assert judge.batch([GOLD], [PRED]) == [judge(GOLD, PRED)]
    assert repr(judge) == 'metric("semantic_f1", offline=True)'
    assert pickle.loads(pickle.dumps(judge))(GOLD, PRED) == judge(GOLD, PRED)
    assert judge.with_feedback()(GOLD, PRED).feedback.startswith("judge: offline-lexical. ")


def test_the_identity_of_a_judge_has_its_model_and_its_prompt():
    judge, offline = metric("semantic_f1", lm=Model()), metric("semantic_f1", offline=True)
    assert judge.identity["models"] == ["python:Model"]
    assert [len(prompt) for prompt in judge.identity["prompts"]] == [32]
    assert offline.identity["models"] == ["offline-lexical"]
    for one in (judge, offline):
        run = one.evaluate([GOLD], [PRED])["manifest"]["run"]
        assert run["metrics"] == {"semantic_f1": one.identity}


def test_control_c_interrupts_a_judge():
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    main = threading.main_thread().ident
    timer = threading.Timer(0.3, signal.pthread_kill, [main, signal.SIGINT])
    timer.start()
    start = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            metric("semantic_f1", lm=Model(seconds=2)).batch([GOLD] * 40, [PRED] * 40, concurrency=1)
        # The calls that were not started are not made; all of them would take 80 s.
        assert time.monotonic() - start < 30
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)


def in_child(results):
    model = Model()
    results.put(ours.em_batch(["x"] * 1000, ["x"] * 1000) == [True] * 1000)
    results.put(metric("semantic_f1", lm=model).batch([GOLD] * 3, [PRED] * 3))


def test_a_forked_process_has_threads_of_its_own():
    assert metric("semantic_f1", lm=Model())(GOLD, PRED) == pytest.approx(2 / 3)
    fork = multiprocessing.get_context("fork")
    results = fork.Queue()
    with warnings.catch_warnings():
        # Python warns of a fork with threads, which is what is tested.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = fork.Process(target=in_child, args=(results,))
        child.start()
    try:
        assert results.get(timeout=60) is True
        assert results.get(timeout=60) == pytest.approx([2 / 3] * 3)
        child.join(60)
        assert child.exitcode == 0
    finally:
        child.kill()
