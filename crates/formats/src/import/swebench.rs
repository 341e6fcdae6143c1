//! SWE-bench predictions and the report about them, alone or together:
//! <https://www.swebench.com/SWE-bench/guides/evaluation/>.

use indexmap::IndexMap;
use serde_json::Value;

use super::table::{Converted, Epochs, Table, TableRow, at, list, objects, pick, text};
use crate::error::{FormatError, Input};

const EXPECTED: &str =
    "SWE-bench predictions with `instance_id` and `model_patch`, or a report with `resolved_ids`";

/// The lists of a report. An instance without a result counts against the rate, as in the report.
const LISTS: [(&str, &str); 6] = [
    ("resolved_ids", ""),
    ("unresolved_ids", ""),
    ("empty_patch_ids", "the patch is empty"),
    ("error_ids", "the harness failed"),
    ("incomplete_ids", "no prediction"),
    ("submitted_ids", ""),
];

pub(super) fn import(inputs: &[Input<'_>], epochs: Epochs) -> Result<Converted, FormatError> {
    let (mut table, mut rows) = (Table::default(), IndexMap::<String, TableRow>::new());
    let mut reports = Vec::new();
    for input in inputs {
        for object in objects(*input, EXPECTED)? {
            if object.get("resolved_ids").is_some() {
                reports.push(object);
                continue;
            }
            // A prediction, or `{INSTANCE: PREDICTION, ..}`.
            let predictions = match at(&object, "/instance_id") {
                Some(_) => vec![&object],
                None => object
                    .as_object()
                    .into_iter()
                    .flat_map(|it| it.values())
                    .collect(),
            };
            for prediction in predictions {
                let id = text(prediction, "/instance_id");
                let id = id.ok_or_else(|| input.whole(format_args!("expected {EXPECTED}")))?;
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
    Ok(table.finish(epochs))
}
