//! `subtask_execution`, `synthesis` and `tool_step_utility`.

use dsrs_metrics::metrics::{SubtaskExecution, Synthesis, ToolStepUtility};
use dsrs_metrics::prelude::*;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{components, configured, error, preflight_error, value};

const REASONING: &str = "The name was misleading";

fn executed(result: &Value) -> (Vec<f64>, String) {
    let pred = prediction! { "result" => result, "reasoning" => REASONING };
    components(&SubtaskExecution::default(), &pred)
}

#[test]
fn results_with_an_edit_or_command_pass() {
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
fn other_results_fail_the_check() {
    let neither = "`result` has neither `old_string` and `new_string` nor a `command`";
    for (result, reason) in [
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
            "`old_string` and `new_string` are equal",
        ),
    ] {
        assert_eq!(
            executed(&result),
            (vec![1.0, 0.0, 1.0], reason.to_owned()),
            "{result}"
        );
    }
    let reason = "`result` is not valid JSON: expected value at line 1 column 1";
    assert_eq!(
        executed(&json!("done")),
        (vec![0.0, 0.0, 1.0], reason.to_owned())
    );
    let reason = "`result` is missing";
    assert_eq!(
        executed(&Value::Null),
        (vec![0.0, 0.0, 1.0], reason.to_owned())
    );
}

#[test]
fn the_default_weights_are_a_third_each() {
    let metric = SubtaskExecution::default();
    let result = json!({ "command": "ls" });
    assert_eq!(
        value(
            &metric,
            &prediction! { "result" => &result, "reasoning" => REASONING }
        ),
        1.0
    );
    assert_eq!(value(&metric, &prediction! { "result" => &result }), 0.66);
    assert_eq!(
        value(&metric, &prediction! { "reasoning" => REASONING }),
        0.34
    );
    assert_eq!(
        value(&metric, &prediction! { "result" => "", "reasoning" => "" }),
        0.0
    );
    let even: SubtaskExecution = configured(&[("weights", "[0.5, 0.25, 0.25]")]);
    assert_eq!(value(&even, &prediction! { "result" => &result }), 0.75);
}

#[test]
fn reasoning_is_measured_in_characters() {
    let reasoning = |text: &str| {
        components(
            &SubtaskExecution::default(),
            &prediction! { "result" => 1, "reasoning" => text },
        )
        .0[2]
    };
    assert_eq!(
        [reasoning(&"a".repeat(20)), reasoning(&"a".repeat(19))],
        [1.0, 0.0]
    );
    // 7 characters and 21 bytes; 19 letters in 38 code points; nothing but space and signs.
    assert_eq!(reasoning("東京都港区芝公"), 0.0);
    assert_eq!(reasoning(&"e\u{301}".repeat(19)), 0.0);
    assert_eq!(
        [reasoning(&" ".repeat(40)), reasoning(&".".repeat(40))],
        [0.0, 0.0]
    );
    assert_eq!(
        reasoning(&format!("a{}b", " ".repeat(40))),
        0.0,
        "three characters"
    );
    let short: SubtaskExecution = configured(&[("min_reasoning_chars", "7")]);
    let pred = prediction! { "result" => 1, "reasoning" => "東京都港区芝公" };
    assert_eq!(components(&short, &pred).0[2], 1.0);
}

#[test]
fn a_row_of_another_kind_is_0_and_names_all_fields() {
    assert_eq!(
        components(
            &SubtaskExecution::default(),
            &prediction! { "answer" => "x" }
        ),
        (
            vec![0.0; 3],
            "`result` is missing; `reasoning` is missing".to_owned()
        )
    );
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    assert_eq!(
        error(
            &Synthesis::default(),
            &prediction! { "modified_files" => deep }
        ),
        "metric `synthesis`: `pred.modified_files` is JSON nested deeper than 127 levels"
    );
}

