//! Invalid input: one line with the place, the value found and the correction; exit code 2; no file is
//! left behind.

use crate::{Folder, Ran};
use insta::assert_snapshot;

const GOOD: &str = r#"{"id": "a", "gold": {"answer": "x"}, "pred": {"answer": "x"}}"#;

/// The error of `score` on a file of rows.
#[track_caller]
pub(crate) fn error_of(name: &str, content: impl AsRef<[u8]>) -> String {
    let folder = Folder::with(name, content);
    folder.score_error(&format!("{name} -m same_text --out scores.jsonl"))
}

/// The error of `score` on a file whose second row is this line.
#[track_caller]
fn error_of_second_row(line: &str) -> String {
    error_of("rows.jsonl", format!("{GOOD}\n{line}\n"))
}

#[test]
fn a_broken_line() {
    assert_snapshot!(error_of_second_row(r#"{"id": "b", "gold": {"answer" "x"}}"#),
        @"rows.jsonl:2:31: invalid JSON: expected `:`");
    assert_snapshot!(error_of_second_row(r#"{"id": "b", "gold": {"#),
        @"rows.jsonl:2:21: invalid JSON: EOF while parsing an object; write one object per line");
}

#[test]
fn a_line_that_is_not_an_object() {
    let expected = r#"expected a row such as {"id": .., "gold": {..}, "pred": {..}}, found"#;
    assert_eq!(
        error_of_second_row("3"),
        format!("rows.jsonl:2: {expected} the number 3")
    );
    assert_eq!(
        error_of_second_row("[1]"),
        format!("rows.jsonl:2: {expected} a list")
    );
    assert_eq!(
        error_of_second_row("null"),
        format!("rows.jsonl:2: {expected} null")
    );
    let long = format!("{:?}", "é".repeat(50));
    let found = format!("the string \"{}\"...", "é".repeat(40));
    assert_eq!(
        error_of_second_row(&long),
        format!("rows.jsonl:2: {expected} {found}")
    );
}

#[test]
fn gold_that_is_not_an_object() {
    assert_snapshot!(error_of_second_row(r#"{"gold": "x", "pred": {"answer": "x"}}"#),
        @r#"rows.jsonl:2: `gold`: expected an object of fields, found the string "x"; to score the value itself, pass --map gold.FIELD=gold"#);
    assert_snapshot!(error_of_second_row(r#"{"gold": {"answer": "x"}, "pred": null}"#),
        @"rows.jsonl:2: `pred`: expected an object of fields, found null; to score the value itself, pass --map pred.FIELD=pred");
}

#[test]
fn neither_gold_nor_pred() {
    assert_snapshot!(error_of_second_row(r#"{"answers": ["x"], "guess": "x"}"#),
        @"rows.jsonl:2: expected `gold` or `pred`, found only `answers`, `guess`; map the fields that the run reads, `gold.answer`, `pred.answer`, as in --map gold.answer=answers --map pred.answer=guess");
    assert_snapshot!(error_of_second_row("{}"),
        @"rows.jsonl:2: expected `gold` or `pred`, found an empty row; map the fields that the run reads, `gold.answer`, `pred.answer`, as in --map gold.answer=COLUMN");
}

#[test]
fn a_field_of_the_wrong_type() {
    assert_snapshot!(error_of_second_row(r#"{"gold": {"answer": {"n": 4}}, "pred": {"answer": "x"}}"#),
        @"rows.jsonl:2: metric `same_text`: field `gold.answer`: expected a string, found an object (invalid type: map, expected a borrowed string)");
}

#[test]
fn a_missing_field() {
    assert_snapshot!(error_of_second_row(r#"{"gold": {"answer": "x"}, "pred": {"reply": "x"}}"#),
        @"rows.jsonl:2: metric `same_text`: no field `pred.answer`; found `reply`; if the row has it elsewhere, pass --map pred.answer=PATH");
}

#[test]
fn a_field_that_is_mapped_but_missing() {
    let folder = Folder::with("rows.jsonl", r#"{"answer": "x", "reply": "x"}"#);
    let maps = "--map gold.answer=answer --map pred.answer=reply.text";
    assert_snapshot!(folder.score_error(&format!("rows.jsonl -m same_text {maps}")),
        @"rows.jsonl:1: metric `same_text`: no field `pred.answer`; found no fields; --map names `reply.text`, which the row does not have");
}

#[test]
fn a_field_that_is_mapped_is_not_taken_from_elsewhere() {
    let folder = Folder::with("rows.jsonl", GOOD);
    let args = "rows.jsonl -m same_text --map gold.answer=gold.reference";
    assert_snapshot!(folder.score_error(args),
        @"rows.jsonl:1: metric `same_text`: no field `gold.answer`; found no fields; --map names `gold.reference`, which the row does not have");
}

#[test]
fn a_duplicate_key() {
    assert_snapshot!(error_of_second_row(r#"{"gold": {"answer": "x", "answer": "y"}, "pred": {"answer": "x"}}"#),
        @"rows.jsonl:2:39: invalid JSON: duplicate key `answer`");
}

#[test]
fn a_duplicate_key_at_any_depth() {
    let duplicate = "invalid JSON: duplicate key `a`";
    for line in [
        r#"{"gold": {"answer": {"a": 1, "a": 2}}, "pred": {}}"#,
        r#"{"gold": {"answer": [[{"a": 1, "a": 2}]]}, "pred": {}}"#,
        r#"{"topic": {"b": {"a": 1, "a": 2}}, "gold": {}, "pred": {}}"#,
        r#"{"gold": [{"a": 1, "a": 2}], "pred": {}}"#,
        r#"[{"a": 1, "a": 2}]"#,
    ] {
        let column = line.find("2}").unwrap() + 2;
        assert_eq!(
            error_of_second_row(line),
            format!("rows.jsonl:2:{column}: {duplicate}")
        );
    }
}

#[test]
fn a_duplicate_key_in_a_csv_cell() {
    let csv = "pred.counts\n\"{\"\"a\"\": 1}\"\n\"{\"\"a\"\": 1, \"\"a\"\": 2}\"\n";
    let folder = Folder::with("rows.csv", csv);
    assert_snapshot!(folder.score_error("rows.csv -m things"),
        @r#"rows.csv:3: metric `things`: field `pred.counts`: expected `BTreeMap<String, f64>`, found the string "{\"a\": 1, \"a\": 2}""#);
}

#[test]
fn an_id_of_the_wrong_type() {
    assert_snapshot!(error_of_second_row(r#"{"id": ["b"], "gold": {}, "pred": {}}"#),
        @"rows.jsonl:2: `id`: expected a string or a number, found a list");
}

#[test]
fn an_empty_id_is_refused_and_an_empty_cell_is_none() {
    let expected = "`id`: expected a string or a number, found an empty string";
    let row = r#"{"id": "", "gold": {}, "pred": {"answer": "1"}}"#;
    assert_eq!(
        error_of_second_row(row),
        format!("rows.jsonl:2: {expected}")
    );
    assert_eq!(
        error_of("rows.json", format!("[{row}]")),
        format!("rows.json:1: {expected}")
    );
    let folder = Folder::with("rows.csv", "id,qid,pred.answer\n,,1\n");
    let error = folder.score_error("rows.csv -m obeys --map id=qid");
    assert_eq!(error, format!("rows.csv:2: {expected}"));
    folder.printed("score rows.csv -m obeys --out o.jsonl");
    assert!(
        folder.read("o.jsonl").starts_with(r#"{"id":"1","#),
        "the number is the id"
    );
    let scores = r#""scores":{"em":{"outcome":"scored","value":1.0}}}"#;
    folder.write("a.jsonl", format!("{{\"id\":\"a\",{scores}\n"));
    folder.write("b.jsonl", format!("{{\"id\":\"\",{scores}\n"));
    assert_eq!(
        folder.error("compare", "a.jsonl b.jsonl"),
        format!("b.jsonl:1: {expected}")
    );
}

#[test]
fn a_duplicate_id() {
    assert_snapshot!(error_of("rows.jsonl", format!("{GOOD}\n\n{GOOD}\n")),
        @"duplicate row id `a` (rows rows.jsonl:1 and rows.jsonl:3); ids must be unique within a run");
}

#[test]
fn a_duplicate_id_in_two_files() {
    let folder = Folder::with("one.jsonl", GOOD);
    folder.write("two.jsonl", GOOD.replace(r#""a""#, r#""b""#) + "\n" + GOOD);
    assert_snapshot!(folder.score_error("one.jsonl two.jsonl -m same_text"),
        @"duplicate row id `a` (rows one.jsonl:1 and two.jsonl:2); ids must be unique within a run");
}

#[test]
fn a_file_without_rows() {
    let lines = ["", "\n", " \r\n\t\n\n", "\u{feff}"].map(|content| ("rows.jsonl", content));
    let json = [" [ ] ", ""].map(|content| ("rows.json", content));
    let csv = ["", "id,gold.answer,pred.answer\n"].map(|content| ("rows.csv", content));
    for (file, content) in lines.into_iter().chain(json).chain(csv) {
        let expected = format!("{file}: expected at least one row, found none; add rows");
        assert_eq!(error_of(file, content), expected, "{content:?}");
    }
}

#[test]
fn bytes_that_are_not_utf_8() {
    let mut rows = format!("{GOOD}\n").into_bytes();
    rows.extend_from_slice(b"{\"gold\": {\"answer\": \"caf\xE9\"}}\n");
    assert_snapshot!(error_of("rows.jsonl", rows),
        @"rows.jsonl:2: invalid UTF-8: byte 25 is 0xE9; convert the file to UTF-8, or pass --encoding windows-1252 if a Windows program wrote it");
    assert_snapshot!(error_of("rows.json", b"[\n{\"gold\":\n {\"answer\": \"\xFF\"}}]"),
        @"rows.json:3: invalid UTF-8: byte 14 is 0xFF; convert the file to UTF-8, or pass --encoding windows-1252 if a Windows program wrote it");
    assert_snapshot!(error_of("rows.csv", b"id,gold.answer,pred.answer\na,x,caf\xE9\n"),
        @"rows.csv:2: column `pred.answer`: invalid UTF-8: byte 4 is 0xE9; convert the file to UTF-8, or pass --encoding windows-1252 if a Windows program wrote it");
}

#[test]
fn json_that_is_not_an_array_of_rows() {
    assert_snapshot!(error_of("rows.json", r#"{"rows": []}"#),
        @"rows.json: expected an array of rows, found an object; if each line is an object, rename it to .jsonl; if a field has the rows, write only its list, as `jq .FIELD` prints it");
    assert_snapshot!(error_of("rows.json", "[\n  4\n]"),
        @r#"rows.json:2: expected a row such as {"id": .., "gold": {..}, "pred": {..}}, found the number 4"#);
    let broken = [
        (
            format!("[{GOOD}"),
            "1:63: invalid JSON: unclosed array of rows; expected `]`",
        ),
        (format!("[{GOOD},\n]"), "2:1: invalid JSON: trailing comma"),
        (
            format!("[{GOOD}\n {GOOD}]"),
            "2:2: invalid JSON: expected `,` or `]`",
        ),
        (
            format!("[{GOOD}]\n]"),
            "2:1: invalid JSON: trailing characters after the array of rows",
        ),
        (
            "[\n  {\"id\":\n \"a\" \"gold\"}]".to_owned(),
            "3:6: invalid JSON: expected `,` or `}`",
        ),
        (
            "[\n  {\"id\" 4}]".to_owned(),
            "2:9: invalid JSON: expected `:`",
        ),
    ];
    for (content, message) in broken {
        assert_eq!(
            error_of("rows.json", content),
            format!("rows.json:{message}")
        );
    }
}

#[test]
fn nesting_that_is_too_deep() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let row = format!(r#"{{"gold": {{"answer": {deep}}}, "pred": {{}}}}"#);
    let message = "lists and objects are nested deeper than 127 levels; flatten them or write the \
                   deep part as a string";
    assert_eq!(
        error_of_second_row(&row),
        format!("rows.jsonl:2: {message}")
    );
    assert_eq!(
        error_of("rows.json", format!("[\n{row}]")),
        format!("rows.json:2: {message}")
    );
}

#[test]
fn a_number_beyond_the_largest_or_below_the_smallest() {
    for number in ["1e999", "1e-999"] {
        let row = format!(r#"{{"gold": {{"answer": {number}}}, "pred": {{"answer": "x"}}}}"#);
        let column = 20 + number.len();
        assert_eq!(
            error_of_second_row(&row),
            format!("rows.jsonl:2:{column}: invalid JSON: number out of range")
        );
        let cells = format!("gold.answer,pred.answer\n1,{number}\n");
        assert_eq!(
            Folder::with("rows.csv", cells).score_error("rows.csv -m distance"),
            format!(
                "rows.csv:2: metric `distance`: field `pred.answer`: expected a number, found the string \"{number}\""
            )
        );
    }
}

#[test]
fn an_integer_that_would_lose_digits() {
    let row = |number| {
        format!(r#"{{"gold": {{"t": "\"", "n": [{number}]}}, "pred": {{"answer": "1"}}}}"#)
    };
    let message =
        "expected an integer of at most 64 bits, found a longer one; write it as a string";
    for number in [
        "18446744073709551616",
        "-9223372036854775809",
        "123456789012345678901234567890",
    ] {
        assert_eq!(
            error_of_second_row(&row(number)),
            format!("rows.jsonl:2:28: {message}")
        );
        let array = format!("[\n  {}]", row(number));
        assert_eq!(
            error_of("rows.json", array),
            format!("rows.json:2:30: {message}")
        );
    }
    let kept = [
        "18446744073709551615",
        "-9223372036854775808",
        "1e300",
        "123456789012345678901.5",
    ];
    for number in kept {
        let ran = Folder::with("rows.jsonl", row(number)).run("score rows.jsonl -m obeys");
        assert_eq!((ran.code, &*ran.err), (Some(0), ""), "{number}");
    }
}

#[test]
fn files_that_cannot_be_read() {
    let folder = Folder::with("rows.txt", GOOD);
    std::fs::create_dir(folder.path("rows")).unwrap();
    let error = |file| folder.score_error(&format!("{file} -m same_text"));
    assert_eq!(
        error("rows"),
        "rows: expected row files in the folder, found none with the extension .jsonl, .json, .csv or .parquet; pass a file"
    );
    assert_snapshot!(error("none.jsonl"),
        @"none.jsonl: cannot be read: No such file or directory (os error 2)");
    assert_snapshot!(error("rows.txt"),
        @"rows.txt: unknown extension; expected .jsonl, .json, .csv or .parquet; rename the file or set --format");
}

#[test]
fn a_compressed_file() {
    assert_snapshot!(error_of("rows.jsonl", b"\xfd7zXZ\x00"),
        @"rows.jsonl: expected rows, found xz; decompress the file first");
}

#[test]
fn rows_that_are_written_over_several_lines() {
    let row = GOOD.replace(", \"", ",\n\"");
    assert_snapshot!(error_of("rows.jsonl", &row),
        @"rows.jsonl:1:11: invalid JSON: EOF while parsing a value; write one object per line");
}

#[test]
fn one_file_that_is_named_twice() {
    let folder = Folder::with("rows.jsonl", GOOD);
    for other in ["rows.jsonl", "./rows.jsonl"] {
        let error = folder.score_error(&format!("rows.jsonl {other} -m same_text"));
        assert_eq!(
            error,
            format!("rows.jsonl and {other} are the same file; name it once")
        );
    }
}

#[test]
fn a_missing_file_is_reported_before_the_others_are_read() {
    let folder = Folder::with("broken.jsonl", "{");
    let error = folder.score_error("broken.jsonl none.jsonl -m same_text");
    assert_eq!(
        error,
        "none.jsonl: cannot be read: No such file or directory (os error 2)"
    );
}

#[test]
fn results_that_cannot_be_written() {
    let folder = Folder::with("rows.jsonl", GOOD);
    let extensions = "expected .jsonl, .json, .csv or .parquet";
    for (out, expected) in [
        (
            "scores.xlsx",
            format!("--out scores.xlsx: unknown extension; {extensions}"),
        ),
        (
            "scores",
            format!("--out scores: unknown extension; {extensions}"),
        ),
        (
            "rows.jsonl",
            "--out rows.jsonl and DATA rows.jsonl are the same file; choose another file for --out"
                .to_owned(),
        ),
        (
            "none/scores.csv",
            "cannot write `none/scores.csv`: No such file or directory (os error 2)".to_owned(),
        ),
    ] {
        assert_eq!(
            folder.score_error(&format!("rows.jsonl -m same_text --out {out}")),
            expected
        );
    }
    assert_eq!(folder.read("rows.jsonl"), GOOD);
}

#[test]
#[cfg(unix)]
fn an_input_is_never_overwritten_under_whatever_name() {
    use std::os::unix::fs::symlink;
    let folder = Folder::with("rows.jsonl", GOOD);
    symlink("rows.jsonl", folder.path("link.jsonl")).unwrap();
    std::fs::hard_link(folder.path("rows.jsonl"), folder.path("hard.jsonl")).unwrap();
    let message = |out: &str, data: &str| {
        format!(
            "error: --out {out} and DATA {data} are the same file; choose another file for --out\n"
        )
    };
    for out in ["rows.jsonl", "./rows.jsonl", "link.jsonl"] {
        for data in ["-", "rows.jsonl", "/dev/stdin"] {
            let args = format!("score {data} -m same_text --format jsonl --out {out}");
            let input = std::fs::File::open(folder.path("rows.jsonl")).unwrap();
            let ran = Ran::from(folder.command(&args).stdin(input).output().unwrap());
            assert_eq!((ran.code, ran.err), (Some(2), message(out, data)), "{data}");
        }
    }
    // A hard link gets a new file, so the input keeps its content.
    folder.printed("score rows.jsonl -q -m same_text --out hard.jsonl");
    assert_eq!(folder.read("rows.jsonl"), GOOD);
    // A device may be both.
    let null = std::fs::File::open("/dev/null").unwrap();
    let args = "score - rows.jsonl -m same_text --out null.jsonl";
    symlink("/dev/null", folder.path("null.jsonl")).unwrap();
    let ran = Ran::from(folder.command(args).stdin(null).output().unwrap());
    assert!(ran.err.contains("expected at least one row"), "{ran:?}");
}

#[test]
fn invalid_input_leaves_an_old_result_file_unchanged() {
    let folder = Folder::with("rows.jsonl", format!("{GOOD}\n{{"));
    folder.write("scores.jsonl", "of yesterday");
    folder.score_error("rows.jsonl -m same_text --out scores.jsonl");
    assert_eq!(folder.read("scores.jsonl"), "of yesterday");
}
