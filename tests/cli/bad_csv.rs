//! Invalid CSV files.

use crate::Folder;
use crate::bad_input::error_of;
use insta::assert_snapshot;

#[test]
fn csv_with_ragged_rows() {
    assert_snapshot!(error_of("rows.csv", "id,gold.answer,pred.answer\na,x,x\nb,x\n"),
        @"rows.csv:3: expected 3 cells as in the header, found 2; check for a missing quote or comma");
    assert_snapshot!(error_of("rows.csv", "id,gold.answer,pred.answer\r\n\r\na,x,x,x\r\n"),
        @"rows.csv:3: expected 3 cells as in the header, found 4; check for a missing quote or comma");
    assert_snapshot!(error_of("rows.csv", "id,pred.answer,pred.answer\na,x,x\n"),
        @"rows.csv:1: duplicate column `pred.answer`; rename or remove one");
}

#[test]
fn an_unclosed_csv_quote() {
    let unclosed = "unclosed quote: a cell of this record extends to the end of the file; add the \
                    closing quote";
    for (csv, line) in [
        ("gold.answer,pred.answer\nx,x\nx,\"y\nx,x\n", 3),
        ("gold.answer,pred.answer\nx,\"x\"\n\nx,\"y", 4),
        ("gold.answer,pred.answer\nx,\"y\"\"", 2),
        ("gold.answer,pred.answer\nx,\"", 2),
        ("gold.answer,\"pred.answer\nx,x\n", 1),
    ] {
        assert_eq!(
            error_of("rows.csv", csv),
            format!("rows.csv:{line}: {unclosed}"),
            "{csv:?}"
        );
    }
    for end in ["\"x\"", "\"x\"\n", "\"x\"\r\n", "x\"", "\"x\"\n\n"] {
        let folder = Folder::with("rows.csv", format!("gold.answer,pred.answer\nx,{end}"));
        folder.printed("score rows.csv -m same_text");
    }
}

#[test]
fn csv_cells_of_the_wrong_type() {
    let folder = Folder::with("rows.csv", "gold.answer,pred.answer\n1.5,2\n1.5,many\n");
    assert_snapshot!(folder.score_error("rows.csv -m distance"),
        @r#"rows.csv:3: metric `distance`: field `pred.answer`: expected a number, found the string "many""#);
}

#[test]
fn a_csv_cell_that_is_not_a_boolean() {
    for cell in ["yes", "1", "0", "tRUE"] {
        let folder = Folder::with("rows.csv", format!("pred.sure\nTrue\n{cell}\n"));
        assert_eq!(
            folder.score_error("rows.csv -m certain"),
            format!(
                "rows.csv:3: metric `certain`: field `pred.sure`: expected true or false, found the string \
                 \"{cell}\" (write true, True, TRUE, false, False or FALSE)"
            )
        );
    }
}

#[test]
fn lists_that_dspy_and_ragas_save_as_csv_have_the_scores_of_their_json() {
    let folder = Folder::with("dspy.csv", "answer,given\n\"['Rome', 'Paris']\",Paris\n");
    folder.write(
        "dspy.json",
        r#"[{"answer": ["Rome", "Paris"], "given": "Paris"}]"#,
    );
    folder.write(
        "ragas.csv",
        "truth,found\n['In Paris.'],\"['Bananas.', 'In Paris.']\"\n",
    );
    folder.write(
        "ragas.json",
        r#"[{"truth": ["In Paris."], "found": ["Bananas.", "In Paris."]}]"#,
    );
    for format in ["csv", "json"] {
        let args = "-m em --map gold.answer=answer --map pred.answer=given";
        let ran = folder.run(&format!("score dspy.{format} {args}"));
        assert!(ran.out.starts_with("em  100.00%"), "{ran:?}");
        let args =
            "-m context_precision_by_distance --map gold.context=truth --map pred.context=found";
        let ran = folder.run(&format!("score ragas.{format} {args}"));
        assert!(
            ran.out
                .starts_with("context_precision_by_distance  0.5000 "),
            "{ran:?}"
        );
    }
}

/// A parameter that takes a string or a list reads a cell with a JSON list as a list; in JSONL a string stays a string.
#[test]
fn a_csv_cell_with_json_that_the_parameter_does_not_take() {
    for cell in ["[1]", "{\"a\":1}"] {
        let quoted = cell.replace('"', "\"\"");
        let csv = format!(
            "gold.answer,pred.answer\n\"[\"\"a\"\",\"\"b\"\"]\",b\n\"{quoted}\",\"{quoted}\"\n"
        );
        let folder = Folder::with("rows.csv", csv);
        let shown = cell.replace('"', "\\\"");
        assert_eq!(
            folder.score_error("rows.csv -m em"),
            format!(
                "rows.csv:3: metric `em`: field `gold.answer`: expected a string or list of strings, found the string \
                 \"{shown}\", a cell that is read as a list or object; if it is a string, write the rows as JSONL"
            )
        );
        let sides = serde_json::json!({ "answer": cell });
        folder.write(
            "rows.jsonl",
            serde_json::json!({ "gold": sides, "pred": sides }).to_string(),
        );
        let ran = folder.run("score rows.jsonl -m em");
        assert!(ran.out.starts_with("em  100.00%"), "{}", ran.out);
    }
}
