//! The meaning of labels: which labels mean a pass, and how labels are ordered.

use super::AgreementBuilder;
use super::rating::{AgreementError, Label, Rating};
use crate::messages::escape;

/// Word pairs for pass and failure, compared without case.
const VERDICT_WORDS: [(&str, &str); 6] = [
    ("true", "false"),
    ("yes", "no"),
    ("pass", "fail"),
    ("passed", "failed"),
    ("correct", "incorrect"),
    ("good", "bad"),
];

/// Parses a word such as `pass` or `no` as a verdict.
///
/// Returns `None` if the word is not a known verdict.
#[doc(hidden)]
pub fn verdict_word(word: &str) -> Option<bool> {
    let word = word.trim();
    VERDICT_WORDS.iter().find_map(|(pass, fail)| {
        let is_pass = word.eq_ignore_ascii_case(pass);
        (is_pass || word.eq_ignore_ascii_case(fail)).then_some(is_pass)
    })
}

/// Which labels mean a pass.
pub(super) enum PassingLabels {
    /// `true`, and the number 1.
    TrueOrOne,
    /// One of the [`VERDICT_WORDS`].
    Word(&'static str),
    /// The labels listed in the option `positive`.
    Listed(Vec<String>),
}

impl PassingLabels {
    /// Returns how to interpret these labels, or `None` if they are not verdicts.
    pub(super) fn of(
        rows: &[(Rating, Label)],
        options: &AgreementBuilder,
    ) -> Result<Option<Self>, AgreementError> {
        let numbered = || {
            let labels = rows.iter().map(|(_, label)| label).enumerate();
            labels.filter(|(_, label)| !label.is_missing())
        };
        let labels = || numbered().map(|(_, label)| label);
        if !options.positive.is_empty() {
            let listed = Self::Listed(options.positive.clone());
            return match numbered().next() {
                Some((row, label)) if !labels().any(|label| listed.is_pass(label)) => {
                    let positive = options.positive.join("`, `");
                    let message = format!(
                        "expected a passing label (`{}`) in at least one row, found `{}`",
                        escape::escaped(&positive),
                        escape::name(&label.to_string())
                    );
                    Err(AgreementError::at(row, message))
                }
                _ => Ok(Some(listed)),
            };
        }
        let is_verdict = |label: &Label| match label {
            Label::Bool(_) => true,
            Label::Number(number) => options.scale.is_empty() && (*number == 0.0 || *number == 1.0),
            Label::Missing | Label::Class(_) => false,
        };
        if labels().all(is_verdict) {
            return Ok(Some(Self::TrueOrOne));
        }
        if !options.scale.is_empty() {
            return Ok(None);
        }
        let is = |label: &Label, word: &str| match label {
            Label::Class(class) => class.trim().eq_ignore_ascii_case(word),
            _ => false,
        };
        let known = |(pass, fail): &&(&'static str, &'static str)| {
            labels().all(|label| is(label, pass) || is(label, fail))
        };
        if let Some((pass, _)) = VERDICT_WORDS.iter().find(known) {
            return Ok(Some(Self::Word(pass)));
        }
        // Named classes need no verdicts. Scores can be compared with string labels only as
        // verdicts.
        let unclear = numbered().find(|(_, label)| matches!(label, Label::Class(_)));
        let scores = rows.iter().any(|(rating, _)| rating.score().is_some());
        match unclear {
            Some((row, label)) if scores => Err(AgreementError::at(
                row,
                format!(
                    "cannot compare scores with labels such as `{}`; name the passing labels (positive) or the order of all labels (scale)",
                    escape::name(&label.to_string())
                ),
            )),
            _ => Ok(None),
        }
    }

    /// Returns the verdict of a label; `None` without a label.
    pub(super) fn label(&self, label: &Label) -> Option<bool> {
        (!label.is_missing()).then(|| self.is_pass(label))
    }

    /// Returns the verdict of a rating that is a named class.
    pub(super) fn class(&self, rating: &Rating) -> Option<bool> {
        match rating {
            Rating::Class(class) => Some(self.is_pass(&Label::Class(class.clone()))),
            _ => None,
        }
    }

    fn is_pass(&self, label: &Label) -> bool {
        match (self, label) {
            (Self::TrueOrOne, Label::Bool(label)) => *label,
            (Self::TrueOrOne, Label::Number(label)) => *label == 1.0,
            (Self::TrueOrOne, _) => false,
            (Self::Word(pass), label) => label.to_string().trim().eq_ignore_ascii_case(pass),
            (Self::Listed(listed), Label::Number(label)) => listed
                .iter()
                .any(|listed| listed.trim().parse() == Ok(*label)),
            (Self::Listed(listed), label) => {
                let label = label.to_string();
                listed.iter().any(|listed| listed.trim() == label.trim())
            }
        }
    }
}

/// Classes in ascending order. Each has a name, and a number if the name is one.
pub(super) struct Scale(Vec<(String, Option<f64>)>);

impl Scale {
    pub(super) fn of(names: &[String]) -> Self {
        let value = |name: &String| (name.clone(), name.trim().parse().ok());
        Self(names.iter().map(value).collect())
    }

    /// Returns all numbers that occur as label or score. `None` if only the labels or only the scores are all whole
    /// numbers, because they are then unlikely to be on one scale.
    pub(super) fn of_numbers(numbers: &[(usize, f64, f64)]) -> Option<Self> {
        let are_whole = |values: [bool; 2], (_, label, score): &(usize, f64, f64)| {
            [
                values[0] && label.fract() == 0.0,
                values[1] && score.fract() == 0.0,
            ]
        };
        let [labels, scores] = numbers.iter().fold([true; 2], are_whole);
        if labels != scores {
            return None;
        }
        // Adding 0 makes -0 and 0 the same value.
        let all = numbers.iter();
        let all = all.flat_map(|(_, label, score)| [label + 0.0, score + 0.0]);
        let mut all: Vec<f64> = all.collect();
        all.sort_unstable_by(f64::total_cmp);
        all.dedup();
        let values = all.into_iter();
        Some(Self(
            values
                .map(|value| (value.to_string(), Some(value)))
                .collect(),
        ))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Returns the position of the class with this name.
    pub(super) fn position_of(&self, row: usize, name: &str) -> Result<usize, AgreementError> {
        self.position(row, name, |(other, _)| other.trim() == name.trim())
    }

    /// Returns the position of the class with this number.
    pub(super) fn position_of_number(
        &self,
        row: usize,
        number: f64,
    ) -> Result<usize, AgreementError> {
        let name = number.to_string();
        self.position(row, &name, |(_, value)| *value == Some(number))
    }

    fn position(
        &self,
        row: usize,
        value: &str,
        is_class: impl FnMut(&(String, Option<f64>)) -> bool,
    ) -> Result<usize, AgreementError> {
        self.0.iter().position(is_class).ok_or_else(|| {
            let scale = self.names().join(", ");
            let (scale, value) = (escape::escaped(&scale), escape::name(value));
            let message = format!("expected a value of the scale {scale}, found `{value}`");
            AgreementError::at(row, message)
        })
    }
}
