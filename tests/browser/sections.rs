//! What the HTML report shows above its table of rows.

use std::fs;
use std::path::Path;

use dsrs_metrics::data::DataReader;
use dsrs_metrics::judge::shipped::SemanticEquivalence;
use dsrs_metrics::lm::{LmReply, ScriptedLm};
use dsrs_metrics::metrics::{Em, F1, Wer};
use dsrs_metrics::prelude::*;
use dsrs_metrics::results::{HtmlReport, Results};
use dsrs_metrics::runs::EvaluateBuilder;
use dsrs_metrics::{Evaluate, rows::Pair};

use crate::runs::{run, with_attributes};
use crate::{check_file, is_skipped};

/// The text of the page above the table of rows, one space between words.
fn shown(report: &HtmlReport<'_>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    report.write(&file).unwrap();
    check_file("text", &file);
    fs::read_to_string(file.with_extension("txt")).unwrap()
}

/// Results of these lines.
fn read(lines: &[&str]) -> Results {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.jsonl");
    std::fs::write(&file, lines.join("\n")).unwrap();
    Results::read(file).unwrap()
}

#[track_caller]
fn assert_shows(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in {text}");
    }
}

#[test]
fn every_score_has_its_denominators() {
    if is_skipped() {
        return;
    }
    let rows = [
        ("1", "0.5 passed:true"),
        ("2", "1.0 passed:true"),
        ("3", "metric_failed passed:false"),
        ("4", "gated passed:program_failed"),
        ("5", "skipped passed:true"),
        ("6", "abstained passed:true"),
    ];
    let results = run("r", &rows);
    let text = shown(&HtmlReport::new(&results));
    // The failed row is 0: (0.5 + 1 + 0) / 3 and 4 of 6.
    assert_shows(
        &text,
        &[
            "m 0.5000",
            "2 of 6 scored 1 failed 1 gated 1 skipped 1 abstained",
        ],
    );
    assert_shows(
        &text,
        &[
            "passed 66.67% 95% interval 30.00% to 90.32%",
            "4 of 6 true 1 failed",
        ],
    );
    let other = results.with_failure_score(-1.0);
    assert_shows(&shown(&HtmlReport::new(&other)), &["m 0.1667"]);
}

#[test]
fn too_few_rows_have_words_and_no_number() {
    if is_skipped() {
        return;
    }
    let results = run("r", &[("1", "0.5 none:abstained")]);
    let text = shown(&HtmlReport::new(&results));
    assert_shows(
        &text,
        &[
            "m 0.5000 interval: not enough rows",
            "none not enough rows no row has a score",
        ],
    );
}

#[test]
fn groups_have_intervals_and_the_lowest_comes_first() {
    if is_skipped() {
        return;
    }
    let rows = [
        ("1", "1"),
        ("2", "0.5"),
        ("3", "0.25"),
        ("4", "0.75"),
        ("5", "0.5"),
    ];
    let topics = [
        r#"{"t": "x"}"#,
        r#"{"t": "x"}"#,
        r#"{"t": "y"}"#,
        r#"{"t": "y"}"#,
        "{}",
    ];
    let results = with_attributes(
        "r",
        rows.into_iter()
            .zip(topics)
            .map(|((id, score), topic)| (id, score, topic)),
    );
    let text = shown(&HtmlReport::new(&results).group("t"));
    let groups = text.split("By t").nth(1).unwrap();
    let places = [
        "(none) 0.5000 interval: not enough rows · 1 row",
        "y 0.5000 0.0061 to 0.9939 · 2 rows",
        "x 0.7500 0.0103 to 0.9988 · 2 rows",
    ];
    let places = places.map(|group| {
        groups
            .find(group)
            .unwrap_or_else(|| panic!("{group}: {groups}"))
    });
    assert!(places[0] < places[2] && places[1] < places[2], "{places:?}");
    let unknown = HtmlReport::new(&results)
        .group("source")
        .to_html()
        .unwrap_err()
        .to_string();
    assert_eq!(unknown, "no row has the field `source`, only `t`");
}

#[test]
fn parts_that_pass_or_fail_have_wilsons_interval() {
    if is_skipped() {
        return;
    }
    let line = |id: u32, share: f64| {
        format!(
            r#"{{"id":"{id}","scores":{{"m":{{"outcome":"scored","value":{share},"parts":{{"exact":1,"share":{share}}},
        "components":{{"strict":{{"outcome":"scored","value":1,"passed":true}},"stars":{{"outcome":"scored","value":1}}}}}},
        "rating":{{"outcome":"scored","value":{id},"parts":{{"tone":1}}}}}}}}"#
        )
        .replace('\n', "")
    };
    let lines = [line(1, 0.9), line(2, 1.0)];
    let text = shown(&HtmlReport::new(&read(
        &lines.each_ref().map(String::as_str),
    )));
    let parts = text.split("Parts").nth(1).unwrap();
    assert_shows(
        parts,
        &[
            "exact 100.00% 34.24% to 100.00% · 2 rows",
            "share 0.9500 0.0951 to 0.9997 · 2 rows",
            "strict 100.00% 34.24% to 100.00% · 2 rows",
            // A number without a verdict, and a part of a metric whose range is larger.
            "stars 1.0000 0.0092 to 1.0000 · 2 rows",
            "tone 1.0000 0.0092 to 1.0000 · 2 rows",
        ],
    );
}

