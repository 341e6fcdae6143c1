//! The row of a root span.

use std::collections::{BTreeSet, HashSet};

use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value, json};

use super::conventions::{CONVENTIONS, attribute};
use super::conversation::Conversation;
use super::document::{Event, Span};
use super::roots::Root;
use crate::contract::{Fields, MetricError, Outcome};
use crate::import::scores::{MetricNames, invalid, program_run, scored};
use crate::messages::escape;
use crate::results::{ForeignRow, RowAttempt};
use crate::trajectory::Trajectory;

/// The event with the result of an evaluation.
const EVALUATION: &str = "gen_ai.evaluation.result";

/// Converts roots to rows.
#[derive(Default)]
pub(super) struct Rows {
    names: MetricNames,
    /// The evaluations by the names of their metrics.
    pub(super) metrics: IndexMap<String, String>,
    /// Metrics that a row may lack.
    pub(super) optional: HashSet<String>,
    services: IndexSet<String>,
    conventions: BTreeSet<&'static str>,
    /// The attributes of rows without messages.
    attributes: BTreeSet<String>,
    without_messages: u64,
    without_parent: u64,
    without_end: u64,
}

impl Rows {
    /// Returns the rows of a trace: of each root, whose id is the trace's, with the span's if there are several.
    pub(super) fn of_trace(
        &mut self,
        trace: &str,
        roots: Vec<Root>,
    ) -> Result<Vec<ForeignRow>, String> {
        let is_only = roots.len() == 1;
        let id = |root: &Root| match is_only {
            true => trace.to_owned(),
            false => format!("{trace}:{}", root.spans[root.root].id),
        };
        roots
            .into_iter()
            .map(|root| self.row(id(&root), &root))
            .collect()
    }

    fn row(&mut self, id: String, tree: &Root) -> Result<ForeignRow, String> {
        let root = &tree.spans[tree.root];
        let conversation = Conversation::of(&tree.spans, &mut self.conventions);
        let trajectory = Value::from(conversation.messages.clone());
        if let Err(error) = serde_json::from_value::<Trajectory>(trajectory.clone()) {
            return Err(format!(
                "span {}: its messages: {error}",
                escape::name(&root.id)
            ));
        }
        let mut pred = Map::new();
        if let Some(answer) = conversation.answer() {
            pred.insert("answer".to_owned(), answer.into());
        }
        match conversation.messages.is_empty() {
            true => {
                self.without_messages += 1;
                let keys = tree.spans.iter().flat_map(|span| span.attributes.keys());
                self.attributes.extend(keys.take(100).cloned());
            }
            false => drop(pred.insert("trajectory".to_owned(), trajectory)),
        }
        let question = conversation.question();
        let gold = question.map_or_else(|| json!({}), |question| json!({ "question": question }));
        self.without_end += u64::from(root.end < root.start);
        let latency_s = root
            .end
            .checked_sub(root.start)
            .map(|nanos| nanos as f64 / 1e9);
        let attempt = RowAttempt {
            pred: Some(Value::Object(pred)),
            run: program_run(latency_s, conversation.tokens),
            outcomes: self.outcomes(&tree.spans)?,
        };
        let attributes = self.attributes(tree);
        Ok(ForeignRow {
            id,
            gold,
            attributes,
            attempts: vec![attempt],
            ..ForeignRow::default()
        })
    }

    fn attributes(&mut self, tree: &Root) -> Fields {
        let root = &tree.spans[tree.root];
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
            let value = tree
                .spans
                .iter()
                .find_map(|span| attribute(span, key)?.as_str());
            if let Some(value) = value {
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
        if let Some(parent) = &tree.missing_parent {
            self.without_parent += 1;
            attributes.insert("missing_parent", parent.clone());
        }
        attributes
    }

    /// Returns the results of evaluations. A second one of a name is a metric of its own.
    fn outcomes(&mut self, spans: &[Span]) -> Result<IndexMap<String, Outcome>, String> {
        let mut outcomes = IndexMap::new();
        let events = spans.iter().flat_map(|span| &span.events);
        for Event { attributes, .. } in events.filter(|event| event.name == EVALUATION) {
            let text = |key: &str| attributes.get(key).and_then(Value::as_str);
            let Some(evaluation) = text("gen_ai.evaluation.name") else {
                return Err(format!(
                    "expected `gen_ai.evaluation.name` in each event `{EVALUATION}`, found none; add the name of the evaluation"
                ));
            };
            let mut name = self.names.name(evaluation, None);
            let mut number = 2;
            while outcomes.contains_key(&name) {
                name = self.names.name(evaluation, Some(&number.to_string()));
                number += 1;
            }
            if number > 2 {
                self.optional.insert(name.clone());
            }
            self.metrics
                .entry(name.clone())
                .or_insert_with(|| evaluation.to_owned());
            outcomes.insert(name, outcome(evaluation, attributes));
        }
        Ok(outcomes)
    }

    /// Returns the service of all rows, if they have one.
    pub(super) fn service(&self) -> Option<String> {
        if self.services.len() == 1 {
            self.services.first().cloned()
        } else {
            None
        }
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.without_messages > 0 {
            let rows = counted(self.without_messages);
            let found: Vec<&str> = self.conventions.iter().copied().collect();
            notes.push(match found.is_empty() {
                true => {
                    let looked_for = CONVENTIONS.map(|(name, key, _)| format!("`{key}` ({name})"));
                    let found = match self.attributes.is_empty() {
                        true => "no attribute of a model".to_owned(),
                        false => escape::names(self.attributes.iter().map(String::as_str)).to_string(),
                    };
                    format!(
                        "{rows} no trajectory: no span has {}; found {found}",
                        looked_for.join(", ")
                    )
                }
                false => format!(
                    "{rows} no trajectory: the spans of {} have no messages and no calls; record their content",
                    found.join(" and ")
                ),
            });
        }
        if self.without_parent > 0 {
            let (rows, spans) = (self.without_parent, "spans whose parent is not in the file");
            notes.push(format!(
                "{rows} rows are {spans}; see their attribute `missing_parent`"
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
    if rows == 1 {
        "1 row has".to_owned()
    } else {
        format!("{rows} rows have")
    }
}

/// Returns the outcome of an evaluation. Labels are verdicts if they are `pass` and `fail`.
fn outcome(name: &str, attributes: &Map<String, Value>) -> Outcome {
    let text = |key: &str| attributes.get(key).and_then(Value::as_str);
    let explanation = text("gen_ai.evaluation.explanation").map(str::to_owned);
    if let Some(error) = text("error.type") {
        let reason = explanation.map_or_else(String::new, |reason| format!(": {reason}"));
        return Outcome::from(MetricError::failed(name, format_args!("{error}{reason}")));
    }
    let label = text("gen_ai.evaluation.score.label");
    let passed = match label {
        Some("pass" | "passed") => Some(true),
        Some("fail" | "failed") => Some(false),
        _ => None,
    };
    let metadata = label.map(|label| ("label".to_owned(), Value::from(label)));
    let value = match (attributes.get("gen_ai.evaluation.score.value"), passed) {
        (None, Some(passed)) => Ok(f64::from(u8::from(passed))),
        (None, None) => Err(attributes.get("gen_ai.evaluation.score.label")),
        (Some(value), _) => value.as_f64().ok_or(Some(value)),
    };
    match value {
        Ok(value) => scored(value, passed, explanation, metadata.into_iter().collect()),
        Err(found) => invalid(name, found.unwrap_or(&Value::Null)),
    }
}
