//! `keyword`: required, forbidden, words and case in any script.

use dsrs_metrics::metrics::Keyword;
use dsrs_metrics::prelude::*;
use dsrs_metrics::text::Searchable;

use super::{judged, refused, said};

#[test]
fn the_share_of_what_is_required() {
    let metric = Keyword::builder().required(["alpha", "beta", "gamma", "delta"]).build();
    assert_eq!(said(&metric, "Alpha beta GAMMA delta").0, 1.0);
    assert_eq!(said(&metric, "alpha, delta"), (0.5, "missing: \"beta\", \"gamma\"".to_owned()));
    assert_eq!(said(&metric, "").0, 0.0);
    assert_eq!(judged(&metric, "alpha").passed, Some(false));
    let all = Keyword::builder().required(["alpha", "beta"]).partial_credit(false).build();
    assert_eq!((said(&all, "alpha").0, said(&all, "alpha beta").0), (0.0, 1.0));
}

#[test]
fn one_forbidden_word_is_enough() {
    let metric = Keyword::builder().required(["return", "let"]).forbidden(["TODO"]).build();
    assert_eq!(
        said(&metric, "return 1 // todo"),
        (0.0, "forbidden: \"TODO\"; missing: \"let\"".to_owned())
    );
    let only = Keyword::builder().forbidden(["TODO", "FIXME"]).build();
    assert_eq!(said(&only, "done").0, 1.0);
    assert_eq!(said(&only, "FIXME").0, 0.0);
}

#[test]
fn case_and_form_of_letters() {
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
fn nothing_to_look_for_is_a_failure() {
    let pred = prediction! { "answer" => "x" };
    assert_eq!(
        refused(&Keyword::default(), &pred),
        "metric `keyword`: no keywords: set `required`, `forbidden` or both"
    );
    let empty = Keyword::builder().required([""]).build();
    assert_eq!(
        refused(&empty, &pred),
        "metric `keyword`: an empty keyword is in every text: take it out"
    );
}

#[test]
fn long_texts_take_no_longer_for_words_that_nearly_match() {
    let text = "a".repeat(1_000_000);
    let started = std::time::Instant::now();
    assert!(!Searchable::new(&text, false, true).contains("aaaaaaaaaa"));
    assert!(started.elapsed().as_secs() < 5);
}