#[test]
fn cost_and_time_are_summed() {
    if is_skipped() {
        return;
    }
    let gated = r#"{"id":"ID","latency_s":2,"input_tokens":5,"cost_msats":7,"scores":{"all":{"outcome":"scored","value":0,
        "components":{"judge":{"outcome":"gated","gated_by":"em"}}}}}"#;
    let scored = r#"{"id":"ID","latency_s":1,"input_tokens":10,"cost_msats":1000,"scores":{"all":{"outcome":"scored","value":1,
        "cost_msats":300,"components":{"judge":{"outcome":"scored","value":1,"cost_msats":300}}}}}"#;
    let lines = [
        ("1", gated),
        ("2", scored),
        ("3", gated),
        ("4", scored),
        ("5", gated),
    ];
    let lines = lines.map(|(id, line)| line.replace("ID", id).replace('\n', ""));
    let results = read(&lines.each_ref().map(String::as_str));
    let text = shown(&HtmlReport::new(&results));
    assert_shows(
        &text,
        &[
            "Program: cost 2,021 msat",
            "Program: tokens read 35",
            "Program: mean latency 1.600 s",
            "Program: median latency 2.000 s",
            "all: cost 600 msat",
        ],
    );
    assert!(!text.contains("tokens written"), "no row has them: {text}");
    // The component's mean is over the rows that it scored.
    assert_shows(&text, &["judge 1.0000"]);
}

#[test]
fn two_runs_have_the_difference_of_the_comparison() {
    if is_skipped() {
        return;
    }
    let ids: Vec<String> = (0..20).map(|id| id.to_string()).collect();
    let of = |value: &'static str| {
        ids.iter()
            .map(|id| (id.as_str(), value))
            .collect::<Vec<_>>()
    };
    let (a, b) = (run("a", &of("false")), run("b", &of("true")));
    let text = shown(&HtmlReport::comparison(&a, &b));
    assert_shows(
        &text,
        &[
            "B is better by 100.00 percentage points",
            "20 better in B 0 worse 0 same",
        ],
    );
    let text = shown(&HtmlReport::comparison(&a, &b).lower_is_better(["m"]));
    assert_shows(
        &text,
        &[
            "m lower is better",
            "A is better by 100.00",
            "0 better in B 20 worse",
        ],
    );
}

