//! Explanations of the metrics of answers: expected and found values, missing and extra words, first differences.
#![allow(
    clippy::needless_pass_by_value,
    reason = "an explanation takes the parameters of its metric function"
)]

use smallvec::SmallVec;

use super::{Words, any_of, best, counted, first_difference, joined, list, number, push_list};
use crate::messages::escape::{push_quoted, quoted};
use crate::metrics::answers::{StrOrList, StrOrNumber};
use crate::text::{DecimalMark, NumericOptions, PassageAnswers, Profile};

/// Explains an exact match, or how the answers differ.
fn exact_match(answers: StrOrList<'_>, prediction: &str, profile: Profile, score: f64) -> String {
    if score > 0.0 {
        let equal = match &*answers {
            [only] => Some(only),
            many => many
                .iter()
                .find(|answer| profile.em_score(prediction, answer)),
        };
        let equal = equal.map_or("", |answer| answer);
        let mut text = String::with_capacity(equal.len().min(128) + 32);
        text.push_str("exact match with ");
        push_quoted(&mut text, equal);
        return text;
    }
    let normalized = profile.normalize(prediction);
    let closest = best(&answers, |answer| profile.f1_score(prediction, answer));
    let closest = answers
        .get(closest)
        .map(|answer| profile.normalize(answer))
        .unwrap_or_default();
    // Strings that differ at once differ visibly.
    let is_similar = closest
        .chars()
        .next()
        .is_some_and(|first| normalized.starts_with(first));
    let length = answers.iter().map(|answer| answer.len() + 8).sum::<usize>() + prediction.len();
    let mut text = String::with_capacity(length.min(1024) + 24);
    text.push_str("expected ");
    push_list(&mut text, &answers, " or ");
    text.push_str(", found ");
    push_quoted(&mut text, prediction);
    match is_similar {
        true => joined([text, first_difference(&closest, &normalized)]),
        false => text,
    }
}

pub(in crate::metrics) fn answer_exact_match(
    answer: StrOrList<'_>,
    prediction: &str,
    frac: f64,
    profile: Profile,
    score: f64,
) -> String {
    if frac >= 1.0 {
        return exact_match(answer, prediction, profile, score);
    }
    let closest = best(&answer, |answer| profile.f1_score(prediction, answer));
    let f1 = answer
        .get(closest)
        .map_or(0.0, |answer| profile.f1_score(prediction, answer));
    let relation = if score > 0.0 { "reaches" } else { "is below" };
    let words = compared(&answer, prediction, profile, Profile::f1_score);
    format!(
        "the token F1 {} {relation} {}; {words}",
        number(f1),
        number(frac)
    )
}

/// Returns the words of the prediction compared with the words of the best reference.
pub(in crate::metrics) fn compared(
    answers: &StrOrList<'_>,
    prediction: &str,
    profile: Profile,
    score: fn(Profile, &str, &str) -> f64,
) -> String {
    let closest = best(answers, |answer| score(profile, prediction, answer));
    let Some(reference) = answers.get(closest) else {
        return String::new();
    };
    let (expected, predicted) = (profile.normalize(reference), profile.normalize(prediction));
    // Both lists in one, filled by `for_each`, which is faster than pulling one word at a time.
    let mut words = SmallVec::<[&str; 32]>::new();
    profile.split(&expected).for_each(|word| words.push(word));
    let expected = words.len();
    profile.split(&predicted).for_each(|word| words.push(word));
    let (expected, predicted) = words.split_at(expected);
    let words = Words::new(expected, predicted).describe();
    match answers.len() {
        1 => words,
        _ => format!("closest to {}: {words}", quoted(reference)),
    }
}

pub(in crate::metrics) fn hotpot_f1(
    answer: StrOrList<'_>,
    prediction: &str,
    profile: Profile,
    score: f64,
) -> String {
    let words = compared(&answer, prediction, profile, Profile::hotpot_f1_score);
    let is_label = score == 0.0
        && answer
            .iter()
            .any(|answer| profile.f1_score(prediction, answer) > 0.0);
    let rule = if is_label {
        "; yes, no and noanswer only match the same answer"
    } else {
        ""
    };
    format!("{words}{rule}")
}

pub(in crate::metrics) fn answer_passage_match(
    answer: StrOrList<'_>,
    context: StrOrList<'_>,
    profile: Profile,
    score: f64,
) -> String {
    if score == 0.0 {
        let passages = counted(context.len(), "passage");
        return format!("none of {passages} contains {}", any_of(&answer));
    }
    let in_passage = |passage: &str| {
        let found = |answer: &&_| PassageAnswers::new(profile, &[answer]).in_passage(passage);
        answer.iter().find(found).map(|answer| quoted(answer))
    };
    let found = context
        .iter()
        .enumerate()
        .find_map(|(at, it)| Some((at, in_passage(it)?)));
    let (at, found) = found.unwrap_or((0, list(&answer)));
    format!("passage {} contains {found}", at + 1)
}

pub(in crate::metrics) fn numeric_match(
    answer: StrOrNumber<'_>,
    prediction: StrOrNumber<'_>,
    abs_tolerance: f64,
    rel_tolerance: f64,
    decimal_mark: DecimalMark,
    percent_as_fraction: bool,
    _: f64,
) -> String {
    let options = NumericOptions {
        abs_tolerance,
        rel_tolerance,
        decimal_mark,
        percent_as_fraction,
    };
    let gold = options.last_number(answer.as_str());
    let gold = gold.map_or_else(String::new, |number| shortened(&number.to_string()));
    match options.last_number(prediction.as_str()) {
        Some(number) => format!("expected {gold}, found {}", shortened(&number.to_string())),
        None => format!(
            "expected {gold}, found no number in {}",
            quoted(prediction.as_str())
        ),
    }
}

/// Returns a number of any length, or its first digits.
fn shortened(number: &str) -> String {
    match number.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &number[..end]),
        None => number.to_owned(),
    }
}
