//! What labels mean: which are a pass, and how they are ordered.

use super::Options;
use super::error::AgreementError;
use super::rating::{Label, Rating};

/// Words that are a pass, with those that are none. Upper and lower case are the same.
const WORDS: [(&str, &str); 6] = [
    ("true", "false"),
    ("yes", "no"),
    ("pass", "fail"),
    ("passed", "failed"),
    ("correct", "incorrect"),
    ("good", "bad"),
];

/// Which labels are a pass.
pub(super) enum Passes {
    /// `true`, and the number 1.
    AsTheyStand,
    /// This word.
    Word(&'static str),
    /// What was said to be.
    Told(Vec<String>),
}

impl Passes {
    /// `None` where labels are no verdicts.
    pub(super) fn of(
        rows: &[(Rating, Label)],
        options: &Options,
    ) -> Result<Option<Self>, AgreementError> {
        let labels = || rows.iter().map(|(_, label)| label).filter(|label| !label.is_missing());
        if !options.positive.is_empty() {
            let told = Self::Told(options.positive.clone());
            let first = rows.iter().enumerate().find(|(_, (_, label))| !label.is_missing());
            return match first {
                Some((row, (_, label))) if !labels().any(|label| told.is_pass(label)) => {
                    let positive = options.positive.join("`, `");
                    Err(AgreementError::NoPositive { row, positive, label: label.to_string() })
                }
                _ => Ok(Some(told)),
            };
        }
        let as_they_stand = |label: &Label| match label {
            Label::Bool(_) => true,
            Label::Number(number) => options.scale.is_empty() && (*number == 0.0 || *number == 1.0),
            Label::Missing | Label::Text(_) => false,
        };
        if labels().all(as_they_stand) {
            return Ok(Some(Self::AsTheyStand));
        }
        if !options.scale.is_empty() {
            return Ok(None);
        }
        let is = |label: &Label, word: &str| match label {
            Label::Text(text) => text.trim().eq_ignore_ascii_case(word),
            _ => false,
        };
        let known = |(pass, fail): &&(&'static str, &'static str)| {
            labels().all(|label| is(label, pass) || is(label, fail))
        };
        if let Some((pass, _)) = WORDS.iter().find(known) {
            return Ok(Some(Self::Word(pass)));
        }
        // Classes by name need no verdicts; scores have nothing else to be compared with.
        let unclear =
            rows.iter().enumerate().find(|(_, (_, label))| matches!(label, Label::Text(_)));
        let scores = rows.iter().any(|(rating, _)| rating.score().is_some());
        match unclear {
            Some((row, (_, label))) if scores => {
                Err(AgreementError::TextLabels { row, label: label.to_string() })
            }
            _ => Ok(None),
        }
    }

    /// Whether the label is a pass; `None` without a label.
    pub(super) fn label(&self, label: &Label) -> Option<bool> {
        (!label.is_missing()).then(|| self.is_pass(label))
    }

    /// Whether a class by name is a pass.
    pub(super) fn class(&self, rating: &Rating) -> Option<bool> {
        match rating {
            Rating::Class(class) => Some(self.is_pass(&Label::Text(class.clone()))),
            _ => None,
        }
    }

    fn is_pass(&self, label: &Label) -> bool {
        match (self, label) {
            (Self::AsTheyStand, Label::Bool(label)) => *label,
            (Self::AsTheyStand, Label::Number(label)) => *label == 1.0,
            (Self::AsTheyStand, _) => false,
            (Self::Word(pass), label) => label.to_string().trim().eq_ignore_ascii_case(pass),
            (Self::Told(told), Label::Number(label)) => {
                told.iter().any(|told| told.trim().parse() == Ok(*label))
            }
            (Self::Told(told), label) => {
                let label = label.to_string();
                told.iter().any(|told| told.trim() == label.trim())
            }
        }
    }
}

/// Values in ascending order.
pub(super) struct Scale {
    values: Vec<(String, Option<f64>)>,
}

impl Scale {
    pub(super) fn of(names: &[String]) -> Self {
        let value = |name: &String| (name.clone(), name.trim().parse().ok());
        Self { values: names.iter().map(value).collect() }
    }

    /// All numbers that occur as label or score; `None` if one side has whole numbers and the other
    /// has not, so that they are hardly on one scale.
    pub(super) fn of_numbers(numbers: &[(usize, f64, f64)]) -> Option<Self> {
        let whole = |side: &dyn Fn(&(usize, f64, f64)) -> f64| {
            numbers.iter().all(|number| side(number).fract() == 0.0)
        };
        if whole(&|number| number.1) != whole(&|number| number.2) {
            return None;
        }
        // Both zeros are one value.
        let mut all: Vec<f64> =
            numbers.iter().flat_map(|(_, label, score)| [label + 0.0, score + 0.0]).collect();
        all.sort_unstable_by(f64::total_cmp);
        all.dedup();
        Some(Self {
            values: all.into_iter().map(|value| (value.to_string(), Some(value))).collect(),
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.values.iter().map(|(name, _)| name.clone()).collect()
    }

    pub(super) fn place_of_text(&self, row: usize, text: &str) -> Result<usize, AgreementError> {
        let place = self.values.iter().position(|(name, _)| name.trim() == text.trim());
        place.ok_or_else(|| self.missing(row, text))
    }

    pub(super) fn place_of_number(&self, row: usize, number: f64) -> Result<usize, AgreementError> {
        let place = self.values.iter().position(|(_, value)| *value == Some(number));
        place.ok_or_else(|| self.missing(row, &number.to_string()))
    }

    fn missing(&self, row: usize, value: &str) -> AgreementError {
        let scale = self.names().join(", ");
        AgreementError::NotOnScale { row, value: value.to_owned(), scale }
    }
}
