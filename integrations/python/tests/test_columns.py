"""Arrow columns of pyarrow, polars, pandas and DuckDB: the values are those of lists."""

import duckdb
import pandas
import polars
import pyarrow as pa
import pytest

import dsrs_metrics as ours

PREDICTIONS = ["The Louvre", "in Paris", "", "é́ Zürich", "x" * 100] * 60
ANSWERS = [["louvre"], ["Paris", "Lyon"], ["a"], ["Zürich"], ["y", "x" * 100]] * 60
FIRSTS = [answers[0] for answers in ANSWERS]
CONTEXTS = [["The Louvre is in Paris.", "Lyon"], ["Paris"], ["b a c"], ["nothing"], [""]] * 60


def as_list(column):
    return pa.array(column).to_pylist()


FORMS = {
    "pyarrow": pa.array,
    "large": lambda rows: pa.array(rows, pa.large_string() if isinstance(rows[0], str) else pa.large_list(pa.large_string())),
    "chunks": lambda rows: pa.chunked_array([pa.array(rows[:7]), pa.array(rows[7:7], pa.array(rows).type), pa.array(rows[7:])]),
    "slice": lambda rows: pa.array([rows[-1], *rows, rows[0]]).slice(1, len(rows)),
    "polars": polars.Series,
    "pandas": pandas.Series,
    "views": lambda rows: pa.array(rows, pa.string_view()) if isinstance(rows[0], str) else pa.array(rows, pa.list_(pa.string_view())),
    "dictionary": lambda rows: pa.array(rows).dictionary_encode() if isinstance(rows[0], str) else pa.array(rows),
}


@pytest.mark.parametrize("form", FORMS)
def test_columns_have_the_values_of_lists(form):
    column = FORMS[form]
    predictions, answers, firsts, contexts = map(column, [PREDICTIONS, ANSWERS, FIRSTS, CONTEXTS])
    assert as_list(ours.normalize_text_batch(predictions)) == ours.normalize_text_batch(PREDICTIONS)
    batches = [ours.em_batch, ours.f1_batch, ours.hotpot_f1_batch, ours.precision_batch, ours.answer_exact_match_batch]
    for batch in batches:
        assert as_list(batch(predictions, answers)) == batch(PREDICTIONS, ANSWERS)
        assert as_list(batch(predictions, firsts)) == batch(PREDICTIONS, FIRSTS)
    expected = ours.answer_passage_match_batch(CONTEXTS, ANSWERS)
    assert as_list(ours.answer_passage_match_batch(contexts, answers)) == expected
    assert True in expected
    assert False in expected
    for name in ["em", "f1"]:
        made = ours.metric(name)
        assert as_list(made.batch(answers, predictions)) == made.batch(ANSWERS, PREDICTIONS)


def test_a_column_and_a_list_are_read_together():
    f1 = ours.metric("f1")
    expected = f1.batch(ANSWERS, PREDICTIONS)
    assert as_list(ours.f1_batch(pa.array(PREDICTIONS), ANSWERS)) == expected
    assert as_list(ours.f1_batch(PREDICTIONS, pa.array(ANSWERS))) == expected
    assert as_list(f1.batch(pa.array(ANSWERS), PREDICTIONS)) == expected
    assert as_list(f1.batch(ANSWERS, pa.array(PREDICTIONS))) == expected


def test_results_have_the_types_of_the_scores():
    predictions, answers = pa.array(PREDICTIONS), pa.array(ANSWERS)
    assert pa.array(ours.em_batch(predictions, answers)).type == pa.bool_()
    assert pa.array(ours.f1_batch(predictions, answers)).type == pa.float64()
    assert pa.array(ours.normalize_text_batch(predictions)).type == pa.large_string()
    assert pa.array(ours.metric("em").batch(answers, predictions)).type == pa.bool_()
    f1 = ours.f1_batch(predictions, answers)
    assert polars.Series(f1).to_list() == pandas.Series(pa.array(f1)).to_list() == ours.f1_batch(PREDICTIONS, ANSWERS)
    assert ours.f1_batch(PREDICTIONS[:2], ANSWERS[:2]) == [1.0, 2 / 3]


