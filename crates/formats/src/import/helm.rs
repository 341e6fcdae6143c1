//! A HELM run: `per_instance_stats.json`, with prompts, references and completions from `scenario_state.json` in the
//! same folder: <https://github.com/stanford-crfm/helm>.

use std::collections::HashMap;

use serde_json::Value;

use super::table::{Converted, Epochs, Table, TableRow, at, list, objects, pick, text};
use super::text::as_string;
use crate::error::{FormatError, Input};

const EXPECTED: &str = "HELM statistics with `instance_id` and `stats`";

/// The beginnings of the names of statistics about time, tokens and probabilities, which are no scores.
const NO_SCORES: &str = "num_ finish_reason_ inference_ training_ estimated_ prompt_ max_prob logprob batch_size predicted_index";

pub(super) fn import(input: Input<'_>, epochs: Epochs) -> Result<Converted, FormatError> {
    let (mut table, mut states) = (Table::default(), HashMap::new());
    let path = input.file.with_file_name("scenario_state.json");
    let state = match path.exists() {
        true => objects(Input { file: &path }, "a HELM state")?.swap_remove(0),
        false => {
            let note = "no `scenario_state.json` in its folder, so rows have no prompts or answers";
            table.notes.push(note.to_owned());
            Value::Null
        }
    };
    table.run.label = text(&state, "/adapter_spec/model");
    for state in list(&state["request_states"]) {
        let trial = &state["train_trial_index"];
        let id = row_id(
            &state["instance"]["id"],
            &state["instance"]["perturbation"],
            trial,
        );
        states.insert(id, state);
    }
    for instance in objects(input, EXPECTED)? {
        let trial = &instance["train_trial_index"];
        let id = row_id(&instance["instance_id"], &instance["perturbation"], trial);
        let mut row = match states.get(&id) {
            Some(state) => row(id, state),
            None => TableRow::new(id),
        };
        for stat in list(&instance["stats"]) {
            let name = text(stat, "/name/name").unwrap_or_default();
            let has_value = stat["count"].as_u64() > Some(0);
            if has_value && !NO_SCORES.split(' ').any(|start| name.starts_with(start)) {
                row.score(&name, stat["mean"].clone());
            }
        }
        table.add(input, row)?;
    }
    Ok(table.finish(epochs))
}

/// Returns the id of an instance; with its perturbation and its trial, which are rows of their own.
fn row_id(id: &Value, perturbation: &Value, trial: &Value) -> String {
    let mut id = as_string(id);
    if let Some(name) = perturbation["name"].as_str() {
        id = format!("{id}:{name}");
    }
    match trial.as_u64() {
        Some(trial @ 1..) => format!("{id}:{trial}"),
        _ => id,
    }
}

fn row(id: String, state: &Value) -> TableRow {
    let mut row = TableRow::new(id);
    row.gold = pick(
        state,
        &[
            ("input", "/instance/input/text"),
            ("prompt", "/request/prompt"),
        ],
    );
    let references = list(&state["instance"]["references"]);
    let correct = references.filter(|it| list(&it["tags"]).any(|tag| tag == "correct"));
    let correct: Vec<Value> = correct.map(|it| it["output"]["text"].clone()).collect();
    if !correct.is_empty() {
        row.gold.insert("answer".to_owned(), correct.into());
    }
    if let Some(completion) = at(state, "/result/completions/0/text").and_then(Value::as_str) {
        // The letter of a choice stands for its text.
        let choice = state["output_mapping"][completion.trim()].as_str();
        row.pred.insert(
            "answer".to_owned(),
            choice.unwrap_or(completion.trim()).into(),
        );
    }
    row.attributes = pick(state, &[("split", "/instance/split")]);
    row
}
