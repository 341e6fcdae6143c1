//! `keyword`: required and forbidden keywords. Whole words and case are tested beside `Searchable`.

use dsrs_metrics::metrics::Keyword;
use dsrs_metrics::prelude::*;
use dsrs_metrics::text::Searchable;

use super::{error_of, evaluate, scored};

#[test]
fn the_share_of_required_keywords() {
    let metric = Keyword::builder()
        .required(["alpha", "beta", "gamma", "delta"])
        .build();
    assert_eq!(evaluate(&metric, "Alpha beta GAMMA delta").0, 1.0);
    assert_eq!(
        evaluate(&metric, "alpha, delta"),
        (0.5, "missing: \"beta\", \"gamma\"".to_owned())
    );
    assert_eq!(evaluate(&metric, "").0, 0.0);
    assert_eq!(scored(&metric, "alpha").passed, Some(false));
    let all = Keyword::builder()
        .required(["alpha", "beta"])
        .partial_credit(false)
        .build();
    assert_eq!(
        (evaluate(&all, "alpha").0, evaluate(&all, "alpha beta").0),
        (0.0, 1.0)
    );
}

#[test]
fn one_forbidden_keyword_scores_zero() {
    let metric = Keyword::builder()
        .required(["return", "let"])
        .forbidden(["TODO"])
        .build();
    assert_eq!(
        evaluate(&metric, "return 1 // todo"),
        (0.0, "forbidden: \"TODO\"; missing: \"let\"".to_owned())
    );
    let only = Keyword::builder().forbidden(["TODO", "FIXME"]).build();
    assert_eq!(evaluate(&only, "done").0, 1.0);
    assert_eq!(evaluate(&only, "FIXME").0, 0.0);
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
