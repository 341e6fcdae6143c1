//! Outputs without scores: of OpenAI's batch API, and the trajectories of agents.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::detect::other_format;
use super::table::{Table, TableRow, at, list, objects, pick, put, text, tokens};
use super::text::{as_string, each_document};
use crate::trajectory::{Role, Trajectory};
use crate::{FormatError, Input};

const OPENAI_BATCH: &str = "the output of OpenAI's batch API, with `custom_id` and `response`";

/// The output of the OpenAI batch API: Chat Completions or Responses, by `custom_id`.
/// <https://platform.openai.com/docs/guides/batch>
pub(super) fn import_openai_batch(input: Input<'_>) -> Result<Table, FormatError> {
    let mut table = Table::default();
    for line in objects(input, OPENAI_BATCH)? {
        let Some(id) = text(&line, "/custom_id") else {
            return Err(other_format(
                input,
                OPENAI_BATCH,
                input.whole("no `custom_id`"),
            ));
        };
        table.run.label = text(&line, "/response/body/model").or(table.run.label);
        table.add(input, openai_batch_row(id, &line))?;
    }
    Ok(table)
}

fn openai_batch_row(id: String, line: &Value) -> TableRow {
    let mut row = TableRow::new(id);
    let body = &line["response"]["body"];
    row.attributes = pick(body, &[("model", "/model")]);
    let input = "/usage/prompt_tokens /usage/input_tokens";
    let output = "/usage/completion_tokens /usage/output_tokens";
    row.tokens = tokens(body, input, output);
    let items = at(body, "/output").filter(|it| it.is_array());
    let (answers, trajectory): (Vec<Value>, _) = match items {
        Some(items) => {
            let messages = list(items).filter(|it| it["type"] == "message");
            let texts = messages.flat_map(|it| list(&it["content"]));
            let text: String = texts.filter_map(|part| part["text"].as_str()).collect();
            (vec![text.into()], items.clone())
        }
        None => {
            let messages = list(&body["choices"]).map(|it| &it["message"]);
            let answers = messages.map(|it| it["content"].clone()).collect();
            (answers, json!([body["choices"][0]["message"]]))
        }
    };
    let Some(answer) = answers.first() else {
        let error = "/error/message /response/body/error/message /error /response";
        row.error = text(line, error).or(Some("no response".to_owned()));
        return row;
    };
    row.pred.insert("answer".to_owned(), answer.clone());
    row.pred.insert("trajectory".to_owned(), trajectory);
    if answers.len() > 1 {
        row.pred.insert("responses".to_owned(), answers.into());
    }
    row
}

const ATIF: &str = "ATIF trajectories with `schema_version` and `steps`";

/// The properties of an agent, and where the document has them.
const AGENT: [(&str, &str); 3] = [
    ("agent", "/agent/name"),
    ("agent_version", "/agent/version"),
    ("model", "/agent/model_name"),
];

/// ATIF trajectories: one document, or one per line. `dsrs_metrics::trajectory` reads their steps.
pub(super) fn import_atif(input: Input<'_>) -> Result<Table, FormatError> {
    let mut table = Table::default();
    // The properties that all documents share.
    let mut shared = None::<BTreeMap<String, Value>>;
    each_document(input, ATIF, |place, document: Value| {
        let version = document["schema_version"].as_str();
        if !version.is_some_and(|it| it.starts_with("ATIF")) {
            let own = input.invalid(place, "no `schema_version` of ATIF; expected a trajectory");
            return Err(match table.len() {
                0 => other_format(input, ATIF, own),
                _ => own,
            });
        }
        let agent: BTreeMap<String, Value> = pick(&document, &AGENT);
        let all = shared.get_or_insert_with(|| agent.clone());
        all.retain(|name, value| agent.get(name) == Some(value));
        let row = atif_row(table.len() + 1, document);
        table.add(input, row.map_err(|reason| input.invalid(place, reason))?)
    })?;
    let tags = shared.unwrap_or_default().into_iter();
    let tags = tags.map(|(name, value)| (name, as_string(&value)));
    table.run.tags = tags.collect();
    table.run.label = table.run.tags.get("agent").cloned();
    Ok(table)
}

/// Returns the row of a document. Its id is the session's id, or the number of the document.
fn atif_row(number: usize, document: Value) -> Result<TableRow, String> {
    let id = text(&document, "/trajectory_id /session_id");
    let mut row = TableRow::new(id.unwrap_or_else(|| number.to_string()));
    row.attributes = pick(&document, &AGENT);
    let trajectory: Trajectory =
        serde_json::from_value(document.clone()).map_err(|error| error.to_string())?;
    row.tokens = atif_tokens(&document, &trajectory);
    let text = |role: Role| {
        let messages = trajectory.messages().iter();
        let of_role = messages.filter(move |it| it.role == role && !it.text.is_empty());
        of_role.map(|it| Value::from(it.text.as_str()))
    };
    put(&mut row.gold, "task", text(Role::User).next());
    put(&mut row.pred, "answer", text(Role::Assistant).next_back());
    row.pred.insert("trajectory".to_owned(), document);
    Ok(row)
}

/// Returns the tokens of the document's total, or else of its steps.
fn atif_tokens(document: &Value, trajectory: &Trajectory) -> Option<[u64; 2]> {
    let totals = ["total_prompt_tokens", "total_completion_tokens"];
    let totals = totals.map(|key| document["final_metrics"][key].as_u64());
    if totals.iter().any(Option::is_some) {
        return Some(totals.map(Option::unwrap_or_default));
    }
    let mut steps = trajectory.messages().iter().filter_map(|it| it.usage);
    let mut sum = steps.next()?;
    steps.for_each(|more| sum += more);
    Some([sum.input_tokens, sum.output_tokens])
}
