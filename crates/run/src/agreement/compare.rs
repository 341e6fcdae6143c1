//! The common type of ratings and labels: verdicts, classes, or only an order. `statistics.rs`
//! computes the figures from it.

use std::collections::BTreeSet;

use super::AgreementBuilder;
use super::rating::{AgreementError, Label, Rating};
use super::{PassingLabels, position, scale_of};
use crate::messages::escape;
use crate::stats::{ConfusionMatrix, ErrorRates, Proportion, Stratum};

// Why figures are undefined.
pub(super) const NO_ORDER: &str = "undefined: the classes have no order; set a scale";
const NO_VERDICT: &str = "undefined: the scores have no verdict; set a threshold";
const NO_POSITIVE: &str =
    "undefined: the labels are not verdicts; name the passing labels (positive)";
const NO_CLASSES: &str = "undefined: the scores and labels do not share a scale with few values";

/// The maximum number of different values that are treated as classes.
const MAX_CLASSES: usize = 20;

type Row = (Rating, Label);
type Matrix = Result<(Vec<String>, ConfusionMatrix), &'static str>;

/// Counts over the rows that have both a rating and a label, or the reason they are undefined.
pub(super) struct Compared {
    /// The names of the classes, and how often each was given for each label.
    pub(super) matrix: Matrix,
    /// `true` if the classes have an order, which makes some disagreements worse than others.
    pub(super) ordered: bool,
    /// Scores and labels as numbers. Only their order matters.
    pub(super) ranked: Result<(Vec<f64>, Vec<f64>), &'static str>,
    pub(super) verdicts: Result<Verdicts, &'static str>,
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
        match passed {
            true => self.passed.record(should_pass),
            false => self.failed.record(should_pass),
        }
        if let Some(should_pass) = should_pass {
            self.rates.record(should_pass, passed);
        }
    }

    /// Counts the passes among all rows with a verdict.
    pub(super) fn passes(&self) -> Proportion {
        Proportion {
            successes: self.passed.rows,
            trials: self.passed.rows + self.failed.rows,
        }
    }

    /// Counts the passes among the rows with both a verdict and a label.
    pub(super) fn labelled_passes(&self) -> Proportion {
        let (passed, failed) = (self.passed.labelled.trials, self.failed.labelled.trials);
        Proportion {
            successes: passed,
            trials: passed + failed,
        }
    }
}

/// Checks that every number is finite, that all ratings are of one kind, and that all labels are of one kind.
fn validate(rows: &[Row], options: &AgreementBuilder) -> Result<(), AgreementError> {
    if let Some(threshold) = options.threshold.filter(|threshold| !threshold.is_finite()) {
        let message = format!("expected a finite threshold, found {threshold}");
        return Err(AgreementError { row: None, message });
    }
    let has_scores = rows.iter().any(|(rating, _)| rating.score().is_some());
    let mut label_kind = None;
    let mut check = |(rating, label): &Row| {
        if let Some(score) = rating.score().filter(|score| !score.is_finite()) {
            return Err(format!("expected a finite score, found {score}"));
        }
        if let Label::Number(label) = label
            && !label.is_finite()
        {
            return Err(format!(
                "expected a finite label, found {label}; omit the label if it is unknown"
            ));
        }
        let kind = label.kind();
        let other = match label {
            Label::Missing => kind,
            _ => *label_kind.get_or_insert(kind),
        };
        if other != kind {
            let text = label.to_string();
            return Err(format!(
                "expected {other} like the earlier labels, found `{}`, {kind}; omit the label if it is unknown",
                escape::name(&text)
            ));
        }
        match rating {
            Rating::Class(class) if has_scores => Err(format!(
                "expected a number, as in earlier rows, found the label `{}`",
                escape::name(class)
            )),
            _ => Ok(()),
        }
    };
    let mut rows = rows.iter().enumerate();
    rows.try_for_each(|(row, pair)| check(pair).map_err(|message| AgreementError::at(row, message)))
}

