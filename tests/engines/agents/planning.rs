//! `subtask_planning` and `combined`.

use dsrs_metrics::metrics::{Combined, SubtaskPlanning, Synthesis};
use dsrs_metrics::prelude::*;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{components, configured, error, preflight_error, value};

fn subtask(action: &str, target: &str, instruction: &str) -> Value {
    json!({ "id": 1, "action": action, "target": target, "instruction": instruction })
}

/// The four checks of one subtask.
fn checks(subtask: Value) -> Vec<f64> {
    components(
        &SubtaskPlanning::default(),
        &prediction! { "subtasks" => [subtask] },
    )
    .0
}

#[test]
fn a_plan_as_a_list_and_as_a_string() {
    let plan = json!([
        subtask("edit", "src/lib.rs", "Add a test"),
        subtask("bash", "", "Run it")
    ]);
    let metric = SubtaskPlanning::default();
    assert_eq!(
        components(&metric, &prediction! { "subtasks" => &plan }),
        (vec![1.0; 4], String::new())
    );
    assert_eq!(
        value(&metric, &prediction! { "subtasks" => plan.to_string() }),
        1.0
    );
}

#[test]
fn each_check_fails_independently() {
    let good = || subtask("edit", "src/lib.rs", "Add a test");
    let with = |field: &str, value: Value| {
        let mut subtask = good();
        subtask[field] = value;
        checks(subtask)
    };
    assert_eq!(checks(good()), [1.0, 1.0, 1.0, 1.0]);
    assert_eq!(with("id", Value::Null), [0.0, 1.0, 1.0, 1.0]);
    assert_eq!(with("action", json!("fly")), [1.0, 0.0, 1.0, 1.0]);
    assert_eq!(with("target", json!("the library")), [1.0, 1.0, 0.0, 1.0]);
    assert_eq!(
        with("instruction", json!("A test, please")),
        [1.0, 1.0, 1.0, 0.0]
    );
    assert_eq!(with("instruction", Value::Null), [0.0, 1.0, 1.0, 0.0]);
    assert_eq!(
        with("target", Value::Null),
        [1.0, 1.0, 0.0, 1.0],
        "an edit requires a file"
    );
    assert_eq!(checks(json!("edit src/lib.rs")), [0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn an_action_without_a_file_requires_no_target() {
    assert_eq!(
        checks(
            json!({ "id": "a", "action": "bash", "target": null, "instruction": "Run cargo test" })
        ),
        [1.0; 4]
    );
    assert_eq!(
        checks(json!({ "id": "a", "action": "bash", "instruction": "Run cargo test" })),
        [0.0, 1.0, 1.0, 1.0]
    );
}

#[test]
fn paths_and_strings_that_are_not_paths() {
    let target = |target: &str| checks(subtask("read", target, "Read it"))[2];
    for path in [
        "src/lib.rs",
        "lib.rs",
        "/etc/hosts",
        "a\\b",
        ".",
        "..",
        "Makefile",
        "httpd.conf",
        "東京/都.md",
    ] {
        assert_eq!(target(path), 1.0, "{path}");
    }
    for other in [
        "",
        " ",
        "library",
        "src/my lib.rs",
        "https://docs.rs/serde",
        "a/\u{0}",
        "src/lib.rs\n",
    ] {
        assert_eq!(target(other), 0.0, "{other:?}");
    }
    let metric: SubtaskPlanning = configured(&[("bare_names", r#"["TODO"]"#)]);
    let plan = |target| prediction! { "subtasks" => [subtask("read", target, "Read it")] };
    assert_eq!(
        [
            value(&metric, &plan("TODO")),
            value(&metric, &plan("Makefile"))
        ],
        [1.0, 0.75]
    );
}

#[test]
fn verbs_match_whole_words_and_actions_match_exactly() {
    let instruction = |text: &str| checks(subtask("read", "a.rs", text))[3];
    for text in [
        "Add a test",
        "add",
        "ADD: a test",
        "- Add a test",
        "1. \"Add\" a test",
        "  Add",
    ] {
        assert_eq!(instruction(text), 1.0, "{text}");
    }
    for text in [
        "Address the reader",
        "Additionally, test",
        "Settle it",
        "a add",
        "42",
        "",
        "...",
    ] {
        assert_eq!(instruction(text), 0.0, "{text}");
    }
    for action in ["rea", "readit", "read ", "Read", ""] {
        assert_eq!(
            checks(subtask(action, "a.rs", "Read it"))[1],
            0.0,
            "{action:?}"
        );
    }
}

#[test]
fn instructions_in_any_script() {
    let plan = |text: &str| prediction! { "subtasks" => [subtask("read", "a.rs", text)] };
    let metric: SubtaskPlanning = configured(&[("verbs", r#"["添加", "ÉCRIRE", "a"]"#)]);
    assert_eq!(value(&metric, &plan("添加测试")), 1.0);
    assert_eq!(value(&metric, &plan("e\u{301}crire un test")), 1.0);
    assert_eq!(value(&metric, &plan("A")), 1.0, "an article is not removed");
    assert_eq!(value(&metric, &plan("Add a test")), 0.75);
    let any: SubtaskPlanning = configured(&[("verbs", "[]")]);
    assert_eq!(
        [value(&any, &plan("写")), value(&any, &plan("..."))],
        [1.0, 0.75]
    );
}

#[test]
fn an_invalid_plan_scores_zero_with_a_reason() {
    let metric = SubtaskPlanning::default();
    for (subtasks, reason) in [
        (json!([]), "`subtasks` is an empty list"),
        (json!("[]"), "`subtasks` is an empty list"),
        (json!({ "id": 1 }), "`subtasks` is not a list"),
        (json!(5), "`subtasks` is not a list"),
        (json!("null"), "`subtasks` is not a list"),
        (Value::Null, "`subtasks` is missing"),
        (
            json!(""),
            "`subtasks` is not valid JSON: EOF while parsing a value at line 1 column 0",
        ),
        (
            json!("[{]"),
            "`subtasks` is not valid JSON: key must be a string at line 1 column 3",
        ),
    ] {
        let found = components(&metric, &prediction! { "subtasks" => &subtasks });
        assert_eq!(found, (vec![0.0; 4], reason.to_owned()), "{subtasks}");
    }
}

#[test]
fn rows_that_cannot_be_scored() {
    let metric = SubtaskPlanning::default();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(
        error(&metric, &prediction! { "subtasks" => deep }),
        "metric `subtask_planning`: `pred.subtasks` is JSON nested deeper than 127 levels"
    );
}

#[test]
fn the_feedback_has_the_first_failure_and_the_number_of_others() {
    let plan = [
        subtask("read", "a.rs", "Read it"),
        subtask("fly", "b.rs", "Read it"),
        subtask("swim", "c.rs", "Carefully"),
    ];
    let pred = prediction! { "subtasks" => plan };
    let gold = example! {};
    let scored = SubtaskPlanning::default()
        .answer(MetricCall::new(&gold, &pred))
        .ready()
        .unwrap()
        .unwrap();
    let failures = "subtask 2: unknown action \"fly\"; expected one of read, edit, bash, and 1 more; \
                    subtask 3: its instruction starts with \"Carefully\", which is not a known verb";
    assert_eq!(scored.feedback().unwrap(), failures);
    assert_eq!(
        scored.score.details.unwrap(),
        "subtasks 1, weight 0.25; actions 0, weight 0.25: subtask 2: unknown action \"fly\"; expected one of read, \
         edit, bash, and 1 more; targets 1, weight 0.25; instructions 0, weight 0.25: subtask 3: its instruction starts \
         with \"Carefully\", which is not a known verb"
    );
    assert_eq!(scored.score.value, 0.5);
}

#[tokio::test]
async fn weights_are_configured_and_checked_before_the_first_row() {
    let metric: SubtaskPlanning = configured(&[("weights", "[0.7, 0.1, 0.1, 0.1]")]);
    let plan = prediction! { "subtasks" => [subtask("fly", "a.rs", "Read it")] };
    assert!((value(&metric, &plan) - 0.9).abs() < 1e-12);
    let wrong: SubtaskPlanning = configured(&[("weights", "[0.7, 0.1, 0.1, 0.0]")]);
    let message =
        "metric `subtask_planning`: the weights 0.7, 0.1, 0.1, 0 sum to 0.9; they must sum to 1";
    assert_eq!(error(&wrong, &plan), message);
    assert_eq!(preflight_error(wrong).await, message);
}

fn replies() -> Prediction {
    prediction! {
        "success" => true, "summary" => "Added a test of the parser", "modified_files" => ["a.rs"], "confidence" => 2,
    }
}

#[test]
fn combined_is_weighted_sixty_to_forty() {
    let mut pred = replies();
    pred.data.insert(
        "subtasks",
        json!([subtask("fly", "the library", "Read it")]),
    );
    let (planning, synthesis) = (
        value(&SubtaskPlanning::default(), &pred),
        value(&Synthesis::default(), &pred),
    );
    assert_eq!((planning, synthesis), (0.5, 0.75));
    assert_eq!(value(&Combined, &pred), 0.6 * 0.5 + 0.4 * 0.75);
    let required: Vec<_> = Combined::SPEC.required_fields().collect();
    let synthesis = [
        "pred.success",
        "pred.summary",
        "pred.modified_files",
        "pred.confidence",
    ];
    assert_eq!(required, [&["pred.subtasks"][..], &synthesis].concat());
}

#[test]
fn combined_is_0_for_the_share_of_a_component_without_its_fields() {
    assert_eq!(value(&Combined, &replies()), 0.4 * 0.75);
    let plan = prediction! { "subtasks" => [subtask("read", "a.rs", "Read it")] };
    assert_eq!(value(&Combined, &plan), 0.6);
}

/// Any JSON.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "(read|edit|bash|Add it|a/b|.{0,6})".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let key = "(id|action|target|instruction|x)";
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(key, inner, 0..5)
                .prop_map(|it| Value::Object(it.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_has_a_score_in_the_range(subtasks in json_value()) {
        let metric = SubtaskPlanning::default();
        let found = value(&metric, &prediction! { "subtasks" => &subtasks });
        prop_assert!((0.0..=1.0).contains(&found));
        let from_string = match &subtasks {
            // A string is parsed as JSON, so a JSON string in a string is another value.
            Value::String(_) => found,
            subtasks => value(&metric, &prediction! { "subtasks" => subtasks.to_string() }),
        };
        prop_assert_eq!(found, from_string);
    }

    #[test]
    fn an_additional_subtask_never_improves_a_plan(
        plan in prop::collection::vec(json_value(), 1..4),
        more in json_value(),
    ) {
        let metric = SubtaskPlanning::default();
        let before = value(&metric, &prediction! { "subtasks" => &plan });
        let longer: Vec<_> = plan.into_iter().chain([more]).collect();
        let after = value(&metric, &prediction! { "subtasks" => &longer });
        prop_assert!(after <= before, "{after} > {before}");
    }
}
