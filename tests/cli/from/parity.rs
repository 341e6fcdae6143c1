//! Values and comparisons, against those that the programs' own readers and scipy return.

use std::collections::BTreeMap;
use std::fs;

use dsrs_metrics::results::Results;
use dsrs_metrics::runs::formats::{Epochs, ForeignFormat, import_file};
use dsrs_metrics_tests::Peer;
use dsrs_metrics_tests::schema;
use serde::Deserialize;
use serde_json::Value;

use super::{PARITY, lm_eval, log};
use crate::Folder;

#[derive(Deserialize)]
struct Compared {
    rows: u64,
    a: f64,
    b: f64,
    difference: f64,
    low: f64,
    high: f64,
    p: f64,
}

fn vectors<T: serde::de::DeserializeOwned>(name: &str) -> T {
    let text = fs::read_to_string(format!("{PARITY}/{name}/vectors.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Asserts that a comparison has the numbers of scipy.
fn assert_equal(json: &str, metric: &str, expected: &Compared) {
    let json: Value = serde_json::from_str(json).unwrap();
    let found = &json["metrics"][metric];
    assert_eq!(found["n"], expected.rows, "{metric}");
    let near = |found: &Value, expected: f64| {
        let found = found.as_f64().unwrap();
        assert!(
            (found - expected).abs() < 1e-9,
            "{metric}: {found}, not {expected}"
        );
    };
    near(&found["a"], expected.a);
    near(&found["b"], expected.b);
    near(&found["difference"], expected.difference);
    near(&found["ci95"][0], expected.low);
    near(&found["ci95"][1], expected.high);
    near(&found["p_value"], expected.p);
}

#[test]
fn a_comparison_of_samples_of_lm_eval_is_that_of_scipy() {
    #[derive(Deserialize)]
    struct Vectors {
        comparison: BTreeMap<String, BTreeMap<String, Compared>>,
    }
    let mut compared = 0;
    for (task, metrics) in vectors::<Vectors>("lm_eval").comparison {
        let (weak, strong) = (lm_eval("weak", &task), lm_eval("strong", &task));
        let ran = Folder::new().run(&["compare", "--from", "lm-eval", &weak, &strong, "--json"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        for (name, expected) in metrics {
            let name = name
                .strip_suffix(",none")
                .unwrap_or(&name)
                .replace(',', ":");
            assert_equal(&ran.out, &name, &expected);
            compared += 1;
        }
    }
    assert_eq!(compared, 3);
}

#[test]
fn a_comparison_of_logs_of_inspect_is_that_of_scipy() {
    #[derive(Deserialize)]
    struct Vectors {
        comparison: BTreeMap<String, Compared>,
    }
    let (weak, strong) = (log("weak.eval"), log("strong.eval"));
    let ran = Folder::new().run(&["compare", "--from", "inspect", &weak, &strong, "--json"]);
    assert_eq!((ran.code, &*ran.err), (Some(0), ""));
    let vectors: Vectors = vectors("inspect_logs");
    assert_eq!(vectors.comparison.len(), 3);
    vectors
        .comparison
        .iter()
        .for_each(|(name, expected)| assert_equal(&ran.out, name, expected));
}

/// The values of a log by metric, sample and epoch.
type Values = BTreeMap<String, BTreeMap<String, Option<f64>>>;

#[derive(Deserialize)]
struct OfLog {
    scores: Values,
    #[serde(default)]
    errors: Vec<String>,
    #[serde(default)]
    limits: BTreeMap<String, String>,
}

#[test]
fn each_value_of_a_log_is_that_of_the_programs_reader() {
    #[derive(Deserialize)]
    struct Vectors {
        values: BTreeMap<String, OfLog>,
    }
    let folder = Folder::new();
    let vectors = vectors::<Vectors>("inspect_logs").values;
    assert_eq!(vectors.len(), 5);
    for (name, expected) in vectors {
        let out = folder.path(&format!("{name}.jsonl"));
        let notes = import_file(
            ForeignFormat::Inspect,
            Epochs::Repeats,
            log(&name).as_ref(),
            &out,
        );
        assert_eq!(notes.unwrap(), [""; 0], "{name}");
        schema::validate_file(&out);
        let results = Results::read(&out).unwrap();
        let rows = results.rows().len() as u64;
        assert_eq!(
            results.manifest().map(|manifest| manifest.run.rows),
            Some(rows),
            "{name}"
        );
        let (mut scores, mut errors, mut limits) = (Values::new(), Vec::new(), BTreeMap::new());
        for line in fs::read_to_string(&out).unwrap().lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            let one = [row.clone()];
            let attempts = row["repeats"].as_array().map_or(&one[..], Vec::as_slice);
            for (number, attempt) in attempts.iter().enumerate() {
                let key = format!("{}/{}", row["id"].as_str().unwrap(), number + 1);
                let of_metric = attempt["scores"].as_object().unwrap();
                if of_metric
                    .values()
                    .all(|score| score["outcome"] == "program_failed")
                {
                    assert_eq!(attempt["pred"], Value::Null);
                    errors.push(key);
                    continue;
                }
                for (metric, score) in of_metric {
                    let is_known = ["scored", "abstained"]
                        .iter()
                        .any(|it| score["outcome"] == *it);
                    assert!(is_known, "{score}");
                    let of_metric = scores.entry(metric.clone()).or_default();
                    of_metric.insert(key.clone(), score["value"].as_f64());
                }
            }
            let id = row["id"].as_str().unwrap();
            let limit = &row["attributes"]["limit"];
            let all = limit
                .as_array()
                .map_or(std::slice::from_ref(limit), Vec::as_slice);
            for limit in all.iter().filter_map(Value::as_str) {
                let (kind, epoch) = limit.split_once(" (epoch ").unwrap_or((limit, "1)"));
                limits.insert(
                    format!("{id}/{}", epoch.trim_end_matches(')')),
                    kind.to_owned(),
                );
            }
        }
        errors.sort();
        let mut expected_errors = expected.errors;
        expected_errors.sort();
        assert_eq!(errors, expected_errors, "{name}");
        assert_eq!(scores, expected.scores, "{name}");
        assert_eq!(limits, expected.limits, "{name}");
    }
}

/// The values of a task by metric and document.
type OfTask = BTreeMap<String, BTreeMap<String, f64>>;

#[test]
fn each_value_of_samples_of_lm_eval_is_that_of_the_program() {
    #[derive(Deserialize)]
    struct Vectors {
        values: BTreeMap<String, BTreeMap<String, OfTask>>,
    }
    let folder = Folder::new();
    let mut compared = 0;
    for (run, tasks) in vectors::<Vectors>("lm_eval").values {
        for (task, metrics) in tasks {
            let out = folder.path(&format!("{run}-{task}.jsonl"));
            let file = lm_eval(&run, &task);
            import_file(ForeignFormat::LmEval, Epochs::Repeats, file.as_ref(), &out).unwrap();
            schema::validate_file(&out);
            let results = Results::read(&out).unwrap();
            let identity = results
                .manifest()
                .unwrap()
                .run
                .metrics
                .values()
                .next()
                .unwrap();
            assert!(
                identity.to_string().starts_with("version 3.0; "),
                "{identity}"
            );
            for (metric, values) in metrics {
                let name = metric
                    .strip_suffix(",none")
                    .unwrap_or(&metric)
                    .replace(',', ":");
                for (id, value) in values {
                    let found = results.row(&id).unwrap().scores[&name].value;
                    assert_eq!(found, Some(value), "{run} {task} {metric} {id}");
                    compared += 1;
                }
            }
        }
    }
    assert_eq!(compared, 2 * 3 * 40);
}

#[test]
fn inspect_still_reads_these_values_from_the_logs() {
    const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/parity/make_inspect_logs.py");
    let Some(peer) = Peer::with(&["inspect-ai", "scipy"]) else {
        return;
    };
    assert_eq!(peer.check(SCRIPT), "5 logs, as committed");
}