def test_tables_are_rows():
    golds = [{"answer": ["x", "y"], "other": 1.5}, {"answer": ["z"], "other": None}, {"answer": ["u", "v"], "other": 2.5}] * 50
    preds = [{"answer": "y", "at": 3}, {"answer": "q", "at": None}, {"answer": "u", "at": 4}] * 50
    gold, pred = pa.Table.from_pylist(golds), pa.Table.from_pylist(preds)
    relation = duckdb.from_arrow(pred)
    forms = [(gold, pred), (polars.DataFrame(golds), polars.DataFrame(preds)), (gold.to_batches()[0], relation), (golds, pred)]
    for name in ["em", "f1", "includes"]:
        made = ours.metric(name)
        expected = made.batch(golds, preds)
        for some_golds, some_preds in forms:
            assert as_list(made.batch(some_golds, some_preds)) == expected
            summary = made.evaluate(some_golds, some_preds)
            assert summary["score"] == made.evaluate(golds, preds)["score"]


def test_values_of_all_types_are_those_of_python():
    same = ours.metric("json_field_accuracy")
    values = [{"a": [1, 2.5, None], "b": {"c": "d", "e": True}}, {"a": [], "b": {"c": None, "e": False}}, None] * 20
    rows = [{"answer": value} for value in values]
    table = pa.Table.from_pylist(rows)
    expected = [outcome if isinstance(outcome, float) else str(outcome) for outcome in same.batch(rows, rows, return_exceptions=True)]
    found = [outcome if isinstance(outcome, float) else str(outcome) for outcome in same.batch(table, table, return_exceptions=True)]
    assert found == expected
    assert expected[0] == 1.0


def test_columns_that_are_not_read_may_have_any_type():
    table = pa.table({"answer": ["a"], "day": pa.array([0], pa.date32()), "raw": [b"x"]})
    assert as_list(ours.metric("em").batch(table, table)) == [True]


@pytest.mark.parametrize(
    ("call", "exception", "message"),
    [
        (lambda: ours.em_batch(pa.array([1, 2]), ["a", "b"]), TypeError, "column `predictions`: expected strings, found Int64"),
        (
            lambda: ours.em_batch(["a"], pa.array([1.5])),
            TypeError,
            "column `answers`: expected strings or lists of strings, found Float64",
        ),
        (
            lambda: ours.answer_passage_match_batch(pa.array(["a"]), ["a"]),
            TypeError,
            "column `contexts`: expected lists of strings, found Utf8View",
        ),
        (lambda: ours.em_batch(pa.array(["a", None]), ["a", "b"]), TypeError, "row 1: expected str, found NoneType"),
        (
            lambda: ours.f1_batch(["a", "b"], pa.array(["a", None])),
            ValueError,
            "row 1: expected a str or a list of str as answer, found NoneType",
        ),
        (lambda: ours.f1_batch(["a"], pa.array([["a", None]])), TypeError, "row 0: expected str, found NoneType"),
        (
            lambda: ours.f1_batch(pa.array(["a"]), pa.array([["a"], ["b"]])),
            ValueError,
            "expected as many items in `predictions` as in `answers`, found 1 and 2",
        ),
        (
            lambda: ours.f1_batch(pa.array(["a", "b"]), pa.array([["a"], []])),
            ours.InputError,
            "row 1: no reference answer to compare the prediction with; give at least one",
        ),
        (
            lambda: ours.normalize_text_batch(pa.array([0], pa.date32())),
            ValueError,
            "column `texts`: expected strings, numbers, bools, lists or structs of these, found Date32; cast the column",
        ),
        (
            lambda: ours.metric("em").batch(pa.table({"day": pa.array([0], pa.date32())}), ["a"]),
            ValueError,
            "column `gold.day`: expected strings, numbers, bools, lists or structs of these, found Date32; cast the column",
        ),
        (
            lambda: ours.metric("json_field_accuracy").batch(pa.array([1.0, float("nan")]), pa.array([1.0, 2.0])),
            ours.InputError,
            "row 1: field `gold.answer`: expected a finite number, found NaN",
        ),
    ],
)
def test_wrong_columns_are_errors_that_name_column_or_row(call, exception, message):
    with pytest.raises(exception) as raised:
        call()
    assert str(raised.value) == message


def test_a_table_without_a_field_is_an_error_that_names_what_it_has():
    em = ours.metric("em")
    with pytest.raises(ours.InputError) as of_rows:
        em.batch([{"reply": "a"}], ["a"])
    with pytest.raises(ours.InputError) as of_table:
        em.batch(pa.table({"reply": ["a"]}), pa.array(["a"]))
    assert str(of_table.value) == str(of_rows.value)
    assert "reply" in str(of_table.value)


def test_a_failed_row_has_the_index_of_lists():
    em = ours.metric("em")
    table = pa.table({"answer": pa.array(["a", None, "c"])})
    with pytest.raises(ours.InputError) as raised:
        em.batch(table, pa.array(["a", "b", "c"]))
    assert raised.value.row == 1
