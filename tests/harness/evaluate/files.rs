//! Result files: in input order, and complete or absent.

use std::collections::BTreeMap;
use std::path::Path;

use super::{SaidLater, saying, scoring};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate,
    contract::Scores,
    rows::Pair,
    runs::{Ending, EvaluateErrorKind},
};
use serde_json::{Value, json};

pub(super) fn read(path: &Path) -> String {
    dsrs_metrics_tests::schema::validate_file(path);
    std::fs::read_to_string(path).unwrap()
}

pub(super) fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Removes the reference of the manifest from the last row of JSON Lines.
pub(super) fn without_reference(text: &str) -> String {
    let (rows, reference) = text.rsplit_once(",\"manifest\":\"1-").expect("a reference");
    assert_eq!(
        (reference.len(), reference.get(32..)),
        (35, Some("\"}\n")),
        "{reference}"
    );
    format!("{rows}}}\n")
}

const WORDS: [&str; 5] = ["0.5", "fail", "abstain", "1", "0"];

#[tokio::test]
async fn a_json_line_has_the_documented_shape() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.jsonl");
    let evaluate = scoring().files(|files| files.jsonl(&path)).build().unwrap();
    let _ = evaluate.score(saying(&WORDS[..3])).await.unwrap();
    assert_eq!(
        without_reference(&read(&path)),
        concat!(
            r#"{"id":"row0","scores":{"said":{"outcome":"scored","value":0.5,"passed":null,"confidence":1.0,"details":null,"feedback":null,"cost_msats":0}},"pred_hash":"ca72cefec811fdc3"}"#,
            "\n",
            r#"{"id":"row1","scores":{"said":{"outcome":"metric_failed","value":null,"passed":null,"confidence":null,"details":null,"feedback":null,"cost_msats":0,"error":"metric `said`: told to fail"}},"pred_hash":"2c6046646c6e7ae4"}"#,
            "\n",
            r#"{"id":"row2","scores":{"said":{"outcome":"abstained","value":null,"passed":null,"confidence":null,"details":null,"feedback":null,"cost_msats":0}},"pred_hash":"a0d85d888b1e3565"}"#,
            "\n",
        )
    );
    assert_eq!(
        names(folder.path()),
        ["out.jsonl", "out.jsonl.manifest.json"]
    );
}

/// Rows that finish in the reverse order, into all three formats.
async fn reversed(folder: &Path, rows: usize, concurrency: usize) {
    let devset = (0..rows).map(|row| example! { "n" => row, "say" => WORDS[row % 5] });
    let evaluate = scoring()
        .metric(SaidLater)
        .devset(devset)
        .inputs(["n", "say"])
        .concurrency(concurrency)
        .files(|files| {
            files
                .csv(folder.join("out.csv"))
                .json(folder.join("out.json"))
                .jsonl(folder.join("out.jsonl"))
        })
        .build()
        .unwrap();
    let program = move |inputs: Example| async move {
        let n = inputs.get("n").unwrap().as_u64().unwrap();
        tokio::time::sleep(std::time::Duration::from_secs(rows as u64 - n)).await;
        prediction! { "say" => inputs.get("say"), "note" => format!("a \"quoted\",\nlong é {n}") }
    };
    assert!(evaluate.run(program).await.unwrap().is_complete());
}

