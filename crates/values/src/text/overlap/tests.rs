//! Tests BLEU, chrF and ROUGE of hostile strings against their definitions.

use proptest::prelude::*;

use super::{BleuOptions, BleuSmoothing, ChrfOptions, Rouge, RougeOptions, RougeTokens, bleu};
use crate::text::definition::{
    bleu_counts, chrf_counts, common_subsequence, is_space, rouge_score, rouge_words,
    shared_ngrams, v13a_words,
};
use crate::text::{NormalForm, f1_score};

/// Pieces whose order, neighbours and repetition matter.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(vec![
            "a", "b", "ab", "The", " ", " ", "\t", "\n", "\x1c", "-", ".", ",", "1", "2", "'", "&amp;", "<skipped>",
            "cats", "running", "international", "internationaliz", "internationalize", "internationalization",
            "INTERNATIONALIZATION", "é", "e\u{301}", "K", "İ", "ß", "ΑΣ", "文", "字", "क्षि", "😀", "\0", "_", "\u{a0}",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => "[a-c ]{0,70}",
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Returns a prediction and references, some of them similar to it.
fn texts() -> impl Strategy<Value = (String, Vec<String>)> {
    let like = |prediction: String| {
        let other = (text(), 0_u8..4).prop_map(move |(other, kind)| match kind {
            0 => prediction.clone(),
            1 => format!("{prediction}{other}"),
            2 => format!("{other} {prediction}"),
            _ => other,
        });
        prop::collection::vec(other, 1..4)
    };
    text().prop_flat_map(move |prediction| (Just(prediction.clone()), like(prediction)))
}

fn composed(text: &str) -> String {
    NormalForm::Nfc.apply(text).into_owned()
}

proptest! {
    #[test]
    fn bleu_counts_are_those_of_the_definition((prediction, references) in texts()) {
        let words = |text: &String| v13a_words(&composed(text));
        let references_words: Vec<_> = references.iter().map(words).collect();
        let expected = bleu_counts(&words(&prediction), &references_words, 4);
        prop_assert_eq!(BleuOptions::default().counts(&prediction, &references), Ok(expected));
    }

    #[test]
    fn chrf_counts_are_those_of_the_definition(
        (prediction, references) in texts(),
        whitespace in any::<bool>(),
    ) {
        let options = ChrfOptions { whitespace, ..ChrfOptions::default() };
        let characters = |text: &String| -> Vec<char> {
            composed(text).chars().filter(|c| whitespace || !is_space(*c)).collect()
        };
        for reference in &references {
            let expected = chrf_counts(&characters(&prediction), &characters(reference), 6);
            prop_assert_eq!(options.counts(&prediction, &[reference]), Ok(expected));
        }
    }

    #[test]
    fn rouge_scores_are_those_of_the_definition((prediction, references) in texts()) {
        let ours = rouge_words(&prediction);
        for reference in &references {
            let theirs = rouge_words(reference);
            let found = |rouge: Rouge| {
                let score = rouge.score(&prediction, &[reference], RougeOptions::default());
                score.map(|score| [score.precision, score.recall, score.f1])
            };
            for order in 1..5 {
                let shared = shared_ngrams(&[&ours, &theirs], order)[order - 1];
                let [ours, theirs] = [&ours, &theirs].map(|list| list.len().saturating_sub(order - 1));
                prop_assert_eq!(found(Rouge::N(order)), Ok(rouge_score(shared, ours, theirs)));
            }
            let shared = common_subsequence(&ours, &theirs) as u64;
            let expected = rouge_score(shared, ours.len(), theirs.len());
            prop_assert_eq!(found(Rouge::L), Ok(expected));
        }
    }

    #[test]
    fn rouge_compares_the_words_that_its_options_return((prediction, references) in texts()) {
        for (tokens, use_stemmer) in
            [(RougeTokens::Ascii, true), (RougeTokens::Unicode, false), (RougeTokens::Unicode, true)]
        {
            let options = RougeOptions { tokens, use_stemmer };
            for reference in &references {
                let (ours, theirs) = (options.words(&prediction), options.words(reference));
                let shared = shared_ngrams(&[&ours, &theirs], 1)[0];
                let [_, _, f1] = rouge_score(shared, ours.len(), theirs.len());
                let found = Rouge::N(1).score(&prediction, &[reference], options);
                prop_assert_eq!(found.map(|score| score.f1), Ok(f1));
            }
        }
    }
}

