//! The metrics that search an output: their verdicts, their configuration, and errors before the first row.

use dsrs_metrics::metrics::{
    Choice, ContainsAll, ContainsAny, Includes, IsJson, Matches, NumericMatch, OneOf, Pattern,
    Regex,
};
use dsrs_metrics::prelude::*;
use dsrs_metrics::text::Location;
use dsrs_metrics::{Evaluate, Metric, rows::Pair};
use serde_json::{Value, json};

/// The value of a row, or its error without the metric's name.
fn score<M: Metric>(metric: &M, gold: impl Into<Value>, output: &str) -> Result<f64, String> {
    let (gold, pred) = (
        example! { "answer" => gold.into() },
        prediction! { "answer" => output },
    );
    let scored = metric
        .answer(MetricCall::new(&gold, &pred))
        .ready()
        .unwrap();
    let prefix = format!("metric `{}`: ", metric.name());
    scored
        .map(|it| it.score.value)
        .map_err(|it| it.to_string().replace(&prefix, ""))
}

/// The error before the first row.
fn refused(metric: impl Metric + 'static) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let row = Pair::new(
        "1",
        example! { "answer" => "a" },
        prediction! { "answer" => "a" },
    );
    let evaluate = Evaluate::builder().metric(metric).build().unwrap();
    runtime
        .block_on(evaluate.score([row]))
        .unwrap_err()
        .to_string()
}

#[test]
fn words_in_another_order_are_no_exact_match_and_5_is_not_in_25() {
    let at = |location| Matches::builder().location(location).build();
    assert_eq!(
        score(&at(Location::Exact), "hello world", "world hello"),
        Ok(0.0)
    );
    assert_eq!(
        score(&at(Location::Exact), "hello world", "Hello world!"),
        Ok(1.0)
    );
    for location in [
        Location::Begin,
        Location::End,
        Location::Any,
        Location::Exact,
    ] {
        for numeric in [false, true] {
            let metric = Matches::builder()
                .location(location)
                .numeric(numeric)
                .build();
            assert_eq!(
                score(&metric, "5", "25"),
                Ok(0.0),
                "{location:?} numeric={numeric}"
            );
            assert_eq!(
                score(&metric, "5", "**5**."),
                Ok(1.0),
                "{location:?} numeric={numeric}"
            );
        }
    }
    let inspect = Matches::builder().whole_words(false).build();
    assert_eq!(score(&inspect, "5", "25"), Ok(1.0));
    let whole = Includes::builder().whole_words(true).build();
    assert_eq!(
        (score(&whole, "5", "25"), score(&whole, "5", "5 of 25")),
        (Ok(0.0), Ok(1.0))
    );
}

#[test]
fn an_article_and_a_symbol_are_answers() {
    let exact = Matches::builder().location(Location::Exact).build();
    assert_eq!(
        (score(&exact, "A", "A"), score(&exact, "A", "")),
        (Ok(1.0), Ok(0.0))
    );
    assert_eq!(
        (score(&exact, "C", "C++"), score(&exact, "-5", "5")),
        (Ok(0.0), Ok(0.0))
    );
    assert_eq!(
        (score(&exact, "?", "?"), score(&exact, "?", "Paris")),
        (Ok(1.0), Ok(0.0))
    );
    let empty = Err("expected a non-empty string in `gold.answer`, found \"\"".to_owned());
    assert_eq!(score(&Includes::default(), "", "anything"), empty);
    assert_eq!(
        score(&Matches::default(), json!(["a", " "]), "anything"),
        empty
    );
    let none = Err("expected at least one string in `gold.answer`, found none".to_owned());
    assert_eq!(score(&Includes::default(), json!([]), "anything"), none);
}

#[test]
fn equivalent_strings_match() {
    for output in ["caf\u{e9}", "cafe\u{301}", "CAF\u{c9}"] {
        assert_eq!(score(&Includes::default(), "cafe\u{301}", output), Ok(1.0));
        assert_eq!(score(&Matches::default(), "caf\u{e9}", output), Ok(1.0));
        assert_eq!(score(&OneOf::default(), "caf\u{e9}", output), Ok(1.0));
    }
}

