"""Compares values and speed with DSPy's functions on the same rows, and prints one table.

    python benches/versus_dspy.py             the table
    python benches/versus_dspy.py --quick     compares the values only

The rows are those of the shared data (`DSRS_METRICS_DATA`), or generated ones. Both sides run in one process, in turns; a
figure is the fastest of the rounds, which other load disturbs least. "call" is one function call per row, "batch" one call for all rows, on all cores,
and "column" the same with Arrow columns; "cores" is how many times faster that is than on one core.
"""

import json
import os
import sys
import time
from pathlib import Path

import dspy
import pyarrow as pa
from dspy.evaluate import metrics as theirs

import dsrs_metrics as ours
from dsrs_metrics import metric

ROUNDS = 7
# A batch is large enough that starting its threads does not count.
BATCH_COPIES = 20


def rows():
    """Predictions, reference answers and passages."""
    folder = os.environ.get("DSRS_METRICS_DATA")
    if folder:
        lines = [line for file in sorted(Path(folder, "qa").glob("*.jsonl")) for line in file.open(encoding="utf-8")]
        pairs = [json.loads(line) for line in lines]
        return [(pair["pred"]["answer"], pair["gold"]["answer"], pair["pred"]["context"]) for pair in pairs]
    words = ["Paris", "the capital", "of France,", "a city", "1889", "Eiffel Tower", "Zürich"]
    pick = [" ".join(words[(row * step) % len(words)] for step in range(1, 4)) for row in range(3000)]
    return [(pick[row], [pick[(row * 3) % 3000], words[row % 7]], pick[row : row + 3]) for row in range(3000)]


def cases(data):
    """The name of a case, DSPy's values, ours, and ours for copies of all rows in one call, in a list and in columns."""
    predictions, answers, contexts = (list(column) for column in zip(*data, strict=True))
    golds = [dspy.Example(answer=answer) for answer in answers]
    preds = [dspy.Prediction(answer=one, context=context) for one, _, context in data]
    many = [column * BATCH_COPIES for column in (predictions, answers, contexts, golds, preds)]
    firsts = [answer[0] for answer in answers]
    texts, lists, passages = (pa.array(column) for column in many[:3])
    first = pa.array(firsts * BATCH_COPIES)
    gold, pred = pa.table({"answer": lists}), pa.table({"answer": texts, "context": passages})
    f1, exact = metric("f1"), metric("answer_exact_match")

    def each(function, *columns):
        return lambda: [function(*row) for row in zip(*columns, strict=True)]

    def dspy_f1(gold, pred, trace=None):
        return theirs.F1(pred.answer, gold.answer)

    yield (
        "normalize_text",
        each(theirs.normalize_text, predictions),
        each(ours.normalize_text, predictions),
        lambda: ours.normalize_text_batch(many[0]),
        lambda: ours.normalize_text_batch(texts),
    )
    for name, batch in [("EM", ours.em_batch), ("F1", ours.f1_batch), ("HotPotF1", ours.hotpot_f1_batch)]:
        yield (
            name,
            each(getattr(theirs, name), predictions, answers),
            each(getattr(ours, name), predictions, answers),
            lambda batch=batch: batch(many[0], many[1]),
            lambda batch=batch: batch(texts, lists),
        )
    yield (
        "precision_score",
        each(theirs.precision_score, predictions, firsts),
        each(ours.precision_score, predictions, firsts),
        lambda: ours.precision_batch(many[0], firsts * BATCH_COPIES),
        lambda: ours.precision_batch(texts, first),
    )
    yield (
        "answer_exact_match",
        each(theirs.answer_exact_match, golds, preds),
        each(ours.answer_exact_match, golds, preds),
        lambda: ours.answer_exact_match_batch(many[0], many[1]),
        lambda: ours.answer_exact_match_batch(texts, lists),
    )
    yield (
        "answer_passage_match",
        each(theirs.answer_passage_match, golds, preds),
        each(ours.answer_passage_match, golds, preds),
        lambda: ours.answer_passage_match_batch(many[2], many[1]),
        lambda: ours.answer_passage_match_batch(passages, lists),
    )
    yield (
        'metric("answer_exact_match")',
        each(theirs.answer_exact_match, golds, preds),
        each(exact, golds, preds),
        lambda: exact.batch(many[3], many[4]),
        lambda: exact.batch(gold, pred),
    )
    yield (
        'metric("f1")',
        each(dspy_f1, golds, preds),
        each(f1, golds, preds),
        lambda: f1.batch(many[3], many[4]),
        lambda: f1.batch(gold, pred),
    )
    yield (
        'metric("f1"), strings',
        each(theirs.F1, predictions, answers),
        each(f1, answers, predictions),
        lambda: f1.batch(many[1], many[0]),
        lambda: f1.batch(lists, texts),
    )


def on_one_core(run):
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        run()
    finally:
        os.sched_setaffinity(0, cores)


def seconds(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main():
    data = rows()
    is_quick = "--quick" in sys.argv[1:]
    if is_quick:
        data = data[::10]
    table = []
    for name, dspy_values, call_values, batch_values, column_values in cases(data):
        expected = dspy_values()
        assert call_values() == expected, name
        assert batch_values() == expected * BATCH_COPIES, name
        assert pa.array(column_values()).to_pylist() == expected * BATCH_COPIES, name
        if is_quick:
            continue
        runs = [dspy_values, call_values, batch_values, column_values, lambda run=column_values: on_one_core(run)]
        rounds = [[seconds(run) for run in runs] for _ in range(ROUNDS)]
        theirs_s, call_s, *batches_s = (min(column) for column in zip(*rounds, strict=True))
        per_row = [time / len(data) for time in [theirs_s, call_s, *(time / BATCH_COPIES for time in batches_s)]]
        table.append((name, *per_row))
    if is_quick:
        print(f"equal values on {len(data)} rows")
        return
    print(f"{len(data)} rows, dspy {dspy.__version__}, Python {sys.version.split()[0]}, {os.cpu_count()} cores\n")
    print(f"{'ns per row':30} {'DSPy':>9} {'call':>9} {'batch':>9} {'column':>9} {'DSPy/call':>10} {'DSPy/batch':>11} {'DSPy/column':>12} {'cores':>6}")
    for name, *columns in table:
        dspy_ns, call_ns, batch_ns, column_ns, one_core_ns = (1e9 * column for column in columns)
        ratios = f"{dspy_ns / call_ns:>9.1f}x {dspy_ns / batch_ns:>10.1f}x {dspy_ns / column_ns:>11.1f}x {one_core_ns / column_ns:>5.2f}x"
        print(f"{name:30} {dspy_ns:>9.0f} {call_ns:>9.0f} {batch_ns:>9.0f} {column_ns:>9.0f} {ratios}")


if __name__ == "__main__":
    main()
