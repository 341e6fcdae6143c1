//! Manifests: a result file and its manifest refer to each other, and what was measured is compared.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsrs_metrics::data::DataReader;
use dsrs_metrics::metrics::{Em, F1};
use dsrs_metrics::prelude::*;
use dsrs_metrics::results::{Comparison, Manifest, Results, manifest_path};
use dsrs_metrics::runs::{EvaluateBuilder, EvaluateErrorKind};
use dsrs_metrics::text::Profile;
use dsrs_metrics::{Evaluate, rows::Pair};
use serde_json::Value;
use tempfile::TempDir;

type Builder = EvaluateBuilder<Example, Prediction>;

fn pairs() -> Vec<Pair> {
    let pair = |row: u32| {
        let (gold, pred) = (
            format!("the answer {row}"),
            format!("answer {}", row / 2 * 2),
        );
        Pair::new(
            row.to_string(),
            example! { "answer" => gold },
            prediction! { "answer" => pred },
        )
    };
    (0..8).map(pair).collect()
}

fn f1() -> Builder {
    Evaluate::builder().metric(F1::default())
}

/// Writes a run and returns its file.
async fn written(folder: &TempDir, name: &str, builder: Builder) -> PathBuf {
    let file = folder.path().join(name);
    let builder = match Path::new(name).extension().unwrap().to_str().unwrap() {
        "csv" => builder.files(|files| files.csv(&file)),
        "json" => builder.files(|files| files.json(&file)),
        "parquet" => builder.files(|files| files.parquet(&file)),
        _ => builder.files(|files| files.jsonl(&file)),
    };
    assert!(builder.score(pairs()).await.unwrap().is_complete());
    dsrs_metrics_tests::schema::validate_file(&file);
    file
}

fn error_of(file: &Path) -> String {
    let folder = file.parent().unwrap().to_str().unwrap();
    Results::read(file)
        .unwrap_err()
        .to_string()
        .replace(&format!("{folder}/"), "")
}

#[tokio::test]
async fn a_file_of_each_format_has_its_manifest() {
    let folder = tempfile::tempdir().unwrap();
    let describe = |builder: Builder| builder.label("base").tag("prompt", "v2").tag("empty", "");
    let mut manifests = Vec::new();
    for name in ["run.jsonl", "run.json", "run.csv", "run.parquet"] {
        let file = written(
            &folder,
            name,
            describe(f1()).files(|files| files.save_rows(true)),
        )
        .await;
        let results = Results::read(&file).unwrap();
        assert_eq!(
            (results.unknown_identity(), results.rows().len()),
            (None, 8)
        );
        let manifest = results.manifest().unwrap().clone();
        let described = manifest.file.as_ref().unwrap();
        assert_eq!(described.bytes, fs::metadata(&file).unwrap().len());
        manifests.push(manifest.run);
    }
    let run = &manifests[0];
    assert!(manifests.iter().all(|other| other == run));
    assert_eq!(
        (run.label.as_deref(), run.rows, &*run.ending),
        (Some("base"), 8, "complete")
    );
    assert_eq!((&*run.tags["prompt"], &*run.tags["empty"]), ("v2", ""));
    assert_eq!(run.metrics.keys().collect::<Vec<_>>(), ["f1"]);
    assert_eq!(run.library.version, env!("CARGO_PKG_VERSION"));
}