#[test]
fn numbers_are_compared_at_each_location_by_value() {
    let output = "3 boxes of 1,250.50 and 1/2";
    for (location, numbers) in [
        (Location::Begin, vec!["3", "3.0"]),
        (Location::End, vec!["0.5", "1/2"]),
        (Location::Any, vec!["3", "1250.5", ".5"]),
        (Location::Exact, vec![]),
    ] {
        let metric = Matches::builder().location(location).numeric(true).build();
        for number in ["3", "3.0", "1250.5", "0.5", ".5", "1/2", "1250", "2"] {
            let by_value = ["3.0", "1/2", ".5", "0.5"].contains(&number);
            let expected = numbers.contains(&number)
                || by_value && numbers.iter().any(|it| same_value(it, number));
            assert_eq!(
                score(&metric, number, output),
                Ok(f64::from(u8::from(expected))),
                "{location:?} {number}"
            );
        }
    }
    let exact = Matches::builder()
        .location(Location::Exact)
        .numeric(true)
        .build();
    assert_eq!(
        (
            score(&exact, "1300", "$1,300.00"),
            score(&exact, "42", "~42")
        ),
        (Ok(1.0), Ok(0.0))
    );
    let end = Matches::builder().numeric(true).build();
    for (gold, output, value) in [
        (r"\frac{1}{2}", r"It is $\frac12$.", 1.0),
        (r"\frac{1}{2}", r"\frac{3}{2}", 0.0),
        ("10{,}000", r"10\,000", 1.0),
        ("10{,}000", "20{,}000", 0.0),
    ] {
        assert_eq!(score(&end, gold, output), Ok(value), "{gold} {output}");
        assert_eq!(
            score(&NumericMatch::default(), gold, output),
            Ok(value),
            "{gold} {output}"
        );
    }
    // A reference that is not a number is compared as a string.
    assert_eq!(score(&exact, "six", "Six!"), Ok(1.0));
}

fn same_value(a: &str, b: &str) -> bool {
    let value = |text| dsrs_metrics::text::last_number(text).unwrap();
    value(a) == value(b)
}

#[test]
fn values_come_from_the_configuration_or_from_the_row() {
    let all = ContainsAll::builder()
        .values(["Paris", "Seine"])
        .case_sensitive(true)
        .build();
    assert_eq!(score(&all, "ignored", "Paris, Seine"), Ok(1.0));
    assert_eq!(score(&all, "ignored", "paris, Seine"), Ok(0.0));
    assert_eq!(
        score(&ContainsAll::default(), json!(["a", "b"]), "A or B"),
        Ok(1.0)
    );
    assert_eq!(
        score(&ContainsAny::default(), json!(["x", "b"]), "A or B"),
        Ok(1.0)
    );
    assert_eq!(
        score(&OneOf::default(), json!(["yes", "no"]), " No\n"),
        Ok(1.0)
    );
    assert_eq!(
        score(&OneOf::default(), json!(["yes", "no"]), "no way"),
        Ok(0.0)
    );
    let none =
        "expected at least one string in the parameter `values` or in `gold.answer`, found none";
    assert_eq!(
        score(&ContainsAny::default(), json!([]), "a"),
        Err(none.to_owned())
    );
    assert_eq!(
        refused(ContainsAny::builder().values(["a", ""]).build()),
        "metric `contains_any`: expected a non-empty string in `values`, found \"\""
    );
}

#[test]
fn objects_are_json_and_strings_have_to_be() {
    let of = |value: Value| {
        let row = prediction! { "answer" => value };
        IsJson::default().score(&example! {}, &row).unwrap().value
    };
    assert_eq!((of(json!({ "a": 1 })), of(json!("{\"a\": 1}"))), (1.0, 1.0));
    assert_eq!(
        (
            of(json!("{'a': 1}")),
            of(json!("```json\n{}\n```")),
            of(json!(""))
        ),
        (0.0, 0.0, 0.0)
    );
}

