//! Results from promptfoo, as `promptfoo eval --output results.json` writes them: <https://www.promptfoo.dev/docs/configuration/outputs/>.

use serde_json::Value;

use super::detect::other_format;
use super::table::{Converted, Epochs, Table, TableRow, list, objects, pick, text, tokens};
use crate::error::{FormatError, Input};

const EXPECTED: &str = "promptfoo output with `results`";

pub(super) fn import(input: Input<'_>, epochs: Epochs) -> Result<Converted, FormatError> {
    let document = objects(input, EXPECTED)?.swap_remove(0);
    let results = document["results"]["results"].as_array();
    let results = results
        .ok_or_else(|| other_format(input, EXPECTED, input.whole("no list `results.results`")))?;
    let has_columns = results.iter().any(|it| it["promptIdx"].as_u64() > Some(0));
    let mut table = Table::default();
    for (result, number) in results.iter().zip(0_u64..) {
        table.add(input, row(result, number, has_columns))?;
    }
    let count = |name: &str| document["results"]["stats"][name].as_u64();
    let total = ["successes", "failures", "errors"]
        .into_iter()
        .map(count)
        .sum();
    let passed = results.iter().filter(|it| it["success"] == true).count();
    table.check("tests", total, results.len());
    table.check("tests that pass", count("successes"), passed);
    Ok(table.finish(epochs))
}

/// Returns the row of a test. With several prompts or providers, each is a row.
fn row(result: &Value, number: u64, has_columns: bool) -> TableRow {
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
        // The score of an assertion with a name is among the named scores.
        let assertion = &component["assertion"];
        if let (Some(kind), true) = (assertion["type"].as_str(), assertion["metric"].is_null()) {
            let score = row.score(kind, component["score"].clone());
            score.passed = component["pass"].as_bool();
            score.reason = text(component, "/reason");
        }
    }
    row
}