#[tokio::test]
async fn an_edited_exchanged_or_missing_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(&folder, "run.jsonl", f1()).await;
    let other = written(
        &folder,
        "other.jsonl",
        Evaluate::builder().metric(Em::default()),
    )
    .await;
    let manifest = manifest_path(&file);
    let (text, rows) = (
        fs::read_to_string(&manifest).unwrap(),
        fs::read_to_string(&file).unwrap(),
    );

    fs::remove_file(&manifest).unwrap();
    let reason = Results::read(&file)
        .unwrap()
        .unknown_identity()
        .unwrap()
        .to_owned();
    assert!(
        reason.ends_with("run.jsonl.manifest.json` is missing"),
        "{reason}"
    );

    fs::write(
        &manifest,
        text.replace("\"failed_rows\": 0", "\"failed_rows\": 1"),
    )
    .unwrap();
    assert_eq!(
        error_of(&file),
        "the manifest `run.jsonl.manifest.json` was changed after it was written; restore it, or remove it to use the results without their identity"
    );
    fs::copy(manifest_path(&other), &manifest).unwrap();
    assert_eq!(
        error_of(&file),
        "the manifest `run.jsonl.manifest.json` belongs to a different run than `run.jsonl`; restore the run's manifest, or remove this one to use the results without their identity"
    );
    fs::write(&manifest, text.replace("\"format\": 1", "\"format\": 2")).unwrap();
    assert_eq!(
        error_of(&file),
        "`run.jsonl.manifest.json` has the format version 2, but this version of dsrs-metrics reads 1; update dsrs-metrics"
    );
    fs::write(&manifest, &text[..100]).unwrap();
    let error = error_of(&file);
    let start = "cannot read the manifest `run.jsonl.manifest.json`: EOF while parsing";
    assert!(error.starts_with(start), "{error}");
    fs::write(&manifest, &text).unwrap();
    let restored: Manifest = serde_json::from_str(&text).unwrap();
    assert_eq!(Results::read(&file).unwrap().manifest(), Some(&restored));

    // One score, the last row, and a row more.
    let without_last = rows
        .lines()
        .take(7)
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    for (number, changed) in [
        rows.replacen("1.0", "0.5", 1),
        without_last,
        format!("{}{rows}", &rows[..0]) + "\n",
    ]
    .into_iter()
    .enumerate()
    {
        fs::write(&file, &changed).unwrap();
        let error = error_of(&file);
        let expected = format!(
            "`run.jsonl` was changed after it was written: its manifest `run.jsonl.manifest.json` describes {} bytes with different content, found {} bytes; write it again, or remove the manifest to use the results without their identity",
            rows.len(),
            changed.len()
        );
        assert_eq!(error, expected, "{number}");
    }
    let later = rows.replace("\"manifest\":\"1-", "\"manifest\":\"2-");
    fs::write(&file, later).unwrap();
    assert_eq!(
        error_of(&file),
        "`run.jsonl` has the format version 2, but this version of dsrs-metrics reads 1; update dsrs-metrics"
    );
}

#[tokio::test]
async fn two_files_joined_have_no_identity() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(&folder, "a.jsonl", f1()).await;
    let ids = fs::read_to_string(&file).unwrap();
    let others = ids
        .replace("\"id\":\"", "\"id\":\"b")
        .replace("\"manifest\":\"1-", "\"manifest\":\"1-0");
    let joined = folder.path().join("joined.jsonl");
    fs::write(&joined, ids + &others).unwrap();
    let results = Results::read(&joined).unwrap();
    assert_eq!(
        results.unknown_identity(),
        Some("it was joined from the files of several runs")
    );
}

/// A file may be renamed together with its manifest, and copied.
#[tokio::test]
async fn a_renamed_file_keeps_its_identity() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(&folder, "a.jsonl", f1().label("base")).await;
    let copy = folder.path().join("b.jsonl");
    fs::copy(&file, &copy).unwrap();
    fs::copy(manifest_path(&file), manifest_path(&copy)).unwrap();
    let results = Results::read(&copy).unwrap();
    assert_eq!(
        results.manifest().unwrap().run.label.as_deref(),
        Some("base")
    );
}