/// Ratings and labels that have been validated.
pub(super) struct Pairs<'a> {
    rows: &'a [Row],
    options: &'a AgreementBuilder,
    /// Which labels mean a pass, if the labels are verdicts.
    pub(super) passing: Option<PassingLabels>,
    /// `true` if every score is 0 or 1.
    zero_or_one: bool,
}

impl<'a> Pairs<'a> {
    pub(super) fn of(
        rows: &'a [Row],
        options: &'a AgreementBuilder,
    ) -> Result<Self, AgreementError> {
        validate(rows, options)?;
        let mut scores = rows.iter().filter_map(|(rating, _)| rating.score());
        Ok(Self {
            rows,
            options,
            passing: PassingLabels::of(rows, options)?,
            zero_or_one: scores.all(|score| score == 0.0 || score == 1.0),
        })
    }

    pub(super) fn compare(&self) -> Result<Compared, AgreementError> {
        let mut ratings = self.rows.iter().map(|(rating, _)| rating);
        match &self.passing {
            Some(passing) if self.have_verdicts() => Ok(self.verdicts(passing)),
            _ if ratings.any(|rating| matches!(rating, Rating::Class(_))) => self.classes(),
            // Scores without verdicts are compared only by order.
            Some(passing) => Ok(Compared {
                matrix: Err(NO_VERDICT),
                ordered: false,
                ranked: Ok(self.ranked(passing)),
                verdicts: Err(NO_VERDICT),
            }),
            None => self.scores_with_scale(),
        }
    }

    /// Returns a rating's verdict, if it has one. A named class has a verdict only if the passing labels are set.
    pub(super) fn verdict(&self, rating: &Rating) -> Option<bool> {
        let Some(score) = rating.score() else {
            let is_named = !self.options.positive.is_empty();
            return self.passing.as_ref().filter(|_| is_named)?.class(rating);
        };
        match (self.options.threshold, rating) {
            (Some(threshold), _) if self.options.lower_is_better => Some(score <= threshold),
            (Some(threshold), _) => Some(score >= threshold),
            (None, Rating::Verdict { passed, .. }) => Some(*passed),
            (None, _) => self.zero_or_one.then_some(score == 1.0),
        }
    }

    /// Returns `true` if every rating has a verdict. Missing ratings are ignored.
    pub(super) fn have_verdicts(&self) -> bool {
        let mut ratings = self.rows.iter().map(|(rating, _)| rating);
        ratings.all(|rating| rating.is_missing() || self.verdict(rating).is_some())
    }

    /// Returns the rows that have both a rating and a label, with their positions.
    fn compared(&self) -> impl Iterator<Item = (usize, &Rating, &Label)> {
        let rows = self.rows.iter().enumerate();
        rows.filter(|(_, (rating, label))| !rating.is_missing() && !label.is_missing())
            .map(|(row, (rating, label))| (row, rating, label))
    }

    /// Compares ratings that are verdicts with labels that are verdicts.
    fn verdicts(&self, passing: &PassingLabels) -> Compared {
        let mut verdicts = Verdicts::default();
        let mut pairs = Vec::new();
        for (rating, label) in self.rows {
            let Some(passed) = self.verdict(rating) else {
                continue;
            };
            let should_pass = passing.label(label);
            verdicts.record(passed, should_pass);
            pairs.extend(should_pass.map(|label| (usize::from(label), usize::from(passed))));
        }
        let classes = vec!["fail".to_owned(), "pass".to_owned()];
        Compared {
            matrix: Ok((classes, ConfusionMatrix::of(2, pairs))),
            ordered: true,
            ranked: Ok(self.ranked(passing)),
            verdicts: Ok(verdicts),
        }
    }

