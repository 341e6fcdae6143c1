//! Result files whose rows the driver knows.

use std::fs;
use std::path::{Path, PathBuf};

use dsrs_metrics::Evaluate;
use dsrs_metrics::data::DataReader;
use dsrs_metrics::metrics::{Em, F1};
use dsrs_metrics::results::{HtmlReport, Results};
use dsrs_metrics::text::Profile;
use serde_json::{Value, json};

/// Strings that would be markup or code if they were not shown as text.
pub(crate) const HOSTILE: [&str; 8] = [
    "</script><script>hacked = 1</script>",
    "<script>hacked = 1</script>",
    "<img src=x onerror='hacked = 1'>",
    "</style><style>* { display: none }</style>",
    "\u{2028}\u{2029}<!--<script>",
    "\" onmouseover=\"hacked = 1",
    "&lt;b&gt; {{ 7 * 7 }} ${hacked = 1}",
    "\u{202e}evil\u{2066}x\u{200b}",
];

/// The strings as the page shows them: as text, without characters that hide or reverse others.
fn visible(hostile: &str) -> String {
    let hidden = ['\u{2028}', '\u{2029}', '\u{202e}', '\u{2066}', '\u{200b}'];
    let shown = |it: char| match hidden.contains(&it) {
        true => it.escape_unicode().to_string(),
        false => it.to_string(),
    };
    hostile.chars().map(shown).collect()
}

const TITLE: &str = "</title><script>hacked = 1</script>";

fn read(file: &Path, rows: &[Value]) -> Results {
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    fs::write(file, lines.join("\n")).unwrap();
    Results::read(file).unwrap()
}

/// Row `i` of 60, with `exact` true unless the position is divisible by 3. No two rows have the same `f1`.
fn row(i: u32, exact: bool) -> Value {
    let judge = match i {
        7 => {
            json!({"outcome": "metric_failed", "error": "no score; expected a number from 1 to 5"})
        }
        8 => json!({"outcome": "gated", "gated_by": "f1"}),
        9 => json!({"outcome": "skipped", "budget_msats": 100}),
        10 => json!({"outcome": "abstained"}),
        _ => json!({
            "outcome": "scored", "value": 1 + i % 5, "passed": i % 5 > 2, "confidence": 0.5, "cost_msats": 20,
            "feedback": format!("Name the colour of row {i}."),
            "metadata": {"reasoning": format!("The judge's reasoning for row {i}"), "steps": [{"kept": true}]},
            "components": {"relevance": {"outcome": "scored", "value": 0.25, "details": "one of four"}},
        }),
    };
    let animal = if i == 5 || i == 41 { "zebra" } else { "horse" };
    json!({
        "id": format!("row-{i:03}"),
        "gold": {"question": format!("question number {i}"), "answer": format!("a grey {animal}")},
        "pred": {"answer": format!("a white {animal}")},
        "latency_s": 0.5, "input_tokens": 10, "output_tokens": 5, "cost_msats": 30,
        "attributes": {"topic": if i.is_multiple_of(2) { "animals" } else { "colours" }},
        "scores": {
            "exact": {"outcome": "scored", "value": u8::from(exact), "passed": exact, "details": "by hand"},
            "f1": {"outcome": "scored", "value": f64::from(i * 37 % 60) / 60.0, "parts": {"precision": 0.5}},
            "judge": judge,
        },
    })
}

fn rows() -> Vec<Value> {
    (0..60).map(|i| row(i, i % 3 != 0)).collect()
}

/// A report on 60 rows.
pub(crate) fn one(folder: &Path) -> PathBuf {
    let file = folder.join("one.html");
    let results = read(&folder.join("one.jsonl"), &rows());
    HtmlReport::new(&results)
        .group("topic")
        .write(&file)
        .unwrap();
    file
}