#[tokio::test(start_paused = true)]
async fn files_are_in_input_order_and_the_same_at_any_concurrency() {
    let [one, many] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    reversed(one.path(), 40, 1).await;
    reversed(many.path(), 40, 40).await;
    for name in ["out.csv", "out.json", "out.jsonl"] {
        assert_eq!(
            read(&one.path().join(name)),
            read(&many.path().join(name)),
            "{name}"
        );
    }
    let written: Vec<_> = ["out.csv", "out.json", "out.jsonl"]
        .iter()
        .flat_map(|name| [(*name).to_owned(), format!("{name}.manifest.json")])
        .collect();
    assert_eq!(names(many.path()), written);

    let array: Vec<Value> = serde_json::from_str(&read(&many.path().join("out.json"))).unwrap();
    let lines = read(&many.path().join("out.jsonl"));
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(array, lines);
    let order: Vec<_> = lines
        .iter()
        .map(|line| line["gold"]["n"].as_u64().unwrap())
        .collect();
    assert_eq!(order, (0..40).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn csv_has_a_column_for_every_field_and_every_outcome() {
    let folder = tempfile::tempdir().unwrap();
    reversed(folder.path(), 3, 3).await;
    let mut reader = csv::Reader::from_path(folder.path().join("out.csv")).unwrap();
    let header: Vec<_> = reader
        .headers()
        .unwrap()
        .iter()
        .map(str::to_owned)
        .collect();
    assert_eq!(
        header[..5],
        ["id", "gold.n", "gold.say", "pred.say", "pred.note"]
    );
    assert_eq!(header[5..8], ["said", "said.outcome", "said.passed"]);
    assert!(
        header.contains(&"said_later.error".to_owned()),
        "{header:?}"
    );
    let rows: Vec<BTreeMap<String, String>> =
        reader.deserialize().collect::<Result<_, _>>().unwrap();
    assert_eq!(rows[0]["said"], "0.5");
    assert_eq!(rows[0]["pred.note"], "a \"quoted\",\nlong é 0");
    assert_eq!(rows[1]["said"], "");
    assert_eq!(rows[1]["said.outcome"], "metric_failed");
    assert_eq!(rows[1]["said.error"], "metric `said`: told to fail");
    assert_eq!(rows[2]["said_later.outcome"], "abstained");
}

#[tokio::test]
async fn rows_that_are_not_json_are_still_written() {
    let folder = tempfile::tempdir().unwrap();
    let (lines, table) = (folder.path().join("o.jsonl"), folder.path().join("o.csv"));
    type Odd = BTreeMap<(u8, u8), f64>;
    let same = typed_metric_fn("same", |gold: &Odd, pred: &f64| {
        gold.len() == 1 && pred.is_nan()
    });
    let evaluate = Evaluate::typed()
        .devset([Odd::from([((1, 2), 0.5)])])
        .metric(same)
        .files(|files| files.jsonl(&lines).csv(&table))
        .display_table(None)
        .build()
        .unwrap();
    let result = evaluate.run(|_: Odd| async { f64::NAN }).await.unwrap();
    assert_eq!(result.score, Some(1.0));
    assert!(result.is_complete());
    let line: Value = serde_json::from_str(&read(&lines)).unwrap();
    assert_eq!(
        line["gold"],
        "cannot be written as JSON: key must be a string"
    );
    assert_eq!(line["scores"]["same"]["value"], 1.0);
    assert_eq!(line["pred"], Value::Null, "NaN has no other form in JSON");
    assert!(read(&table).starts_with("id,gold,same,same.outcome"));
}

#[tokio::test]
async fn gold_that_is_not_json_does_not_affect_the_prediction() {
    type Odd = BTreeMap<(u8, u8), f64>;
    async fn line<G, P>(gold: G, pred: P) -> Value
    where
        G: serde::Serialize + Clone + Send + Sync + 'static,
        P: serde::Serialize + Clone + Send + Sync + 'static,
    {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.jsonl");
        let any = typed_metric_fn("any", |_: &G, _: &P| true);
        let evaluate = Evaluate::typed()
            .devset([gold])
            .metric(any)
            .files(|files| files.jsonl(&path));
        let program = move |_: G| {
            let pred = pred.clone();
            async move { pred }
        };
        let _ = evaluate.build().unwrap().run(program).await.unwrap();
        serde_json::from_str(&read(&path)).unwrap()
    }
    let odd = || Odd::from([((1, 2), 0.5)]);
    let note = "cannot be written as JSON: key must be a string";
    let one = line(odd(), "Paris".to_owned()).await;
    assert_eq!(
        (&one["gold"], &one["pred"]),
        (&json!(note), &json!("Paris"))
    );
    let other = line("Paris".to_owned(), odd()).await;
    assert_eq!(
        (&other["gold"], &other["pred"]),
        (&json!("Paris"), &json!(note))
    );
    let both = line(odd(), odd()).await;
    assert_eq!((&both["gold"], &both["pred"]), (&json!(note), &json!(note)));
}

#[tokio::test]
async fn parts_feedback_attributes_and_failed_programs_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.jsonl");
    let parts = metric_fn("f1", |_, _| Scores::new("f1", 0.5).with("recall", 0.25));
    let told = metric_fn("told", |_, _| {
        FeedbackMetric::new(0.5, "shorter").with_metadata("k", 1)
    });
    let evaluate = Evaluate::builder()
        .metric(parts)
        .metric(told.with_threshold(0.5));
    let evaluate = evaluate
        .devset([example! {}])
        .files(|files| files.jsonl(&path))
        .build()
        .unwrap();
    let mut pair = saying(&["1"]).remove(0);
    pair.attributes.insert("group", "a");
    let _ = evaluate.score([pair]).await.unwrap();
    let line: Value = serde_json::from_str(&read(&path)).unwrap();
    assert_eq!(line["attributes"], json!({ "group": "a" }));
    assert_eq!(
        line["scores"]["f1"]["parts"],
        json!({ "f1": 0.5, "recall": 0.25 })
    );
    assert_eq!(line["scores"]["told"]["feedback"], "shorter");
    assert_eq!(line["scores"]["told"]["passed"], true);
    assert_eq!(line["scores"]["told"]["metadata"], json!({ "k": 1 }));

    let failing = |_: Example| async { Err::<Prediction, _>("no model") };
    let _ = evaluate.run(failing).await.unwrap();
    let line: Value = serde_json::from_str(&read(&path)).unwrap();
    assert_eq!(line["pred"], Value::Null);
    assert_eq!(line["scores"]["f1"]["error"], "no model");
}

#[tokio::test]
async fn an_unwritable_target_is_found_before_any_row_is_run() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("no/such/folder/out.json");
    for target in [missing.as_path(), folder.path()] {
        let good = folder.path().join("good.csv");
        let evaluate = scoring()
            .devset([example! {}])
            .files(|files| files.csv(good).json(target));
        let evaluate = evaluate.build().unwrap();
        let error = evaluate
            .run(|_: Example| async { unreachable_prediction() })
            .await
            .unwrap_err();
        assert!(
            error.kind() == EvaluateErrorKind::Output
                && error
                    .to_string()
                    .starts_with(&format!("cannot write `{}`", target.display())),
            "{error}"
        );
        let rows = saying(&["1"])
            .into_iter()
            .inspect(|_| unreachable!("a row was read"));
        let error = evaluate.score(rows).await.unwrap_err();
        assert_eq!(error.kind(), EvaluateErrorKind::Output);
        assert_eq!(names(folder.path()), [""; 0], "nothing is left behind");
    }
}

