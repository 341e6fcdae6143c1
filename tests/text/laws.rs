//! Properties of the text metrics, on random strings.

use std::collections::HashSet;
use std::sync::LazyLock;

use dsrs_metrics::text::{
    DecimalMark, NumericOptions, Profile, last_number, normalize_text, numeric_match,
};
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization as _;

use crate::parity::versions;

/// Strings of words, articles, marks, punctuation, numbers, several scripts, and arbitrary characters.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "a", "The", "an", "Paris", "tower", "yes", "no", " ", " ", " ", "\t", "-", ".", ",", "'", "C++", "-5",
            "3.14", "1,000", "½", "²", "ΑΣ", "Σ", "ß", "ﬁ", "é", "e\u{301}", "\u{323}", "\u{345}", "文字", "각", "ที่",
            "’", "—", "\u{200d}", "\u{ad}", "😀", "１２", "٣",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

/// Parts of numbers, in any order.
fn numeric_text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "0", "1", "25", "999", "000", ".", ".", ",", ",", "-", "−", "+", "e", "E", "^", "{", "}",
        "/", "10", "×", " ", "%", "‰", "$", "\\", "\\frac{", "}{", "\\times", "½", "²", "⁻", "'",
        "_", "\u{a0}", "x", "a", "(", ")", "文", "\\,", "{,}", "~", "\\frac", "\\sqrt", "√",
        "\\text{",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn profile() -> impl Strategy<Value = Profile> {
    prop::sample::select(vec![Profile::Dspy, Profile::Folded, Profile::FoldedSymbols])
}

/// Characters that are new in Rust's Unicode version compose in Rust, but not in the reference.
static ONLY_RUST: LazyLock<HashSet<char>> = LazyLock::new(|| versions::section("Rust").collect());

