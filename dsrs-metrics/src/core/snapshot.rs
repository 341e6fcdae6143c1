//! Outcomes as a journal stores them: everything that a result shows, so that a restored outcome equals the original.
//!
//! Scores are in `score/snapshot.rs`. A contribution to a score of all rows is not stored: its state is a type of the
//! metric's author. Such a metric is evaluated again.

use std::borrow::Cow;
use std::error::Error as _;

use serde::{Deserialize, Serialize};

use crate::core::counted::Counted;
use crate::core::error::{FieldError, MetricError, MetricErrorKind};
use crate::core::outcome::Outcome;
use crate::core::score::ScoreSnapshot;
use crate::core::spec::{ScoreRange, Side};

/// An [`Outcome`] as JSON.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OutcomeSnapshot {
    Scored(ScoreSnapshot),
    Gated { by: String },
    Skipped { budget: u64, cost_msats: u64 },
    Abstained,
    MetricFailed(ErrorSnapshot),
    ProgramFailed(String),
}

/// A [`MetricError`] as JSON, with the error of the component that caused it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ErrorSnapshot {
    metric: String,
    #[serde(with = "Kind")]
    kind: MetricErrorKind,
    #[serde(default)]
    cost_msats: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    component: Option<Box<ErrorSnapshot>>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "MetricErrorKind", rename_all = "snake_case")]
enum Kind {
    Field {
        side: Side,
        #[serde(with = "Field")]
        error: FieldError,
    },
    Row {
        side: Side,
        expected: String,
        reason: String,
    },
    NotFinite {
        #[serde(with = "any_float")]
        value: f64,
    },
    OutOfRange {
        #[serde(with = "any_float")]
        value: f64,
        range: ScoreRange,
    },
    Failed {
        message: String,
    },
    Panicked {
        message: String,
    },
    TimedOut {
        seconds: f64,
    },
    Gated {
        by: String,
    },
    OverBudget {
        budget_msats: u64,
    },
    MissingComponent {
        component: String,
        reason: String,
    },
    Abstained,
    #[serde(skip)]
    Counted(Counted),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "FieldError", rename_all = "snake_case")]
enum Field {
    Missing { field: Cow<'static, str>, present: Vec<String> },
    Null { field: Cow<'static, str>, expected: Cow<'static, str> },
    WrongType { field: Cow<'static, str>, expected: Cow<'static, str>, found: String },
}

/// NaN and infinities are not JSON numbers, so these values are stored as strings.
mod any_float {
    use serde::{Deserialize, Deserializer, Serializer, de};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(super) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{value:?}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

impl OutcomeSnapshot {
    /// Returns the outcome as it is stored, or `None` if a part of it is code.
    pub(crate) fn of(outcome: &Outcome) -> Option<Self> {
        Some(match outcome {
            Outcome::Scored(scored) => Self::Scored(ScoreSnapshot::of(scored)?),
            Outcome::Gated { by } => Self::Gated { by: by.clone() },
            Outcome::Skipped { budget, cost_msats } => {
                Self::Skipped { budget: *budget, cost_msats: *cost_msats }
            }
            Outcome::Counted(_) => return None,
            Outcome::Abstained => Self::Abstained,
            Outcome::MetricFailed { error } => Self::MetricFailed(ErrorSnapshot::of(error)?),
            Outcome::ProgramFailed { error } => Self::ProgramFailed(error.to_string()),
        })
    }

    /// Returns the outcome; `None` if it was not stored by this library.
    pub(crate) fn restore(self) -> Option<Outcome> {
        Some(match self {
            Self::Scored(scored) => Outcome::Scored(scored.restore()?),
            Self::Gated { by } => Outcome::Gated { by },
            Self::Skipped { budget, cost_msats } => Outcome::Skipped { budget, cost_msats },
            Self::Abstained => Outcome::Abstained,
            Self::MetricFailed(error) => Outcome::MetricFailed { error: error.restore() },
            Self::ProgramFailed(error) => Outcome::ProgramFailed { error: error.into() },
        })
    }
}

impl ErrorSnapshot {
    fn of(error: &MetricError) -> Option<Self> {
        if matches!(error.kind(), MetricErrorKind::Counted(_)) {
            return None;
        }
        let component = error.source().and_then(|source| source.downcast_ref::<MetricError>());
        Some(Self {
            metric: error.metric().to_owned(),
            kind: error.kind().clone(),
            cost_msats: error.cost_msats(),
            component: component.and_then(Self::of).map(Box::new),
        })
    }