#[tokio::test]
async fn an_input_error_leaves_the_old_file_alone_and_nothing_new() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.json");
    std::fs::write(&path, "old").unwrap();
    let evaluate = scoring().files(|files| files.json(&path)).build().unwrap();
    let rows = vec![Ok(saying(&["1"]).remove(0)), Err("line 2 is broken")];
    assert!(evaluate.score(rows).await.is_err());
    assert_eq!(
        (read(&path).as_str(), names(folder.path())),
        ("old", vec!["out.json".to_owned()])
    );
    assert!(evaluate.score(saying(&["1"])).await.unwrap().is_complete());
    assert!(read(&path).starts_with("[\n{\"id\":\"row0\""));
}

#[tokio::test]
async fn max_errors_keeps_what_is_done_in_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.json");
    let evaluate = scoring()
        .files(|files| files.json(&path))
        .max_errors(2)
        .concurrency(1)
        .build()
        .unwrap();
    let result = evaluate
        .score(saying(&["1", "fail", "0", "nan", "1", "1"]))
        .await
        .unwrap();
    assert_eq!(result.ending, Ending::MaxErrors);
    let written: Vec<Value> = serde_json::from_str(&read(&path)).unwrap();
    assert_eq!(written.len(), 4);
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    std::fs::write(&file, "old").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let evaluate = scoring().files(|files| files.jsonl(&link)).build().unwrap();
    assert!(evaluate.score(saying(&["1"])).await.unwrap().is_complete());
    assert!(link.is_symlink() && read(&file).starts_with("{\"id\""));
}