/// `PROPTEST_CASES` can raise the number of cases.
fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: default.cases.max(2_000),
        failure_persistence: None,
        ..default
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn dspy_normalization_is_stable_after_the_second_time(text in text()) {
        let twice = normalize_text(&normalize_text(&text));
        prop_assert_eq!(normalize_text(&twice), twice);
    }

    #[test]
    fn dspy_normalization_without_marks_is_idempotent(text in "[ -~\t\n\u{a0}-\u{ff}α-ω一-丁]{0,40}") {
        let bare: String = text.nfd().filter(|&c| unicode_normalization::char::canonical_combining_class(c) == 0).collect();
        let once = normalize_text(&bare);
        prop_assert_eq!(normalize_text(&once), once);
    }

    #[test]
    fn folding_is_idempotent(text in text()) {
        let once = Profile::Folded.normalize(&text);
        prop_assert_eq!(Profile::Folded.normalize(&once), once);
    }

    #[test]
    fn canonical_forms_of_a_string_are_equal(text in text(), profile in profile()) {
        prop_assume!(!text.chars().any(|c| ONLY_RUST.contains(&c)));
        let (composed, decomposed): (String, String) = (text.nfc().collect(), text.nfd().collect());
        prop_assert_eq!(profile.normalize(&composed), profile.normalize(&decomposed));
    }

    #[test]
    fn words_are_separated_by_single_spaces(text in text(), profile in profile()) {
        let normalized = profile.normalize(&text);
        let joined: Vec<_> = normalized.split_whitespace().collect();
        prop_assert_eq!(joined.join(" "), normalized);
    }

    #[test]
    fn only_blank_strings_fold_to_an_empty_string(text in text()) {
        let visible = text.chars().any(|c| c.is_alphanumeric() || c.is_ascii_graphic());
        for profile in [Profile::Folded, Profile::FoldedSymbols] {
            prop_assert!(!visible || !profile.normalize(&text).is_empty());
        }
    }

    #[test]
    fn scores_are_in_range_and_f1_is_between_precision_and_recall(p in text(), g in text(), profile in profile()) {
        let (precision, recall) = (profile.precision_score(&p, &g), profile.recall_score(&p, &g));
        let f1 = profile.f1_score(&p, &g);
        for score in [precision, recall, f1, profile.hotpot_f1_score(&p, &g)] {
            prop_assert!((0.0..=1.0).contains(&score));
        }
        prop_assert!(f1 <= precision.max(recall) + 1e-15 && f1 >= precision.min(recall) - 1e-15);
        prop_assert!(profile.hotpot_f1_score(&p, &g) <= f1);
    }

    #[test]
    fn exchanging_the_sides_exchanges_precision_and_recall(p in text(), g in text(), profile in profile()) {
        prop_assert_eq!(profile.precision_score(&p, &g), profile.recall_score(&g, &p));
        prop_assert!((profile.f1_score(&p, &g) - profile.f1_score(&g, &p)).abs() < 1e-15);
        prop_assert_eq!(profile.em_score(&p, &g), profile.em_score(&g, &p));
    }

    #[test]
    fn the_order_of_words_does_not_matter_to_f1(words in prop::collection::vec("[b-z]{1,4}", 1..8), gold in text()) {
        let backwards: Vec<_> = words.iter().rev().map(String::as_str).collect();
        let (one, other) = (words.join(" "), backwards.join(" "));
        prop_assert_eq!(Profile::Dspy.f1_score(&one, &gold), Profile::Dspy.f1_score(&other, &gold));
    }

    #[test]
    fn equal_strings_have_an_f1_of_one_unless_they_have_no_tokens(text in text(), profile in profile()) {
        let shouted = text.to_uppercase();
        let expected = if profile.normalize(&text).is_empty() { 0.0 } else { 1.0 };
        prop_assert_eq!(profile.f1_score(&text, &text), expected);
        if profile.em_score(&shouted, &text) {
            prop_assert_eq!(profile.f1_score(&shouted, &text), expected);
        }
    }

    #[test]
    fn more_references_never_lower_a_score(p in text(), g in text(), more in text(), profile in profile()) {
        let one = [g.as_str()];
        let two = [g.as_str(), more.as_str()];
        prop_assert!(profile.f1(&p, &two).unwrap() >= profile.f1(&p, &one).unwrap());
        prop_assert!(profile.em(&p, &two).unwrap() >= profile.em(&p, &one).unwrap());
    }

    #[test]
    fn a_passage_contains_its_own_words(words in prop::collection::vec("[b-z]{1,5}", 1..12), profile in profile()) {
        let passage = words.join(" ");
        for window in words.windows(words.len().min(3)) {
            prop_assert!(profile.answer_passage_match(&[&passage], &[window.join(" ")]));
        }
    }

    #[test]
    fn a_string_with_a_number_matches_itself(text in text()) {
        let exact = NumericOptions::default();
        prop_assert_eq!(numeric_match(&text, &text, &exact), last_number(&text).is_some());
    }

    #[test]
    fn any_sequence_of_number_parts_is_read_without_panic(text in numeric_text(), comma in any::<bool>(), percent in any::<bool>()) {
        let options = NumericOptions {
            abs_tolerance: 0.5,
            rel_tolerance: 0.5,
            decimal_mark: if comma { DecimalMark::Comma } else { DecimalMark::Point },
            percent_as_fraction: percent,
        };
        if let Some(number) = options.last_number(&text) {
            prop_assert!(!number.to_f64().is_nan());
            prop_assert!(number.is_close(&number, &options));
            let shown = NumericOptions { decimal_mark: DecimalMark::Point, ..options }.last_number(&number.to_string());
            prop_assert_eq!(shown, Some(number));
        }
    }

    #[test]
    fn integers_match_exactly_when_they_are_equal(a in any::<i128>(), b in any::<i128>()) {
        let exact = NumericOptions::default();
        prop_assert_eq!(numeric_match(&b.to_string(), &a.to_string(), &exact), a == b);
        let sentence = format!("it is {a}.000.");
        prop_assert!(numeric_match(&sentence, &a.to_string(), &exact));
    }

    #[test]
    fn a_displayed_number_is_read_back(a in any::<f64>().prop_filter("finite", |a| a.is_finite())) {
        let number = last_number(&format!("{a:e}")).unwrap();
        prop_assert_eq!(number.to_f64(), a);
        prop_assert_eq!(last_number(&number.to_string()), Some(number));
    }

    #[test]
    fn tolerance_agrees_with_integer_arithmetic(a in -10_000_i64..10_000, b in -10_000_i64..10_000, t in 0_i64..5_000) {
        let options = NumericOptions { abs_tolerance: t as f64 / 100.0, ..NumericOptions::default() };
        let shown = |cents: i64| format!("{}{}.{:02}", if cents < 0 { "-" } else { "" }, cents.abs() / 100, cents.abs() % 100);
        prop_assert_eq!(numeric_match(&shown(b), &shown(a), &options), (a - b).abs() <= t);
    }
}
