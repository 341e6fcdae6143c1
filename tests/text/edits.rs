//! Edit distances, compared with the crate `rapidfuzz` on strings of any script and length.

use dsrs_metrics::text::{EditCounts, EditDistance, Rouge, RougeOptions};
use proptest::prelude::*;
use rapidfuzz::distance::{indel, lcs_seq, levenshtein};

/// Strings around the lengths at which another number of machine words is needed, from few characters, so that many of
/// them are equal.
fn sequence(alphabet: &'static str) -> impl Strategy<Value = String> {
    let alphabet: Vec<char> = alphabet.chars().collect();
    let length = prop_oneof![
        4 => 0..20_usize,
        2 => 60..70_usize,
        2 => 120..200_usize,
        1 => 250..270_usize,
        1 => 500..800_usize,
    ];
    length.prop_flat_map(move |length| {
        let letter = prop::sample::select(alphabet.clone());
        prop::collection::vec(letter, length).prop_map(String::from_iter)
    })
}

/// Two strings that share some of their beginning and end.
fn sides() -> impl Strategy<Value = (String, String)> {
    let alphabets = [
        "ab",
        "abcdefgh \u{0}\u{7f}",
        "aé\u{e8}ë",
        "абв",
        "日本語a",
        "😀😁a\u{10ffff}",
    ];
    let ends = || prop_oneof![2 => Just(String::new()), 1 => any::<String>()];
    let parts = prop::sample::select(alphabets.to_vec())
        .prop_flat_map(|alphabet| (sequence(alphabet), sequence(alphabet)));
    (ends(), parts, ends())
        .prop_map(|(start, (a, b), end)| (format!("{start}{a}{end}"), format!("{start}{b}{end}")))
}

/// The similarity by definition: one minus the distance as a share of the whole, rounded once.
fn similarity(distance: usize, whole: usize) -> f64 {
    if whole == 0 {
        1.0
    } else {
        (whole - distance) as f64 / whole as f64
    }
}

/// `PROPTEST_CASES` can raise the number of cases.
fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: default.cases.max(1_000),
        failure_persistence: None,
        ..default
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn distances_of_strings_are_those_of_rapidfuzz((a, b) in sides()) {
        let (lengths, chars) = ([a.chars().count(), b.chars().count()], || (a.chars(), b.chars()));
        let edits = levenshtein::distance(chars().0, chars().1);
        let longer = lengths[0].max(lengths[1]);
        prop_assert_eq!(EditDistance::Levenshtein.similarity(&a, &b), similarity(edits, longer));
        let edits = indel::distance(chars().0, chars().1);
        let both = lengths[0] + lengths[1];
        prop_assert_eq!(EditDistance::Indel.similarity(&a, &b), similarity(edits, both));
        let (a, b) = (format!(".{a}."), format!(".{b}."));
        let edits = levenshtein::distance(a.chars(), b.chars());
        prop_assert_eq!(EditCounts::of_characters(&a, &b).edits, edits as u64);
    }

    #[test]
    fn distances_of_words_are_those_of_rapidfuzz(a in sequence("abcdefghij"), b in sequence("abcdefghijk")) {
        let words = |text: &str| text.chars().map(|c| format!("{c}{c} ")).collect::<String>();
        let counts = EditCounts::of_words(&words(&a), &words(&b));
        let edits = levenshtein::distance(a.chars(), b.chars());
        prop_assert_eq!((counts.edits, counts.length), (edits as u64, b.len() as u64));
        let shared = lcs_seq::similarity(a.chars(), b.chars());
        let score = Rouge::L.score(&words(&a), &[words(&b)], RougeOptions::default()).unwrap();
        let recall = if shared == 0 { 0.0 } else { shared as f64 / b.len() as f64 };
        prop_assert_eq!(score.recall, recall);
    }
}
