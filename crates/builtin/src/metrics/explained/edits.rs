//! Explanations of error rates and edit similarity: edits, missing and extra words, first differences.
#![allow(
    clippy::needless_pass_by_value,
    reason = "an explanation takes the parameters of its metric function"
)]

use std::borrow::Cow;

use super::{Words, best, counted, first_difference, joined};
use crate::metrics::StrOrList;
use crate::metrics::edits::sides;
use crate::text::{EditCounts, EditDistance, NormalForm, split};

/// Returns the number of edits, from the rate of a row and the length of its reference.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "lengths of strings stay far below 2^53, and a rate is not negative"
)]
fn edits(rate: f64, length: usize) -> usize {
    (rate * length.max(1) as f64).round() as usize
}

pub(in crate::metrics) fn wer(
    answer: StrOrList<'_>,
    prediction: &str,
    lowercase: bool,
    form: NormalForm,
    score: f64,
) -> Option<String> {
    let (prediction, references) = sides(prediction, &answer, form, lowercase);
    let rate = |text: &Cow<'_, str>| -EditCounts::of_words(&prediction, text).rate();
    let reference = references.get(best(&references, rate))?;
    let [expected, predicted] =
        [reference, &prediction].map(|text| split(text).collect::<Vec<_>>());
    let words = Words::new(&expected, &predicted);
    let edits = counted(edits(score, words.expected), "edit");
    let order = words.missing.is_empty() && words.extra.is_empty() && score > 0.0;
    let order = if order {
        "; the same words in another order"
    } else {
        ""
    };
    Some(format!("{edits}; {}{order}", words.describe()))
}

pub(in crate::metrics) fn cer(
    answer: StrOrList<'_>,
    prediction: &str,
    lowercase: bool,
    form: NormalForm,
    score: f64,
) -> Option<String> {
    let (prediction, references) = sides(prediction, &answer, form, lowercase);
    let rate = |text: &Cow<'_, str>| -EditCounts::of_characters(&prediction, text).rate();
    let (prediction, reference) = (
        prediction.trim(),
        references.get(best(&references, rate))?.trim(),
    );
    let length = reference.chars().count();
    Some(joined([
        format!(
            "{} in {}",
            counted(edits(score, length), "edit"),
            counted(length, "character")
        ),
        first_difference(reference, prediction),
    ]))
}

pub(in crate::metrics) fn edit_similarity(
    answer: StrOrList<'_>,
    prediction: &str,
    distance: EditDistance,
    lowercase: bool,
    form: NormalForm,
    _: f64,
) -> Option<String> {
    let (prediction, references) = sides(prediction, &answer, form, lowercase);
    let closest = best(&references, |text| distance.similarity(&prediction, text));
    let reference = references.get(closest)?;
    let characters = |text: &str| counted(text.chars().count(), "character");
    Some(joined([
        format!(
            "{} expected, {} predicted",
            characters(reference),
            prediction.chars().count()
        ),
        first_difference(reference, &prediction),
    ]))
}
