//! `diff`: by characters, words and syntax trees, with a readable diff.

use dsrs_metrics::contract::{MetricCall, MetricTier};
use dsrs_metrics::metrics::{Diff, DiffStrictness};
use dsrs_metrics::prelude::*;
use dsrs_metrics::syntax::Language;

fn evaluate(metric: &Diff, gold: &Example, answer: &str) -> Result<(f64, String), String> {
    let pred = prediction! { "answer" => answer };
    let scored = metric.answer(MetricCall::new(gold, &pred)).ready().unwrap();
    let scored = scored.map_err(|error| error.to_string())?;
    Ok((
        scored.score.value,
        scored.feedback().unwrap_or_default().into_owned(),
    ))
}

fn value(metric: &Diff, gold: &str, answer: &str) -> f64 {
    evaluate(metric, &example! { "answer" => gold }, answer)
        .unwrap()
        .0
}

#[test]
fn exact_is_exact() {
    let exact = Diff::builder().strictness(DiffStrictness::Exact).build();
    assert_eq!(value(&exact, "a b", "a b"), 1.0);
    for other in ["a  b", "a b\n", "A b", "ba "] {
        assert_eq!(value(&exact, "a b", other), 0.0, "{other:?}");
    }
}

#[test]
fn white_space_is_one_space_but_never_none() {
    let metric = Diff::default();
    for (gold, answer, score) in [
        ("a b", "\ta \n\n b ", 1.0),
        ("a b", "ab", 0.0),
        ("a b", "a\u{3000}b", 1.0),
        ("", "  ", 1.0),
        ("a", "", 0.0),
    ] {
        assert_eq!(value(&metric, gold, answer), score, "{gold:?} {answer:?}");
    }
}

#[test]
fn anagrams_are_not_equal() {
    for strictness in [DiffStrictness::Exact, DiffStrictness::NormalizedWhitespace] {
        let metric = Diff::builder().strictness(strictness).build();
        assert_eq!(value(&metric, "listen", "silent"), 0.0);
    }
}

#[test]
fn the_diff_can_be_read() {
    let gold = example! { "answer" => "one\ntwo\nthree\n" };
    let (value, feedback) = evaluate(&Diff::default(), &gold, "one\n2\nthree\n").unwrap();
    assert_eq!(value, 0.0);
    assert_eq!(feedback, "--- expected\n+++ answer\n one\n-two\n+2\n three");
    let long: String = (0..5000).map(|n| format!("{n}\n")).collect();
    let (_, feedback) = evaluate(&Diff::default(), &gold, &long).unwrap();
    assert_eq!(feedback.lines().count(), 61);
    assert!(feedback.ends_with(" more lines"), "{feedback}");
}

#[test]
fn trees_are_compared_in_earnest() {
    let metric = Diff::builder()
        .strictness(DiffStrictness::AstEquivalent)
        .language(Language::Python)
        .build();
    assert_eq!(
        value(&metric, "x = [1, 2]", "x = [1,\n     2]  # list"),
        1.0
    );
    assert_eq!(value(&metric, "x = 1", "y = 1"), 0.0);
    let gold = example! { "answer" => ["x = 1", "x = 2"] };
    assert_eq!(
        evaluate(&metric, &gold, "x=2").unwrap(),
        (1.0, String::new())
    );
    let (value, feedback) = evaluate(&metric, &gold, "x = (").unwrap();
    assert_eq!(value, 0.0);
    assert!(
        feedback.starts_with("the answer does not parse: line 1, column "),
        "{feedback}"
    );
    let broken = evaluate(&metric, &example! { "answer" => "x = (" }, "x = 1").unwrap_err();
    assert!(
        broken.starts_with("metric `diff`: the expected answer does not parse: "),
        "{broken}"
    );
}

#[test]
fn what_is_missing_is_said() {
    let metric = Diff::builder()
        .strictness(DiffStrictness::AstEquivalent)
        .build();
    assert_eq!(
        evaluate(&metric, &example! { "answer" => "1" }, "1").unwrap_err(),
        "metric `diff`: `ast_equivalent` requires a language; set `language`"
    );
    assert_eq!(
        evaluate(&Diff::default(), &example! { "a" => "1" }, "1").unwrap_err(),
        "metric `diff`: no field `gold.answer`; found `a`"
    );
    let none: [&str; 0] = [];
    assert_eq!(
        evaluate(&Diff::default(), &example! { "answer" => none }, "1").unwrap_err(),
        "metric `diff`: the list of expected answers is empty; add at least one"
    );
    assert_eq!(Diff::SPEC.tier, MetricTier::Truth);
}