/// A report on five metrics, with a short question and longer answers.
pub(crate) fn five_metrics(folder: &Path) -> PathBuf {
    let file = folder.join("five.html");
    let row = |i: u32| {
        let mut row = row(i, true);
        row["gold"] = json!({"question": format!("What is item {i}?"), "answer": format!("the answer number {i} of many")});
        row["pred"] = json!({"answer": format!("an answer number {i} of 7")});
        for name in ["fourth", "fifth"] {
            row["scores"][name] = json!({"outcome": "scored", "value": 0.5});
        }
        row
    };
    let results = read(
        &folder.join("five.jsonl"),
        &(0..60).map(row).collect::<Vec<_>>(),
    );
    HtmlReport::new(&results).write(&file).unwrap();
    file
}

/// A row of a report with this number of metrics. Every third metric returns a bool, and every third one is a judge. The first judge
/// has 30 components: those with an even number are almost 1, and the others pass in all rows but one.
fn sized_row(metrics: u32, run: u32, i: u32) -> Value {
    let name = |metric: u32| match metric {
        1 => "f1".to_owned(),
        2 => "judge".to_owned(),
        _ => format!("metric_with_a_long_name_{metric:02}"),
    };
    let component = |number: u32| {
        let score = match number % 2 {
            0 => json!({"outcome": "scored", "value": if i == 7 { 0.5 } else { 1.0 }}),
            _ => json!({"outcome": "scored", "value": u8::from(i != 3), "passed": i != 3}),
        };
        (format!("criterion_{number:02}"), score)
    };
    let score = |metric: u32| {
        let share = f64::from((i * 37 + metric * 11 + run * 5) % 60) / 60.0;
        match metric % 3 {
            0 => {
                json!({"outcome": "scored", "value": u8::from(share < 0.7), "passed": share < 0.7})
            }
            1 => {
                json!({"outcome": "scored", "value": share, "parts": {"precision": share, "recall": 1.0 - share / 2.0}})
            }
            _ => json!({
                "outcome": "scored", "value": 1 + (i / 7 + metric + run) % 5, "cost_msats": 20,
                "components": (0..if metric == 2 { 30 } else { 2 }).map(component).collect::<serde_json::Map<_, _>>(),
            }),
        }
    };
    let topic = ["animals", "mathematics", "geography"][i as usize % 3];
    json!({
        "id": format!("row-{i:03}"),
        "gold": {"question": format!("What is the colour of horse {i}?"), "answer": "grey and white"},
        "pred": {"answer": format!("It is grey, as is {}.", i + run)},
        "latency_s": 0.5, "cost_msats": 30,
        "attributes": {"topic": topic},
        "scores": (0..metrics).map(|metric| (name(metric), score(metric))).collect::<serde_json::Map<_, _>>(),
    })
}

/// A report on one or two runs with this number of metrics.
pub(crate) fn sized(folder: &Path, metrics: u32, runs: u32) -> PathBuf {
    let file = folder.join("sized.html");
    let run = |run: u32| {
        let rows: Vec<_> = (0..60).map(|i| sized_row(metrics, run, i)).collect();
        read(&folder.join(format!("run-{run}.jsonl")), &rows)
    };
    let (a, b) = (run(0), run(1));
    let report = if runs == 1 {
        HtmlReport::new(&a)
    } else {
        HtmlReport::comparison(&a, &b)
    };
    // Without groups the intervals of parts are Wilson's and Student's.
    let report = if metrics == 5 {
        report
    } else {
        report.group("topic")
    };
    report.write(&file).unwrap();
    file
}

