//! Test runs of deepeval (`.deepeval/.latest_test_run.json`, files in `DEEPEVAL_RESULTS_FOLDER`), and goldens, which have no scores:
//! <https://github.com/confident-ai/deepeval/tree/main/deepeval/test_run>.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value};

use super::detect::other_format;
use super::table::{Converted, Epochs, Table, TableRow, at, list, objects, pick, text};
use crate::contract::{Direction, MetricIdentity, MetricSpec};
use crate::error::{FormatError, Input};

const EXPECTED: &str = "a deepeval test run with `testCases`, or goldens with `input`";

/// The fields of a test case. Goldens have the names of Python.
const GOLD: [(&str, &str); 4] = [
    ("question", "/input"),
    ("answer", "/expectedOutput /expected_output"),
    ("context", "/context"),
    ("trajectory", "/expectedTools /expected_tools"),
];
const PRED: [(&str, &str); 3] = [
    ("answer", "/actualOutput /actual_output"),
    ("context", "/retrievalContext /retrieval_context"),
    ("trajectory", "/turns /toolsCalled /tools_called"),
];

pub(super) fn import(input: Input<'_>, epochs: Epochs) -> Result<Converted, FormatError> {
    let documents = objects(input, EXPECTED)?;
    let (mut table, mut cases) = (Table::default(), Vec::new());
    for document in &documents {
        let run = document.get("testRunData").unwrap_or(document);
        if let Some(of_run) = at(run, "/testCases") {
            cases.extend(list(of_run).chain(list(&run["conversationalTestCases"])));
            let passed = cases.iter().filter(|case| case["success"] == true).count();
            table.check("test cases that pass", run["testPassed"].as_u64(), passed);
        } else if at(document, "/input /scenario").is_some() {
            cases.push(document);
        } else {
            return Err(other_format(input, EXPECTED, input.whole("no test case")));
        }
    }
    let mut parameters = HashMap::<String, BTreeMap<String, String>>::new();
    let mut lower_is_better = HashSet::new();
    for metric in cases.iter().flat_map(|case| list(&case["metricsData"])) {
        let name = text(metric, "/name").unwrap_or_default();
        let of_metric = parameters.entry(name.clone()).or_default();
        for parameter in ["threshold", "evaluationModel", "strictMode"] {
            let value = text(metric, &format!("/{parameter}"));
            of_metric.extend(value.map(|value| (format!("deepeval.{parameter}"), value)));
        }
        if is_lower_better(metric) {
            lower_is_better.insert(name);
        }
    }
    for (case, number) in cases.into_iter().zip(1..) {
        table.add(input, row(case, number))?;
    }
    Ok(table.finish_with(epochs, |name, _| {
        let mut spec = MetricSpec::new(name);
        if lower_is_better.contains(name) {
            spec.direction = Direction::LowerIsBetter;
        }
        let parameters = parameters.get(name).cloned().unwrap_or_default();
        MetricIdentity::of_other_program(&spec, parameters)
    }))
}

/// Returns `true` if lower scores are better. The file does not say so, but the verdict shows which side of the threshold
/// passes.
fn is_lower_better(metric: &Value) -> bool {
    let numbers = metric["score"].as_f64().zip(metric["threshold"].as_f64());
    numbers
        .zip(metric["success"].as_bool())
        .is_some_and(|((score, threshold), passed)| {
            passed != (score >= threshold) && passed == (score <= threshold)
        })
}

fn row(case: &Value, number: u64) -> TableRow {
    let mut row = TableRow::positional(number.to_string());
    row.gold = pick(case, &GOLD);
    row.pred = pick(case, &PRED);
    split_contexts(&mut row.gold);
    split_contexts(&mut row.pred);
    row.attributes = pick(case, &[("name", "/name")]);
    row.latency_s = at(case, "/completionTime").and_then(Value::as_f64);
    for metric in list(&case["metricsData"]) {
        let name = text(metric, "/name").unwrap_or_default();
        let score = row.score(&name, metric["score"].clone());
        score.passed = metric["success"].as_bool();
        score.reason = text(metric, "/reason");
        score.error = text(metric, "/error");
    }
    row
}

/// Splits the contexts of a cell, which deepeval joins with `|`.
fn split_contexts(fields: &mut Map<String, Value>) {
    if let Some(contexts) = fields.get_mut("context")
        && let Value::String(text) = &*contexts
    {
        *contexts = text.split('|').map(Value::from).collect();
    }
}
