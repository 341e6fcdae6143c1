//! The common type of ratings and labels: verdicts, classes, or only an order. `statistics.rs`
//! computes the figures from it.

use std::collections::BTreeSet;

use super::figure::Note;
use super::options::Options;
use super::rating::{AgreementError, Label, Rating};
use super::scale::{PassingLabels, Scale};
use crate::messages::escape;
use crate::stats::{ConfusionMatrix, ErrorRates, Proportion, Stratum};

/// The maximum number of different values that are treated as classes.
const MAX_CLASSES: usize = 20;

type Row = (Rating, Label);

/// Counts over the rows that have both a rating and a label, or why there are none.
pub(super) struct Compared {
    pub(super) classes: Vec<String>,
    pub(super) matrix: Result<ConfusionMatrix, Note>,
    /// `true` if the classes have an order, which makes some disagreements worse than others.
    pub(super) ordered: bool,
    /// Scores and labels as numbers. Only their order matters.
    pub(super) ranked: Result<(Vec<f64>, Vec<f64>), Note>,
    pub(super) verdicts: Result<Verdicts, Note>,
}

/// Counts of verdicts, if ratings and labels are verdicts.
#[derive(Default)]
pub(super) struct Verdicts {
    pub(super) rates: ErrorRates,
    /// The rows that passed, with their labels.
    pub(super) passed: Stratum,
    /// The rows that failed, with their labels.
    pub(super) failed: Stratum,
}

impl Verdicts {
    fn record(&mut self, passed: bool, should_pass: Option<bool>) {
        let stratum = if passed {
            &mut self.passed
        } else {
            &mut self.failed
        };
        stratum.record(should_pass);
        if let Some(should_pass) = should_pass {
            self.rates.record(should_pass, passed);
        }
    }

    /// Returns the passes among all rows with a verdict.
    pub(super) fn passes(&self) -> Proportion {
        Proportion {
            successes: self.passed.rows,
            trials: self.passed.rows + self.failed.rows,
        }
    }

    /// Returns the passes among the rows with a verdict and a label.
    pub(super) fn labelled_passes(&self) -> Proportion {
        let (passed, failed) = (self.passed.labelled.trials, self.failed.labelled.trials);
        Proportion {
            successes: passed,
            trials: passed + failed,
        }
    }
}

pub(super) fn compare(rows: &[Row], options: &Options) -> Result<Compared, AgreementError> {
    validate(rows, options)?;
    let pairs = Pairs { rows, options };
    let passing = PassingLabels::of(rows, options)?;
    let are_classes = rows
        .iter()
        .any(|(rating, _)| matches!(rating, Rating::Class(_)));
    match passing {
        Some(passing) if are_classes && !options.positive.is_empty() => {
            Ok(pairs.verdicts(&passing, |rating| passing.class(rating)))
        }
        _ if are_classes => pairs.classes(),
        Some(passing) => Ok(pairs.scores_with_verdicts(&passing)),
        None => pairs.scores_with_scale(),
    }
}

/// Checks that every number is finite, and that all ratings are of one kind and all labels are of one kind.
pub(super) fn validate(rows: &[Row], options: &Options) -> Result<(), AgreementError> {
    if let Some(threshold) = options.threshold.filter(|threshold| !threshold.is_finite()) {
        let message = format!("expected a finite threshold, found {threshold}");
        return Err(AgreementError { row: None, message });
    }
    let mut label_kind = None;
    let mut scored = false;
    for (row, (rating, label)) in rows.iter().enumerate() {
        if let Some(score) = rating.score().filter(|score| !score.is_finite()) {
            let message = format!("expected a finite score, found {score}");
            return Err(AgreementError::at(row, message));
        }
        if let Label::Number(label) = *label
            && !label.is_finite()
        {
            let message =
                format!("expected a finite label, found {label}; omit the label if it is unknown");
            return Err(AgreementError::at(row, message));
        }
        scored |= rating.score().is_some();
        if !label.is_missing() {
            let other = *label_kind.get_or_insert(label.kind());
            if other != label.kind() {
                let (text, kind) = (label.to_string(), label.kind());
                let message = format!(
                    "expected {other} like the earlier labels, found `{}`, {kind}; omit the label if it is unknown",
                    escape::name(&text)
                );
                return Err(AgreementError::at(row, message));
            }
        }
    }
    let class = rows
        .iter()
        .enumerate()
        .find_map(|(row, (rating, _))| match rating {
            Rating::Class(class) => Some((row, class.clone())),
            _ => None,
        });
    match class {
        Some((row, class)) if scored => Err(AgreementError::at(
            row,
            format!(
                "expected a number, as in earlier rows, found the label `{}`",
                escape::name(&class)
            ),
        )),
        _ => Ok(()),
    }
}

