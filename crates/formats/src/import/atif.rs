//! Trajectories of ATIF, one document or one in each line. `dsrs_metrics::trajectory` reads their steps.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::Converted;
use super::scores::program_run;
use super::text::each_document;
use crate::contract::Fields;
use crate::error::{FormatError, Input};
use crate::results::{ForeignRow, ForeignRun, RowAttempt};
use crate::trajectory::{Role, Trajectory};

const EXPECTED: &str = "trajectories of ATIF, which have `schema_version` and `steps`";

/// The properties of an agent, and their keys in the document.
const AGENT: [(&str, &str); 3] = [
    ("agent", "name"),
    ("agent_version", "version"),
    ("model", "model_name"),
];

pub(super) fn import(file: &Path) -> Result<Converted, FormatError> {
    let input = Input { file };
    let mut rows = Vec::new();
    let mut agents = BTreeMap::<&str, Option<String>>::new();
    each_document(input, EXPECTED, |place, document: Map<String, Value>| {
        let is_atif = document
            .get("schema_version")
            .and_then(Value::as_str)
            .is_some_and(|it| it.starts_with("ATIF"));
        if !is_atif {
            let own = input.invalid(place, "no `schema_version` of ATIF; expected a trajectory");
            return Err(match rows.is_empty() {
                true => super::detect::other_format(input, EXPECTED, own),
                false => own,
            });
        }
        let row = row(rows.len() + 1, document).map_err(|reason| input.invalid(place, reason))?;
        for (name, _) in AGENT {
            let found = row.attributes.get(name).and_then(Value::as_str);
            let known = agents
                .entry(name)
                .or_insert_with(|| found.map(str::to_owned));
            if known.as_deref() != found {
                *known = None;
            }
        }
        rows.push(row);
        Ok(())
    })?;
    let tags = agents
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let tags: BTreeMap<_, _> = tags.collect();
    let run = ForeignRun {
        label: tags.get("agent").cloned(),
        tags,
        ..ForeignRun::default()
    };
    let notes = Vec::new();
    Ok(Converted { rows, run, notes })
}

/// Returns the row of a document. Its id is the session's id, or the number of the document.
fn row(number: usize, document: Map<String, Value>) -> Result<ForeignRow, String> {
    let id = ["trajectory_id", "session_id"]
        .iter()
        .find_map(|key| document.get(*key)?.as_str());
    let id = id.map_or_else(|| number.to_string(), str::to_owned);
    let mut attributes = Fields::default();
    for (name, key) in AGENT {
        if let Some(value) = document
            .get("agent")
            .and_then(|agent| agent.get(key)?.as_str())
        {
            attributes.insert(name, value);
        }
    }
    let document = Value::Object(document);
    let trajectory: Trajectory =
        serde_json::from_value(document.clone()).map_err(|error| error.to_string())?;
    let tokens = tokens(&document, &trajectory);
    let text = |role: Role| {
        let of_role = trajectory
            .messages()
            .iter()
            .filter(move |it| it.role == role);
        of_role
            .map(|it| it.text.as_str())
            .filter(|text| !text.is_empty())
    };
    let gold = text(Role::User)
        .next()
        .map_or_else(|| json!({}), |task| json!({ "task": task }));
    let mut pred = Map::new();
    if let Some(answer) = text(Role::Assistant).next_back() {
        pred.insert("answer".to_owned(), answer.into());
    }
    pred.insert("trajectory".to_owned(), document);
    let attempt = RowAttempt {
        pred: Some(Value::Object(pred)),
        run: program_run(None, tokens),
        ..RowAttempt::default()
    };
    Ok(ForeignRow {
        id,
        gold,
        attributes,
        attempts: vec![attempt],
        ..ForeignRow::default()
    })
}

/// Returns the tokens of the document's total, or else of its steps.
fn tokens(document: &Value, trajectory: &Trajectory) -> Option<[u64; 2]> {
    let total = |key: &str| document.get("final_metrics")?.get(key)?.as_u64();
    let totals = [
        total("total_prompt_tokens"),
        total("total_completion_tokens"),
    ];
    if totals.iter().any(Option::is_some) {
        return Some(totals.map(Option::unwrap_or_default));
    }
    let mut steps = trajectory
        .messages()
        .iter()
        .filter_map(|message| message.usage);
    let mut sum = steps.next()?;
    steps.for_each(|more| sum += more);
    Some([sum.input_tokens, sum.output_tokens])
}