#[test]
fn one_file_under_two_names_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |one: &Path, other: &Path| {
        let error = scoring()
            .files(|files| files.jsonl(one).json(other))
            .build()
            .unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with(&format!("duplicate output file `{}`", other.display())),
            "{error}"
        );
    };
    refused(Path::new("same.jsonl"), Path::new("./same.jsonl"));
    refused(&folder.path().join("a"), &folder.path().join(".").join("a"));
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    refused(&folder.path().join("a"), &folder.path().join("sub/../a"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("a", folder.path().join("link")).unwrap();
        refused(&folder.path().join("a"), &folder.path().join("link"));
    }
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
    let two_files = scoring().files(|files| files.jsonl(a).json(b)).build();
    assert_eq!(
        two_files.map(|_| ()).map_err(|error| error.to_string()),
        Ok(())
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_dangling_link_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    std::os::unix::fs::symlink("file", &link).unwrap();
    let evaluate = scoring().files(|files| files.jsonl(&link)).build().unwrap();
    assert!(evaluate.score(saying(&["1"])).await.unwrap().is_complete());
    assert!(link.is_symlink() && read(&file).starts_with("{\"id\""));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_loses_no_score() {
    let evaluate = scoring()
        .files(|files| files.json("/dev/full"))
        .build()
        .unwrap();
    let result = evaluate.score(saying(&["1", "0"])).await.unwrap();
    assert_eq!((result.score, result.rows), (Some(0.5), 2));
    let Ending::OutputFailed(error) = &result.ending else {
        panic!("{:?}", result.ending)
    };
    let message = error.to_string();
    assert!(
        message.starts_with("cannot write `/dev/full`: "),
        "{message}"
    );
    let kept = message.split('`').nth(3).unwrap();
    assert!(
        kept.ends_with(".rows.jsonl"),
        "later runs do not remove it: {kept}"
    );
    assert_eq!(read(Path::new(kept)).lines().count(), 2);
    assert!(
        !std::fs::metadata("/dev/full").unwrap().is_file(),
        "a device stays a device"
    );
    std::fs::remove_file(kept).unwrap();
}

/// A cell that a spreadsheet would evaluate, for each character that begins one.
const FORMULAS: [&str; 7] = [
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "＝1",
];

#[tokio::test]
async fn formulas_in_csv_are_escaped_unless_raw_strings_are_requested() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    let rows = || {
        let pairs = FORMULAS.iter().enumerate().map(|(position, formula)| {
            let mut pair = Pair::new(
                format!("{formula}{position}"),
                example! {},
                prediction! { "say" => "-0.5" },
            );
            pair.attributes.insert("=HYPERLINK()", *formula);
            pair.attributes.insert("harmless", "a=b");
            pair
        });
        pairs.collect::<Vec<_>>()
    };
    for (escape, quote) in [(None, "'"), (Some(true), "'"), (Some(false), "")] {
        let negative = metric_fn("negative", |_, _| -0.5).with_range(-1.0, 1.0);
        let evaluate = Evaluate::builder()
            .metric(negative)
            .files(|files| files.csv(&path));
        let evaluate = match escape {
            Some(escape) => evaluate.files(|files| files.escape_formulas(escape)),
            None => evaluate,
        };
        let evaluate = evaluate.build().unwrap();
        assert!(evaluate.score(rows()).await.unwrap().is_complete());
        let mut reader = csv::Reader::from_path(&path).unwrap();
        let header: Vec<_> = reader
            .headers()
            .unwrap()
            .iter()
            .map(str::to_owned)
            .collect();
        assert_eq!(
            header[1], "attributes.=HYPERLINK()",
            "a prefix makes it harmless"
        );
        for (row, (position, formula)) in reader.records().zip(FORMULAS.iter().enumerate()) {
            let row = row.unwrap();
            assert_eq!(row[0], format!("{quote}{formula}{position}"));
            assert_eq!(row[1], format!("{quote}{formula}"));
            assert_eq!(
                (&row[2], &row[3]),
                ("a=b", "-0.5"),
                "numbers and harmless strings"
            );
        }
    }
}

#[tokio::test]
async fn without_rows_in_memory_the_file_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let [kept, dropped] = ["kept.csv", "dropped.csv"].map(|name| folder.path().join(name));
    for (keep, path) in [(true, &kept), (false, &dropped)] {
        let evaluate = scoring()
            .metric(SaidLater)
            .concurrency(7)
            .keep_results(keep)
            .files(|files| files.csv(path));
        let rows: Vec<Pair> = saying(&WORDS.repeat(50));
        let result = evaluate.build().unwrap().score(rows).await.unwrap();
        assert_eq!(
            (result.rows, result.results.len()),
            (250, if keep { 250 } else { 0 })
        );
    }
    assert_eq!(read(&kept), read(&dropped));
}

fn unreachable_prediction() -> Prediction {
    unreachable!("a row was run")
}