    fn restore(self) -> MetricError {
        let error = MetricError::new(self.metric, self.kind).with_cost_msats(self.cost_msats);
        error.with_component_error(self.component.map(|component| component.restore()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::core::corpus::CorpusCounts;
    use crate::core::score::{MetricScore, Scored};
    use crate::core::spec::MetricSpec;

    fn restored(outcome: &Outcome) -> Outcome {
        let text = serde_json::to_string(&OutcomeSnapshot::of(outcome).unwrap()).unwrap();
        serde_json::from_str::<OutcomeSnapshot>(&text).unwrap().restore().unwrap()
    }

    fn failed(kind: MetricErrorKind) -> Outcome {
        Outcome::MetricFailed { error: MetricError::new("m", kind).with_cost_msats(7) }
    }

    #[test]
    fn restored_outcomes_equal_the_original() {
        let spec = MetricSpec::new("m");
        let score = MetricScore::new(0.1 + 0.2).with_details("why").with_confidence(1.0 / 3.0);
        let scored = Scored::validated(score.with_cost_msats(u64::MAX), &spec).unwrap();
        let (side, field) = (Side::Pred, "answer".into());
        let wrong = FieldError::WrongType { field, expected: "bool".into(), found: "7".into() };
        let outcomes = [
            Outcome::Scored(scored.clone().explained("because".to_owned())),
            Outcome::Scored(scored),
            Outcome::Gated { by: "em".to_owned() },
            Outcome::Skipped { budget: 5, cost_msats: 3 },
            Outcome::Abstained,
            Outcome::ProgramFailed { error: "no \"answer\"\n\u{1b}".into() },
            failed(MetricErrorKind::Field { side, error: wrong }),
            failed(MetricErrorKind::OutOfRange { value: 1e308, range: ScoreRange::UNIT }),
            failed(MetricErrorKind::NotFinite { value: f64::NEG_INFINITY }),
            failed(MetricErrorKind::TimedOut { seconds: 0.25 }),
        ];
        for outcome in &outcomes {
            assert_eq!(restored(outcome), *outcome);
        }
    }

    #[test]
    fn nan_is_restored_as_nan() {
        let error = restored(&failed(MetricErrorKind::NotFinite { value: f64::NAN })).error();
        assert_eq!(error.unwrap(), "metric `m`: the score NaN is not a finite number");
    }

    #[test]
    fn the_error_of_a_component_is_restored() {
        let inner = MetricError::new("part", MetricErrorKind::Abstained);
        let (component, reason) = ("part".to_owned(), inner.to_string());
        let error =
            MetricError::new("all", MetricErrorKind::MissingComponent { component, reason });
        let outcome = Outcome::MetricFailed { error: error.with_component_error(Some(inner)) };
        let Outcome::MetricFailed { error } = restored(&outcome) else { unreachable!() };
        assert_eq!(error.source().unwrap().to_string(), "metric `part` abstained");
    }

    #[test]
    fn counts_of_a_corpus_are_not_stored() {
        let scored = Scored::validated(MetricScore::new(1.0), &MetricSpec::new("m")).unwrap();
        let counts = CorpusCounts::new([1, 2], |counts: &[u64]| Some(counts[0] as f64));
        let outcome = Outcome::Scored(scored.with_corpus(counts));
        assert!(OutcomeSnapshot::of(&outcome).is_none());
    }

    #[test]
    fn a_score_with_fewer_results_than_names_is_not_restored() {
        let note = json!({ "composite": { "names": ["a", "b"], "results": [] } });
        let value = json!({ "scored": { "value": 1.0, "note": note } });
        let snapshot: OutcomeSnapshot = serde_json::from_value(value).unwrap();
        assert!(snapshot.restore().is_none());
    }
}
