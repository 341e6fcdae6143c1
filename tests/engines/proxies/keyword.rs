//! `keyword`: required and forbidden keywords, whole words and case in any script.

use dsrs_metrics::metrics::Keyword;
use dsrs_metrics::prelude::*;
use dsrs_metrics::text::Searchable;

use super::{error_of, evaluate, scored};

#[test]
fn the_share_of_required_keywords() {
    let metric = Keyword::builder().required(["alpha", "beta", "gamma", "delta"]).build();
    assert_eq!(evaluate(&metric, "Alpha beta GAMMA delta").0, 1.0);
    assert_eq!(evaluate(&metric, "alpha, delta"), (0.5, "missing: \"beta\", \"gamma\"".to_owned()));
    assert_eq!(evaluate(&metric, "").0, 0.0);
    assert_eq!(scored(&metric, "alpha").passed, Some(false));
    let all = Keyword::builder().required(["alpha", "beta"]).partial_credit(false).build();
    assert_eq!((evaluate(&all, "alpha").0, evaluate(&all, "alpha beta").0), (0.0, 1.0));
}

#[test]
fn one_forbidden_keyword_scores_zero() {
    let metric = Keyword::builder().required(["return", "let"]).forbidden(["TODO"]).build();
    assert_eq!(
        evaluate(&metric, "return 1 // todo"),
        (0.0, "forbidden: \"TODO\"; missing: \"let\"".to_owned())
    );
    let only = Keyword::builder().forbidden(["TODO", "FIXME"]).build();
    assert_eq!(evaluate(&only, "done").0, 1.0);
    assert_eq!(evaluate(&only, "FIXME").0, 0.0);
}

#[test]
fn case_folding_and_normalization() {
    let has = |text, keyword, case| Searchable::new(text, case, false).contains(keyword);
    for (text, keyword, folded, exact) in [
        ("STRASSE", "straße", true, false),
        ("ΟΔΥΣΣΕΥΣ", "οδυσσευς", true, false),
        ("cafe\u{301}", "café", true, true),
        ("CAFE\u{301}", "café", true, false),
        ("İstanbul", "i\u{307}stanbul", true, false),
        ("東京都", "京", true, true),
        ("cafe\u{301}", "cafe", false, false),
    ] {
        assert_eq!(has(text, keyword, false), folded, "{keyword} in {text}");
        assert_eq!(has(text, keyword, true), exact, "{keyword} in {text}, exactly");
    }
}

#[test]
fn trap_06_a_word_is_not_found_inside_another() {
    let has = |text, keyword| Searchable::new(text, true, true).contains(keyword);
    for (text, keyword, found) in [
        ("25", "5", false),
        ("25 or 5", "5", true),
        ("returned", "return", false),
        ("x.return;", "return", true),
        ("my_return", "return", false),
        ("C++17 is C++", "C++", true),
        ("std::vector", "vector", true),
        ("naïve", "na", false),
        ("naïvement naïve", "naïve", true),
        ("Übung", "bung", false),
        ("東京都です", "京都", true),
        ("한국어는", "한국어", false),
        ("aaa aa", "aa", true),
        ("->x", "->", true),
        ("don't", "don", true),
    ] {
        assert_eq!(has(text, keyword), found, "{keyword:?} in {text:?}");
    }
}

#[test]
fn missing_and_empty_keywords_are_errors() {
    let pred = prediction! { "answer" => "x" };
    assert_eq!(
        error_of(&Keyword::default(), &pred),
        "metric `keyword`: no keywords are configured; set `required`, `forbidden` or both"
    );
    let empty = Keyword::builder().required([""]).build();
    assert_eq!(
        error_of(&empty, &pred),
        "metric `keyword`: an empty keyword matches every output; remove it"
    );
}

#[test]
fn near_matches_in_long_strings_take_linear_time() {
    let text = "a".repeat(1_000_000);
    let started = std::time::Instant::now();
    assert!(!Searchable::new(&text, false, true).contains("aaaaaaaaaa"));
    assert!(started.elapsed().as_secs() < 5);
}
