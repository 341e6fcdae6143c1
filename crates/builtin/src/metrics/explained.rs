//! The shared parts of built-in metrics' explanations: quoted values, lists, first differences.
//!
//! Rows may be of any size, so each value is shortened, and each list has at most [`MAX_ITEMS`] items.

use std::collections::HashMap;

use crate::messages::escape::quoted;
use crate::stats::decimals::decimals;

/// The maximum number of list items in an explanation.
pub(super) const MAX_ITEMS: usize = 10;

/// Quotes the items of a list: `"a", "b" and 3 more`.
pub(super) fn list<T: AsRef<str>>(items: &[T]) -> String {
    quoted_list(items, ", ")
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

/// Joins the parts that are not empty: `a; b`.
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

/// Words of two strings, compared as multisets.
pub(super) struct Words<'a> {
    pub(super) expected: usize,
    pub(super) predicted: usize,
    /// The expected words that the prediction lacks, in order.
    pub(super) missing: Vec<&'a str>,
    /// The predicted words that were not expected, in order.
    pub(super) extra: Vec<&'a str>,
}

impl<'a> Words<'a> {
    pub(super) fn new<T: AsRef<str>>(expected: &'a [T], predicted: &'a [T]) -> Self {
        let pairs = expected.iter().zip(predicted);
        let same = pairs
            .take_while(|(one, other)| one.as_ref() == other.as_ref())
            .count();
        let rest = (&expected[same..], &predicted[same..]);
        let (missing, extra) = (without(rest.0, rest.1), without(rest.1, rest.0));
        Self {
            expected: expected.len(),
            predicted: predicted.len(),
            missing,
            extra,
        }
    }

    /// Returns the F1 of the common words.
    #[expect(
        clippy::cast_precision_loss,
        reason = "word counts stay far below 2^53"
    )]
    pub(super) fn f1(&self) -> f64 {
        let both = (self.expected + self.predicted).max(1);
        2.0 * (self.expected - self.missing.len()) as f64 / both as f64
    }

    /// Returns the counts, and the missing or extra words.
    pub(super) fn describe(&self) -> String {
        let Self {
            expected,
            predicted,
            missing,
            extra,
        } = self;
        let both = expected - missing.len();
        let expected = counted(*expected, "word");
        joined([
            format!("{expected} expected, {predicted} predicted, {both} in common"),
            labelled("missing", missing),
            labelled("extra", extra),
        ])
    }
}

/// Returns the words of one list that the other lacks, in order.
fn without<'a, T: AsRef<str>>(words: &'a [T], others: &'a [T]) -> Vec<&'a str> {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for word in others {
        *left.entry(word.as_ref()).or_default() += 1;
    }
    let is_missing = |word: &&str| match left.get_mut::<str>(word) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    words.iter().map(T::as_ref).filter(is_missing).collect()
}

/// Returns the first difference between two strings, with the characters that follow in both; empty if they are equal.
pub(super) fn first_difference(expected: &str, found: &str) -> String {
    if expected == found {
        return String::new();
    }
    let same = expected
        .chars()
        .zip(found.chars())
        .take_while(|(a, b)| a == b);
    let (same, start) = same.fold((0, 0), |(same, start), (a, _)| {
        (same + 1, start + a.len_utf8())
    });
    let rest = |text: &str| match &text[start..] {
        "" => "the end".to_owned(),
        rest => quoted(
            rest.char_indices()
                .nth(20)
                .map_or(rest, |(end, _)| &rest[..end]),
        ),
    };
    format!(
        "first difference at character {}: expected {}, found {}",
        same + 1,
        rest(expected),
        rest(found)
    )
}

/// Returns the index of the reference with the best score. A single reference is not scored.
pub(super) fn best<T>(references: &[T], score: impl Fn(&T) -> f64) -> usize {
    if references.len() < 2 {
        return 0;
    }
    let scores = references.iter().map(score).enumerate();
    let best = scores.reduce(|best, next| if next.1 > best.1 { next } else { best });
    best.map_or(0, |(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::{Words, any_of, best, counted, first_difference, list, number};

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
        let many = words(&"b a ".repeat(20));
        let missing = |expected: &str, predicted: &[String]| {
            Words::new(&words(expected), predicted).missing.join(" ")
        };
        assert_eq!(missing("a b a c a", &words("a x a b")), "c a");
        assert_eq!(missing("c a b", &many), "c");
        assert_eq!(missing(&"a ".repeat(22), &many), "a a");
    }

    #[test]
    fn the_first_difference_is_by_character() {
        assert_eq!(
            first_difference("é東京", "é東"),
            "first difference at character 3: expected \"京\", found the end"
        );
        assert_eq!(first_difference("a", "a"), "");
    }

    #[test]
    fn the_first_of_the_best_references_counts() {
        assert_eq!(best(&[0.5, 1.0, 1.0], |score| *score), 1);
        assert_eq!(best::<f64>(&[], |score| *score), 0);
    }
}