#[tokio::test]
async fn the_data_files_are_described_in_each_format() {
    let folder = tempfile::tempdir().unwrap();
    let row = |id: u32| {
        format!(r#"{{"id": "{id}", "gold": {{"answer": "a"}}, "pred": {{"answer": "a"}}}}"#)
    };
    let rows: Vec<_> = (0..3).map(row).collect();
    let files = [
        ("rows.jsonl", rows.join("\n") + "\n\n"),
        ("rows.json", format!("[{}]\n \n", rows.join(","))),
        (
            "rows.csv",
            "id,gold.answer,pred.answer\n0,a,a\n1,a,a\n2,a,a\n".to_owned(),
        ),
    ];
    for (name, content) in files {
        let (file, out) = (folder.path().join(name), folder.path().join("out.jsonl"));
        fs::write(&file, &content).unwrap();
        let read = || DataReader::new().read([&file]).unwrap();
        let evaluate = f1().files(|files| files.jsonl(&out)).build().unwrap();
        let result = evaluate.score_files(read()).await.unwrap();
        let [data] = &result.manifest.run.data[..] else {
            panic!("{name}")
        };
        let sha256 = dsrs_metrics_tests::sha256(content.as_bytes());
        assert_eq!(
            (&*data.name, data.bytes, data.rows),
            (name, content.len() as u64, Some(3))
        );
        assert_eq!(
            (data.sha256.as_deref(), data.grew_by),
            (Some(&*sha256), 0),
            "{name}"
        );
        // Without a result file nothing is hashed.
        let counted = f1().build().unwrap().score_files(read()).await.unwrap();
        let [data] = &counted.manifest.run.data[..] else {
            panic!("{name}")
        };
        assert_eq!(
            (data.bytes, data.rows, &data.sha256),
            (content.len() as u64, Some(3), &None)
        );
        // The rows of a program are from a file, too.
        let run = f1().devset(&file).inputs(["answer"]);
        let run = run.run(|_: Example| async {
            prediction! { "answer" => "a" }
        });
        assert_eq!(
            run.await.unwrap().manifest.run.data[0].sha256.as_deref(),
            Some(&*sha256)
        );
    }
}

/// A file that grows while it is read.
#[tokio::test]
async fn a_data_file_that_grows_is_named() {
    use std::io::Write as _;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.jsonl");
    let row = r#"{"gold": {"answer": "a"}, "pred": {"answer": "a"}}"#;
    fs::write(&file, format!("{row}\n")).unwrap();
    let (out, grown) = (folder.path().join("out.jsonl"), file.clone());
    let grow = metric_fn("grow", move |_, _| {
        let mut file = fs::OpenOptions::new().append(true).open(&grown).unwrap();
        file.write_all(b"\n\n").unwrap();
        true
    });
    let evaluate = Evaluate::builder()
        .metric(grow)
        .files(|files| files.jsonl(&out))
        .build()
        .unwrap();
    let result = evaluate
        .score_files(DataReader::new().read([&file]).unwrap())
        .await
        .unwrap();
    let data = &result.manifest.run.data[0];
    assert_eq!(
        (data.bytes, data.rows, data.grew_by),
        (row.len() as u64 + 3, Some(1), 2)
    );
    let read = format!("{row}\n\n\n");
    assert_eq!(
        data.sha256,
        Some(dsrs_metrics_tests::sha256(read.as_bytes()))
    );
}

#[tokio::test]
async fn invalid_labels_and_tags_are_errors_before_the_first_row() {
    let error = |builder: Builder| builder.build().map(|_| ()).unwrap_err().to_string();
    assert_eq!(
        error(f1().tag("prompt", "a").tag("prompt", "b")),
        "duplicate tag `prompt`: expected one value, found \"a\" and \"b\""
    );
    assert_eq!(
        error(f1().tag("prompt", "a\u{1b}[31m")),
        "invalid value of a tag \"a\\u{1b}[31m\": expected no control characters"
    );
    assert_eq!(
        error(f1().tag("", "a")),
        "invalid name of a tag \"\": expected at least one character that is not white space"
    );
    let long = error(f1().label("x".repeat(1_001)));
    assert!(
        long.ends_with("\": expected at most 1,000 bytes") && long.len() < 200,
        "{long}"
    );
    let error = f1().label("\n").build().unwrap_err();
    assert_eq!(error.kind(), EvaluateErrorKind::Setting);
}

/// The same inputs give the same bytes; only the process differs.
#[tokio::test]
async fn the_same_inputs_give_the_same_reference() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (
        written(&folder, "a.jsonl", f1()).await,
        written(&folder, "b.jsonl", f1()).await,
    );
    assert_eq!(fs::read(&a).unwrap(), fs::read(&b).unwrap());
    let manifest =
        |file| serde_json::from_str::<Manifest>(&fs::read_to_string(manifest_path(file)).unwrap());
    let (a, b) = (manifest(&a).unwrap(), manifest(&b).unwrap());
    assert_eq!((&a.run, &a.file), (&b.run, &b.file));
    assert!(a.process.unwrap().started.ends_with('Z'));
}

