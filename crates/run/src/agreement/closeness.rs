//! How close each rating is to its label, to compare two judges row by row.

use super::builder::AgreementBuilder;
use super::compare::validate;
use super::error::AgreementError;
use super::rating::{Label, Rating};
use super::scale::PassingLabels;

/// How close each rating is to its label; `None` without a rating or label.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq)]
pub enum Closeness {
    /// Labels are verdicts: whether the verdict of the rating is the label.
    Right(Vec<Option<bool>>),
    /// Labels are numbers: the absolute difference between score and label.
    Difference(Vec<Option<f64>>),
    /// Labels are verdicts, and a score has none.
    NoVerdict,
}

impl AgreementBuilder {
    /// Returns how close each rating is to its label. Verdicts are found as by [`of`](Self::of).
    ///
    /// # Errors
    /// [`AgreementError`] if a number is not finite, or if values cannot be compared.
    #[doc(hidden)]
    pub fn closeness(&self, rows: &[(Rating, Label)]) -> Result<Closeness, AgreementError> {
        validate(rows, &self.0)?;
        let passing = PassingLabels::of(rows, &self.0)?;
        let mut scores = rows.iter().filter_map(|(rating, _)| rating.score());
        let zero_or_one = scores.all(|score| score == 0.0 || score == 1.0);
        let verdict = |rating: &Rating| self.0.verdict(rating, zero_or_one);
        let has_verdict =
            |(rating, _): &(Rating, Label)| rating.is_missing() || verdict(rating).is_some();
        if let Some(passing) = passing.filter(|_| rows.iter().all(has_verdict)) {
            let is_right =
                |(rating, label): &(Rating, Label)| Some(verdict(rating)? == passing.label(label)?);
            return Ok(Closeness::Right(rows.iter().map(is_right).collect()));
        }
        if rows
            .iter()
            .any(|(_, label)| matches!(label, Label::Bool(_) | Label::Class(_)))
        {
            return Ok(Closeness::NoVerdict);
        }
        let difference = |(rating, label): &(Rating, Label)| match label {
            Label::Number(label) => Some((rating.score()? - label).abs()),
            _ => None,
        };
        Ok(Closeness::Difference(rows.iter().map(difference).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::Agreement;

    #[test]
    fn labels_and_verdicts_determine_the_measure() {
        let verdict = |passed| Rating::from(passed);
        let rows = [
            (verdict(true), Label::from("yes")),
            (verdict(true), Label::from("no")),
            (verdict(true), Label::Missing),
            (Rating::from(None::<bool>), Label::from("no")),
        ];
        let builder = Agreement::builder();
        let right = Closeness::Right(vec![Some(true), Some(false), None, None]);
        assert_eq!(builder.closeness(&rows).unwrap(), right);
        let grades = [
            (Rating::Score(3.5), Label::Number(5.0)),
            (Rating::Score(2.0), Label::Number(2.0)),
        ];
        let differences = Closeness::Difference(vec![Some(1.5), Some(0.0)]);
        assert_eq!(builder.closeness(&grades).unwrap(), differences);
        let scores = [
            (Rating::Score(0.7), Label::Bool(true)),
            (Rating::Score(0.2), Label::Bool(true)),
        ];
        assert_eq!(builder.closeness(&scores).unwrap(), Closeness::NoVerdict);
        let passes = Closeness::Right(vec![Some(true), Some(false)]);
        assert_eq!(
            builder.clone().threshold(0.5).closeness(&scores).unwrap(),
            passes
        );
    }
}