#[test]
fn stems_are_not_the_tokens_of_other_scores() {
    // Both kinds of replaced words are kept for the next strings of the thread.
    let words = ("internationalizations", "internationalization");
    let stems = RougeOptions {
        use_stemmer: true,
        ..RougeOptions::default()
    };
    for _ in 0..2 {
        let rouge = Rouge::N(1).score(words.0, &[words.1], stems);
        assert_eq!(rouge.map(|score| score.f1), Ok(1.0));
        assert_eq!(f1_score(words.0, words.1), 0.0);
    }
}

#[test]
fn bleu_of_a_short_prediction_is_lowered_by_the_brevity_penalty() {
    let penalty = |prediction, reference| bleu::brevity([prediction, reference]);
    // The penalty is e^(1 - reference / prediction).
    assert_eq!(penalty(2, 4), (-1_f64).exp());
    assert_eq!(penalty(0, 4), 0.0);
    for (prediction, reference) in [(4, 4), (4, 2), (0, 0)] {
        assert_eq!(penalty(prediction, reference), 1.0);
    }
}

#[test]
fn bleu_of_a_corpus_has_no_match_of_orders_longer_than_the_prediction() {
    // Two words equal to the reference: the lengths, the matches of each order, and the totals.
    let counts = [2, 2, 2, 1, 0, 0, 2, 1, 0, 0];
    let options = BleuOptions {
        smoothing: BleuSmoothing::None,
        ..BleuOptions::default()
    };
    assert_eq!(options.score(&counts, true), 1.0);
    assert_eq!(options.score(&counts, false), 0.0);
    assert_eq!(options.score(&[4, 4, 4, 3, 2, 1, 4, 3, 2, 1], false), 1.0);
    // No pair of three words matches.
    assert_eq!(options.score(&[3, 3, 3, 0, 0, 0, 3, 2, 1, 0], true), 0.0);
}

#[test]
fn chrf_leaves_out_orders_that_one_side_is_too_short_for() {
    // The prediction, the reference, and both: 4 of 5 and of 4 characters, and no word of the reference.
    let found = ChrfOptions::precision_and_recall(&[5, 4, 4, 1, 0, 0, 0, 1, 0]);
    assert_eq!(found, Some((0.8, 1.0)));
    assert_eq!(ChrfOptions::precision_and_recall(&[1, 0, 0]), None);
    assert_eq!(ChrfOptions::default().score(&[1, 0, 0]), 0.0);
    assert_eq!(ChrfOptions::default().score(&[5, 4, 0]), 0.0);
    // Precision 1/2 and recall 1/4, which has four times the weight: 5 PR / (4 P + R).
    assert_eq!(ChrfOptions::default().score(&[2, 4, 1]), 0.625 / 2.25);
}

#[test]
fn chrf_counts_words_with_a_word_order_alone() {
    let counts = |word_order| {
        let options = ChrfOptions {
            char_order: 1,
            word_order,
            ..ChrfOptions::default()
        };
        options.counts("the cat", &["the dog"])
    };
    // Each string has 6 characters and 2 words. Both strings have the characters t, h and e, and the word `the`.
    assert_eq!(counts(0), Ok(vec![6, 6, 3]));
    assert_eq!(counts(1), Ok(vec![6, 6, 3, 2, 2, 1]));
    // Of equally good references, the first one counts.
    let options = ChrfOptions {
        char_order: 1,
        ..ChrfOptions::default()
    };
    assert_eq!(options.counts("ab", &["c", "dd"]), Ok(vec![2, 1, 0]));
}
