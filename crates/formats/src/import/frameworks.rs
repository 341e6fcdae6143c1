//! Imports results from evaluation frameworks: promptfoo, deepeval and ragas.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value};

use super::table::{Table, TableRow, at, list, objects, pick, text, tokens};
use crate::contract::{Direction, MetricIdentity, MetricSpec};
use crate::{FormatError, Input};

/// Imports results that `promptfoo eval --output results.json` wrote:
/// <https://www.promptfoo.dev/docs/configuration/outputs/>.
pub(super) fn import_promptfoo(input: Input<'_>) -> Result<Table, FormatError> {
    let document = objects(input)?.swap_remove(0);
    let results = document["results"]["results"].as_array();
    let results = results.ok_or_else(|| input.whole("no list `results.results`").or_other())?;
    let has_columns = results.iter().any(|it| it["promptIdx"].as_u64() > Some(0));
    let mut table = Table::default();
    for (result, number) in results.iter().zip(0_u64..) {
        table.add(input, promptfoo_row(result, number, has_columns))?;
    }
    let count = |name: &str| document["results"]["stats"][name].as_u64();
    let total = ["successes", "failures", "errors"].map(count);
    let total = total.into_iter().sum();
    let passed = results.iter().filter(|it| it["success"] == true).count();
    table.check("tests", total, results.len());
    table.check("tests that pass", count("successes"), passed);
    Ok(table)
}

/// Returns a row for a test. If there are several prompts or providers, each becomes its own row.
fn promptfoo_row(result: &Value, number: u64, has_columns: bool) -> TableRow {
    let test = result["testIdx"].as_u64().unwrap_or(number);
    let mut row = match has_columns {
        true => TableRow::positional(format!("{test}:{}", result["promptIdx"])),
        false => TableRow::positional(test.to_string()),
    };
    row.gold = result["vars"].as_object().cloned().unwrap_or_default();
    row.pred = pick(result, &[("answer", "/response/output")]);
    let provider = ("provider", "/provider/label /provider/id /provider");
    row.attributes = pick(result, &[provider, ("prompt", "/prompt/label")]);
    row.latency_s = result["latencyMs"].as_f64().map(|latency| latency / 1e3);
    let usage = &result["response"]["tokenUsage"];
    row.tokens = tokens(usage, "/prompt", "/completion");
    let grading = &result["gradingResult"];
    // A test whose provider failed is not graded.
    if grading.is_null() {
        row.error = text(result, "/error /response/error");
    }
    row.score("pass", result["success"].clone()).reason = text(grading, "/reason");
    row.score("score", result["score"].clone());
    for (name, value) in result["namedScores"].as_object().into_iter().flatten() {
        row.score(name, value.clone());
    }
    for component in list(&grading["componentResults"]) {
        // If an assertion has a name, its score is among the named scores.
        let assertion = &component["assertion"];
        if let (Some(kind), true) = (assertion["type"].as_str(), assertion["metric"].is_null()) {
            let score = row.score(kind, component["score"].clone());
            score.passed = component["pass"].as_bool();
            score.reason = text(component, "/reason");
        }
    }
    row
}

/// The fields of a test case. Goldens use the Python names.
const DEEPEVAL_GOLD: [(&str, &str); 4] = [
    ("question", "/input"),
    ("answer", "/expectedOutput /expected_output"),
    ("context", "/context"),
    ("trajectory", "/expectedTools /expected_tools"),
];
const DEEPEVAL_PRED: [(&str, &str); 3] = [
    ("answer", "/actualOutput /actual_output"),
    ("context", "/retrievalContext /retrieval_context"),
    ("trajectory", "/turns /toolsCalled /tools_called"),
];

/// Imports deepeval test runs (`.deepeval/.latest_test_run.json`, files in `DEEPEVAL_RESULTS_FOLDER`), and goldens,
/// which have no scores: <https://github.com/confident-ai/deepeval/tree/main/deepeval/test_run>.
pub(super) fn import_deepeval(input: Input<'_>) -> Result<Table, FormatError> {
    let documents = objects(input)?;
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
            return Err(input.whole("no test case").or_other());
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
        table.add(input, deepeval_row(case, number))?;
    }
    table.identify(|name, _| {
        let mut spec = MetricSpec::new(name);
        if lower_is_better.contains(name) {
            spec.direction = Direction::LowerIsBetter;
        }
        let parameters = parameters.get(name).cloned().unwrap_or_default();
        MetricIdentity::of_other_program(&spec, parameters)
    });
    Ok(table)
}

