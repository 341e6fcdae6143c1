//! Imports outputs without scores: output from OpenAI's batch API, agents' trajectories, TREC judgements and runs
//! (`QUERY 0 DOCUMENT GRADE` and `QUERY Q0 DOCUMENT RANK SCORE TAG`), and speech recognition transcripts (`TEXT (ID)`).

use std::collections::{BTreeMap, HashSet};

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::table::{Table, TableRow, at, list, objects, pick, put, text, tokens};
use super::text::{MAX_FILE, as_string, as_text, each_document};
use crate::messages::escape;
use crate::trajectory::{Role, Trajectory};
use crate::{FormatError, Input};

/// Imports output from the OpenAI batch API: Chat Completions or Responses, by `custom_id`.
/// <https://platform.openai.com/docs/guides/batch>
pub(super) fn import_openai_batch(input: Input<'_>) -> Result<Table, FormatError> {
    let mut table = Table::default();
    for line in objects(input)? {
        let id = text(&line, "/custom_id");
        let id = id.ok_or_else(|| input.whole("no `custom_id`").or_other())?;
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

/// An agent's properties, and where the document stores them.
const AGENT: [(&str, &str); 3] = [
    ("agent", "/agent/name"),
    ("agent_version", "/agent/version"),
    ("model", "/agent/model_name"),
];

/// Imports ATIF trajectories: one document, or one per line. `dsrs_metrics::trajectory` reads their steps.
pub(super) fn import_atif(input: Input<'_>) -> Result<Table, FormatError> {
    let mut table = Table::default();
    // The properties that all documents share.
    let mut shared = None::<BTreeMap<String, Value>>;
    each_document(input, |place, document: Value| {
        let version = document["schema_version"].as_str();
        if !version.is_some_and(|it| it.starts_with("ATIF")) {
            let reason = "no `schema_version` of ATIF; expected a trajectory";
            return Err(input.invalid(place, reason).or_other());
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

/// Returns the row for a document. Its id is the document's session id, or else the document's number.
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

/// Returns the document's total token counts, or else the sum over its steps.
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

pub(super) fn import_trec(inputs: &[Input<'_>]) -> Result<Table, FormatError> {
    let mut judged = IndexMap::<String, Map<String, Value>>::new();
    // trec_eval keeps scores as `f32`.
    let mut rankings = IndexMap::<String, Vec<(f32, String)>>::new();
    let mut table = Table::default();
    for input in inputs {
        let mut seen = HashSet::new();
        for (number, line) in text_lines(*input)? {
            let invalid = |reason: &str| input.invalid(format_args!("line {number}"), reason);
            let columns: Vec<&str> = line.split_whitespace().collect();
            match &*columns {
                [query, _, document, grade] => {
                    let grade = grade.parse::<i64>();
                    let grade = grade.map_err(|_| invalid("expected a grade in column 4"))?;
                    // A grade below 0 is not relevant.
                    let grades = judged.entry((*query).to_owned()).or_default();
                    grades.insert((*document).to_owned(), grade.max(0).into());
                }
                [query, _, document, _, score, tag @ ..] => {
                    let score = score.parse().ok().filter(|score: &f32| !score.is_nan());
                    let score = score.ok_or_else(|| invalid("expected a score in column 5"))?;
                    let ranking = rankings.entry((*query).to_owned()).or_default();
                    ranking.push((score, (*document).to_owned()));
                    table.run.label = tag.first().map(|tag| (*tag).to_owned());
                }
                _ => {
                    return Err(invalid(
                        "expected 4 columns (judgements) or 6 columns (a run)",
                    ));
                }
            }
            if !seen.insert([columns[0], columns[2]].map(str::to_owned)) {
                return Err(invalid(
                    "duplicate line for this query and document; keep only one",
                ));
            }
        }
    }
    if judged.is_empty() || rankings.is_empty() {
        let reason = "expected judgements (4 columns) and a run (6 columns), found one of them; pass `--from trec QRELS RUN`";
        return Err(inputs[0].whole(reason));
    }
    let mut note = |queries: Vec<&String>, note: &str| {
        if !queries.is_empty() {
            let names = escape::names(queries.iter().take(5).map(|query| query.as_str()));
            let note = format!("{note}: {} ({names})", queries.len());
            table.notes.push(note);
        }
    };
    let unranked = judged.keys().filter(|query| !rankings.contains_key(*query));
    let unranked_note = "queries without a ranking count as empty rankings, as in `trec_eval -c`";
    note(unranked.collect(), unranked_note);
    let unjudged = rankings.keys().filter(|query| !judged.contains_key(*query));
    let unjudged_note = "queries without judgements are left out, as in trec_eval";
    note(unjudged.collect(), unjudged_note);
    for (query, grades) in judged {
        let mut ranking = rankings.swap_remove(&query).unwrap_or_default();
        ranking.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| b.1.cmp(&a.1)));
        let documents: Vec<String> = ranking.into_iter().map(|(_, document)| document).collect();
        let mut row = TableRow::new(query);
        row.gold.insert("relevant".to_owned(), grades.into());
        row.pred.insert("retrieved".to_owned(), documents.into());
        table.add(inputs[0], row)?;
    }
    Ok(table)
}

/// Imports a reference file and a hypothesis file, in this order.
pub(super) fn import_transcripts(inputs: &[Input<'_>]) -> Result<Table, FormatError> {
    let [reference, hypothesis] = inputs else {
        let reason = "expected two files; pass `--from trn REFERENCE HYPOTHESIS`";
        return Err(inputs[0].whole(reason));
    };
    let missing = |input: &Input<'_>, id: &str| {
        let id = escape::name(id);
        input.whole(format_args!(
            "no transcript for `{id}`; each id must be in both files"
        ))
    };
    let mut said = transcripts(*hypothesis)?;
    let mut table = Table::default();
    for (id, text) in transcripts(*reference)? {
        let said = said
            .swap_remove(&id)
            .ok_or_else(|| missing(hypothesis, &id))?;
        let mut row = TableRow::new(id);
        row.gold.insert("answer".to_owned(), text.into());
        row.pred.insert("answer".to_owned(), said.into());
        table.add(*reference, row)?;
    }
    match said.first() {
        Some((id, _)) => Err(missing(reference, id)),
        None => Ok(table),
    }
}

fn transcripts(input: Input<'_>) -> Result<IndexMap<String, String>, FormatError> {
    let mut transcripts = IndexMap::new();
    for (number, line) in text_lines(input)? {
        let invalid = |reason: &str| input.invalid(format_args!("line {number}"), reason);
        let line = line.trim().strip_suffix(')');
        let parts = line.and_then(|line| line.rsplit_once('('));
        let (text, id) = parts.ok_or_else(|| invalid("expected `TEXT (ID)`"))?;
        let first = transcripts.insert(id.trim().to_owned(), text.trim().to_owned());
        if first.is_some() {
            return Err(invalid("duplicate transcript for this id; keep only one"));
        }
    }
    Ok(transcripts)
}

/// Returns the lines that aren't blank, with their line numbers.
fn text_lines(input: Input<'_>) -> Result<Vec<(usize, String)>, FormatError> {
    let bytes = input.read(MAX_FILE)?;
    let text = as_text(&bytes).map_err(|reason| input.whole(reason))?;
    let lines = (1..).zip(text.lines().map(str::to_owned));
    Ok(lines.filter(|(_, line)| !line.trim().is_empty()).collect())
}
