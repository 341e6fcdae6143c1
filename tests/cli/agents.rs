//! The agent metrics on the command line.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::lists::list;
use crate::piped;

/// The means of all metrics of a run.
#[track_caller]
fn scored(rows: &str, args: &str) -> Value {
    let ran = piped(rows, &format!("score - --json {args}"));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let summary: Value = serde_json::from_str(&ran.out).unwrap();
    let metrics = summary["metrics"].as_object().unwrap();
    metrics
        .iter()
        .map(|(name, metric)| (name.clone(), metric["mean"].clone()))
        .collect()
}

#[track_caller]
fn rejected(rows: &str, args: &str) -> String {
    let ran = piped(rows, &format!("score - {args}"));
    assert_eq!((ran.code, &*ran.out), (Some(2), ""), "{}", ran.err);
    ran.error()
}

#[test]
fn each_is_listed_with_its_fields_and_cost() {
    let all =
        "subtask_planning subtask_execution synthesis tool_step_utility combined outcome_coupled";
    let is_fact = |line: &&str| {
        let starts = ["  proxy, ", "  reads  "];
        !line.starts_with(' ') || starts.iter().any(|start| line.starts_with(start))
    };
    assert_snapshot!(
        list(all, "100")
            .lines()
            .filter(is_fact)
            .collect::<Vec<_>>()
            .join("\n")
    );
}

#[test]
fn each_check_is_a_named_score() {
    let rows = "{\"pred\": {\"subtasks\": [{\"id\": 1, \"action\": \"edit\", \"target\": \"a.rs\", \"instruction\": \"Add it\"}]}}\n\
                {\"pred\": {\"subtasks\": \"[{\\\"id\\\": 1, \\\"action\\\": \\\"fly\\\", \\\"target\\\": \\\"a.rs\\\", \\\"instruction\\\": \\\"Hop\\\"}]\"}}\n";
    assert_eq!(
        scored(rows, "-m subtask_planning"),
        json!({
            "subtask_planning": 0.75, "subtask_planning.subtasks": 1.0, "subtask_planning.actions": 0.5,
            "subtask_planning.targets": 1.0, "subtask_planning.instructions": 0.5,
        })
    );
    let given = r#"-m subtask_planning --param subtask_planning.actions=["edit","fly"] --param subtask_planning.verbs=["add","hop"]"#;
    assert_eq!(scored(rows, given)["subtask_planning"], 1.0);
    // `null` shows that the names of the fields are right.
    let synthesis = "{\"pred\": {\"success\": true}}\n\
                     {\"pred\": {\"success\": true, \"summary\": null, \"modified_files\": null, \"confidence\": null}}";
    assert_eq!(scored(synthesis, "-m synthesis")["synthesis"], 0.25);
    let ran = piped(
        synthesis,
        "score - -m synthesis,subtask_execution --max-errors 9",
    );
    assert_eq!(
        ran.code,
        Some(2),
        "no row has the fields of the second metric"
    );
    let words = "\nsubtask_execution: no prediction has a field `result`; the first prediction has `success`; ";
    assert!(ran.err.contains(words), "{}", ran.err);
}

#[test]
fn labelled_steps_are_scored_from_their_file() {
    let rows = "{\"tool\": \"edit\", \"step_utility\": 1, \"was_repeated\": false, \"verification_delta\": 2, \"params_valid\": true}\n\
                {\"tool\": \"edit\", \"step_utility\": -1, \"was_repeated\": true, \"verification_delta\": 0, \"params_valid\": true}\n";
    let labels = [
        "step_utility",
        "was_repeated",
        "verification_delta",
        "params_valid",
    ];
    let maps = labels
        .map(|label| format!("--map pred.{label}={label}"))
        .join(" ");
    let found = scored(rows, &format!("-m outcome_coupled {maps}"));
    assert!(
        (found["outcome_coupled"].as_f64().unwrap() - 0.6).abs() < 1e-12,
        "{found}"
    );
    assert_eq!(found["outcome_coupled.not_repeated"], 0.5);
    assert_eq!(found["outcome_coupled.verification"], 0.75);
}

#[test]
fn an_error_is_one_line() {
    let row =
        "{\"pred\": {\"step_utility\": 1, \"was_repeated\": false, \"verification_delta\": 2}}";
    assert_snapshot!(rejected(row, "-m outcome_coupled"),
        @"<stdin>:1: metric `outcome_coupled`: no field `pred.params_valid`; found `step_utility`, `was_repeated`, `verification_delta`; if the row has it elsewhere, pass --map pred.params_valid=PATH");
    assert_snapshot!(rejected(row, "-m outcome_coupled --param outcome_coupled.schema_weight=0.5"),
        @"metric `outcome_coupled`: the weights 0.4, 0.3, 0.2, 0.5 sum to 1.4; they must sum to 1");
    let weights = rejected(row, "-m synthesis --param synthesis.weights=[0.5,0.5]");
    let expected = "parameter `weights`: expected a list of 4 numbers, found `[0.5,0.5]`";
    assert!(weights.ends_with(expected), "{weights}");
    assert_snapshot!(rejected(row, "-m outcome_coupled --param outcome_coupled.full_delta=0"),
        @"metric `outcome_coupled`: expected `full_delta` to be at least 1, found 0");
}
