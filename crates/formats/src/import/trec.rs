//! TREC judgements and runs (`QUERY 0 DOCUMENT GRADE` and `QUERY Q0 DOCUMENT RANK SCORE TAG`), and speech recognition
//! transcripts (`TEXT (ID)`).

use std::collections::HashSet;

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::table::{Table, TableRow};
use super::text::{MAX_DOCUMENT, as_text};
use crate::messages::escape;
use crate::{FormatError, Input};

pub(super) fn import(inputs: &[Input<'_>]) -> Result<Table, FormatError> {
    let mut judged = IndexMap::<String, Map<String, Value>>::new();
    // trec_eval keeps scores as `f32`.
    let mut rankings = IndexMap::<String, Vec<(f32, String)>>::new();
    let mut table = Table::default();
    for input in inputs {
        let mut seen = HashSet::new();
        for (number, line) in lines(*input)? {
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

/// Reads a reference and a hypothesis, in this order.
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
    for (number, line) in lines(input)? {
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

/// Returns the lines that are not blank, with their numbers.
fn lines(input: Input<'_>) -> Result<Vec<(usize, String)>, FormatError> {
    let bytes = input.read(MAX_DOCUMENT as u64)?;
    let text = as_text(&bytes).map_err(|reason| input.whole(reason))?;
    let lines = text.lines().map(str::to_owned).enumerate();
    let lines = lines.map(|(at, line)| (at + 1, line));
    Ok(lines.filter(|(_, line)| !line.trim().is_empty()).collect())
}