#[test]
fn an_invalid_pattern_is_an_error_before_the_first_row() {
    let of = |pattern: &str| refused(Regex::builder().pattern(pattern).build());
    for (pattern, reason) in [
        ("(a", "unclosed group"),
        (
            "(?=a)",
            "look-around, including look-ahead and look-behind, is not supported",
        ),
        (r"(a)\1", "backreferences are not supported"),
        (
            r"\w{1,1000}",
            "it is too large; use smaller repetition counts",
        ),
        (
            "((a{1000}){1000}){1000}",
            "it is too large; use smaller repetition counts",
        ),
    ] {
        let expected = format!("metric `regex`: invalid regular expression `{pattern}`: {reason}");
        assert_eq!(of(pattern), expected);
        let error = refused(Pattern::builder().pattern(pattern).build());
        assert_eq!(error, expected.replace("`regex`", "`pattern`"));
    }
}

/// A pattern that backtracking engines need 2^40 steps for.
#[test]
fn patterns_take_linear_time_and_long_strings_are_refused_for_long_patterns() {
    let evil = Regex::builder().pattern("^(a+)+$").build();
    assert_eq!(score(&evil, "", &("a".repeat(100_000) + "!")), Ok(0.0));
    let long = Regex::builder().pattern("[ab]{2000}c").build();
    let error = score(&long, "", &"a".repeat(200_000)).unwrap_err();
    assert!(
        error.starts_with("the string is too long for the pattern: 200000 bytes times"),
        "{error}"
    );
}

#[test]
fn groups_that_do_not_participate_do_not_count() {
    let of = |all| {
        Pattern::builder()
            .pattern("(a)|(b)|c")
            .match_all(all)
            .build()
    };
    assert_eq!(
        (score(&of(true), "b", "b"), score(&of(true), "c", "c")),
        (Ok(1.0), Ok(0.0))
    );
    assert_eq!(
        (score(&of(false), "b", "b"), score(&of(false), "c", "c")),
        (Ok(1.0), Ok(0.0))
    );
}

#[test]
fn choices_are_labels_or_texts_and_an_unknown_gold_answer_is_an_error() {
    let of = |gold: Value, output: &str| {
        let gold = example! { "answer" => gold, "choices" => ["Rome", "Paris", "Oslo"] };
        let answer = Choice.score(&gold, &prediction! { "answer" => output });
        answer.map(|it| it.value).map_err(|it| it.to_string())
    };
    for output in ["B", "b)", "Paris.", "ANSWER: B", "I say A.\nAnswer: (B)"] {
        assert_eq!(of(json!("B"), output), Ok(1.0), "{output}");
        assert_eq!(of(json!("paris"), output), Ok(1.0), "{output}");
        assert_eq!(of(json!(["A", "B"]), output), Ok(0.0), "{output}");
    }
    assert_eq!(of(json!(["A", "C"]), "ANSWER: C and A"), Ok(1.0));
    assert_eq!(of(json!("A,C"), "ANSWER: A, B, C"), Ok(0.0));
    assert_eq!(of(json!("A"), "A good question"), Ok(0.0));
    let row = example! { "answer" => "C", "choices" => ["1", "2", "3", "4"] };
    let numbers = ["3", "4"].map(|answer| {
        Choice
            .score(&row, &prediction! { "answer" => answer })
            .unwrap()
            .value
    });
    assert_eq!(numbers, [1.0, 0.0]);
    let message = "metric `choice`: expected a choice from the 3 in `gold.choices`, such as `B`, in `gold.answer`, found";
    assert_eq!(of(json!("D"), "D"), Err(format!("{message} \"D\"")));
    assert_eq!(
        of(json!("Berlin"), "D"),
        Err(format!("{message} \"Berlin\""))
    );
}
