//! The rows in the table of the HTML report: all of up to 20,000.

use std::fs;
use std::path::{Path, PathBuf};

use dsrs_metrics::results::{HtmlReport, ReportRun, Results};
use serde_json::{Value, json};

/// The data of the script.
fn data(html: &str) -> Value {
    let data = html
        .split("id=\"data\">")
        .nth(1)
        .and_then(|rest| rest.split("</script>").next());
    serde_json::from_str(data.unwrap()).unwrap()
}

/// Row `row`: every 100th failed, and the scores of the others are from 0 to 0.9 in turn.
fn line(row: usize) -> Value {
    let topic = ["x", "y", "z"][row % 3];
    let score = match row % 100 {
        99 => json!({"outcome": "metric_failed", "error": "none"}),
        _ => json!({
            "outcome": "scored", "value": (row % 10) as f64 / 10.0, "cost_msats": 2, "parts": {"half": (row % 10) as f64 / 20.0},
            "components": {"one": {"outcome": "scored", "value": row}, "em": {"outcome": "scored", "value": row % 2, "passed": row % 2 == 1}},
        }),
    };
    json!({
        "id": format!("r{row}"), "gold": {"q": row}, "pred": {"a": "é".repeat(row % 7)}, "attributes": {"topic": topic},
        "latency_s": row as f64, "scores": {"m": score, "a.b": {"outcome": "scored", "value": row}},
    })
}

fn write(file: PathBuf, rows: impl Iterator<Item = Value>) -> PathBuf {
    let rows: Vec<Value> = rows.collect();
    let text = match file.extension().is_some_and(|it| it == "json") {
        true => Value::from(rows).to_string(),
        false => rows.iter().map(|row| format!("{row}\n")).collect(),
    };
    fs::write(&file, text).unwrap();
    file
}

/// The page of a file, which is also the page of its rows in memory.
#[track_caller]
fn page(files: &[&Path], group: Option<&str>) -> String {
    let read: Vec<_> = files
        .iter()
        .map(|file| ReportRun::read(file, group).unwrap())
        .collect();
    let whole: Vec<_> = files
        .iter()
        .map(|file| Results::read(file).unwrap())
        .collect();
    let in_memory = match &*whole {
        [a, b] => HtmlReport::comparison(a, b),
        runs => HtmlReport::new(&runs[0]),
    };
    let reports = [HtmlReport::of_runs(&read), in_memory];
    let [html, in_memory] = reports.map(|report| match group {
        Some(field) => report.group(field).to_html().unwrap(),
        None => report.to_html().unwrap(),
    });
    assert!(
        html == in_memory,
        "the page of a file differs from the page of its rows"
    );
    html
}

#[test]
fn a_file_has_the_page_of_its_rows_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (a, b) in [("a.jsonl", "b.jsonl"), ("a.json", "b.json")] {
        let a = write(path(a), (0..300).map(line));
        let b = write(
            path(b),
            (10..310)
                .map(|row| line(if row == 50 { 99 } else { row }))
                .enumerate()
                .map(|(place, mut row)| {
                    row["id"] = format!("r{}", place + 10).into();
                    row["gold"]["q"] = (place + 10).into();
                    row["attributes"]["topic"] = ["x", "y", "z"][(place + 10) % 3].into();
                    row
                }),
        );
        for group in [None, Some("topic"), Some("gold.q"), Some("pred.a")] {
            page(&[&a], group);
        }
        let html = page(&[&a, &b], Some("topic"));
        assert_eq!(
            data(&html)["pairing"],
            json!({"rows": 290, "is_positional": false})
        );
        assert_eq!(data(&html)["rows"].as_array().unwrap().len(), 310);
        assert_eq!(data(&html)["rows"][309]["runs"][0], Value::Null);
    }
}

#[test]
fn of_more_than_20_000_rows_a_stated_part_is_in_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let of = |rows: usize| {
        let file = write(
            folder.path().join(format!("{rows}.jsonl")),
            (0..rows).map(line),
        );
        let runs = [ReportRun::read(&file, None).unwrap()];
        let page = data(&HtmlReport::of_runs(&runs).to_html().unwrap());
        let rows = page["rows"].as_array().unwrap().clone();
        (page, rows)
    };
    let (page, rows) = of(20_000);
    assert_eq!((rows.len(), &page["table"]), (20_000, &Value::Null));

    let (page, rows) = of(20_001);
    assert_eq!(rows.len(), 20_000);
    let rule = json!({
        "shown": 20_000, "all": 20_001, "changed": [0, 0], "failed": [200, 200], "others": 19_801, "worst": 9_900, "sampled": 9_900,
        "seed": 0,
    });
    assert_eq!(page["table"], rule);
    let has_failed = |row: &Value| {
        let scores = row["runs"][0]["scores"].as_array();
        scores
            .unwrap()
            .iter()
            .any(|score| score["outcome"] == "metric_failed")
    };
    let failed = rows.iter().filter(|row| has_failed(row));
    assert_eq!(failed.count(), 200);
    let places: Vec<u64> = rows
        .iter()
        .map(|row| row["gold"]["q"].as_u64().unwrap())
        .collect();
    assert!(places.is_sorted());
    // Figures of all rows: (20,000 rows with the mean 0.45, without the 200 that failed instead of 0.9, and one with 0) / 20,001.
    let run = &page["runs"][0];
    assert_eq!(
        (&run["rows"], &run["usage"]["latency_s"][0]),
        (&json!(20_001), &json!(10_000.0))
    );
    assert_eq!(run["usage"]["costs"], json!([["m", 39_602]]));
    let m = page["metrics"].as_array().unwrap();
    let m = &m.iter().find(|metric| metric["name"] == "m").unwrap()["runs"][0];
    assert_eq!(format!("{:.4}", m["mean"].as_f64().unwrap()), "0.4410");
    assert_eq!(
        (&m["counts"]["scored"], &m["rows"]),
        (&json!(19_801), &json!(20_001))
    );
}

#[test]
fn a_file_that_changes_while_it_is_read_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path().join("run.jsonl"), (0..5).map(line));
    let runs = [ReportRun::read(&file, None).unwrap()];
    write(file.clone(), (1..6).map(line));
    let error = HtmlReport::of_runs(&runs)
        .to_html()
        .unwrap_err()
        .to_string();
    let expected = "the rows changed while the file was read; read it again when it is complete";
    assert_eq!(error, format!("{}: {expected}", file.display()));
}
