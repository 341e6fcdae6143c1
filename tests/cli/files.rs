//! Files as people have them: columns with other names, delimiters, encodings, forms of JSON, gold and predictions in two
//! files, and scores that another program computed.

use insta::assert_snapshot;

use crate::Folder;

const ANSWERS: &str = "--map gold.answer=answer --map pred.answer=prediction -m em";

impl Folder {
    /// Returns the mean of `em` over the rows of a file, and what is printed to standard error.
    #[track_caller]
    fn em(&self, args: &str) -> (String, String) {
        let ran = self.run(&format!("score {args}"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let score = ran.out.split_whitespace().nth(1).unwrap_or_default();
        (score.to_owned(), ran.err)
    }
}

/// A folder with one file.
fn with(name: &str, content: impl AsRef<[u8]>) -> Folder {
    let folder = Folder::with("other.txt", "");
    std::fs::write(folder.path(name), content).unwrap();
    folder
}

#[test]
fn the_first_error_has_the_options_to_paste() {
    for (columns, options) in [
        (
            "question,answer,prediction",
            "--map gold.answer=answer --map pred.answer=prediction",
        ),
        (
            "example_answer,pred_answer",
            "--map gold.answer=example_answer --map pred.answer=pred_answer",
        ),
        (
            "prompt,model_completion,ideal_answer",
            "--map gold.answer=ideal_answer --map pred.answer=model_completion",
        ),
        (
            "task_id,Ground truth,response",
            "--map 'gold.answer=Ground truth' --map pred.answer=response --map id=task_id",
        ),
    ] {
        let cells = vec!["x"; columns.split(',').count()].join(",");
        let folder = with("rows.csv", format!("{columns}\n{cells}\n"));
        let error = folder.score_error("rows.csv -m em");
        let (_, advice) = error.split_once("as in ").unwrap();
        assert_eq!(advice, options);
        if !options.contains('\'') {
            assert_eq!(folder.em(&format!("rows.csv -m em {advice}")).0, "100.00%");
        }
    }
    let folder = with(
        "rows.csv",
        "reference_contexts,retrieved_contexts\n['a'],['a']\n",
    );
    assert_snapshot!(folder.score_error("rows.csv -m context_precision_by_distance"),
        @"rows.csv:2: expected `gold` or `pred`, found only `reference_contexts`, `retrieved_contexts`; map the fields that the run reads, `gold.context`, `pred.context`, as in --map gold.context=reference_contexts --map pred.context=retrieved_contexts");
    assert_snapshot!(folder.score_error("rows.csv -m context_precision_by_distance --map pred.context=retrieved_contexts"),
        @"rows.csv:2: metric `context_precision_by_distance`: no field `gold.context`; found no fields; if the row has it elsewhere, pass --map gold.context=reference_contexts");
}

#[test]
fn paths_have_ends_of_lists_quotes_and_json_in_strings() {
    let row = r#"{"gold": "Paris", "pred": ["Rome", "Paris", {"a.b": "Paris"}]}"#;
    let folder = with("rows.jsonl", row);
    for path in [
        "pred.1",
        "pred.-2",
        "pred[-2]",
        "pred[-1].\"a.b\"",
        "pred.2.\"a.b\"",
    ] {
        let args = format!("rows.jsonl -m em --map gold.answer=gold --map pred.answer={path}");
        assert_eq!(folder.em(&args).0, "100.00%", "{path}");
    }
    let cells =
        "id,answer,response\n1,Paris,\"{\"\"text\"\": \"\"Paris\"\"}\"\n2,Paris,{'text': 'Oslo'}\n";
    let folder = with("rows.csv", cells);
    let args = "rows.csv -m em --map gold.answer=answer --map pred.answer=response.text";
    assert_eq!(folder.em(args).0, "50.00%");
    assert_snapshot!(folder.run("score rows.csv -m em --map gold.answer=answer --map pred.answer=response.txt").err, @"
    warning: --map pred.answer=response.txt: no row has `response.txt`
    em: no prediction has a field `answer`; the first prediction has no fields; --map names `response.txt`, which no row has
    ");
}

#[test]
fn an_id_may_have_several_columns() {
    let rows = r#"{"task": "t", "lang": 1, "answer": "a", "prediction": "a"}
{"task": "t", "lang": 2, "answer": "a", "prediction": "b"}"#;
    let folder = with("rows.jsonl", rows);
    folder.em(&format!(
        "rows.jsonl {ANSWERS} --map id=task,lang --out run.jsonl"
    ));
    assert!(folder.read("run.jsonl").contains(r#"{"id":"t,2","#));
    folder.write("labels.csv", "task,lang,right\nt,2,false\nt,1,true\n");
    let agreed = folder.run("agree run.jsonl --labels labels.csv --label right --map id=task,lang");
    assert!(
        agreed.out.contains("accuracy            100.00% (2/2)"),
        "{agreed:?}"
    );
}

#[test]
fn the_header_shows_the_delimiter() {
    let rows = "id;gold.answer;pred.answer\r\n1;Z\u{fc}rich, Stadt;Z\u{fc}rich, Stadt\r\n2;3,50 \u{20ac};3.50 \u{20ac}\r\n3;M\u{fc}ller;Mueller\r\n";
    let note = |found: &str| {
        format!(
            "note: rows.csv: columns are separated by {found}, as the header shows; pass --delimiter if they are not\n"
        )
    };
    for (delimiter, found) in [(";", "`;`"), ("\t", "tabs"), ("|", "`|`")] {
        let folder = with("rows.csv", rows.replace(';', delimiter));
        assert_eq!(
            folder.em("rows.csv -m em"),
            ("66.67%".to_owned(), note(found))
        );
    }
    let folder = with("rows.tsv", rows.replace(';', "\t"));
    assert_eq!(
        folder.em("rows.tsv -m em"),
        ("66.67%".to_owned(), String::new())
    );
    let folder = with("rows.csv", "id;gold.answer;pred.answer;a,b\n1;x;x;1\n");
    assert_eq!(folder.em("rows.csv -m em").0, "100.00%");
    assert_snapshot!(folder.score_error("rows.csv -m em --delimiter ,"),
        @"rows.csv:2: expected 2 cells as in the header, found 1; check for a missing quote or comma");
}

#[test]
fn other_encodings_are_read_and_named() {
    let rows = "id;gold.answer;pred.answer\n1;Zürich;Zürich\n2;3 €;3 €\n3;é;e\n";
    let latin: Vec<u8> = rows
        .chars()
        .map(|it| u8::try_from(it).unwrap_or(0x80))
        .collect();
    let folder = with("rows.csv", &latin);
    assert_snapshot!(folder.score_error("rows.csv -m em"),
        @"rows.csv:2: column `gold.answer`: invalid UTF-8: byte 2 is 0xFC; convert the file to UTF-8, or pass --encoding windows-1252 if a Windows program wrote it");
    assert_eq!(
        folder.em("rows.csv -m em --encoding windows-1252").0,
        "66.67%"
    );
    let utf16: Vec<u8> = format!("\u{feff}{rows}")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let folder = with("rows.csv", utf16);
    assert_snapshot!(folder.score_error("rows.csv -m em"),
        @"rows.csv: expected rows, found UTF-16; pass --encoding utf-16");
    assert_eq!(folder.em("rows.csv -m em --encoding utf-16").0, "66.67%");
    let folder = with(
        "rows.csv",
        [&latin, "4;ü;ü\n".as_bytes(), b"5;\xfc\x00;x\n"].concat(),
    );
    assert_snapshot!(folder.score_error("rows.csv -m em --encoding windows-1252"),
        @"rows.csv:5:3: expected Windows-1252, found `ü` in UTF-8; the file has several encodings, so convert it to UTF-8");
}

#[test]
fn compressed_files_and_folders_are_read() {
    const GZIP: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xabVJ\xcf\xcfIQ\xb2\xaaVJ\xcc+.O-R\xb2RJT\xaa\xd5Q*(J\xc5\x10\xad\xe5\x02\x00\xf5\xe2\xf0\x14.\x00\x00\x00";
    const ZSTD: &[u8] = b"(\xb5/\xfd\x04X\x1d\x01\x00\xe8{\x22gold\x22:{\x22answer\x22:\x22a\x22},\x22pre}\x0a\x01\x00\xe7<\xc7K\xdbc\xde";
    let folder = with("rows.jsonl.gz", GZIP);
    assert_eq!(folder.em("rows.jsonl.gz -m em").0, "100.00%");
    std::fs::create_dir(folder.path("side")).unwrap();
    std::fs::write(folder.path("side/b.jsonlines"), ZSTD).unwrap();
    std::fs::write(folder.path("side/a.csv"), "gold.answer,pred.answer\na,b\n").unwrap();
    std::fs::write(folder.path("side/notes.md"), "no rows").unwrap();
    assert_eq!(folder.em("side -m em").0, "50.00%");
    std::fs::write(folder.path("cut.jsonl.gz"), &GZIP[..GZIP.len() - 9]).unwrap();
    assert!(
        folder
            .score_error("cut.jsonl.gz -m em")
            .starts_with("cut.jsonl.gz: cannot be read: ")
    );
}

#[test]
fn forms_of_json_are_read() {
    let row = |answer: &str| format!(r#"{{"answer": "a", "prediction": "{answer}"}}"#);
    let (a, b) = (row("a"), row("b"));
    let pretty = |row: &str| {
        row.replace("{", "{\n  ")
            .replace(", ", ",\n  ")
            .replace('}', "\n}")
    };
    for (name, content) in [
        ("array.jsonl", format!("[\n{a},\n{b}\n]\n")),
        ("pretty.jsonl", format!("{}\n{}\n", pretty(&a), pretty(&b))),
        ("pretty.json", format!("{}{}", pretty(&a), pretty(&b))),
        ("lines.json", format!("{a}\n{b}\n")),
        ("index.json", format!(r#"{{"0": {a}, "1": {b}}}"#)),
        (
            "split.json",
            r#"{"columns":["answer","prediction"],"index":["x","y"],"data":[["a","a"],["a","b"]]}"#
                .to_owned(),
        ),
    ] {
        let folder = with(name, content);
        assert_eq!(
            folder.em(&format!("{name} {ANSWERS}")).0,
            "50.00%",
            "{name}"
        );
    }
    let folder = with(
        "rows.json",
        r#"{"version": "1.1", "data": [{"answer": "a"}]}"#,
    );
    assert_snapshot!(folder.score_error("rows.json -m em"),
        @"rows.json: expected an array of rows, found an object; if each line is an object, rename it to .jsonl; if a field has the rows, write only its list, as `jq .FIELD` prints it");
    let folder = with(
        "rows.json",
        r#"{"columns":["answer","prediction"],"index":[1],"data":[["a"]]}"#,
    );
    assert_snapshot!(folder.score_error(&format!("rows.json {ANSWERS}")),
        @"rows.json:1: expected 2 values in each list in `data`, one per column, found 1; write a value for each column");
}

#[test]
fn what_is_no_file_of_rows_is_named() {
    for (content, error) in [
        (
            "version https://git-lfs.github.com/spec/v1\n",
            "a Git LFS pointer; run `git lfs pull` to get the file",
        ),
        (
            "<!DOCTYPE html>\n",
            "an HTML page; it may be the error page of a download; download the file again",
        ),
        (
            "PAR1\u{15}",
            "Parquet; rename the file to .parquet, or pass --format parquet",
        ),
    ] {
        let folder = with("rows.jsonl", content);
        assert_eq!(
            folder.score_error("rows.jsonl -m em"),
            format!("rows.jsonl: expected rows, found {error}")
        );
    }
}

#[test]
fn numbers_and_bools_are_read_by_text_metrics_and_labels() {
    let rows = r#"{"gold": {"answer": 42}, "pred": {"answer": "42"}}
{"gold": {"answer": [1, 2]}, "pred": {"answer": 2}}
{"gold": {"answer": true}, "pred": {"answer": false}}"#;
    assert_eq!(with("rows.jsonl", rows).em("rows.jsonl -m em").0, "66.67%");
    let rows = "gold.answer,pred.probability\n1.0,.5\n0.0,-.25\n";
    assert_eq!(with("rows.csv", rows).em("rows.csv -m auroc").0, "1.0000");
}

#[test]
fn gold_and_predictions_in_two_files_are_joined_by_id() {
    let gold = r#"{"id": "q1", "answer": "Paris"}
{"id": 2, "answer": "Oslo"}
{"id": "q3", "answer": "Bern"}"#;
    let folder = with("gold.jsonl", gold);
    folder.write(
        "preds.json",
        r#"{"2": "Rome", "q1": "paris", "q9": "Rome"}"#,
    );
    assert_snapshot!(folder.run("score preds.json --gold gold.jsonl -m em --missing skip"), @"
    em  50.00% [9.45, 90.55] (1/2, 0 failed)
    -- standard error --
    note: gold.jsonl: predictions without a gold row, not scored: 1, the first `q9`
    note: gold.jsonl: gold rows without a prediction, not scored: 1, the first `q3`
    -- exit code 0 --
    ");
    let failed = folder.run("score preds.json --gold gold.jsonl -m em --out run.jsonl");
    assert_snapshot!(failed, @"
    em  33.33% [6.15, 79.23] (1/3, 1 failed counted as 0; 50.00% of the 2 scored)
    -- standard error --
    warning: 1 row failed; first error: gold.jsonl:3: the row has no prediction
    note: gold.jsonl: predictions without a gold row, not scored: 1, the first `q9`
    note: gold.jsonl: gold rows without a prediction, counted as failed: 1, the first `q3`; pass --missing skip to leave them out
    -- exit code 0 --
    ");
    let last = folder.read("run.jsonl").lines().last().map(str::to_owned);
    assert_snapshot!(last.unwrap(), @r#"{"id":"q3","scores":{"em":{"outcome":"program_failed","value":null,"passed":null,"confidence":null,"details":null,"feedback":null,"cost_msats":0,"error":"the row has no prediction"}},"gold_hash":"b900a82ee1c860b5","manifest":"1-70fe09fdff93e51c00af799e4af2af9e"}"#);
    folder.write(
        "preds.csv",
        "instance_id,prediction\nq1,Paris\n2,Oslo\nq3,Rome\n",
    );
    assert_snapshot!(folder.score_error("preds.csv --gold gold.jsonl -m em --map pred.answer=prediction"),
        @"preds.csv:2: expected an id at `id`, found a row with `instance_id`, `prediction`; pass --join gold.instance_id=pred.instance_id, with the columns that have the same ids in both files");
    let joined = "--join gold.id=pred.instance_id --map pred.answer=prediction --out run.jsonl";
    assert_eq!(
        folder.em(&format!("preds.csv --gold gold.jsonl -m em {joined}")),
        ("66.67%".to_owned(), String::new())
    );
    assert!(folder.read("run.jsonl").starts_with(r#"{"id":"q1","#));
    // Both files are in the manifest.
    let manifest = folder.read("run.jsonl.manifest.json");
    assert!(
        manifest.contains("gold.jsonl") && manifest.contains("preds.csv"),
        "{manifest}"
    );
    // The same column in both files is another value in each.
    let both = "--join gold.id=pred.instance_id --map gold.answer=answer --map pred.answer=answer";
    folder.write("same.csv", "instance_id,answer\nq1,Rome\n2,Oslo\nq3,Rome\n");
    assert_eq!(
        folder.em(&format!("same.csv --gold gold.jsonl -m em {both}")),
        ("33.33%".to_owned(), String::new())
    );
    folder.write(
        "own.jsonl",
        r#"{"id": "q1", "gold": {"answer": "x"}, "pred": {"answer": "x"}}"#,
    );
    assert_snapshot!(folder.score_error("own.jsonl --gold gold.jsonl -m em"),
        @"own.jsonl:1: expected a prediction without a gold row, found `gold`; remove it, or leave out --gold");
    folder.write("gold.csv", "qid,reference\nq1,Paris\n2,Oslo\nq3,Rome\n");
    let mapped =
        "--join gold.qid=pred.instance_id --map gold.answer=reference --map pred.answer=prediction";
    assert_eq!(
        folder
            .em(&format!("preds.csv --gold gold.csv -m em {mapped}"))
            .0,
        "100.00%"
    );
}

#[test]
fn a_join_that_is_not_one_is_an_error() {
    let folder = with(
        "gold.jsonl",
        "{\"id\": \"q1\", \"answer\": \"x\"}\n{\"id\": \"q2\", \"answer\": \"x\"}\n",
    );
    folder.write("run.jsonl", "");
    folder.write("preds.json", r#"{"1": "x", "2": "y"}"#);
    assert_snapshot!(folder.score_error("preds.json --gold gold.jsonl -m em --out run.jsonl"),
        @"preds.json:1: `id`: expected ids from gold.jsonl, such as `q1`, `q2`, found `1`, `2`, and no prediction has a matching id; pass --join gold.COLUMN=pred.COLUMN with the columns that have the same ids");
    assert_eq!(folder.read("run.jsonl"), "", "no output is written");
    folder.write(
        "gold.jsonl",
        "{\"id\": 1, \"answer\": \"x\"}\n\n{\"id\": \"1\", \"answer\": \"y\"}\n",
    );
    assert_snapshot!(folder.score_error("preds.json --gold gold.jsonl -m em"),
        @"gold.jsonl:3: duplicate id `1`, first on line 1; ids must be unique in the gold file; remove one, or join by another column with --join");
    assert_snapshot!(folder.run("score preds.json --gold gold.jsonl --join id=id -m em").error(),
        @"invalid value 'id=id' for '--join <gold.PATH=pred.PATH>': invalid join `id=id`: expected gold.PATH=pred.PATH, as in gold.id=pred.instance_id");
}

#[test]
fn gold_rows_without_predictions_are_failures_in_every_kind_of_run() {
    let gold: String = (0..1_000)
        .map(|id| format!("{{\"id\": {id}, \"answer\": \"x\", \"text\": \"Berlin\"}}\n"))
        .collect();
    let folder = with("gold.jsonl", gold);
    let preds = |ids: std::ops::Range<u32>| -> String {
        ids.map(|id| format!("{{\"id\": {id}, \"trial\": 0, \"out\": \"x\"}}\n"))
            .collect()
    };
    folder.write("preds.jsonl", preds(0..400));
    let options = "--gold gold.jsonl --map pred.answer=out --map gold.answer=answer";
    let headline = |more: &str| {
        folder
            .run(&format!("score preds.jsonl -m em {options} {more}"))
            .out
    };
    let (all, matched) = (
        "em  40.00% [37.01, 43.07] (400/1000, 600 failed counted as 0; 100.00% of the 400 scored)\n",
        "(400/400, 0 failed)\n",
    );
    assert_eq!(headline("--out run.jsonl"), all);
    assert!(headline("--missing skip").ends_with(matched));
    // The rows come in the order of the gold file, after those with predictions.
    let ids = folder.read("run.jsonl");
    let ids = ids
        .lines()
        .map(|line| line.split('"').nth(3).unwrap().parse::<u32>().unwrap());
    assert_eq!(ids.collect::<Vec<_>>(), (0..1_000).collect::<Vec<_>>());
    let scored = |score: &str| headline(score).contains("600 failed");
    assert!(scored("--failure-score 0.5") && scored("--map repeat=trial") && scored("--repeats 2"));
    // Rows in progress when the limit is reached are scored to their end.
    let stopped = headline("--max-errors 10");
    let failed = stopped.split_once(" failed").unwrap().0;
    let failed = failed.rsplit_once(' ').unwrap().1.parse::<u32>().unwrap();
    assert!((10..=100).contains(&failed), "{stopped}");
    assert_snapshot!(folder.score_error("preds.jsonl -m em --missing skip"), @"the following required arguments were not provided: --gold <FILE>");
}

#[test]
fn lines_of_two_files_are_paired() {
    let folder = with("gold.txt", "a\nb\n\nc\n");
    folder.write("preds.txt", "a\r\nx\r\n\r\nc\r\n");
    assert_eq!(folder.em("--lines gold.txt preds.txt -m em").0, "75.00%");
    folder.write("preds.txt", "a\nx\n");
    assert_snapshot!(folder.score_error("--lines gold.txt preds.txt -m em"),
        @"gold.txt: expected as many lines as predictions, found 4 lines for 2 predictions; write one line for each prediction, leaving it empty if there is no text");
}

#[test]
fn labels_of_excel_are_read() {
    let folder = with(
        "rows.jsonl",
        r#"{"id": "é", "gold": {"answer": "x"}, "pred": {"answer": "x"}}"#,
    );
    folder.run("score rows.jsonl -m em --out run.jsonl");
    std::fs::write(folder.path("labels.txt"), b"id|correct\n\xE9|1\n").unwrap();
    let agree = "agree run.jsonl --label correct";
    let options = "--labels labels.txt --format csv --encoding windows-1252 --delimiter |";
    let agreed = folder.run(&format!("{agree} {options}"));
    assert!(
        agreed.out.contains("accuracy            100.00% (1/1)"),
        "{agreed:?}"
    );
    assert_snapshot!(folder.run(&format!("{agree} --labels labels.txt --format csv")).error(), @"labels.txt:2: column `id`: invalid UTF-8: byte 1 is 0xE9; convert the file to UTF-8, or pass --encoding windows-1252 if a Windows program wrote it");
    assert_snapshot!(folder.run(&format!("{agree} --encoding utf-16")).error(), @"--delimiter, --encoding and --format need --labels or --score; remove them");
}

#[test]
fn scores_of_another_program_are_compared_and_checked() {
    let folder = with(
        "a.csv",
        "question,human,judge,score\nq1,pass,pass,0.9\nq2,fail,pass,0.7\nq3,pass,pass,\nq4,fail,fail,.25\n",
    );
    folder.write("b.csv", "question;score\nq2;0.9\nq1;1\nq3;0.5\nq4;nan\n");
    let compared =
        folder.run("compare a.csv b.csv --score score=score:0..1 --map id=question --json");
    let json: serde_json::Value = serde_json::from_str(&compared.out).unwrap();
    let score = &json["metrics"]["score"];
    // q3 has no score in A, and that of q4 in B is NaN, a failure that counts as 0.
    assert_eq!(
        (&score["n"], &score["wins"], &score["losses"]),
        (&3.into(), &2.into(), &1.into())
    );
    let agreed = folder.run("agree a.csv --score judge=judge --label human");
    assert!(
        agreed
            .out
            .contains("version 1; computed = elsewhere; path = judge\n"),
        "{agreed:?}"
    );
    assert!(
        agreed.out.contains("accuracy            75.00% (3/4)"),
        "{agreed:?}"
    );
    assert_snapshot!(folder.run("compare a.csv b.csv --score score=score").error(),
        @"a.csv:2: expected an id at `id`, found a row with `question`, `human`, `judge`, `score`; pass --map id=COLUMN, with a column that identifies the row in both files");
    assert_snapshot!(folder.run("report a.csv --encoding utf-16 --out a.html").error(),
        @"--delimiter, --encoding and --format need --score NAME=PATH; remove them");
    assert_snapshot!(folder.run("report a.csv --from ragas --score score=score --out a.html").error(),
        @"--score reads rows as they are, and --from reads another program's scores; remove one of them");
    assert_snapshot!(folder.run("report a.csv --score score=score:0..0.8 --out a.html").error(),
        @"a.csv:2: `score`: expected a score in [0, 0.8], the range of --score score, found 0.9; fix the row, or correct the range");
    assert_snapshot!(folder.run("report a.csv --score score=scor --out a.html").error(),
        @"a.csv: --score score: no row has `scor`; did you mean `score`?");
    assert_snapshot!(folder.run("report a.csv --score q=question --out a.html").error(),
        @r#"a.csv:2: --score q: expected a number, true or false, or a verdict such as pass or fail at `question`, found the string "q1"; name the path of the score, as in question.PATH"#);
    assert_eq!(
        folder
            .run("report a.csv --score score=score --out a.html")
            .code,
        Some(0)
    );
}

#[test]
fn a_column_with_lists_in_some_rows_is_named() {
    let folder = with(
        "a.jsonl",
        "{\"id\": 1, \"score\": 0.5}\n{\"id\": 2, \"score\": [0.5]}\n",
    );
    assert_snapshot!(folder.run("compare a.jsonl a.jsonl --score s=score").error(),
        @"a.jsonl:2: --score s: expected a number, true or false, or a verdict such as pass or fail at `score`, found a list; name the path of the score, as in score.PATH");
}

#[test]
fn several_samples_of_an_id_are_repeats() {
    let rows = r#"{"task_id": "t1", "out": "a", "answer": "a", "n": 0}
{"task_id": "t2", "out": 7, "answer": "7", "n": 0}
{"task_id": "t1", "out": "b", "answer": "a", "n": 1}
{"task_id": "t2", "out": "7", "answer": "7", "n": 1}"#;
    let folder = with("rows.jsonl", rows);
    let map = "rows.jsonl -m em --map gold.answer=answer --map pred.answer=out --map id=task_id";
    assert_snapshot!(folder.score_error(map),
        @"duplicate row id `t1` (rows rows.jsonl:1 and rows.jsonl:3); ids must be unique within a run; if they are samples of the same row, pass --map repeat=COLUMN; otherwise pass --map id=COLUMN,COLUMN");
    // t1 passes once in two samples, t2 twice: pass@2 is 1 and pass^2 is 0.5.
    assert_snapshot!(folder.run(&format!("score {map} --map repeat=n --out run.jsonl")).out, @"em  75.00% [1.03, 99.88; few rows] (mean of 2/2, 0 failed; 2 repeats, consistency 0.50, pass@2 100.00%, pass^2 50.00%)");
    let row = folder.read("run.jsonl").lines().next().unwrap().to_owned();
    assert!(
        row.contains(r#""repeats":[{"#) && row.starts_with(r#"{"id":"t1","#),
        "{row}"
    );
    assert_snapshot!(folder.score_error(&format!("{map} --map repeat=trial")),
        @"rows.jsonl:1: expected the sample's number at the path from --map repeat=PATH, found no value; name the column that numbers the samples of an id");
    folder.write("rows.jsonl", rows.replace("\"n\": 1", "\"n\": 0"));
    assert_snapshot!(folder.score_error(&format!("{map} --map repeat=n")),
        @"rows.jsonl:3: duplicate sample `0` for id `t1`; give each sample of an id a different number, or pass --map id=COLUMN,COLUMN if the id spans several columns");
    folder.write(
        "rows.jsonl",
        rows.replace(
            "\"out\": \"b\", \"answer\": \"a\"",
            "\"out\": \"b\", \"answer\": \"c\"",
        ),
    );
    assert_snapshot!(folder.score_error(&format!("{map} --map repeat=n")),
        @"rows.jsonl:3: this sample of `t1` has a different gold row from line 1; pass --map id=PATH with an id that identifies the row");
}

#[test]
fn lists_and_numbers_may_have_their_own_notation() {
    let folder = with(
        "rows.csv",
        "gold.answer,pred.answer\nRome|Roma,Roma\nOslo,\n",
    );
    assert_eq!(
        folder.em("rows.csv -m em --split gold.answer=|").0,
        "50.00%"
    );
    let folder = with("rows.csv", "gold.answer;pred.probability\n1;0,75\n0;0,5\n");
    assert_snapshot!(folder.score_error("rows.csv -m auroc"),
        @r#"rows.csv:2: metric `auroc`: field `pred.probability`: expected a number, found the string "0,75""#);
    assert_eq!(
        folder
            .em("rows.csv -m auroc --decimal-comma pred.probability")
            .0,
        "1.0000"
    );
}

#[test]
fn nan_is_null_unless_it_is_read() {
    let rows = r#"{"id": "1", "answer": "NaN", "prediction": "NaN", "score": 1.0}
{"id": "0", "answer": "x", "prediction": "y", "score": NaN, "low": -Infinity}
{"id": "0.0", "answer": "x", "prediction": "x", "score": 0.5}"#;
    let folder = with("rows.jsonl", rows);
    assert_eq!(folder.em(&format!("rows.jsonl {ANSWERS}")).0, "66.67%");
    let mapped = "rows.jsonl -m auroc --map gold.answer=id --map pred.probability=score";
    let failed = folder.run(&format!("score {mapped} --out run.jsonl"));
    assert_snapshot!(failed, @"
    auroc  1.0000 (over 2/3 rows, 1 failed)
    -- standard error --
    warning: 1 row failed; first error: rows.jsonl:2: metric `auroc`: field `pred.probability`: expected a value, found NaN or an infinity
    -- exit code 0 --
    ");
    // A row fails only for the metrics that read NaN.
    let rows = r#"{"id": "a", "gold": {"answer": "x"}, "pred": {"answer": NaN, "n": 1}}
{"id": "b", "gold": {"answer": "x"}, "pred": {"answer": "x", "n": [1, -Infinity]}}"#;
    folder.write("text.jsonl", rows);
    assert_snapshot!(folder.run("score text.jsonl -m em,numeric_match --map gold.value=pred.n"), @"
    em             50.00% [9.45, 90.55] (1/2, 1 failed counted as 0; 100.00% of the 1 scored)
    numeric_match  not enough rows (0/2 scored, 2 failed)
    -- standard error --
    warning: 2 rows failed; first error: text.jsonl:1: metric `em`: field `pred.answer`: expected a value, found NaN or an infinity
    numeric_match: all rows failed: 2
    -- exit code 1 --
    ");
    folder.write(
        "cells.csv",
        "id,gold.answer,pred.probability\n1,1,.5\n2,0,nan\n3,0,inf\n4,0,0\n",
    );
    assert_snapshot!(folder.run("score cells.csv -m auroc"), @"
    auroc  1.0000 (over 2/4 rows, 2 failed)
    -- standard error --
    warning: 2 rows failed; first error: cells.csv:3: metric `auroc`: field `pred.probability`: expected a value, found NaN or an infinity
    -- exit code 0 --
    ");
    // The file of gold rows may have it too.
    folder.write(
        "gold.json",
        r#"{"a": {"answer": NaN}, "b": {"answer": "x"}}"#,
    );
    folder.write("preds.json", r#"{"a": "x", "b": "x"}"#);
    assert_snapshot!(folder.run("score preds.json --gold gold.json -m em"), @"
    em  50.00% [9.45, 90.55] (1/2, 1 failed counted as 0; 100.00% of the 1 scored)
    -- standard error --
    warning: 1 row failed; first error: preds.json:1: metric `em`: field `gold.answer`: expected a value, found NaN or an infinity
    -- exit code 0 --
    ");
    folder.write(
        "ids.jsonl",
        r#"{"id": NaN, "gold": {"answer": "x"}, "pred": {"answer": "x"}}"#,
    );
    assert_snapshot!(folder.score_error("ids.jsonl -m em"), @"ids.jsonl:1: `id`: expected a string or a number, found NaN or an infinity");
    let page = folder.run("compare rows.jsonl rows.jsonl --score s=score --json");
    let json: serde_json::Value = serde_json::from_str(&page.out).unwrap();
    assert_eq!(json["metrics"]["s"]["n"], 3);
}
