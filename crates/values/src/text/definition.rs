//! Step-by-step definitions of the n-gram metrics and edit distances, which test the fast paths in unit tests and in
//! the fuzz target `overlap`. The fuzz target includes this file, so the file imports nothing from the crate.

use std::collections::HashMap;
use std::hash::Hash;

use regex::Regex;

/// Counts, for each length up to `orders`, the matching n-grams of the first list, each clipped to the largest count in
/// any other list.
pub(crate) fn shared_ngrams<T: Eq + Hash, L: AsRef<[T]>>(lists: &[L], orders: usize) -> Vec<u64> {
    let shared = |order: usize| {
        let counts: Vec<_> = lists
            .iter()
            .map(|list| ngrams(list.as_ref(), order))
            .collect();
        let most = |gram| {
            counts[1..]
                .iter()
                .filter_map(|other| other.get(gram))
                .max()
                .copied()
        };
        counts[0]
            .iter()
            .map(|(gram, count)| (*count).min(most(gram).unwrap_or(0)))
            .sum()
    };
    (1..=orders).map(shared).collect()
}

fn ngrams<T: Eq + Hash>(list: &[T], order: usize) -> HashMap<&[T], u64> {
    let mut counts = HashMap::new();
    list.windows(order)
        .for_each(|gram| *counts.entry(gram).or_default() += 1);
    counts
}

/// Returns the length of a longest common subsequence, using the table of lengths for all prefixes.
pub(crate) fn common_subsequence<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    let mut row = vec![0; b.len() + 1];
    for a in a {
        let mut diagonal = 0;
        for (at, b) in b.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if a == b {
                diagonal + 1
            } else {
                above.max(row[at])
            };
            diagonal = above;
        }
    }
    row[b.len()]
}

/// Returns the number of insertions, deletions and substitutions, using the table of distances for all prefixes.
pub(crate) fn levenshtein<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (number, a) in a.iter().enumerate() {
        let mut diagonal = number;
        row[0] = number + 1;
        for (at, b) in b.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = (diagonal + usize::from(a != b))
                .min(above + 1)
                .min(row[at] + 1);
            diagonal = above;
        }
    }
    row[b.len()]
}

/// Splits a string into the words of `mteval-v13a`, as sacrebleu does.
pub(crate) fn v13a_words(text: &str) -> Vec<String> {
    let text = text.trim_end_matches(is_space).replace("<skipped>", "");
    let text = text
        .replace("-\n", "")
        .replace('\n', " ")
        .replace("&quot;", "\"");
    let text = text
        .replace("&amp;", "&")
        .replace("&lt;", "<")
        .replace("&gt;", ">");
    words_by_regexes(&format!(" {text} "))
}

/// Splits a string with the regular expressions of `sacrebleu.tokenizers.tokenizer_re`.
pub(crate) fn words_by_regexes(text: &str) -> Vec<String> {
    thread_local! {
        static RULES: [(Regex, &'static str); 4] = [
            (r"([\{-\~\[-\` -\&\(-\+\:-\@\/])", " $1 "),
            (r"([^0-9])([\.,])", "$1 $2 "),
            (r"([\.,])([^0-9])", " $1 $2"),
            (r"([0-9])(-)", "$1 $2 "),
        ]
        .map(|(rule, by)| (Regex::new(rule).expect("a regular expression"), by));
    }
    let text = RULES.with(|rules| {
        let replace =
            |text: String, (rule, by): &(Regex, &str)| rule.replace_all(&text, *by).into_owned();
        rules.iter().fold(text.to_owned(), replace)
    });
    text.split(is_space)
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns `true` for white space in Python, which includes four separators that Unicode does not count.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\x1c'..='\x1f')
}

/// Returns the counts for BLEU: two lengths, the matches of each order, and the prediction's n-grams of each order.
pub(crate) fn bleu_counts(
    prediction: &[String],
    references: &[Vec<String>],
    orders: usize,
) -> Vec<u64> {
    let length = prediction.len();
    let lengths = references.iter().map(Vec::len);
    let nearest = lengths
        .min_by_key(|other| (other.abs_diff(length), *other))
        .unwrap_or(0);
    let lists: Vec<&[String]> = std::iter::once(prediction)
        .chain(references.iter().map(Vec::as_slice))
        .collect();
    let mut counts = vec![length as u64, nearest as u64];
    counts.extend(shared_ngrams(&lists, orders));
    counts.extend((0..orders).map(|order| length.saturating_sub(order) as u64));
    counts
}

/// Returns the counts for chrF at each order: the number of n-grams in the prediction, in the reference, and in both.
pub(crate) fn chrf_counts<T: Eq + Hash>(
    prediction: &[T],
    reference: &[T],
    orders: usize,
) -> Vec<u64> {
    let shared = shared_ngrams(&[prediction, reference], orders);
    let triple = |(order, shared): (usize, u64)| {
        let [ours, theirs] = [prediction, reference].map(|list| list.len().saturating_sub(order));
        [
            if theirs > 0 { ours as u64 } else { 0 },
            theirs as u64,
            shared,
        ]
    };
    shared.into_iter().enumerate().flat_map(triple).collect()
}

/// Splits a string into the words of `rouge-score`: runs of ASCII letters and digits in the lower-cased string.
pub(crate) fn rouge_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns ROUGE precision, recall and F1, computed from the number of shared n-grams and the number on each side.
pub(crate) fn rouge_score(shared: u64, prediction: usize, reference: usize) -> [f64; 3] {
    if shared == 0 {
        return [0.0; 3];
    }
    let [precision, recall] = [prediction, reference].map(|side| shared as f64 / side as f64);
    [
        precision,
        recall,
        2.0 * precision * recall / (precision + recall),
    ]
}
