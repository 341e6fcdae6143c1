"""Batches: order, errors with the index of their row, threads, Ctrl-C."""

import signal
import threading
import time

import pytest

import dsrs_metrics as ours


def test_results_are_in_the_order_of_the_rows():
    for length in [0, 1, 31, 33, 5000]:
        predictions = [f"answer {number}" for number in range(length)]
        answers = [f"answer {number - number % 3}" for number in range(length)]
        assert ours.em_batch(predictions, answers) == [number % 3 == 0 for number in range(length)]


def test_an_error_has_the_index_of_the_first_row_that_failed():
    # The chunks after the first fail at once, while the rows before the first failure take long.
    long = " ".join(str(number) for number in range(1000))
    answers = [[long]] * 100 + [[]] * 10_000
    predictions = [long] * len(answers)
    for _ in range(5):
        with pytest.raises(ours.InputError) as raised:
            ours.f1_batch(predictions, answers)
        assert raised.value.row == 100
        assert raised.value.metric == "F1"
        assert str(raised.value) == "row 100: no reference answer to compare the prediction with; give at least one"


@pytest.mark.parametrize(
    ("call", "exception", "message"),
    [
        (lambda: ours.em_batch("ab", ["a", "b"]), TypeError, "expected a list for `predictions`, found str"),
        (lambda: ours.em_batch(None, []), TypeError, "expected a list for `predictions`, found NoneType"),
        (
            lambda: ours.em_batch(["a"], []),
            ValueError,
            "expected as many items in `predictions` as in `answers`, found 1 and 0",
        ),
        (lambda: ours.em_batch(["a", 3], ["a", "b"]), TypeError, "row 1: expected str, found int"),
        (
            lambda: ours.f1_batch(["a", "b"], ["a", 3]),
            ValueError,
            "row 1: expected a str or a list of str as answer, found int",
        ),
        (lambda: ours.normalize_text_batch(["a", None]), TypeError, "row 1: expected str, found NoneType"),
        (
            lambda: ours.answer_passage_match_batch([["a"], "b"], ["a", "b"]),
            TypeError,
            "row 1: expected a list of strings, found str",
        ),
    ],
)
def test_wrong_input_is_an_error_that_names_the_row(call, exception, message):
    with pytest.raises(exception) as raised:
        call()
    assert str(raised.value) == message


def test_rows_of_a_batch_do_not_share_fields():
    golds = [{"answer": ["x", "y"]}, {"answer": "z"}, {"answer": ["u"], "choices": ["u", "v"]}, "z", {"answer": ["y"]}] * 50
    preds = [{"answer": "y"}, {}, {"answer": "u"}, {"other": "z", "answer": "q"}, {"answer": "y"}] * 50
    for name in ("em", "includes", "f1"):
        made = ours.metric(name)
        expected = [made(gold, pred) for gold, pred in zip(golds, preds, strict=True)]
        assert made.batch(golds, preds) == expected
        assert expected[:5] == [1, 0, 1, 0, 1]


def test_iterables_are_accepted():
    assert ours.normalize_text_batch(word for word in ("A cat", "The dog")) == ["cat", "dog"]


# About ten seconds of work in a release build, and more in an unoptimized one.
LONG = [" ".join(str(number) for number in range(2000))] * 60_000


def test_other_threads_run_during_a_batch():
    counted = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        rows = LONG[:200]
        before = counted
        assert ours.f1_batch(rows, rows) == [1.0] * len(rows)
        assert counted > before
    finally:
        done.set()
        thread.join()


def test_control_c_interrupts_a_batch():
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    # `raise_signal` of another thread reaches the main thread, as Ctrl-C does.
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            ours.f1_batch(LONG, LONG)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
