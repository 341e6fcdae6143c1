//! BLEU, chrF, ROUGE and edit distances against their step-by-step definitions, which unit tests of the library use too.
//!
//! The first byte selects options. Lines with `~` separate the prediction and its references.
#![no_main]

#[path = "../../crates/values/src/text/definition.rs"]
mod definition;

use definition::{
    bleu_counts, chrf_counts, common_subsequence, is_space, levenshtein, rouge_score, rouge_words,
    shared_ngrams, v13a_words,
};
use dsrs_metrics::text::{
    BleuOptions, BleuTokens, ChrfOptions, EditCounts, EditDistance, NormalForm, Rouge,
    RougeOptions, RougeTokens,
};
use dsrs_metrics_fuzz::{SEPARATOR, choice_and_text};
use libfuzzer_sys::fuzz_target;

/// The definitions take time proportional to the product of both lengths.
const MAX_BYTES: usize = 700;

fuzz_target!(|data: &[u8]| {
    let Some((choice, text)) = choice_and_text(data) else {
        return;
    };
    if text.len() > MAX_BYTES {
        return;
    }
    let texts: Vec<&str> = text.split(SEPARATOR).take(10).collect();
    let [prediction, references @ ..] = &texts[..] else {
        return;
    };
    if references.is_empty() {
        return;
    }
    bleu(choice, prediction, references);
    for reference in references {
        chrf(choice, prediction, reference);
        rouge(prediction, reference);
        words_of_options(choice, prediction, reference);
        edits(prediction, reference);
    }
});

fn composed(text: &str) -> String {
    NormalForm::Nfc.apply(text).into_owned()
}

fn bleu(choice: u8, prediction: &str, references: &[&str]) {
    let (tokens, words): (_, fn(&str) -> Vec<String>) = match choice & 3 {
        0 | 1 => (BleuTokens::V13a, v13a_words),
        2 => (BleuTokens::Char, |text| {
            text.chars()
                .filter(|c| !is_space(*c))
                .map(String::from)
                .collect()
        }),
        _ => (BleuTokens::None, |text| {
            text.split(is_space)
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect()
        }),
    };
    let max_order = 1 + usize::from(choice >> 2 & 7);
    let options = BleuOptions {
        tokens,
        max_order,
        ..BleuOptions::default()
    };
    let theirs: Vec<_> = references
        .iter()
        .map(|text| words(&composed(text)))
        .collect();
    let expected = bleu_counts(&words(&composed(prediction)), &theirs, max_order);
    assert_eq!(
        options.counts(prediction, references),
        Ok(expected),
        "{tokens:?} {max_order}"
    );
}

fn chrf(choice: u8, prediction: &str, reference: &str) {
    let (whitespace, char_order) = (choice & 1 != 0, 1 + usize::from(choice >> 1 & 7));
    let options = ChrfOptions {
        whitespace,
        char_order,
        ..ChrfOptions::default()
    };
    let [ours, theirs] = [prediction, reference].map(|text| -> Vec<char> {
        composed(text)
            .chars()
            .filter(|c| whitespace || !is_space(*c))
            .collect()
    });
    let expected = chrf_counts(&ours, &theirs, char_order);
    assert_eq!(
        options.counts(prediction, &[reference]),
        Ok(expected),
        "{options:?}"
    );
}

fn rouge(prediction: &str, reference: &str) {
    let [ours, theirs] = [prediction, reference].map(rouge_words);
    let compare = |rouge: Rouge, expected: [f64; 3]| {
        let score = rouge.score(prediction, &[reference], RougeOptions::default());
        let found = score.map(|score| [score.precision, score.recall, score.f1]);
        assert_eq!(
            found,
            Ok(expected),
            "{rouge:?} of {prediction:?} and {reference:?}"
        );
    };
    for order in 1..5 {
        let shared = shared_ngrams(&[&ours, &theirs], order)[order - 1];
        let [ours, theirs] = [&ours, &theirs].map(|words| words.len().saturating_sub(order - 1));
        compare(Rouge::N(order), rouge_score(shared, ours, theirs));
    }
    let shared = common_subsequence(&ours, &theirs) as u64;
    compare(Rouge::L, rouge_score(shared, ours.len(), theirs.len()));
}

/// Words are compared without making them strings. Those that are returned as strings have the same score.
fn words_of_options(choice: u8, prediction: &str, reference: &str) {
    let tokens = if choice & 1 == 0 {
        RougeTokens::Ascii
    } else {
        RougeTokens::Unicode
    };
    let options = RougeOptions {
        tokens,
        use_stemmer: choice & 2 == 0,
    };
    let [ours, theirs] = [prediction, reference].map(|text| options.words(text));
    let shared = shared_ngrams(&[&ours, &theirs], 1)[0];
    let expected = rouge_score(shared, ours.len(), theirs.len());
    let score = Rouge::N(1).score(prediction, &[reference], options);
    let found = score.map(|score| [score.precision, score.recall, score.f1]);
    assert_eq!(
        found,
        Ok(expected),
        "{options:?} of {prediction:?} and {reference:?}"
    );
}

fn edits(prediction: &str, reference: &str) {
    let share_left = |distance: usize, whole: usize| match whole {
        0 => 1.0,
        _ => (whole - distance) as f64 / whole as f64,
    };
    let characters = |text: &str| text.chars().collect::<Vec<_>>();
    let [ours, theirs] = [prediction, reference].map(characters);
    let expected = share_left(levenshtein(&ours, &theirs), ours.len().max(theirs.len()));
    assert_eq!(
        EditDistance::Levenshtein.similarity(prediction, reference),
        expected
    );
    let both = ours.len() + theirs.len();
    let expected = share_left(both - 2 * common_subsequence(&ours, &theirs), both);
    assert_eq!(
        EditDistance::Indel.similarity(prediction, reference),
        expected
    );

    let counts = |edits: usize, length: usize| EditCounts {
        edits: edits as u64,
        length: length as u64,
    };
    let [ours, theirs] =
        [prediction, reference].map(|text| characters(text.trim_matches(is_space)));
    let expected = counts(levenshtein(&ours, &theirs), theirs.len());
    assert_eq!(EditCounts::of_characters(prediction, reference), expected);
    let [ours, theirs] = [prediction, reference].map(|text| -> Vec<&str> {
        text.split(is_space)
            .filter(|word| !word.is_empty())
            .collect()
    });
    let expected = counts(levenshtein(&ours, &theirs), theirs.len());
    assert_eq!(EditCounts::of_words(prediction, reference), expected);
}
