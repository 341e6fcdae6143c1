//! `length`: characters, words and tokens, with partial credit outside the bounds.

use dsrs_metrics::metrics::Length;
use dsrs_metrics::prelude::*;
use dsrs_metrics::text::{count_tokens, count_words};

use super::{error_of, evaluate, scored};

#[test]
fn credit_decreases_with_the_distance_from_the_bounds() {
    let metric = Length::builder().min_chars(10).max_chars(20).build();
    for (length, value) in [
        (10, 1.0),
        (20, 1.0),
        (15, 1.0),
        (5, 0.5),
        (9, 0.9),
        (40, 0.5),
        (0, 0.0),
    ] {
        assert_eq!(evaluate(&metric, &"x".repeat(length)).0, value, "{length}");
    }
    assert_eq!(
        evaluate(&metric, "x").1,
        "expected at least 10 characters, found 1"
    );
    assert_eq!(scored(&metric, "x").passed, Some(false));
    let strict = Length::builder()
        .min_chars(10)
        .partial_credit(false)
        .build();
    assert_eq!(
        (
            evaluate(&strict, "123456789").0,
            evaluate(&strict, "1234567890").0
        ),
        (0.0, 1.0)
    );
}

#[test]
fn characters_are_characters_not_bytes() {
    let metric = Length::builder().min_chars(4).max_chars(4).build();
    for four in ["abcd", "éèêë", "東京都内", "😀😁😂🤣", "a\u{301}bc"] {
        assert_eq!(
            evaluate(&metric, four),
            (1.0, "4 characters".to_owned()),
            "{four}"
        );
    }
}

#[test]
fn the_lowest_score_of_the_units_counts() {
    let metric = Length::builder()
        .max_chars(10)
        .min_words(4)
        .max_tokens(100)
        .build();
    assert_eq!(
        evaluate(&metric, "one two"),
        (0.5, "expected at least 4 words, found 2".to_owned())
    );
    assert_eq!(evaluate(&metric, "a b c d").0, 1.0);
}

#[test]
fn words_in_any_script() {
    for (text, words) in [
        ("", 0),
        ("  a\tb\n c ", 3),
        ("state-of-the-art - don't", 2),
        ("東京都", 3),
        ("Tokyo東京2020", 4),
        ("한국어 문장", 2),
        ("... !!! 😀", 0),
    ] {
        assert_eq!(count_words(text), words, "{text:?}");
    }
}

#[test]
fn tokens_by_rule() {
    for (text, tokens) in [
        ("", 0),
        ("word", 1),
        ("internationalization", 4),
        ("1234567", 3),
        ("a == b", 3),
        ("東京", 2),
        ("привет", 3),
        ("a\n\nb", 3),
    ] {
        assert_eq!(count_tokens(text), tokens, "{text:?}");
    }
}

#[test]
fn without_bounds_every_output_that_is_not_empty_has_the_right_length() {
    let score =
        |text: &str| Length::default().score(&example! {}, &prediction! { "answer" => text });
    assert_eq!(score("x").unwrap().value, 1.0);
    assert_eq!(score("").unwrap().value, 0.0);
    let any = Length::builder().min_chars(0).build();
    assert_eq!(
        any.score(&example! {}, &prediction! { "answer" => "" })
            .unwrap()
            .value,
        1.0
    );
    let short = Length::builder().max_words(2).build();
    assert_eq!(
        short
            .score(&example! {}, &prediction! { "answer" => "" })
            .unwrap()
            .value,
        1.0
    );
}

#[test]
fn contradictory_bounds_are_errors() {
    let pred = prediction! { "answer" => "x" };
    let none = Length::builder().min_words(3).max_words(2).build();
    assert_eq!(
        error_of(&none, &pred),
        "metric `length`: the minimum of 3 words exceeds the maximum of 2"
    );
}
