//! What the explanations of built-in metrics share: quoted values, lists, words in common.
//!
//! Rows can be of any size, so each value is shortened, and each list has at most [`MAX_ITEMS`] items.

use std::collections::HashSet;

use foldhash::HashMap;

use crate::messages::escape::quoted;
use crate::retrieval::{Relevant, Retrieved};
use crate::stats::decimals;

/// The maximum number of list items in an explanation.
pub(super) const MAX_ITEMS: usize = 10;

/// Quotes the items of a list: `"a", "b" and 3 more`.
pub(super) fn list<T: AsRef<str>>(items: &[T]) -> String {
    quoted_list(items, ", ")
}

/// Lists the accepted answers, and shows what was found instead.
pub(super) fn expected_and_found<T: AsRef<str>>(answers: &[T], found: &str) -> String {
    format!("expected {}, found {}", any_of(answers), quoted(found))
}

/// Quotes the accepted answers: `"a" or "b"`.
pub(super) fn any_of<T: AsRef<str>>(answers: &[T]) -> String {
    quoted_list(answers, " or ")
}

fn quoted_list<T: AsRef<str>>(items: &[T], separator: &str) -> String {
    let shown = items.iter().take(MAX_ITEMS).map(|it| quoted(it.as_ref()));
    more(shown.collect::<Vec<_>>().join(separator), items.len())
}

pub(super) fn more(shown: String, count: usize) -> String {
    match count.saturating_sub(MAX_ITEMS) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Joins the parts that are not empty, as in `a; b`.
pub(super) fn joined<const N: usize>(parts: [String; N]) -> String {
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts
        .reduce(|joined, part| joined + "; " + &part)
        .unwrap_or_default()
}

/// Returns `label: items`, or an empty string if the list is empty.
pub(super) fn labelled<T: AsRef<str>>(label: &str, items: &[T]) -> String {
    match items {
        [] => String::new(),
        items => format!("{label}: {}", list(items)),
    }
}

/// Returns a count with its noun: `1 word`, `2 words`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Returns a number with at most four decimals.
pub(super) fn number(value: f64) -> String {
    let text = decimals(value, 4);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Compares the prediction's words with those of the reference that shares the most words with it. Repeated words
/// count.
pub(super) fn compared_words<T: AsRef<str>>(
    references: &[T],
    prediction: &str,
    words: impl Fn(&str) -> Vec<String>,
) -> String {
    let found = words(prediction);
    let in_common = |reference: &T| share_in_common(&words(reference.as_ref()), &found);
    // The first of the best references wins.
    let references_from_last = references.iter().rev();
    let closest = references_from_last.max_by(|a, b| in_common(a).total_cmp(&in_common(b)));
    let Some(reference) = closest else {
        return String::new();
    };
    let expected = words(reference.as_ref());
    let [missing, extra] = differences(&expected, &found);
    let common = expected.len() - missing.len();
    let (wanted, predicted) = (counted(expected.len(), "word"), found.len());
    let compared = joined([
        format!("{wanted} expected, {predicted} predicted, {common} in common"),
        labelled("missing", &missing),
        labelled("extra", &extra),
    ]);
    match references.len() {
        1 => compared,
        _ => format!("closest to {}: {compared}", quoted(reference.as_ref())),
    }
}

/// Returns the F1 of the words in common.
#[expect(
    clippy::cast_precision_loss,
    reason = "word counts stay far below 2^53"
)]
fn share_in_common(expected: &[String], found: &[String]) -> f64 {
    let common = expected.len() - differences(expected, found)[0].len();
    2.0 * common as f64 / (expected.len() + found.len()).max(1) as f64
}

/// Lists the relevant documents that are not among the first `depth` retrieved ones.
pub(super) fn compared_ids(
    relevant: &Relevant<'_>,
    retrieved: &Retrieved<'_>,
    depth: Option<usize>,
) -> String {
    let depth = depth.unwrap_or(usize::MAX);
    let retrieved: HashSet<&str> = retrieved.iter().take(depth).collect();
    let ids = relevant.ids().into_iter();
    let (found, missing): (Vec<&str>, Vec<&str>) = ids.partition(|id| retrieved.contains(id));
    let (found, all) = (found.len(), found.len() + missing.len());
    let among = retrieved.len();
    joined([
        format!("{found} of {all} relevant among {among} retrieved"),
        labelled("not found", &missing),
    ])
}

/// Returns the words in each list that the other list lacks, in order.
fn differences<'a>(expected: &'a [String], found: &'a [String]) -> [Vec<&'a str>; 2] {
    let mut left = HashMap::<&str, usize>::default();
    for word in found {
        *left.entry(word).or_default() += 1;
    }
    let mut take = |word: &str| {
        let count = left.get_mut(word).filter(|count| **count > 0);
        count.map(|count| *count -= 1).is_some()
    };
    let expected = expected.iter().map(String::as_str);
    let missing = expected.filter(|word| !take(word)).collect();
    let found = found.iter().rev().map(String::as_str);
    let mut extra = Vec::from_iter(found.filter(|word| take(word)));
    extra.reverse();
    [missing, extra]
}

#[cfg(test)]
mod tests {
    use super::{any_of, compared_words, counted, differences, list, number};

    #[test]
    fn lists_are_bounded() {
        let many: Vec<String> = (0..12).map(|number| number.to_string()).collect();
        assert!(list(&many).ends_with("\"9\" and 2 more"));
        assert_eq!(any_of(&["a", "b"]), r#""a" or "b""#);
        assert_eq!(
            [counted(1, "word"), counted(0, "word")],
            ["1 word", "0 words"]
        );
        assert_eq!(
            [number(2.0 / 3.0), number(1.0), number(0.0)],
            ["0.6667", "1", "0"]
        );
    }

    #[test]
    fn words_are_compared_as_multisets() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let missing = |expected: &str, predicted: &str| {
            differences(&words(expected), &words(predicted))[0].join(" ")
        };
        assert_eq!(missing("a b a c a", "a x a b"), "c a");
        let (expected, found) = (words("b"), words("b x b a"));
        assert_eq!(differences(&expected, &found)[1], ["x", "b", "a"]);
        assert_eq!(missing("c a b", &"b a ".repeat(20)), "c");
        assert_eq!(missing(&"a ".repeat(22), &"b a ".repeat(20)), "a a");
        assert_eq!(
            compared_words(&["a b", "b c"], "c c", words),
            r#"closest to "b c": 2 words expected, 2 predicted, 1 in common; missing: "b"; extra: "c""#
        );
        let compared = compared_words(&["x", "b c", "c b"], "b c", words);
        assert!(compared.starts_with(r#"closest to "b c""#), "{compared}");
        assert_eq!(compared_words::<String>(&[], "a", words), "");
    }
}
