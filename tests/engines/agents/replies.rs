//! `subtask_execution`, `synthesis` and `tool_step_utility`.

use dsrs_metrics::metrics::{SubtaskExecution, Synthesis, ToolStepUtility};
use dsrs_metrics::prelude::*;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{configured, error, parts, refusal, value};

const REASONING: &str = "The name was misleading";

fn executed(result: &Value) -> (Vec<f64>, String) {
    let pred = prediction! { "result" => result, "reasoning" => REASONING };
    parts(&SubtaskExecution::default(), &pred)
}

#[test]
fn results_that_say_what_was_done() {
    for result in [
        json!({ "old_string": "fn a()", "new_string": "fn b()" }),
        json!(r#"{"old_string": "", "new_string": "fn b()"}"#),
        json!({ "command": "cargo test" }),
        json!("\"what was read\""),
    ] {
        assert_eq!(executed(&result), (vec![1.0; 3], String::new()), "{result}");
    }
}

#[test]
fn results_that_do_not() {
    let neither = "`result` has neither `old_string` and `new_string` nor a `command`";
    for (result, said) in [
        (json!({}), neither),
        (json!([]), neither),
        (json!(0), neither),
        (json!("\" \""), neither),
        (json!({ "command": " " }), neither),
        (json!({ "command": ["ls"] }), neither),
        (json!({ "old_string": "a" }), neither),
        (json!({ "old_string": "a", "new_string": null }), neither),
        (
            json!({ "old_string": "a", "new_string": "a" }),
            "`old_string` and `new_string` are the same",
        ),
    ] {
        assert_eq!(executed(&result), (vec![1.0, 0.0, 1.0], said.to_owned()), "{result}");
    }
    let said = "`result` is no JSON: expected value at line 1 column 1";
    assert_eq!(executed(&json!("done")), (vec![0.0, 0.0, 1.0], said.to_owned()));
    let said = "there is no `result`";
    assert_eq!(executed(&Value::Null), (vec![0.0, 0.0, 1.0], said.to_owned()));
}

#[test]
fn the_shares_are_a_third_each_but_for_the_rest() {
    let metric = SubtaskExecution::default();
    let result = json!({ "command": "ls" });
    assert_eq!(value(&metric, &prediction! { "result" => &result, "reasoning" => REASONING }), 1.0);
    assert_eq!(value(&metric, &prediction! { "result" => &result }), 0.66);
    assert_eq!(value(&metric, &prediction! { "reasoning" => REASONING }), 0.34);
    assert_eq!(value(&metric, &prediction! { "result" => "", "reasoning" => "" }), 0.0);
    let even: SubtaskExecution = configured(&[("weights", "[0.5, 0.25, 0.25]")]);
    assert_eq!(value(&even, &prediction! { "result" => &result }), 0.75);
}

#[test]
fn trap_10_reasoning_is_measured_in_characters() {
    let reasoning = |text: &str| {
        parts(&SubtaskExecution::default(), &prediction! { "result" => 1, "reasoning" => text }).0
            [2]
    };
    assert_eq!([reasoning(&"a".repeat(20)), reasoning(&"a".repeat(19))], [1.0, 0.0]);
    // 7 characters and 21 bytes; 19 letters in 38 code points; nothing but space and signs.
    assert_eq!(reasoning("東京都港区芝公"), 0.0);
    assert_eq!(reasoning(&"e\u{301}".repeat(19)), 0.0);
    assert_eq!([reasoning(&" ".repeat(40)), reasoning(&".".repeat(40))], [0.0, 0.0]);
    assert_eq!(reasoning(&format!("a{}b", " ".repeat(40))), 0.0, "three characters");
    let short: SubtaskExecution = configured(&[("min_reasoning_chars", "7")]);
    let pred = prediction! { "result" => 1, "reasoning" => "東京都港区芝公" };
    assert_eq!(parts(&short, &pred).0[2], 1.0);
}

#[test]
fn a_row_of_another_kind_is_an_error_and_no_zero() {
    assert_eq!(
        error(&SubtaskExecution::default(), &prediction! { "answer" => "x" }),
        "metric `subtask_execution`: the row has none of `pred.result`, `pred.reasoning`"
    );
    assert_eq!(
        error(&ToolStepUtility::default(), &prediction! { "confidence" => Value::Null }),
        "metric `tool_step_utility`: the row has none of `pred.step_utility`, `pred.should_continue`, \
         `pred.next_action_hint`, `pred.confidence`"
    );
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    assert_eq!(
        error(&Synthesis::default(), &prediction! { "modified_files" => deep }),
        "metric `synthesis`: `pred.modified_files` is JSON nested deeper than 127 levels"
    );
}

fn synthesized(field: &str, value: Value) -> (Vec<f64>, String) {
    let mut pred = prediction! {
        "success" => false, "summary" => "Added a parser.", "modified_files" => json!([]), "confidence" => 0.5,
    };
    pred.data.insert(field, value);
    parts(&Synthesis::default(), &pred)
}

#[test]
fn a_synthesis_with_all_its_fields() {
    for (field, good) in [
        ("success", json!(true)),
        ("success", json!(" TRUE ")),
        ("summary", json!("fifteen letters")),
        ("modified_files", json!(["a.rs", "b.rs"])),
        ("modified_files", json!("[\"a.rs\"]")),
        ("confidence", json!(0)),
        ("confidence", json!(1.0)),
        ("confidence", json!("0.85")),
    ] {
        assert_eq!(
            synthesized(field, good.clone()),
            (vec![1.0; 4], String::new()),
            "{field} {good}"
        );
    }
}

#[test]
fn each_field_that_is_wrong_costs_a_quarter_and_is_named() {
    for (at, field, bad, said) in [
        (0, "success", json!("yes"), "`success` should be true or false, not the string \"yes\""),
        (0, "success", json!(1), "`success` should be true or false, not the number 1"),
        (0, "success", Value::Null, "there is no `success`"),
        (
            1,
            "summary",
            json!("fourteen chars"),
            "`summary` has 14 characters, at least 15 expected",
        ),
        (1, "summary", json!(["Added a parser."]), "`summary` should be a text, not a list"),
        (
            2,
            "modified_files",
            json!("a.rs"),
            "`modified_files` is no JSON: expected value at line 1 column 1",
        ),
        (2, "modified_files", json!({}), "`modified_files` is no list"),
        (
            2,
            "modified_files",
            json!(["a.rs", 1, " "]),
            "modified file 2: it is no name, and so 1 more",
        ),
        (
            3,
            "confidence",
            json!(1.01),
            "`confidence` should be a number in 0..=1, not the number 1.01",
        ),
        (
            3,
            "confidence",
            json!("NaN"),
            "`confidence` should be a number in 0..=1, not the string \"NaN\"",
        ),
        (
            3,
            "confidence",
            json!("high"),
            "`confidence` should be a number in 0..=1, not the string \"high\"",
        ),
    ] {
        let mut expected = vec![1.0; 4];
        expected[at] = 0.0;
        assert_eq!(synthesized(field, bad.clone()), (expected, said.to_owned()), "{field} {bad}");
    }
}

#[test]
fn a_step_utility_and_its_bounds() {
    let step = |utility: Value| {
        prediction! {
            "step_utility" => utility, "should_continue" => "false", "next_action_hint" => "Go on.", "confidence" => 1,
        }
    };
    let metric = ToolStepUtility::default();
    let utilities = [json!(0), json!(1), json!("0.5"), json!(-0.1), json!(1.1), json!(true)];
    let found: Vec<f64> =
        utilities.into_iter().map(|utility| value(&metric, &step(utility))).collect();
    assert_eq!(found, [1.0, 1.0, 1.0, 0.75, 0.75, 0.75]);
    let signed: ToolStepUtility = configured(&[("min_utility", "-1")]);
    assert_eq!([value(&signed, &step(json!(-1))), value(&signed, &step(json!(-1.1)))], [1.0, 0.75]);
    let hint = prediction! { "next_action_hint" => "Go on" };
    let said = "there is no `step_utility`; there is no `should_continue`; `next_action_hint` has 5 characters, \
                at least 6 expected; there is no `confidence`";
    assert_eq!(parts(&metric, &hint), (vec![0.0; 4], said.to_owned()));
}

#[tokio::test]
async fn a_configuration_that_no_row_can_meet_is_refused_before_the_first() {
    let metric: ToolStepUtility = configured(&[("min_utility", "2")]);
    assert_eq!(refusal(metric).await, "metric `tool_step_utility`: no utility lies in 2..=1");
    let metric: Synthesis = configured(&[("weights", "[1, 1, 0, -1]")]);
    assert_eq!(
        refusal(metric).await,
        "metric `synthesis`: -1.0 is no weight; weights are finite and not negative"
    );
}

#[test]
fn cells_of_a_csv_file_are_read_as_what_they_say() {
    let fields = [
        ("success", "true"),
        ("summary", "Renamed the function"),
        ("modified_files", "[\"a.rs\"]"),
        ("confidence", "0.9"),
    ];
    let mut pred = Prediction::default();
    pred.data = fields.into_iter().collect();
    pred.data = pred.data.textual();
    assert_eq!(value(&Synthesis::default(), &pred), 1.0);
    pred.data.insert("confidence", "");
    assert_eq!(parts(&Synthesis::default(), &pred).1, "there is no `confidence`");
}

proptest! {
    #[test]
    fn a_longer_summary_is_never_worse(summary in "[a-z ]{0,30}", more in "[a-z]{0,10}") {
        let pred = |text: &str| prediction! { "success" => 1, "summary" => text };
        let metric = Synthesis::default();
        let (before, after) =
            (value(&metric, &pred(&summary)), value(&metric, &pred(&format!("{summary}{more}"))));
        prop_assert!(before <= after);
    }

    #[test]
    fn a_number_counts_just_within_its_bounds(number: f64) {
        let pred = prediction! { "confidence" => number, "summary" => "" };
        // NaN and infinities are no JSON, and arrive as `null`.
        let expected = if (0.0..=1.0).contains(&number) { 0.25 } else { 0.0 };
        prop_assert_eq!(value(&Synthesis::default(), &pred), expected);
    }
}