/// Eight rows from a file, scored and read again with the manifest.
async fn described(
    folder: &Path,
    name: &str,
    builder: EvaluateBuilder<Example, Prediction>,
) -> Results {
    let (data, out) = (folder.join("rows.jsonl"), folder.join(name));
    let answer = |row: u32| format!(r#"{{"answer": "the answer {row}"}}"#);
    let line = |row| {
        format!(
            r#"{{"gold": {}, "pred": {}}}"#,
            answer(row),
            answer(row / 2 * 2)
        )
    };
    fs::write(&data, (0..8).map(line).collect::<Vec<_>>().join("\n")).unwrap();
    let evaluate = builder.files(|files| files.jsonl(&out)).build().unwrap();
    let rows = DataReader::new().read([&data]).unwrap();
    assert!(evaluate.score_files(rows).await.unwrap().is_complete());
    dsrs_metrics_tests::schema::validate_file(&out);
    Results::read(&out).unwrap()
}

#[tokio::test]
async fn the_report_shows_what_was_measured() {
    if is_skipped() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let builder = Evaluate::builder()
        .metric(F1::default().with_threshold(0.8))
        .metric(Wer::default())
        .label("base <b>")
        .tag("prompt", "v2")
        .tag("draft", "")
        .statistics(|statistics| statistics.bootstrap(1_000).seed(7));
    let results = described(folder.path(), "run.jsonl", builder).await;
    let text = shown(&HtmlReport::new(&results));
    let hash = dsrs_metrics_tests::sha256(&fs::read(folder.path().join("rows.jsonl")).unwrap());
    let bytes = fs::metadata(folder.path().join("rows.jsonl"))
        .unwrap()
        .len();
    let data = format!(
        "Data rows.jsonl · 8 rows · {bytes} bytes · SHA-256 {}…",
        &hash[..12]
    );
    let started = &results
        .manifest()
        .unwrap()
        .process
        .as_ref()
        .unwrap()
        .started;
    let started = format!(
        "Run {} UTC took ",
        started.replace('T', " ").replace('Z', "")
    );
    assert_shows(
        &text,
        &[
            "Label base <b> Tags draft prompt: v2 Metrics f1, wer Data",
            &data,
            &started,
            " s 8 rows, 0 failed",
            concat!("dsrs-metrics ", env!("CARGO_PKG_VERSION")),
            "Settings bootstrap: 1,000 samples seed: 7 a failed row counts as 0",
            "version 1; threshold 0.8; F1.profile = dspy",
            // The direction is in the manifest.
            "wer lower is better",
        ],
    );
    assert!(
        !text.contains("Identity") && !text.contains("f1 lower is better"),
        "{text}"
    );
}

#[tokio::test]
async fn a_metric_that_differs_is_shown_with_what_differs_and_not_compared() {
    if is_skipped() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let both = |f1: F1, threshold| {
        Evaluate::builder()
            .metric(f1.with_threshold(threshold))
            .metric(Em::default())
    };
    let a = described(
        folder.path(),
        "a.jsonl",
        both(F1::default(), 0.5).tag("prompt", "v1"),
    )
    .await;
    let b = described(
        folder.path(),
        "b.jsonl",
        both(F1::default(), 0.8).tag("prompt", "v2"),
    )
    .await;
    let report = HtmlReport::comparison(&a, &b);
    let text = shown(&report);
    assert_shows(
        &text,
        &[
            "Tags prompt: v1 prompt: v2",
            "Differences between the runs: tag `prompt` in A: v1; in B: v2",
            "not compared: `threshold` is 0.5 in A, 0.8 in B",
            "A version 1; threshold 0.5; F1.profile = dspy B version 1; threshold 0.8; F1.profile = dspy",
        ],
    );
    assert_eq!(
        text.matches("equal in all 8 rows").count(),
        1,
        "only em is compared: {text}"
    );
    assert_eq!(text.matches("better in B").count(), 1, "{text}");

    let text = shown(&report.allow_different(["f1"]));
    assert_eq!(text.matches("equal in all 8 rows").count(), 2, "{text}");
    assert_shows(
        &text,
        &["compared although `threshold` is 0.5 in A, 0.8 in B"],
    );
    assert!(!text.contains("not compared"), "{text}");
}

/// The same judge, whose provider reports this model for each reply.
fn judged(model: &str) -> EvaluateBuilder<Example, Prediction> {
    let reply = LmReply::new(r#"{ "reasoning": "", "equivalent": true }"#);
    let reply = reply.with_model(model).with_fingerprint("fp_1");
    let lm = ScriptedLm::new().named("openai:alias").otherwise(reply);
    Evaluate::builder()
        .metric(SemanticEquivalence::default().with_lm(lm))
        .metric(Em::default())
}

#[tokio::test]
async fn the_report_names_the_models_that_replied_to_a_judge() {
    if is_skipped() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let a = described(folder.path(), "a.jsonl", judged("m-1<b>")).await;
    let replied = |model| {
        format!(
            "semantic_equivalence: openai:alias replied as {model} (8 replies); fingerprint: fp_1 (8 replies)"
        )
    };
    let (first, second) = (replied("m-1<b>"), replied("m-2"));
    let judges = format!("Judges openai:alias {first} Data");
    assert_shows(&shown(&HtmlReport::new(&a)), &[&judges]);

    let b = described(folder.path(), "b.jsonl", judged("m-2")).await;
    let judges = format!("Judges openai:alias {first} openai:alias {second} Data");
    let not_compared = "not compared: openai:alias replied as m-1<b> in A, m-2 in B";
    let text = shown(&HtmlReport::comparison(&a, &b));
    assert_shows(&text, &[&judges, not_compared]);
}

#[tokio::test]
async fn runs_whose_metrics_all_differ_must_have_the_same_rows() {
    if is_skipped() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let f1 = |threshold| Evaluate::builder().metric(F1::default().with_threshold(threshold));
    let a = described(
        folder.path(),
        "a.jsonl",
        f1(0.5).files(|files| files.save_rows(true)),
    )
    .await;
    let b = described(folder.path(), "b.jsonl", f1(0.8)).await;
    assert_shows(
        &shown(&HtmlReport::comparison(&a, &b)),
        &["not compared: `threshold`"],
    );
    let row = Pair::new(
        "1",
        example! { "answer" => "x" },
        prediction! { "answer" => "x" },
    );
    let b = f1(0.8).score([row]).await.unwrap();
    let b = Results::of(&b).unwrap();
    let error = HtmlReport::comparison(&a, &b)
        .to_html()
        .unwrap_err()
        .to_string();
    assert!(error.contains("gold"), "{error}");
}

#[tokio::test]
async fn the_identity_of_a_run_without_a_manifest_is_unknown() {
    if is_skipped() {
        return;
    }
    let old = read(&[
        r#"{"id":"1","gold":{"answer":"the answer 0"},"scores":{"f1":{"outcome":"scored","value":0.5}}}"#,
    ]);
    let text = shown(&HtmlReport::new(&old));
    assert_shows(&text, &["Run Identity unknown: it has no manifest Scores"]);
    let folder = tempfile::tempdir().unwrap();
    let builder = Evaluate::builder().metric(F1::default()).label("new");
    let new = described(folder.path(), "new.jsonl", builder).await;
    let text = shown(&HtmlReport::comparison(&old, &new));
    assert_shows(
        &text,
        &[
            "Identity unknown: it has no manifest by its manifest Label – new",
            "B version 1;",
        ],
    );
}

/// Without a manifest, values in [0, 1] have an interval in [0, 1]. A manifest contains the range.
#[tokio::test]
async fn an_interval_is_within_the_declared_range() {
    if is_skipped() {
        return;
    }
    let value = |score: f64| {
        metric_fn("m", move |gold: &Example, _: &Prediction| {
            if gold.get("answer").is_some_and(|it| it == "1") {
                score
            } else {
                0.75
            }
        })
    };
    let row = |row: u32| {
        let answer = row.to_string();
        Pair::new(
            row.to_string(),
            example! { "answer" => answer.clone() },
            prediction! { "answer" => answer },
        )
    };
    let scored = Evaluate::builder()
        .metric(value(1.0))
        .score((0..2).map(row))
        .await
        .unwrap();
    let text = shown(&HtmlReport::new(&Results::of(&scored).unwrap()));
    // Student's t of two values: 0.875 ± 12.706 · 0.125.
    assert_shows(&text, &["m 0.8750 95% interval -0.7133 to 2.4633"]);
    let lines = [("0", 0.75), ("1", 1.0)].map(|(id, score)| {
        format!(r#"{{"id":"{id}","scores":{{"m":{{"outcome":"scored","value":{score}}}}}}}"#)
    });
    let text = shown(&HtmlReport::new(&read(
        &lines.each_ref().map(String::as_str),
    )));
    assert_shows(&text, &["m 0.8750 95% interval 0.0318 to 0.9993"]);
}

#[test]
fn characters_that_hide_or_reverse_others_are_escaped() {
    if is_skipped() {
        return;
    }
    let hidden = [
        "\\u202e", "\\u2066", "\\u200b", "\\u0000", "\\u001b", "\\ufeff",
    ]
    .concat();
    let name = |name: &str| format!("{name}{hidden}");
    let line = format!(
        r#"{{"id": "{0}", "gold": {{"{0}": "{0}\n\t"}}, "pred": {{"{0}": ["{0}"]}}, "attributes": {{"topic": "{0}"}},
        "scores": {{"{0}": {{"outcome": "scored", "value": 0.5, "details": "{0}", "feedback": "{0}", "parts": {{"{0}": 0.5}},
        "metadata": {{"{0}": "{0}"}}, "components": {{"{0}": {{"outcome": "scored", "value": 1}}}}, "missing": ["{0}"]}},
        "{1}": {{"outcome": "metric_failed", "error": "{0}"}}, "{2}": {{"outcome": "gated", "gated_by": "{0}"}}}}}}"#,
        name("a"),
        name("b"),
        name("c"),
    );
    let results = read(&[&line.replace('\n', "")]).with_name("run \u{202e}");
    let report = HtmlReport::new(&results)
        .title("title \u{202e}")
        .group("topic");
    let html = report.to_html().unwrap();
    let is_hidden = |it: char| {
        let others = matches!(it, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
        others || (it.is_control() && !matches!(it, '\n' | '\t'))
    };
    let found: Vec<_> = html
        .char_indices()
        .filter(|(_, it)| is_hidden(*it))
        .collect();
    assert_eq!(found, []);
    // In JSON a backslash is two, and a line break and a tab of a string remain.
    let escaped = "\\u{202e}\\u{2066}\\u{200b}\\u{0}\\u{1b}\\u{feff}";
    let in_json = escaped.replace('\\', "\\\\");
    assert!(
        html.contains(&format!(r#"{{"a{in_json}":"a{in_json}\n\t"}}"#)),
        "{html}"
    );
    for json in ["\\u202e", "\\u2066", "\\u0000", "\\u001b"] {
        assert!(!html.contains(json), "{json} is in the data");
    }
    assert!(html.contains("<title>title \\u{202e}</title>"));
    assert_shows(
        &shown(&report),
        &[&format!("a{escaped}"), &format!("b{escaped} ")],
    );
}
