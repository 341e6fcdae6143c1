//! Imports benchmark results: BFCL, SWE-bench and HELM.

use std::collections::HashMap;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::table::{Table, TableRow, at, list, objects, pick, put, text, tokens};
use super::text::as_string;
use crate::{FormatError, Input};

/// Imports results of the Berkeley Function Calling Leaderboard (`BFCL_.._result.json`), with `BFCL_.._score.json`,
/// which lists the wrong rows, and with possible answers:
/// <https://github.com/ShishirPatil/gorilla/tree/main/berkeley-function-call-leaderboard>.
pub(super) fn import_bfcl(inputs: &[Input<'_>]) -> Result<Table, FormatError> {
    let (mut results, mut wrong, mut answers) = (Vec::new(), HashMap::new(), HashMap::new());
    let mut counts = None;
    for input in inputs {
        for object in objects(*input)? {
            let count = |name: &str| object[name].as_u64();
            if let (Some(right), Some(all)) = (count("correct_count"), count("total_count")) {
                let (all_right, all_rows) = counts.get_or_insert((0, 0));
                (*all_right, *all_rows) = (*all_right + right, *all_rows + all);
                continue;
            }
            let id = text(&object, "/id").ok_or_else(|| input.whole("a row without `id`"))?;
            match object {
                it if it.get("valid").is_some() => drop(wrong.insert(id, text(&it, "/error"))),
                mut it if it.get("ground_truth").is_some() => {
                    answers.insert(id, it["ground_truth"].take());
                }
                it => results.push((id, it)),
            }
        }
    }
    if results.is_empty() {
        let reason = "no results; pass BFCL_.._result.json too, because a score file lists only the wrong rows";
        return Err(inputs[0].whole(reason));
    }
    let (mut table, mut right) = (Table::default(), 0);
    for (id, result) in results {
        let mut row = TableRow::new(&*id);
        put(&mut row.gold, "ground_truth", answers.remove(&id));
        row.pred = pick(&result, &[("answer", "/result")]);
        put(&mut row.pred, "trajectory", bfcl_calls(&result["result"]));
        row.latency_s = result["latency"].as_f64();
        row.tokens = tokens(&result, "/input_token_count", "/output_token_count");
        let category = id.rsplit_once('_').map_or(&*id, |(category, _)| category);
        row.attributes.insert("category", category);
        if counts.is_some() {
            let error = wrong.remove(&id);
            let is_right = error.is_none();
            right += usize::from(is_right);
            row.score("valid", is_right).reason = error.flatten();
        }
        table.add(inputs[0], row)?;
    }
    let rows = table.len();
    table.check("rows", counts.map(|(_, all)| all), rows);
    table.check("right rows", counts.map(|(right, _)| right), right);
    Ok(table)
}

/// Converts `[{NAME: ARGUMENTS}, ..]` to calls.
fn bfcl_calls(result: &Value) -> Option<Value> {
    let call = |call: &Value| {
        let (name, args) = call.as_object()?.iter().next()?;
        Some(json!({ "name": name, "args": args }))
    };
    let calls = result.as_array()?.iter().map(call);
    calls.collect::<Option<Vec<_>>>().map(Value::from)
}

/// The lists in a report. An instance without a result counts against the rate, as it does in the report.
const LISTS: [(&str, &str); 6] = [
    ("resolved_ids", ""),
    ("unresolved_ids", ""),
    ("empty_patch_ids", "the patch is empty"),
    ("error_ids", "the harness failed"),
    ("incomplete_ids", "no prediction"),
    ("submitted_ids", ""),
];

/// Imports SWE-bench predictions and the report about them, alone or together:
/// <https://www.swebench.com/SWE-bench/guides/evaluation/>.
pub(super) fn import_swebench(inputs: &[Input<'_>]) -> Result<Table, FormatError> {
    let (mut table, mut rows) = (Table::default(), IndexMap::<String, TableRow>::new());
    let mut reports = Vec::new();
    for input in inputs {
        for object in objects(*input)? {
            if object.get("resolved_ids").is_some() {
                reports.push(object);
                continue;
            }
            // The object is a prediction, or `{INSTANCE: PREDICTION, ..}`.
            let by_id = object.as_object().into_iter().flat_map(Map::values);
            let predictions = match at(&object, "/instance_id") {
                Some(_) => vec![&object],
                None => by_id.collect(),
            };
            for prediction in predictions {
                let id = text(prediction, "/instance_id");
                let id =
                    id.ok_or_else(|| input.whole("a prediction without `instance_id`").or_other())?;
                let mut row = TableRow::new(&*id);
                row.pred = pick(prediction, &[("answer", "/model_patch")]);
                table.run.label = text(prediction, "/model_name_or_path");
                if rows.insert(id.clone(), row).is_some() {
                    let reason = format_args!("duplicate prediction for {id}; keep only one");
                    return Err(input.whole(reason));
                }
            }
        }
    }
    for report in &reports {
        for (name, reason) in LISTS {
            for id in list(&report[name]).filter_map(Value::as_str) {
                let new = || TableRow::new(id);
                let row = rows.entry(id.to_owned()).or_insert_with(new);
                if row.scores.is_empty() {
                    let reason = Some(reason.to_owned()).filter(|it| !it.is_empty());
                    row.score("resolved", name == "resolved_ids").reason = reason;
                }
            }
        }
        table.check("instances", report["total_instances"].as_u64(), rows.len());
        let resolved = list(&report["resolved_ids"]).count();
        table.check(
            "resolved instances",
            report["resolved_instances"].as_u64(),
            resolved,
        );
    }
    rows.sort_unstable_keys();
    let mut rows = rows.into_values();
    rows.try_for_each(|row| table.add(inputs[0], row))?;
    Ok(table)
}

/// The name prefixes of statistics about time, tokens and probabilities, which aren't scores.
const NO_SCORES: &str = "num_ finish_reason_ inference_ training_ estimated_ prompt_ max_prob logprob batch_size predicted_index";

/// Imports a HELM run: `per_instance_stats.json`, with prompts, references and completions from `scenario_state.json`
/// in the same folder: <https://github.com/stanford-crfm/helm>.
pub(super) fn import_helm(input: Input<'_>) -> Result<Table, FormatError> {
    let (mut table, mut states) = (Table::default(), HashMap::new());
    let path = input.file.with_file_name("scenario_state.json");
    let state = match path.exists() {
        true => objects(Input { file: &path })?.swap_remove(0),
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
    for instance in objects(input)? {
        let trial = &instance["train_trial_index"];
        let id = row_id(&instance["instance_id"], &instance["perturbation"], trial);
        let mut row = match states.get(&id) {
            Some(state) => helm_row(id, state),
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
    Ok(table)
}

/// Returns the id of an instance, including its perturbation and trial, because each of these is a separate row.
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

fn helm_row(id: String, state: &Value) -> TableRow {
    let mut row = TableRow::new(id);
    let input = ("input", "/instance/input/text");
    row.gold = pick(state, &[input, ("prompt", "/request/prompt")]);
    let references = list(&state["instance"]["references"]);
    let correct = references.filter(|it| list(&it["tags"]).any(|tag| tag == "correct"));
    let correct: Vec<Value> = correct.map(|it| it["output"]["text"].clone()).collect();
    let correct = Some(correct).filter(|it| !it.is_empty());
    put(&mut row.gold, "answer", correct);
    if let Some(completion) = at(state, "/result/completions/0/text").and_then(Value::as_str) {
        // A choice's letter stands for its text.
        let choice = state["output_mapping"][completion.trim()].as_str();
        let answer = choice.unwrap_or(completion.trim());
        put(&mut row.pred, "answer", answer);
    }
    row.attributes = pick(state, &[("split", "/instance/split")]);
    row
}