struct Pairs<'a> {
    rows: &'a [Row],
    options: &'a Options,
}

impl Pairs<'_> {
    /// Returns the rows that have both a rating and a label, with their positions.
    fn compared(&self) -> impl Iterator<Item = (usize, &Rating, &Label)> {
        let rows = self.rows.iter().enumerate();
        rows.filter(|(_, (rating, label))| !rating.is_missing() && !label.is_missing())
            .map(|(row, (rating, label))| (row, rating, label))
    }

    /// Returns `true` if every score is 0 or 1.
    fn zero_or_one(&self) -> bool {
        let mut scores = self.rows.iter().filter_map(|(rating, _)| rating.score());
        scores.all(|score| score == 0.0 || score == 1.0)
    }

    /// Compares scores with labels that are verdicts: by verdict if every score has one, otherwise only by order.
    fn scores_with_verdicts(&self, passing: &PassingLabels) -> Compared {
        let zero_or_one = self.zero_or_one();
        let verdict = |rating: &Rating| self.options.verdict(rating, zero_or_one);
        let all = self
            .rows
            .iter()
            .all(|(rating, _)| rating.is_missing() || verdict(rating).is_some());
        if all {
            return self.verdicts(passing, verdict);
        }
        Compared {
            classes: Vec::new(),
            matrix: Err(Note::NO_VERDICT),
            ordered: false,
            ranked: Ok(self.ranked(passing, Rating::score)),
            verdicts: Err(Note::NO_VERDICT),
        }
    }

    /// Compares verdicts with verdicts.
    fn verdicts(
        &self,
        passing: &PassingLabels,
        verdict: impl Fn(&Rating) -> Option<bool>,
    ) -> Compared {
        let mut verdicts = Verdicts::default();
        let mut pairs = Vec::new();
        for (rating, label) in self.rows {
            let Some(passed) = verdict(rating) else {
                continue;
            };
            let should_pass = passing.label(label);
            verdicts.record(passed, should_pass);
            pairs.extend(should_pass.map(|label| (usize::from(label), usize::from(passed))));
        }
        let score = |rating: &Rating| rating.score().or_else(|| verdict(rating).map(f64::from));
        Compared {
            classes: vec!["fail".to_owned(), "pass".to_owned()],
            matrix: Ok(ConfusionMatrix::of(2, pairs)),
            ordered: true,
            ranked: Ok(self.ranked(passing, score)),
            verdicts: Ok(verdicts),
        }
    }

    /// Returns scores and labels as numbers. A label is its number, or its verdict as 0 or 1.
    fn ranked(
        &self,
        passing: &PassingLabels,
        score: impl Fn(&Rating) -> Option<f64>,
    ) -> (Vec<f64>, Vec<f64>) {
        let number = |label: &Label| match label {
            Label::Number(number) => Some(*number),
            label => passing.label(label).map(f64::from),
        };
        self.compared()
            .filter_map(|(_, rating, label)| Some((score(rating)?, number(label)?)))
            .unzip()
    }

    /// Compares scores with ordered labels: as classes if both are on one scale, otherwise only by order.
    fn scores_with_scale(&self) -> Result<Compared, AgreementError> {
        let scale = Scale::of(&self.options.scale);
        let mut ranked = (Vec::new(), Vec::new());
        for (row, rating, label) in self.compared() {
            ranked.0.extend(rating.score());
            ranked.1.push(match label {
                Label::Number(number) => *number,
                label => scale.position_of(row, &label.to_string())? as f64,
            });
        }
        let are_numbers = self
            .rows
            .iter()
            .any(|(_, label)| matches!(label, Label::Number(_)));
        let classes = if are_numbers {
            self.numeric_classes(&scale)?
        } else {
            Err(Note::NO_CLASSES)
        };
        let mut compared = Compared {
            classes: Vec::new(),
            matrix: Err(Note::NO_CLASSES),
            ordered: true,
            verdicts: Err(Note::NO_POSITIVE),
            ranked: Ok(ranked),
        };
        match classes {
            Ok((classes, pairs)) => {
                compared.matrix = Ok(ConfusionMatrix::of(classes.len(), pairs));
                compared.classes = classes;
            }
            Err(note) => compared.matrix = Err(note),
        }
        Ok(compared)
    }

    /// Returns the classes, and the class of each row's label and score, if both are numbers on one scale.
    #[expect(clippy::type_complexity, reason = "the type occurs only here")]
    fn numeric_classes(
        &self,
        scale: &Scale,
    ) -> Result<Result<(Vec<String>, Vec<(usize, usize)>), Note>, AgreementError> {
        let verdict =
            |rating: &Rating| matches!(rating, Rating::Verdict { .. } | Rating::Missing(_));
        let are_bools = self.zero_or_one() && self.rows.iter().all(|(rating, _)| verdict(rating));
        if are_bools || self.options.threshold.is_some() {
            return Ok(Err(Note::NO_POSITIVE));
        }
        let numbers: Vec<(usize, f64, f64)> = self
            .compared()
            .filter_map(|(row, rating, label)| match label {
                Label::Number(label) => Some((row, *label, rating.score()?)),
                _ => None,
            })
            .collect();
        let found;
        let scale = if scale.is_empty() {
            let Some(occurring) =
                Scale::of_numbers(&numbers).filter(|scale| scale.len() <= MAX_CLASSES)
            else {
                return Ok(Err(Note::NO_CLASSES));
            };
            found = occurring;
            &found
        } else {
            scale
        };
        let pairs = numbers.iter().map(|(row, label, score)| {
            Ok((
                scale.position_of_number(*row, *label)?,
                scale.position_of_number(*row, *score)?,
            ))
        });
        Ok(Ok((
            scale.names(),
            pairs.collect::<Result<_, AgreementError>>()?,
        )))
    }

    /// Compares named classes with string labels.
    fn classes(&self) -> Result<Compared, AgreementError> {
        let rated = |rating: &Rating| match rating {
            Rating::Class(class) => class.clone(),
            _ => String::new(),
        };
        let names: Vec<(usize, String, String)> = self
            .compared()
            .map(|(row, rating, label)| (row, label.to_string(), rated(rating)))
            .collect();
        let ordered = !self.options.scale.is_empty();
        let occurring: BTreeSet<&String> = names.iter().flat_map(|(_, a, b)| [a, b]).collect();
        let classes: Vec<String> = match ordered {
            true => self.options.scale.clone(),
            false => occurring.into_iter().cloned().collect(),
        };
        let scale = Scale::of(&classes);
        let mut pairs = Vec::with_capacity(names.len());
        for (row, label, rated) in &names {
            pairs.push((
                scale.position_of(*row, label)?,
                scale.position_of(*row, rated)?,
            ));
        }
        let positions = pairs
            .iter()
            .map(|(label, rated)| (*rated as f64, *label as f64))
            .unzip();
        let few = classes.len() <= MAX_CLASSES;
        let matrix = few
            .then(|| ConfusionMatrix::of(classes.len(), pairs))
            .ok_or(Note::NO_CLASSES);
        Ok(Compared {
            classes: if few { classes } else { Vec::new() },
            matrix,
            ordered,
            ranked: if ordered {
                Ok(positions)
            } else {
                Err(Note::NO_ORDER)
            },
            verdicts: Err(Note::NO_POSITIVE),
        })
    }
}
