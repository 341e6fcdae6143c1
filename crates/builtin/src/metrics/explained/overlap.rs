//! Explanations of BLEU, chrF and ROUGE: precisions, brevity penalty, recall, missing and extra words.
#![allow(
    clippy::needless_pass_by_value,
    reason = "an explanation takes the parameters of its metric function"
)]

use super::{Words, best, joined, number};
use crate::messages::escape::quoted;
use crate::metrics::StrOrList;
use crate::metrics::overlap::RougeWords;
use crate::text::{BleuOptions, ChrfOptions};

pub(in crate::metrics) fn bleu(counts: &[u64]) -> Option<String> {
    let (lengths, grams) = counts.split_first_chunk::<2>()?;
    let (matches, totals) = grams.split_at_checked(grams.len() / 2)?;
    let precisions: Vec<String> = matches
        .iter()
        .zip(totals)
        .filter(|(_, total)| **total > 0)
        .map(|(matches, total)| format!("{matches}/{total}"))
        .collect();
    let [predicted, expected] = lengths;
    Some(joined([
        match precisions.is_empty() {
            true => String::new(),
            false => format!("n-gram precisions {}", precisions.join(", ")),
        },
        format!(
            "brevity penalty {}",
            number(BleuOptions::brevity_penalty(counts))
        ),
        format!("{predicted} words predicted, {expected} expected"),
    ]))
}

pub(in crate::metrics) fn chrf(counts: &[u64], char_order: usize) -> Option<String> {
    let (precision, recall) = ChrfOptions::precision_and_recall(counts)?;
    let sizes = counts.first_chunk::<3>().filter(|_| char_order > 0);
    Some(joined([
        format!(
            "mean n-gram precision {}, recall {}",
            number(precision),
            number(recall)
        ),
        sizes.map_or_else(String::new, |[predicted, expected, shared]| {
            format!("{predicted} characters predicted, {expected} expected, {shared} in common")
        }),
    ]))
}

/// Explains every ROUGE by the words that both sides share.
pub(in crate::metrics) fn rouge(
    answer: StrOrList<'_>,
    prediction: &str,
    words: &RougeWords,
    score: f64,
) -> Option<String> {
    let options = words.options();
    let ours = options.words(prediction);
    let f1 = |reference: &str| Words::new(&options.words(reference), &ours).f1();
    let reference = answer.get(best(&answer, |reference| f1(reference)))?;
    let expected = options.words(reference);
    let words = Words::new(&expected, &ours);
    let order = words.missing.is_empty() && words.extra.is_empty() && score < 1.0;
    let order = if order && words.expected > 0 {
        "; the same words in another order"
    } else {
        ""
    };
    let closest = match answer.len() {
        1 => String::new(),
        _ => format!("closest to {}: ", quoted(reference)),
    };
    Some(format!("{closest}{}{order}", words.describe()))
}
