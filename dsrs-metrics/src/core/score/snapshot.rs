//! Scores as a journal stores them: everything that a result shows, so that a restored score equals the original.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::scored::{Critique, LostJudges, Note, Scored};
use super::{MetricScore, Part};
use crate::core::component_results::{ComponentResult, Components};
use crate::core::interned_names::intern_all;
use crate::core::missing::MissingFields;
use crate::core::snapshot::OutcomeSnapshot;

/// A [`Scored`] as JSON. What most scores do not have is left out.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ScoreSnapshot {
    value: f64,
    #[serde(default = "certain", skip_serializing_if = "is_certain")]
    confidence: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    details: Option<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    cost_msats: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    passed: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<NoteSnapshot>,
}

const fn certain() -> f64 {
    1.0
}

#[expect(clippy::float_cmp, reason = "any other confidence is stored")]
fn is_certain(confidence: &f64) -> bool {
    *confidence == 1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum NoteSnapshot {
    Feedback,
    Critique(Box<CritiqueSnapshot>),
    Composite { names: Vec<String>, results: Vec<ResultSnapshot> },
}

#[derive(Debug, Serialize, Deserialize)]
struct CritiqueSnapshot {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    feedback: Option<String>,
    shares_details: bool,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    metadata: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Part>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lost: Option<LostJudges>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    missing: Option<Box<MissingFields>>,
}

/// The result of a component.
#[derive(Debug, Serialize, Deserialize)]
struct ResultSnapshot {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outcome: Option<OutcomeSnapshot>,
    #[serde(default, skip_serializing_if = "is_zero")]
    cost_msats: u64,
}

impl ScoreSnapshot {
    /// Returns the score as it is stored, or `None` if it has counts of a corpus: their formula is code.
    pub(crate) fn of(scored: &Scored) -> Option<Self> {
        let note = match &scored.note {
            Note::None => None,
            Note::Feedback => Some(NoteSnapshot::Feedback),
            Note::Critique(critique) => {
                Some(NoteSnapshot::Critique(Box::new(CritiqueSnapshot::of(critique)?)))
            }
            Note::Composite(components) => Some(NoteSnapshot::of_components(components)?),
        };
        let MetricScore { value, confidence, details, cost_msats } = scored.score.clone();
        Some(Self { value, confidence, details, cost_msats, passed: scored.passed, note })
    }

    /// Returns the score. `None` if it was not stored by this library: a number of names that differs from that of
    /// results.
    pub(crate) fn restore(self) -> Option<Scored> {
        let Self { value, confidence, details, cost_msats, passed, note } = self;
        let note = match note {
            None => Note::None,
            Some(NoteSnapshot::Feedback) => Note::Feedback,
            Some(NoteSnapshot::Critique(critique)) => Note::Critique(Box::new(critique.restore())),
            Some(NoteSnapshot::Composite { names, results }) if names.len() == results.len() => {
                let results: Option<_> = results.into_iter().map(ResultSnapshot::restore).collect();
                let names = intern_all(names.iter().map(|name| &**name));
                Note::Composite(Components { names, results: results? })
            }
            Some(NoteSnapshot::Composite { .. }) => return None,
        };
        let score = MetricScore { value, confidence, details, cost_msats };
        Some(Scored { score, passed, note })
    }
}

impl NoteSnapshot {
    fn of_components(components: &Components) -> Option<Self> {
        let results: Option<_> = components.results.iter().map(ResultSnapshot::of).collect();
        let names = components.names.iter().map(|name| (*name).to_owned()).collect();
        Some(Self::Composite { names, results: results? })
    }
}

impl ResultSnapshot {
    fn of(result: &ComponentResult) -> Option<Self> {
        let outcome = match result.outcome() {
            None => None,
            Some(outcome) => Some(OutcomeSnapshot::of(&outcome)?),
        };
        Some(Self { outcome, cost_msats: result.cost_msats() })
    }

    fn restore(self) -> Option<ComponentResult> {
        let outcome = match self.outcome {
            None => None,
            Some(outcome) => Some(outcome.restore()?),
        };
        Some(ComponentResult::restored(outcome, self.cost_msats))
    }
}

impl CritiqueSnapshot {
    fn of(critique: &Critique) -> Option<Self> {
        let Critique { feedback, shares_details, metadata, parts, corpus, lost, missing } =
            critique.clone();
        let snapshot = Self { feedback, shares_details, metadata, parts, lost, missing };
        corpus.is_none().then_some(snapshot)
    }

    fn restore(self) -> Critique {
        let Self { feedback, shares_details, metadata, parts, lost, missing } = self;
        Critique { feedback, shares_details, metadata, parts, corpus: None, lost, missing }
    }
}