/// A report on one or two runs with manifests: long labels, 30 tags, 5 data files, and a metric that differs.
pub(crate) fn described(folder: &Path, runs: u32) -> PathBuf {
    let data = |file: u32| {
        let path = folder.join(format!(
            "questions_about_the_colours_of_horses_part_{file}.jsonl"
        ));
        let row = |row: u32| {
            let answer = |row| json!({"answer": format!("answer {row}")});
            json!({"id": format!("{file}-{row}"), "gold": answer(row), "pred": answer(row / 2 * 2)})
        };
        let rows: Vec<_> = (0..12).map(|it| row(it).to_string()).collect();
        fs::write(&path, rows.join("\n")).unwrap();
        path
    };
    let files: Vec<_> = (0..5).map(data).collect();
    let run = |name: &str, profile: Profile| {
        let out = folder.join(format!("{name}.jsonl"));
        let mut evaluate = Evaluate::builder()
            .metric(F1::builder().profile(profile).build())
            .metric(Em::default())
            .label(
                format!("a program with <b>a long label</b> {name} ")
                    .repeat(20)
                    .trim(),
            )
            .statistics(|statistics| statistics.bootstrap(200));
        for tag in 0..30 {
            let value = format!("{name}_{}", "value".repeat(tag));
            evaluate = evaluate.tag(format!("setting_of_the_prompt_{tag:02}"), value);
        }
        let evaluate = evaluate
            .files(|files| files.jsonl(&out).save_rows(true))
            .build()
            .unwrap();
        let rows = DataReader::new().read(&files).unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        assert!(
            runtime
                .block_on(evaluate.score_files(rows))
                .unwrap()
                .is_complete()
        );
        Results::read(&out).unwrap()
    };
    let (a, b) = (run("first", Profile::Dspy), run("second", Profile::Folded));
    let file = folder.join("described.html");
    let report = if runs == 1 {
        HtmlReport::new(&a)
    } else {
        HtmlReport::comparison(&a, &b)
    };
    report.write(&file).unwrap();
    file
}

/// A comparison: in B, `exact` of two rows changed to false and of three to true, one row is missing, and one is new.
pub(crate) fn two(folder: &Path) -> PathBuf {
    let file = folder.join("two.html");
    let mut other: Vec<_> = (0..59)
        .map(|i| {
            row(
                i,
                if [1, 2].contains(&i) {
                    false
                } else {
                    [0, 3, 6].contains(&i) || i % 3 != 0
                },
            )
        })
        .collect();
    let mut extra = row(0, true);
    extra["id"] = json!("extra");
    other.push(extra);
    let (a, b) = (
        read(&folder.join("a.jsonl"), &rows()),
        read(&folder.join("b.jsonl"), &other),
    );
    HtmlReport::comparison(&a, &b)
        .group("topic")
        .write(&file)
        .unwrap();
    file
}

/// A report with hostile strings wherever a row has strings. The driver reads the strings from a file beside it.
pub(crate) fn hostile(folder: &Path) -> PathBuf {
    let file = folder.join("hostile.html");
    let row = |hostile: &&str| {
        json!({
            "id": format!("id {hostile}"),
            "gold": {"answer": format!("gold {hostile}"), *hostile: 1},
            "pred": {"answer": [{*hostile: format!("prediction {hostile}")}], "text": format!("prediction {hostile}")},
            "attributes": {"topic": format!("attribute {hostile}"), *hostile: [hostile]},
            "scores": {"judge": {
                "outcome": "scored", "value": 0.5, "details": format!("details {hostile}"),
                "feedback": format!("feedback {hostile}"), "parts": {*hostile: 0.5},
                "metadata": {"reasoning": format!("reasoning {hostile}"), *hostile: {*hostile: hostile}},
                "components": {*hostile: {"outcome": "scored", "value": 1}},
            }, TITLE: {"outcome": "scored", "value": 1, "passed": true}},
        })
    };
    let results = read(
        &folder.join("hostile.jsonl"),
        &HOSTILE.iter().map(row).collect::<Vec<_>>(),
    );
    HtmlReport::new(&results)
        .title(TITLE)
        .group("topic")
        .write(&file)
        .unwrap();
    fs::write(
        folder.join("hostile.html.strings.json"),
        json!(HOSTILE.map(visible)).to_string(),
    )
    .unwrap();
    file
}

/// A report on as many rows.
pub(crate) fn large(folder: &Path, rows: u32) -> PathBuf {
    let file = folder.join("large.html");
    let row = |i: u32| {
        json!({
            "id": format!("row-{i:05}"),
            "gold": {"question": format!("question number {i}?"), "answer": "grey"},
            "pred": {"answer": "white"},
            "scores": {"f1": {"outcome": "scored", "value": f64::from(i % 21) / 20.0}},
        })
    };
    let results = read(
        &folder.join("large.jsonl"),
        &(0..rows).map(row).collect::<Vec<_>>(),
    );
    HtmlReport::new(&results).write(&file).unwrap();
    file
}
