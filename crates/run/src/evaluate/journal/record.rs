//! The records of a journal, as JSON.

use std::borrow::{Borrow, Cow};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::identity::RunIdentity;
use crate::core::program_run::ProgramRun;
use crate::core::score::outcome::Outcome;
use crate::lm::LmReply;

/// The version of the format of the file. Since version 2 it has records of spending.
pub(super) const FORMAT: u32 = 2;

/// The oldest version that can be continued.
pub(super) const OLDEST_FORMAT: u32 = 1;

/// The first record.
#[derive(Serialize)]
pub(super) struct Header<'a> {
    pub(super) format: u32,
    pub(super) run: &'a RunIdentity,
}

/// The first record, read back. The rest of another version may have any form.
#[derive(Deserialize)]
pub(super) struct ReadHeader {
    pub(super) format: u32,
    pub(super) run: Value,
}

/// A record about one evaluation of a row. It has one of `program`, `reply` and `scores`. One that is written borrows the
/// outcomes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound(deserialize = "O: Deserialize<'de>"))]
pub(super) struct Record<'a, O = Outcome> {
    /// The position of the row in the input, from 0.
    pub(super) row: u64,
    /// The number of the repeat, from 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) repeat: u32,
    /// The fingerprint of the row's content.
    pub(super) fingerprint: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) program: Option<StoredProgram>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reply: Option<StoredReply>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scores: Option<StoredScores<O>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The prediction that a program returned, or its failure.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StoredProgram {
    Returned { prediction: StoredPrediction, run: ProgramRun },
    Failed(ProgramFailure),
}

/// Why a program returned no prediction.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct ProgramFailure {
    pub(crate) error: String,
    pub(crate) traceback: Option<String>,
    /// Whether the program returned no error: it panicked or was stopped, and `error` is a sentence about the program.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_interrupted: bool,
    /// The budget that did not cover a call of the program, in millisatoshis. Such a failure is not recorded.
    #[serde(skip)]
    pub(crate) budget_msats: Option<u64>,
}

/// A prediction.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredPrediction {
    pub(crate) value: Value,
    /// Whether its values are untyped strings, as the values of a CSV file are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_textual: bool,
}

/// A reply of a language model.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredReply {
    /// The hash of model and request, in hexadecimal digits.
    pub(super) key: String,
    pub(super) reply: LmReply,
    /// Whether the calls that it cost have records of their own, see [`Spending`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_spending: bool,
}

/// The amount that is reserved for a call under a budget before it is made, or the cost of the call. A call without the second
/// record counts with the reserved amount.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Spending {
    Reserved(CallCost),
    Settled(CallCost),
}

/// The number of a call, and its cost in millisatoshis.
#[derive(Serialize, Deserialize)]
pub(super) struct CallCost {
    pub(super) call: u64,
    pub(super) msats: u64,
    /// Whether it is the call of a metric under the gate of a run, and not the call of a model.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) of_gate: bool,
}

/// The outcomes of some metrics.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredScores<O = Outcome> {
    /// Each outcome with the position of its metric.
    pub(super) outcomes: Vec<(usize, O)>,
    /// The backtraces of the metrics that panicked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tracebacks: Vec<String>,
}

impl<O> Default for StoredScores<O> {
    fn default() -> Self {
        Self { outcomes: Vec::new(), tracebacks: Vec::new() }
    }
}

impl<O: Borrow<Outcome>> StoredScores<O> {
    /// Adds an outcome, unless it should be evaluated again: a row that the budget did not cover, or one that contributes to
    /// a score of all rows, since such a contribution is a type of the metric's author.
    pub(crate) fn add(&mut self, metric: usize, outcome: O, traceback: Option<&str>) {
        let added: &Outcome = outcome.borrow();
        if !added.is_skipped() && !added.has_contribution() {
            self.outcomes.push((metric, outcome));
            self.tracebacks.extend(traceback.map(str::to_owned));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.outcomes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::Record;

    #[test]
    fn the_first_of_the_repeats_is_written_without_a_number() {
        let written = |repeat| {
            let fingerprint = "f".into();
            let (program, reply, scores) = (None, None, None);
            let record = Record::<()> { row: 7, repeat, fingerprint, program, reply, scores };
            serde_json::to_string(&record).unwrap()
        };
        assert_eq!(written(0), r#"{"row":7,"fingerprint":"f"}"#);
        assert_eq!(written(1), r#"{"row":7,"repeat":1,"fingerprint":"f"}"#);
    }
}
