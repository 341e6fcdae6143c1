//! The strings that the kernels run on, from files of the repository that do not change.

/// English prose in ASCII.
const ENGLISH: &str = include_str!("../../../LICENSE-APACHE");

/// Pairs of a predicted and a reference answer, 39 characters each on average.
const PAIRS: &str = include_str!("../data/pairs.tsv");

/// The length of a long string in bytes.
pub(crate) const LONG: usize = 12_000;

/// Returns the languages of the long strings.
pub(crate) fn languages() -> [(&'static str, &'static str); 5] {
    [
        ("ascii", ENGLISH),
        ("cyrillic", include_str!("../data/ru.txt")),
        ("hindi", include_str!("../data/hi.txt")),
        ("vietnamese", include_str!("../data/vi.txt")),
        ("chinese", include_str!("../data/zh.txt")),
    ]
}

/// Returns short pairs of a prediction and a reference.
pub(crate) fn short() -> Vec<(String, String)> {
    let pair = |line: &str| {
        line.split_once('\t')
            .map(|(prediction, reference)| (prediction.into(), reference.into()))
    };
    PAIRS.lines().filter_map(pair).collect()
}

/// Repeats a string up to [`LONG`] bytes.
pub(crate) fn long(text: &str) -> String {
    let end = text.len().min(LONG);
    let repeated = text.repeat(LONG.div_ceil(end));
    let end = (0..=LONG).rev().find(|&end| repeated.is_char_boundary(end));
    repeated[..end.unwrap_or(0)].to_owned()
}

/// Returns a string that is equal to `text` after normalization, but not before: exact match cannot
/// stop early.
pub(crate) fn spelled_differently(text: &str) -> String {
    words(text, |at, word| match at {
        at if at % 7 == 3 => format!("{word},"),
        at if at % 7 == 5 => word.to_uppercase(),
        _ => word.to_owned(),
    })
}

/// Returns `text` with some words replaced, so that the overlap of tokens is partial.
pub(crate) fn reworded(text: &str) -> String {
    words(text, |at, word| match at {
        at if at % 5 == 2 => format!("{word}{}", at % 50),
        _ => word.to_owned(),
    })
}

fn words(text: &str, change: impl Fn(usize, &str) -> String) -> String {
    let words = text
        .split_whitespace()
        .enumerate()
        .map(|(at, word)| change(at, word));
    words.collect::<Vec<_>>().join(" ")
}
