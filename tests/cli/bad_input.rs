//! Each way in which input can be wrong: one line that says where, what was found, what to do; exit
//! code 2; nothing left behind.

use crate::Folder;

const GOOD: &str = r#"{"id": "a", "gold": {"answer": "x"}, "pred": {"answer": "x"}}"#;

/// What the scorer says of a file of rows.
#[track_caller]
fn said_of(name: &str, content: impl AsRef<[u8]>) -> String {
    let folder = Folder::with(name, content);
    folder.refused(&[name, "-m", "same_text", "--out", "scores.jsonl"])
}

#[track_caller]
fn said_of_second(line: &str) -> String {
    said_of("rows.jsonl", format!("{GOOD}\n{line}\n"))
}

#[test]
fn a_broken_line() {
    assert_eq!(
        said_of_second(r#"{"id": "b", "gold": {"answer" "x"}}"#),
        "rows.jsonl:2:31: not valid JSON: expected `:`"
    );
    assert_eq!(
        said_of_second(r#"{"id": "b", "gold": {"#),
        "rows.jsonl:2:21: not valid JSON: EOF while parsing an object"
    );
}

#[test]
fn a_line_that_is_no_object() {
    let expected = r#"a row should be an object, {"id": .., "gold": {..}, "pred": {..}}, found"#;
    assert_eq!(said_of_second("3"), format!("rows.jsonl:2: {expected} the number 3"));
    assert_eq!(said_of_second("[1]"), format!("rows.jsonl:2: {expected} a list"));
    assert_eq!(said_of_second("null"), format!("rows.jsonl:2: {expected} null"));
    let long = format!("{:?}", "é".repeat(50));
    let found = format!("the string \"{}\"...", "é".repeat(40));
    assert_eq!(said_of_second(&long), format!("rows.jsonl:2: {expected} {found}"));
}

#[test]
fn gold_that_is_no_object() {
    assert_eq!(
        said_of_second(r#"{"gold": "x", "pred": {"answer": "x"}}"#),
        "rows.jsonl:2: `gold` should be an object of fields, found the string \"x\"; to score it as it \
         stands, map it: --map gold.FIELD=gold"
    );
    assert_eq!(
        said_of_second(r#"{"gold": {"answer": "x"}, "pred": null}"#),
        "rows.jsonl:2: `pred` should be an object of fields, found null; to score it as it stands, \
         map it: --map pred.FIELD=pred"
    );
}

#[test]
fn neither_gold_nor_pred() {
    assert_eq!(
        said_of_second(r#"{"answers": ["x"], "guess": "x"}"#),
        "rows.jsonl:2: the row has neither `gold` nor `pred`, only `answers`, `guess`; say where \
         their fields are, as in --map gold.FIELD=answers"
    );
    assert_eq!(
        said_of_second("{}"),
        "rows.jsonl:2: the row has neither `gold` nor `pred`, it is empty; say where their fields \
         are, as in --map gold.FIELD=KEY"
    );
}

#[test]
fn a_field_of_the_wrong_type() {
    assert_eq!(
        said_of_second(r#"{"gold": {"answer": 4}, "pred": {"answer": "x"}}"#),
        "rows.jsonl:2: metric `same_text`: field `gold.answer` should be a string, found the number 4"
    );
}

#[test]
fn a_missing_field() {
    assert_eq!(
        said_of_second(r#"{"gold": {"answer": "x"}, "pred": {"reply": "x"}}"#),
        "rows.jsonl:2: metric `same_text`: no field `pred.answer`; it has `reply`; say where it is \
         with --map pred.answer=PATH"
    );
}

#[test]
fn a_field_that_is_mapped_but_missing() {
    let folder = Folder::with("rows.jsonl", r#"{"answer": "x", "reply": "x"}"#);
    let maps = ["--map", "gold.answer=answer", "--map", "pred.answer=reply.text"];
    assert_eq!(
        folder.refused(&[&["rows.jsonl", "-m", "same_text"], &maps[..]].concat()),
        "rows.jsonl:1: metric `same_text`: no field `pred.answer`; it has no fields; the row has no \
         `reply.text`, which is mapped to it"
    );
}

#[test]
fn a_field_that_is_mapped_is_not_taken_from_elsewhere() {
    let folder = Folder::with("rows.jsonl", GOOD);
    assert_eq!(
        folder.refused(&["rows.jsonl", "-m", "same_text", "--map", "gold.answer=gold.reference"]),
        "rows.jsonl:1: metric `same_text`: no field `gold.answer`; it has no fields; the row has no \
         `gold.reference`, which is mapped to it"
    );
}

#[test]
fn a_key_that_stands_twice() {
    assert_eq!(
        said_of_second(r#"{"gold": {"answer": "x", "answer": "y"}, "pred": {"answer": "x"}}"#),
        "rows.jsonl:2:39: not valid JSON: the key `answer` stands twice"
    );
}

#[test]
fn a_key_that_stands_twice_somewhere_within() {
    let twice = "not valid JSON: the key `a` stands twice";
    for line in [
        r#"{"gold": {"answer": {"a": 1, "a": 2}}, "pred": {}}"#,
        r#"{"gold": {"answer": [[{"a": 1, "a": 2}]]}, "pred": {}}"#,
        r#"{"topic": {"b": {"a": 1, "a": 2}}, "gold": {}, "pred": {}}"#,
        r#"{"gold": [{"a": 1, "a": 2}], "pred": {}}"#,
        r#"[{"a": 1, "a": 2}]"#,
    ] {
        let column = line.find("2}").unwrap() + 2;
        assert_eq!(said_of_second(line), format!("rows.jsonl:2:{column}: {twice}"));
    }
}

#[test]
fn a_key_that_stands_twice_in_a_csv_cell() {
    let csv = "pred.counts\n\"{\"\"a\"\": 1}\"\n\"{\"\"a\"\": 1, \"\"a\"\": 2}\"\n";
    let folder = Folder::with("rows.csv", csv);
    assert_eq!(
        folder.refused(&["rows.csv", "-m", "things"]),
        "rows.csv:3: metric `things`: field `pred.counts` should be `BTreeMap<String, f64>`, found the \
         string \"{\\\"a\\\": 1, \\\"a\\\": 2}\""
    );
}

#[test]
fn an_id_of_the_wrong_type() {
    assert_eq!(
        said_of_second(r#"{"id": ["b"], "gold": {}, "pred": {}}"#),
        "rows.jsonl:2: `id` should be text or a number, found a list"
    );
}

#[test]
fn an_id_that_two_rows_have() {
    assert_eq!(
        said_of("rows.jsonl", format!("{GOOD}\n\n{GOOD}\n")),
        "rows rows.jsonl:1 and rows.jsonl:3 both have the id `a`: ids must be unique within a run"
    );
}

#[test]
fn an_id_that_rows_of_two_files_have() {
    let folder = Folder::with("one.jsonl", GOOD);
    folder.write("two.jsonl", GOOD.replace(r#""a""#, r#""b""#) + "\n" + GOOD);
    assert_eq!(
        folder.refused(&["one.jsonl", "two.jsonl", "-m", "same_text"]),
        "rows one.jsonl:1 and two.jsonl:2 both have the id `a`: ids must be unique within a run"
    );
    assert_eq!(
        folder.refused(&["one.jsonl", "one.jsonl", "-m", "same_text"]),
        "rows one.jsonl:1 and one.jsonl:1 both have the id `a`: ids must be unique within a run"
    );
}

#[test]
fn a_file_without_rows() {
    for content in ["", "\n", " \r\n\t\n\n", "\u{feff}"] {
        assert_eq!(said_of("rows.jsonl", content), "rows.jsonl: holds no rows");
    }
    assert_eq!(said_of("rows.json", " [ ] "), "rows.json: holds no rows");
    assert_eq!(said_of("rows.json", ""), "rows.json: holds no rows");
    assert_eq!(said_of("rows.csv", ""), "rows.csv: holds no rows");
    assert_eq!(said_of("rows.csv", "id,gold.answer,pred.answer\n"), "rows.csv: holds no rows");
}

#[test]
fn bytes_that_are_no_text() {
    let mut rows = format!("{GOOD}\n").into_bytes();
    rows.extend_from_slice(b"{\"gold\": {\"answer\": \"caf\xE9\"}}\n");
    assert_eq!(
        said_of("rows.jsonl", rows),
        "rows.jsonl:2: byte 25 is 0xE9, which is not UTF-8; convert the file to UTF-8"
    );
    assert_eq!(
        said_of("rows.json", b"[\n{\"gold\":\n {\"answer\": \"\xFF\"}}]"),
        "rows.json:3: byte 14 is 0xFF, which is not UTF-8; convert the file to UTF-8"
    );
    assert_eq!(
        said_of("rows.csv", b"id,gold.answer,pred.answer\na,x,caf\xE9\n"),
        "rows.csv:2: column `pred.answer`: byte 4 is 0xE9, which is not UTF-8; convert the file to \
         UTF-8"
    );
}

#[test]
fn json_that_is_no_array_of_rows() {
    assert_eq!(
        said_of("rows.json", r#"{"rows": []}"#),
        "rows.json: should hold one array of rows, found an object; for one object a line, name it \
         .jsonl"
    );
    assert_eq!(
        said_of("rows.json", "[\n  4\n]"),
        r#"rows.json:2: a row should be an object, {"id": .., "gold": {..}, "pred": {..}}, found the number 4"#
    );
    let broken = [
        (format!("[{GOOD}"), "1:63: not valid JSON: the array of rows does not end"),
        (format!("[{GOOD},\n]"), "2:1: not valid JSON: trailing comma"),
        (format!("[{GOOD}\n {GOOD}]"), "2:2: not valid JSON: expected `,` or `]`"),
        (
            format!("[{GOOD}]\n]"),
            "2:1: not valid JSON: trailing characters after the array of rows",
        ),
        ("[\n  {\"id\":\n \"a\" \"gold\"}]".to_owned(), "3:6: not valid JSON: expected `,` or `}`"),
        ("[\n  {\"id\" 4}]".to_owned(), "2:9: not valid JSON: expected `:`"),
    ];
    for (content, said) in broken {
        assert_eq!(said_of("rows.json", content), format!("rows.json:{said}"));
    }
}

#[test]
fn nesting_that_is_too_deep() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let row = format!(r#"{{"gold": {{"answer": {deep}}}, "pred": {{}}}}"#);
    let said = "lists and objects are nested deeper than 127 levels; flatten them, or keep the \
                deep part as text";
    assert_eq!(said_of_second(&row), format!("rows.jsonl:2: {said}"));
    assert_eq!(said_of("rows.json", format!("[\n{row}]")), format!("rows.json:2: {said}"));
}

#[test]
fn a_number_beyond_the_largest() {
    assert_eq!(
        said_of_second(r#"{"gold": {"answer": 1e999}, "pred": {"answer": "x"}}"#),
        "rows.jsonl:2:25: not valid JSON: number out of range"
    );
}

#[test]
fn an_integer_that_would_lose_digits() {
    let row = |number| {
        format!(r#"{{"gold": {{"t": "\"", "n": [{number}]}}, "pred": {{"answer": "1"}}}}"#)
    };
    let lost = "an integer beyond 64 bits, of which digits would be lost; write it as text";
    for number in ["18446744073709551616", "-9223372036854775809", "123456789012345678901234567890"]
    {
        assert_eq!(said_of_second(&row(number)), format!("rows.jsonl:2:28: {lost}"));
        let array = format!("[\n  {}]", row(number));
        assert_eq!(said_of("rows.json", array), format!("rows.json:2:30: {lost}"));
    }
    let kept = ["18446744073709551615", "-9223372036854775808", "1e300", "123456789012345678901.5"];
    for number in kept {
        let ran =
            Folder::with("rows.jsonl", row(number)).run(&["score", "rows.jsonl", "-m", "obeys"]);
        assert_eq!((ran.code, &*ran.err), (Some(0), ""), "{number}");
    }
}

#[test]
fn csv_with_ragged_rows() {
    assert_eq!(
        said_of("rows.csv", "id,gold.answer,pred.answer\na,x,x\nb,x\n"),
        "rows.csv:3: the header has 3 columns, this record 2; is a quote or a comma missing?"
    );
    assert_eq!(
        said_of("rows.csv", "id,gold.answer,pred.answer\r\n\r\na,x,x,x\r\n"),
        "rows.csv:3: the header has 3 columns, this record 4; is a quote or a comma missing?"
    );
    assert_eq!(
        said_of("rows.csv", "id,pred.answer,pred.answer\na,x,x\n"),
        "rows.csv:1: the header names the column `pred.answer` twice"
    );
}

#[test]
fn a_csv_quote_that_is_not_closed() {
    let missing =
        "a closing quote is missing: a cell of this record goes on to the end of the file";
    for (csv, line) in [
        ("gold.answer,pred.answer\nx,x\nx,\"y\nx,x\n", 3),
        ("gold.answer,pred.answer\nx,\"x\"\n\nx,\"y", 4),
        ("gold.answer,pred.answer\nx,\"y\"\"", 2),
        ("gold.answer,pred.answer\nx,\"", 2),
        ("gold.answer,\"pred.answer\nx,x\n", 1),
    ] {
        assert_eq!(said_of("rows.csv", csv), format!("rows.csv:{line}: {missing}"), "{csv:?}");
    }
    for end in ["\"x\"", "\"x\"\n", "\"x\"\r\n", "x\"", "\"x\"\n\n"] {
        let folder = Folder::with("rows.csv", format!("gold.answer,pred.answer\nx,{end}"));
        let ran = folder.run(&["score", "rows.csv", "-m", "same_text"]);
        assert_eq!((ran.code, &*ran.err), (Some(0), ""), "{end:?}");
    }
}

#[test]
fn csv_cells_of_the_wrong_type() {
    let folder = Folder::with("rows.csv", "gold.answer,pred.answer\n1.5,2\n1.5,many\n");
    assert_eq!(
        folder.refused(&["rows.csv", "-m", "distance"]),
        "rows.csv:3: metric `distance`: field `pred.answer` should be a number, found the string \"many\""
    );
}

#[test]
fn a_csv_cell_that_is_no_boolean() {
    for cell in ["yes", "1", "0", "tRUE"] {
        let folder = Folder::with("rows.csv", format!("pred.sure\nTrue\n{cell}\n"));
        assert_eq!(
            folder.refused(&["rows.csv", "-m", "certain"]),
            format!(
                "rows.csv:3: metric `certain`: field `pred.sure` should be true or false, found the string \
                 \"{cell}\" (in a cell it is true, True or TRUE, or false, False or FALSE)"
            )
        );
    }
}

#[test]
fn files_that_cannot_be_read() {
    let folder = Folder::with("rows.txt", GOOD);
    std::fs::create_dir(folder.path("rows")).unwrap();
    let said = |file| folder.refused(&[file, "-m", "same_text"]);
    assert_eq!(said("rows"), "rows: is a directory; name the files in it");
    assert_eq!(
        said("none.jsonl"),
        "none.jsonl: cannot be read: No such file or directory (os error 2)"
    );
    assert_eq!(
        said("rows.txt"),
        "rows.txt: unknown extension; it should be .jsonl, .json or .csv, or --format say what it is"
    );
}

#[test]
fn a_file_that_is_missing_is_found_out_before_the_others_are_read() {
    let folder = Folder::with("broken.jsonl", "{");
    let said = folder.refused(&["broken.jsonl", "none.jsonl", "-m", "same_text"]);
    assert_eq!(said, "none.jsonl: cannot be read: No such file or directory (os error 2)");
}

#[test]
fn results_that_cannot_be_written() {
    let folder = Folder::with("rows.jsonl", GOOD);
    let said = |out| folder.refused(&["rows.jsonl", "-m", "same_text", "--out", out]);
    assert_eq!(
        said("scores.xlsx"),
        "--out scores.xlsx: unknown extension; it should be .jsonl, .json or .csv"
    );
    assert_eq!(
        said("scores"),
        "--out scores: has no extension; it should be .jsonl, .json or .csv"
    );
    assert_eq!(said("rows.jsonl"), "--out rows.jsonl: is one of the files that are read");
    assert_eq!(
        said("none/scores.csv"),
        "cannot write `none/scores.csv`: No such file or directory (os error 2)"
    );
    assert_eq!(folder.read("rows.jsonl"), GOOD);
}

#[test]
fn results_stay_as_they_were_if_the_input_is_bad() {
    let folder = Folder::with("rows.jsonl", format!("{GOOD}\n{{"));
    folder.write("scores.jsonl", "of yesterday");
    folder.refused(&["rows.jsonl", "-m", "same_text", "--out", "scores.jsonl"]);
    assert_eq!(folder.read("scores.jsonl"), "of yesterday");
}