    /// Returns scores and labels as numbers. A class becomes its verdict, 0 or 1. A label becomes its number or its
    /// verdict.
    fn ranked(&self, passing: &PassingLabels) -> (Vec<f64>, Vec<f64>) {
        let score = |rating: &Rating| {
            let verdict = || self.verdict(rating).map(f64::from);
            rating.score().or_else(verdict)
        };
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
        let mut ranked = (Vec::new(), Vec::new());
        for (row, rating, label) in self.compared() {
            ranked.0.extend(rating.score());
            ranked.1.push(match label {
                Label::Number(number) => *number,
                label => position(&self.options.scale, row, label)? as f64,
            });
        }
        let mut labels = self.rows.iter().map(|(_, label)| label);
        let are_numbers = labels.any(|label| matches!(label, Label::Number(_)));
        Ok(Compared {
            matrix: match are_numbers {
                true => self.numeric_classes()?,
                false => Err(NO_CLASSES),
            },
            ordered: true,
            verdicts: Err(NO_POSITIVE),
            ranked: Ok(ranked),
        })
    }

    /// Returns the classes and their counts, if labels and scores are numbers on one scale.
    fn numeric_classes(&self) -> Result<Matrix, AgreementError> {
        let is_verdict =
            |(rating, _): &Row| matches!(rating, Rating::Verdict { .. } | Rating::Missing(_));
        let are_bools = self.zero_or_one && self.rows.iter().all(is_verdict);
        if are_bools || self.options.threshold.is_some() {
            return Ok(Err(NO_POSITIVE));
        }
        let numbers = self
            .compared()
            .filter_map(|(row, rating, label)| match label {
                Label::Number(label) => Some((row, *label, rating.score()?)),
                _ => None,
            });
        let numbers: Vec<(usize, f64, f64)> = numbers.collect();
        let scale = match &*self.options.scale {
            [] => scale_of(&numbers).filter(|scale| scale.len() <= MAX_CLASSES),
            scale => Some(scale.to_vec()),
        };
        let Some(scale) = scale else {
            return Ok(Err(NO_CLASSES));
        };
        let mut pairs = Vec::with_capacity(numbers.len());
        for (row, label, score) in numbers {
            let label = position(&scale, row, &Label::Number(label))?;
            pairs.push((label, position(&scale, row, &Label::Number(score))?));
        }
        let matrix = ConfusionMatrix::of(scale.len(), pairs);
        Ok(Ok((scale, matrix)))
    }

    /// Compares named classes with string labels.
    fn classes(&self) -> Result<Compared, AgreementError> {
        let names = self.compared().map(|(row, rating, label)| {
            let rated = match rating {
                Rating::Class(class) => class.clone(),
                _ => String::new(),
            };
            (row, [label.to_string(), rated].map(Label::Class))
        });
        let names = Vec::from_iter(names);
        let ordered = !self.options.scale.is_empty();
        let classes: Vec<String> = match ordered {
            true => self.options.scale.clone(),
            false => {
                let occurring = names.iter().flat_map(|(_, names)| names);
                let occurring: BTreeSet<String> = occurring.map(Label::to_string).collect();
                occurring.into_iter().collect()
            }
        };
        let mut pairs = Vec::with_capacity(names.len());
        for (row, [label, rated]) in &names {
            let label = position(&classes, *row, label)?;
            pairs.push((label, position(&classes, *row, rated)?));
        }
        let positions = pairs.iter();
        let positions = positions.map(|(label, rated)| (*rated as f64, *label as f64));
        let positions = positions.unzip();
        let few = classes.len() <= MAX_CLASSES;
        let matrix = few.then(|| ConfusionMatrix::of(classes.len(), pairs));
        let matrix = matrix.map(|matrix| (classes, matrix));
        Ok(Compared {
            matrix: matrix.ok_or(NO_CLASSES),
            ordered,
            ranked: ordered.then_some(positions).ok_or(NO_ORDER),
            verdicts: Err(NO_POSITIVE),
        })
    }
}
