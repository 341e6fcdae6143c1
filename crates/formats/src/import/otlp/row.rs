//! Builds the row for a root span.

use std::collections::BTreeSet;

use indexmap::IndexSet;
use serde_json::{Map, Value};

use super::conventions::{CONVENTIONS, attribute};
use super::conversation::Conversation;
use super::document::{Event, Root};
use crate::contract::Fields;
use crate::import::table::{TableRow, put};
use crate::json::found;
use crate::messages::escape;
use crate::trajectory::Trajectory;

/// The name of events with evaluation results.
const EVALUATION: &str = "gen_ai.evaluation.result";

/// Converts roots to rows.
#[derive(Default)]
pub(super) struct Rows {
    services: IndexSet<String>,
    conventions: BTreeSet<&'static str>,
    /// Attributes of rows without messages, for a note.
    attributes: BTreeSet<String>,
    without_messages: u64,
    without_parent: u64,
    without_end: u64,
}

impl Rows {
    /// Returns a row for each root of a trace. Its id is the trace's, followed by the span's if there are several roots.
    pub(super) fn of_trace(
        &mut self,
        trace: &str,
        roots: &[Root],
    ) -> Result<Vec<TableRow>, String> {
        let row = |root: &Root| match roots {
            [_] => self.row(trace.to_owned(), root),
            _ => self.row(format!("{trace}:{}", root.root.id), root),
        };
        roots.iter().map(row).collect()
    }

    fn row(&mut self, id: String, tree: &Root) -> Result<TableRow, String> {
        let root = &tree.root;
        let conversation = Conversation::of(&tree.spans, &mut self.conventions);
        let trajectory = Value::from(conversation.messages.clone());
        if let Err(error) = serde_json::from_value::<Trajectory>(trajectory.clone()) {
            return Err(format!(
                "span {}: its messages: {error}",
                escape::name(&root.id)
            ));
        }
        let mut row = TableRow::new(id);
        put(&mut row.pred, "answer", conversation.answer());
        put(&mut row.gold, "question", conversation.question());
        if conversation.messages.is_empty() {
            self.without_messages += 1;
            let keys = tree.spans.iter().flat_map(|span| span.attributes.keys());
            self.attributes.extend(keys.take(100).cloned());
        } else {
            put(&mut row.pred, "trajectory", trajectory);
        }
        self.without_end += u64::from(root.end < root.start);
        let nanos = root.end.checked_sub(root.start);
        row.latency_s = nanos.map(|nanos| nanos as f64 / 1e9);
        row.tokens = conversation.tokens;
        row.attributes = self.attributes(tree);
        let events = tree.spans.iter().flat_map(|span| &span.events);
        for event in events.filter(|event| event.name == EVALUATION) {
            add_score(&mut row, event)?;
        }
        Ok(row)
    }

    fn attributes(&mut self, tree: &Root) -> Fields {
        let root = &tree.root;
        let mut attributes = Fields::default();
        attributes.insert("span", root.name.clone());
        attributes.insert("trace_id", root.trace.clone());
        attributes.insert("spans", tree.spans.len());
        for (name, key) in [
            ("agent", "gen_ai.agent.name"),
            ("conversation", "gen_ai.conversation.id"),
            ("session", "session.id"),
            ("model", "gen_ai.request.model"),
        ] {
            let mut spans = tree.spans.iter();
            if let Some(value) = spans.find_map(|span| attribute(span, key)?.as_str()) {
                attributes.insert(name, value);
            }
        }
        if let Some(service) = &root.service {
            attributes.insert("service", service.clone());
            self.services.insert(service.clone());
        }
        if let Some(error) = &root.error {
            attributes.insert("error", if error.is_empty() { "error" } else { error });
        }
        if let Some(parent) = &root.parent {
            self.without_parent += 1;
            attributes.insert("missing_parent", parent.clone());
        }
        attributes
    }

    /// Returns the service, if it is the same for all rows.
    pub(super) fn service(&self) -> Option<String> {
        let only = self.services.first().filter(|_| self.services.len() == 1);
        only.cloned()
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.without_messages > 0 {
            let rows = counted(self.without_messages);
            let found: Vec<&str> = self.conventions.iter().copied().collect();
            let looked_for = CONVENTIONS.map(|(name, key, _)| format!("`{key}` ({name})"));
            let attributes = match self.attributes.is_empty() {
                true => "no attribute of a model".to_owned(),
                false => escape::names(self.attributes.iter().map(String::as_str)).to_string(),
            };
            let why = match found.is_empty() {
                true => format!("no span has {}; found {attributes}", looked_for.join(", ")),
                false => format!(
                    "the spans of {} have no messages and no calls; record their content",
                    found.join(" and ")
                ),
            };
            notes.push(format!("{rows} no trajectory: {why}"));
        }
        if self.without_parent > 0 {
            notes.push(format!(
                "{} rows are spans whose parent is not in the file; see their attribute `missing_parent`",
                self.without_parent
            ));
        }
        if self.without_end > 0 {
            let rows = counted(self.without_end);
            notes.push(format!("{rows} no latency, because their span did not end"));
        }
        notes
    }
}

fn counted(rows: u64) -> String {
    match rows {
        1 => "1 row has".to_owned(),
        rows => format!("{rows} rows have"),
    }
}

/// Adds an evaluation result. The labels `pass` and `fail` are verdicts.
fn add_score(row: &mut TableRow, Event { attributes, .. }: &Event) -> Result<(), String> {
    let text = |key: &str| attributes.get(key).and_then(Value::as_str);
    let Some(evaluation) = text("gen_ai.evaluation.name") else {
        return Err(format!(
            "expected `gen_ai.evaluation.name` in each event `{EVALUATION}`, found none; add the name of the evaluation"
        ));
    };
    let label = text("gen_ai.evaluation.score.label");
    let passed = match label {
        Some("pass" | "passed") => Some(true),
        Some("fail" | "failed") => Some(false),
        _ => None,
    };
    let value = attributes.get("gen_ai.evaluation.score.value").cloned();
    // A value is a number; only a label is a verdict.
    let mut error = value
        .as_ref()
        .filter(|value| value.is_boolean())
        .map(|value| format!("the score is {}, not a number", found(value)));
    let value = value.or(passed.map(Value::from)).or(label.map(Value::from));
    let explanation = text("gen_ai.evaluation.explanation");
    if let Some(kind) = text("error.type") {
        let reason = explanation.map_or_else(String::new, |reason| format!(": {reason}"));
        error = Some(format!("{kind}{reason}"));
    }
    let score = row.score(evaluation, value.unwrap_or_default());
    score.error = error;
    score.passed = passed;
    score.reason = explanation.map(str::to_owned);
    score.metadata = Map::from_iter(label.map(|label| ("label".to_owned(), label.into())));
    Ok(())
}