/// Compares two runs in memory, and as files.
async fn compared(a: Builder, b: Builder) -> String {
    let folder = tempfile::tempdir().unwrap();
    let a = Results::read(written(&folder, "a.jsonl", a).await).unwrap();
    let b = Results::read(written(&folder, "b.jsonl", b).await).unwrap();
    match Comparison::of(&a, &b) {
        Ok(comparison) => comparison.identity.to_string(),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn each_difference_between_two_runs_is_named() {
    let sentence = |text: String| {
        let end = "; no metric is left to compare: score both runs with the same metrics, or pass --allow-different f1 (in code, `allow_different`)";
        text.strip_suffix(end).unwrap_or(text.trim_end()).to_owned()
    };
    let metric = |metric: F1| Evaluate::builder().metric(metric);
    let folded = metric(F1::builder().profile(Profile::Folded).build());
    assert_eq!(
        sentence(compared(f1(), folded).await),
        "not compared: f1: parameter `F1.profile` is \"dspy\" in A, \"folded\" in B"
    );
    let threshold = Evaluate::builder().metric(F1::default().with_threshold(0.8));
    assert_eq!(
        sentence(compared(f1(), threshold).await),
        "not compared: f1: `threshold` is not set in A, 0.8 in B"
    );
    for (a, b, expected) in [
        (
            f1().tag("p", "1"),
            f1().tag("p", "2"),
            "note: tag `p` in A: 1; in B: 2",
        ),
        (f1(), f1().repeats(2), "note: repeats in A: none; in B: 2"),
        (
            f1().statistics(|statistics| statistics.bootstrap(200)),
            f1().statistics(|statistics| statistics.bootstrap(300)),
            "note: samples of the bootstrap in A: 200; in B: 300",
        ),
        (
            f1().statistics(|statistics| statistics.seed(1)),
            f1().statistics(|statistics| statistics.seed(2)),
            "note: seed in A: 1; in B: 2",
        ),
    ] {
        assert_eq!(sentence(compared(a, b).await), expected);
    }
    assert_eq!(compared(f1(), f1()).await, "");
    let error = compared(f1(), f1().failures(|failures| failures.score(-1.0))).await;
    assert_eq!(
        error,
        "failed rows count as 0 in one run and as -1 in the other; set the same failure score"
    );
}

#[tokio::test]
async fn a_metric_that_differs_is_compared_only_if_that_is_allowed() {
    let both = |f1: Arc<dyn Metric>| Evaluate::builder().metric(f1).metric(Em::default());
    let a = both(Arc::new(F1::default())).score(pairs()).await.unwrap();
    let b = both(Arc::new(F1::default().with_threshold(0.5)))
        .score(pairs())
        .await
        .unwrap();
    let comparison = a.compare(&b).unwrap();
    let names = |comparison: &Comparison| -> Vec<String> {
        comparison
            .metrics
            .iter()
            .map(|metric| metric.name.clone())
            .collect()
    };
    assert_eq!(names(&comparison), ["em"]);
    let not_compared: Vec<_> = comparison
        .identity
        .not_compared()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(not_compared, ["f1"]);
    let json = dsrs_metrics_tests::schema::to_value(&comparison);
    assert_eq!(
        json["identity"]["different"]["f1"],
        serde_json::json!({"differences": ["`threshold` is not set in A, 0.5 in B"], "is_compared": false})
    );
    assert_eq!(
        json["identity"]["unknown"],
        serde_json::json!({"a": Value::Null, "b": Value::Null})
    );

    let (a, b) = (Results::of(&a).unwrap(), Results::of(&b).unwrap());
    let unknown = Comparison::builder()
        .allow_different(["f2"])
        .of(&a, &b)
        .unwrap_err();
    let expected = "`f2` is allowed to differ, but no run has this metric, only `f1`, `em`";
    assert_eq!(unknown.to_string(), expected);
    let allowed = Comparison::builder()
        .allow_different(["f1"])
        .of(&a, &b)
        .unwrap();
    assert_eq!(names(&allowed), ["f1", "em"]);
    assert_eq!(
        allowed.identity.to_string(),
        "f1: `threshold` is not set in A, 0.5 in B\n"
    );
    let other = Comparison::builder().metrics(["em"]).of(&a, &b).unwrap();
    assert_eq!(other.identity.to_string(), "");
}
