//! Mistakes of earlier systems, for the proxy checks: answers that normalization removes, partial
//! matches, bytes instead of characters, ignored order.

use dsrs_metrics::metrics::{
    Diff, DiffStrictness, Format, JsonFieldAccuracy, Keyword, Length, Syntax, WasRepeated,
};
use dsrs_metrics::prelude::*;
use dsrs_metrics::syntax::Language;
use serde_json::{Value, json};

use super::evaluate;

const STRICTNESS: [DiffStrictness; 2] =
    [DiffStrictness::Exact, DiffStrictness::NormalizedWhitespace];

fn diff(strictness: DiffStrictness, gold: &str, answer: &str) -> f64 {
    let metric = Diff::builder().strictness(strictness).build();
    let gold = example! { "answer" => gold };
    metric
        .score(&gold, &prediction! { "answer" => answer })
        .unwrap()
        .value
}

fn fields(gold: &Value, pred: &Value) -> f64 {
    let (gold, pred) = (
        example! { "answer" => gold },
        prediction! { "answer" => pred },
    );
    JsonFieldAccuracy::default()
        .score(&gold, &pred)
        .unwrap()
        .value
}

/// Strings that the normalization of question answering reduces to nothing.
const REMOVED_BY_NORMALIZATION: [&str; 7] = ["A", "the", "an", "...", "?!", "\u{301}", "-"];

#[test]
fn strings_that_normalization_removes_still_count() {
    for text in REMOVED_BY_NORMALIZATION {
        for strictness in STRICTNESS {
            assert_eq!(diff(strictness, text, text), 1.0, "{text:?}");
            assert_eq!(
                diff(strictness, text, ""),
                0.0,
                "{text:?}: an empty answer differs"
            );
            assert_eq!(diff(strictness, "", text), 0.0, "{text:?}");
        }
        assert_eq!(
            evaluate(&Format::default(), text).0,
            1.0,
            "{text:?} is not an empty output"
        );
        let required = Keyword::builder().required([text]).build();
        assert_eq!(
            evaluate(&required, &format!("x {text} y")).0,
            1.0,
            "{text:?} is found"
        );
        assert_eq!(
            evaluate(&required, "").0,
            0.0,
            "{text:?} is not in an empty string"
        );
        let forbidden = Keyword::builder()
            .forbidden([text])
            .case_sensitive(true)
            .build();
        assert_eq!(
            evaluate(&forbidden, &format!("x {text} y")).0,
            0.0,
            "{text:?} is forbidden"
        );
        assert_eq!(evaluate(&forbidden, "zz").0, 1.0);
        assert_eq!(
            fields(&json!({ "a": text }), &json!({ "a": "" })),
            0.0,
            "{text:?}"
        );
        assert_eq!(
            fields(&json!({ "a": text }), &json!({ "a": text })),
            1.0,
            "{text:?}"
        );
        let one = Length::builder().min_chars(1).max_chars(3).build();
        assert_eq!(evaluate(&one, text).0, 1.0, "{text:?} has characters");
    }
    let word = Length::builder().min_words(1).build();
    for (text, value) in [("A", 1.0), ("the", 1.0), ("", 0.0), ("...", 0.0)] {
        assert_eq!(evaluate(&word, text).0, value, "{text:?}");
    }
    assert_eq!(
        evaluate(&Format::default(), " \n\u{3000}").1,
        "the output is empty"
    );
}

#[test]
fn order_matters_and_a_part_is_not_the_whole() {
    for strictness in STRICTNESS {
        assert_eq!(diff(strictness, "hello world", "world hello"), 0.0);
        assert_eq!(diff(strictness, "5", "25"), 0.0);
        assert_eq!(
            diff(strictness, "Paris", "Paris Paris Paris Paris Paris"),
            0.0
        );
    }
    let trees = Diff::builder()
        .strictness(DiffStrictness::AstEquivalent)
        .language(Language::Python)
        .build();
    let gold = example! { "answer" => "f(hello, world)" };
    let tree = |answer: &str| {
        trees
            .score(&gold, &prediction! { "answer" => answer })
            .unwrap()
            .value
    };
    assert_eq!(
        (tree("f(hello,  world)"), tree("f(world, hello)")),
        (1.0, 0.0)
    );

    let five = Keyword::builder().required(["5"]).whole_words(true).build();
    for (text, value) in [
        ("5", 1.0),
        ("25", 0.0),
        ("5.5", 1.0),
        ("x5", 0.0),
        ("(5)", 1.0),
    ] {
        assert_eq!(evaluate(&five, text).0, value, "{text:?}");
    }
    assert_eq!(fields(&json!({ "n": 5 }), &json!({ "n": 25 })), 0.0);
    assert_eq!(
        fields(&json!(["hello", "world"]), &json!(["world", "hello"])),
        0.0
    );
    assert_eq!(
        fields(&json!(["Paris"]), &json!(["Paris", "Paris"])),
        0.5,
        "one item too many"
    );

    let history = example! { "execution_history" => [json!({ "tool": "t", "params": [1, 25] })] };
    for (params, value) in [
        (json!([1, 25]), 0.0),
        (json!([25, 1]), 1.0),
        (json!([1, 5]), 1.0),
    ] {
        let pred = prediction! { "tool" => "t", "params" => params };
        assert_eq!(
            WasRepeated.score(&history, &pred).unwrap().value,
            value,
            "{pred:?}"
        );
    }
}

#[test]
fn characters_are_counted_and_their_order_counts() {
    let ten = Length::builder().max_chars(10).build();
    for text in [
        "åäöåäöåäöå",
        "日本語日本語日本語日",
        "😀😀😀😀😀😀😀😀😀😀",
        "абвгдеёжзи",
    ] {
        assert!(text.len() > 10);
        assert_eq!(evaluate(&ten, text), (1.0, "10 characters".to_owned()));
        assert_eq!(evaluate(&ten, &format!("{text}é")).0, 10.0 / 11.0);
    }
    for (one, other) in [
        ("listen", "silent"),
        ("abc", "cba"),
        ("aab", "abb"),
        ("a b", "ab "),
    ] {
        for strictness in STRICTNESS {
            assert_eq!(diff(strictness, one, other), 0.0, "{one} {other}");
        }
        assert_eq!(fields(&json!({ "a": one }), &json!({ "a": other })), 0.0);
        let keyword = Keyword::builder().required([one]).build();
        assert_eq!(evaluate(&keyword, other).0, 0.0);
    }
    // The position in the feedback is in characters too.
    let (_, feedback) = evaluate(&Syntax::default(), "é日😀)");
    assert_eq!(feedback, "line 1, column 4: unmatched `)`");
}