/// Returns `true` if lower scores are better. The file does not say so, but the verdict shows which side of the
/// threshold passes.
fn is_lower_better(metric: &Value) -> bool {
    let numbers = metric["score"].as_f64().zip(metric["threshold"].as_f64());
    numbers
        .zip(metric["success"].as_bool())
        .is_some_and(|((score, threshold), passed)| {
            passed != (score >= threshold) && passed == (score <= threshold)
        })
}

fn deepeval_row(case: &Value, number: u64) -> TableRow {
    let mut row = TableRow::positional(number.to_string());
    row.gold = pick(case, &DEEPEVAL_GOLD);
    row.pred = pick(case, &DEEPEVAL_PRED);
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

/// Splits the contexts in a cell, which deepeval joins with `|`.
fn split_contexts(fields: &mut Map<String, Value>) {
    if let Some(contexts) = fields.get_mut("context")
        && let Value::String(text) = &*contexts
    {
        *contexts = text.split('|').map(Value::from).collect();
    }
}

/// The fields of a sample, including their names before version 0.2.
const RAGAS_GOLD: [(&str, &str); 5] = [
    ("question", "/user_input /question"),
    ("answer", "/reference /ground_truth /ground_truths"),
    ("context", "/reference_contexts"),
    ("trajectory", "/reference_tool_calls"),
    ("rubrics", "/rubrics"),
];
const RAGAS_PRED: [(&str, &str); 2] = [
    ("answer", "/response /answer"),
    ("context", "/retrieved_contexts /contexts"),
];

/// Imports results from ragas: `result.to_pandas().to_csv(..)`, or its records in JSON. Columns that are not fields of
/// a sample are scores: <https://docs.ragas.io/en/stable/concepts/components/eval_sample/>.
pub(super) fn import_ragas(input: Input<'_>) -> Result<Table, FormatError> {
    let samples = objects(input)?;
    let is_sample = |it: &Value| !pick::<Map<_, _>>(it, &RAGAS_PRED).is_empty();
    if !samples.first().is_some_and(is_sample) {
        let reason = "no `response` and no `retrieved_contexts`";
        return Err(input.whole(reason).or_other());
    }
    let is_field = |name: &str| {
        let mut fields = RAGAS_GOLD.iter().chain(&RAGAS_PRED);
        fields.any(|(_, pointers)| pointers.split(' ').any(|it| &it[1..] == name))
    };
    // pandas writes the row number in a column without a name.
    let is_score = |name: &str| {
        let is_index = name.is_empty() || name.starts_with("Unnamed:");
        let has_number = samples.iter().any(|it| number(&it[name]).is_some());
        !is_index && !is_field(name) && has_number
    };
    let names = samples[0].as_object().into_iter().flat_map(Map::keys);
    let metrics: Vec<&String> = names.filter(|name| is_score(name)).collect();
    let mut table = Table::default();
    for (sample, id) in samples.iter().zip(1_u64..) {
        let mut row = TableRow::positional(id.to_string());
        row.gold = pick(sample, &RAGAS_GOLD);
        row.pred = pick(sample, &RAGAS_PRED);
        // If a metric failed, ragas writes NaN, which is an empty cell.
        for metric in &metrics {
            row.score(metric, number(&sample[*metric]));
        }
        // A conversation is a trajectory.
        if let Some(turns) = row.gold.get("question").filter(|it| it.is_array()).cloned() {
            row.pred.insert("trajectory".to_owned(), turns);
        }
        table.add(input, row)?;
    }
    Ok(table)
}

fn number(value: &Value) -> Option<f64> {
    let of_cell = || value.as_str()?.trim().parse().ok();
    value
        .as_f64()
        .or_else(of_cell)
        .filter(|number| number.is_finite())
}
