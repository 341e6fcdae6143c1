//! Results of the Berkeley Function Calling Leaderboard (`BFCL_.._result.json`), with `BFCL_.._score.json`, which lists
//! the wrong rows, and with possible answers:
//! <https://github.com/ShishirPatil/gorilla/tree/main/berkeley-function-call-leaderboard>.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::table::{Converted, Epochs, Table, TableRow, list, objects, pick, text, tokens};
use crate::error::{FormatError, Input};

const EXPECTED: &str = "BFCL results with `id` and `result`";

pub(super) fn import(inputs: &[Input<'_>], epochs: Epochs) -> Result<Converted, FormatError> {
    let (mut results, mut wrong, mut answers) = (Vec::new(), HashMap::new(), HashMap::new());
    let mut counts = None;
    for input in inputs {
        for object in objects(*input, EXPECTED)? {
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
        row.gold.extend(
            answers
                .remove(&id)
                .map(|it| ("ground_truth".to_owned(), it)),
        );
        row.pred = pick(&result, &[("answer", "/result")]);
        let calls = calls(&result["result"]);
        row.pred
            .extend(calls.map(|calls| ("trajectory".to_owned(), calls)));
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
    Ok(table.finish(epochs))
}

/// Returns `[{NAME: ARGUMENTS}, ..]` as calls.
fn calls(result: &Value) -> Option<Value> {
    let call = |call: &Value| {
        let (name, args) = call.as_object()?.iter().next()?;
        Some(json!({ "name": name, "args": args }))
    };
    result.as_array()?;
    list(result)
        .map(call)
        .collect::<Option<Vec<_>>>()
        .map(Value::from)
}