fn synthesized(field: &str, value: Value) -> (Vec<f64>, String) {
    let mut pred = prediction! {
        "success" => false, "summary" => "Added a parser.", "modified_files" => json!([]), "confidence" => 0.5,
    };
    pred.data.insert(field, value);
    components(&Synthesis::default(), &pred)
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
fn each_invalid_field_costs_a_quarter_and_is_named() {
    for (at, field, bad, reason) in [
        (
            0,
            "success",
            json!("yes"),
            "`success`: expected true or false, found the string \"yes\"",
        ),
        (
            0,
            "success",
            json!(1),
            "`success`: expected true or false, found the number 1",
        ),
        (0, "success", Value::Null, "`success` is missing"),
        (
            1,
            "summary",
            json!("fourteen chars"),
            "`summary`: expected at least 15 characters, found 14",
        ),
        (
            1,
            "summary",
            json!(["Added a parser."]),
            "`summary`: expected a string, found a list",
        ),
        (
            2,
            "modified_files",
            json!("a.rs"),
            "`modified_files` is not valid JSON: expected value at line 1 column 1",
        ),
        (
            2,
            "modified_files",
            json!({}),
            "`modified_files` is not a list",
        ),
        (
            2,
            "modified_files",
            json!(["a.rs", 1, " "]),
            "modified file 2: expected a non-blank string, and 1 more",
        ),
        (
            3,
            "confidence",
            json!(1.01),
            "`confidence`: expected a number in 0..=1, found the number 1.01",
        ),
        (
            3,
            "confidence",
            json!("NaN"),
            "`confidence`: expected a number in 0..=1, found the string \"NaN\"",
        ),
        (
            3,
            "confidence",
            json!("high"),
            "`confidence`: expected a number in 0..=1, found the string \"high\"",
        ),
    ] {
        let mut expected = vec![1.0; 4];
        expected[at] = 0.0;
        assert_eq!(
            synthesized(field, bad.clone()),
            (expected, reason.to_owned()),
            "{field} {bad}"
        );
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
    let utilities = [
        json!(0),
        json!(1),
        json!("0.5"),
        json!(-0.1),
        json!(1.1),
        json!(true),
    ];
    let found: Vec<f64> = utilities
        .into_iter()
        .map(|utility| value(&metric, &step(utility)))
        .collect();
    assert_eq!(found, [1.0, 1.0, 1.0, 0.75, 0.75, 0.75]);
    let signed: ToolStepUtility = configured(&[("min_utility", "-1")]);
    assert_eq!(
        [
            value(&signed, &step(json!(-1))),
            value(&signed, &step(json!(-1.1)))
        ],
        [1.0, 0.75]
    );
    let hint = prediction! { "next_action_hint" => "Go on" };
    let reasons = "`step_utility` is missing; `should_continue` is missing; `next_action_hint`: expected at least \
                   6 characters, found 5; `confidence` is missing";
    assert_eq!(
        components(&metric, &hint),
        (vec![0.0; 4], reasons.to_owned())
    );
}

#[tokio::test]
async fn an_invalid_configuration_is_an_error_before_the_first_row() {
    let metric: ToolStepUtility = configured(&[("min_utility", "2")]);
    assert_eq!(
        preflight_error(metric).await,
        "metric `tool_step_utility`: expected `min_utility` to be at most `max_utility`, found 2 and 1"
    );
    let metric: Synthesis = configured(&[("weights", "[1, 1, 0, -1]")]);
    assert_eq!(
        preflight_error(metric).await,
        "metric `synthesis`: expected a finite, non-negative weight, found -1.0"
    );
}

#[test]
fn cells_of_a_csv_file_are_parsed() {
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
    assert_eq!(
        components(&Synthesis::default(), &pred).1,
        "`confidence` is missing"
    );
}

proptest! {
    #[test]
    fn a_longer_summary_never_scores_less(summary in "[a-z ]{0,30}", more in "[a-z]{0,10}") {
        let pred = |text: &str| prediction! { "success" => 1, "summary" => text };
        let metric = Synthesis::default();
        let (before, after) =
            (value(&metric, &pred(&summary)), value(&metric, &pred(&format!("{summary}{more}"))));
        prop_assert!(before <= after);
    }

    #[test]
    fn a_number_passes_exactly_within_its_bounds(number: f64) {
        let pred = prediction! { "confidence" => number, "summary" => "" };
        // NaN and infinities are not JSON, and become `null`.
        let expected = if (0.0..=1.0).contains(&number) { 0.25 } else { 0.0 };
        prop_assert_eq!(value(&Synthesis::default(), &pred), expected);
    }
}
