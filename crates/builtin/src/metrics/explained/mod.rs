//! Explanations of built-in metrics. This file has the shared parts: quoted values, lists, first differences.
//!
//! Values come from rows of any size, so each is shortened, and each list has at most [`MAX_ITEMS`] items.

pub(super) mod answers;
pub(super) mod edits;
pub(super) mod matching;
pub(super) mod overlap;
pub(super) mod proxies;
pub(super) mod rag;
pub(super) mod retrieval;
pub(super) mod structured;
pub(super) mod trajectories;

use std::collections::HashMap;
use std::fmt::Write as _;

use smallvec::SmallVec;

use crate::messages::escape::{push_quoted, quoted};
use crate::stats::decimals::decimals;

/// The largest number of items of a list in an explanation.
const MAX_ITEMS: usize = 10;

/// The largest number of words that are compared one by one.
const FEW_WORDS: usize = 16;

/// Quotes the items of a list: `"a", "b" and 3 more`.
fn list<T: AsRef<str>>(items: &[T]) -> String {
    let mut list = String::new();
    push_list(&mut list, items, ", ");
    list
}

/// Quotes the accepted answers: `"a" or "b"`.
fn any_of<T: AsRef<str>>(answers: &[T]) -> String {
    let mut list = String::new();
    push_list(&mut list, answers, " or ");
    list
}

fn push_list<T: AsRef<str>>(list: &mut String, items: &[T], separator: &str) {
    for (number, item) in items.iter().take(MAX_ITEMS).enumerate() {
        list.push_str(if number == 0 { "" } else { separator });
        push_quoted(list, item.as_ref());
    }
    list.push_str(&more(String::new(), items.len()));
}

fn more(shown: String, count: usize) -> String {
    match count.saturating_sub(MAX_ITEMS) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Joins the parts that are not empty: `a; b`.
fn joined<const N: usize>(parts: [String; N]) -> String {
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts
        .reduce(|joined, part| joined + "; " + &part)
        .unwrap_or_default()
}

/// Returns `label: items`, or an empty string if the list is empty.
fn labelled<T: AsRef<str>>(label: &str, items: &[T]) -> String {
    if items.is_empty() {
        String::new()
    } else {
        format!("{label}: {}", list(items))
    }
}

/// Returns a count with its noun: `1 word`, `2 words`.
fn counted(count: usize, noun: &str) -> String {
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{count} {noun}s")
    }
}

/// Returns a number with at most four decimals.
pub(super) fn number(value: f64) -> String {
    let text = decimals(value, 4);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Words of two strings, compared as multisets.
struct Words<'a> {
    expected: usize,
    predicted: usize,
    /// The expected words that the prediction lacks, in order.
    missing: Vec<&'a str>,
    /// The predicted words that were not expected, in order.
    extra: Vec<&'a str>,
}

impl<'a> Words<'a> {
    fn new<T: AsRef<str>>(expected: &'a [T], predicted: &'a [T]) -> Self {
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

    /// Returns the F1 of the words in common.
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of words stay far below 2^53"
    )]
    fn f1(&self) -> f64 {
        let both = (self.expected + self.predicted).max(1);
        2.0 * (self.expected - self.missing.len()) as f64 / both as f64
    }

    /// Returns the counts, and the words that are missing or extra.
    fn describe(&self) -> String {
        let Self {
            expected,
            predicted,
            missing,
            extra,
        } = self;
        let words = if *expected == 1 {
            " word expected, "
        } else {
            " words expected, "
        };
        let both = expected - missing.len();
        let listed = missing.iter().chain(extra).take(2 * MAX_ITEMS);
        let length = listed.map(|word| word.len().min(80) + 8).sum::<usize>();
        let mut text = String::with_capacity(length + 64);
        for (number, what) in [
            (*expected, words),
            (*predicted, " predicted, "),
            (both, " in common"),
        ] {
            // Writing to a string cannot fail.
            let _ = write!(text, "{number}");
            text.push_str(what);
        }
        for (label, words) in [("; missing: ", missing), ("; extra: ", extra)] {
            if !words.is_empty() {
                text.push_str(label);
                push_list(&mut text, words, ", ");
            }
        }
        text
    }
}

/// Returns the words of one list that the other one lacks, in order.
fn without<'a, T: AsRef<str>>(words: &'a [T], others: &'a [T]) -> Vec<&'a str> {
    let (words, others) = (words.iter().map(T::as_ref), others.iter().map(T::as_ref));
    if others.len() <= FEW_WORDS {
        let mut left: SmallVec<[&str; FEW_WORDS]> = others.collect();
        let is_missing = |word: &&str| match left.iter().position(|other| other == word) {
            Some(found) => {
                left.swap_remove(found);
                false
            }
            None => true,
        };
        return words.filter(is_missing).collect();
    }
    let mut left: HashMap<&str, usize> = HashMap::new();
    others.for_each(|word| *left.entry(word).or_default() += 1);
    let is_missing = |word: &&str| match left.get_mut::<str>(word) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    words.filter(is_missing).collect()
}

/// Returns the first difference of two strings, with the following characters of both; empty if they are equal.
fn first_difference(expected: &str, found: &str) -> String {
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

/// Returns the index of the reference with the best score. One reference is not scored.
fn best<T>(references: &[T], score: impl Fn(&T) -> f64) -> usize {
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
