//! "Adjutant-Specific Metrics": plans, results, syntheses and assessments of a coding agent.

use dsrs_metrics::metrics::{
    Combined, SubtaskExecution, SubtaskPlanning, Synthesis, ToolStepUtility,
};
use dsrs_metrics::prelude::*;

use crate::Result;

fn subtask_planning_metric(example: &Example, prediction: &Prediction) -> Result<f64> {
    Ok(SubtaskPlanning::default().score(example, prediction)?.value)
}

const PLAN: &str =
    r#"[{"id": 1, "action": "edit", "target": "src/lib.rs", "instruction": "Add a test"}]"#;

pub(super) fn run() -> Result {
    let example = example! {};

    // "subtask_planning_metric": 25% each.
    let score = subtask_planning_metric(&example, &prediction! { "subtasks" => PLAN })?;
    assert_eq!(score, 1.0);
    let score = subtask_planning_metric(
        &example,
        &prediction! { "subtasks" => PLAN.replace("edit", "fly") },
    )?;
    assert_eq!(score, 0.75);

    // "subtask_execution_metric": "33/33/34 split".
    let result = r#"{"old_string": "a", "new_string": "b"}"#;
    let prediction =
        prediction! { "result" => result, "reasoning" => "The name was too short to be clear." };
    assert_eq!(
        SubtaskExecution::default()
            .score(&example, &prediction)?
            .value,
        1.0
    );
    let prediction = prediction! { "result" => result, "reasoning" => "ok" };
    assert_eq!(
        SubtaskExecution::default()
            .score(&example, &prediction)?
            .value,
        0.66
    );

    // "synthesis_metric": 25% each.
    let synthesis = prediction! {
        "subtasks" => PLAN, "success" => true, "summary" => "Added a test of the parser",
        "modified_files" => ["src/lib.rs"], "confidence" => 1.5,
    };
    assert_eq!(
        Synthesis::default().score(&example, &synthesis)?.value,
        0.75
    );

    // "tool_step_utility_metric": 25% each.
    let prediction = prediction! {
        "step_utility" => 0.8, "should_continue" => true, "next_action_hint" => "Read the failing test", "confidence" => 0.9,
    };
    assert_eq!(
        ToolStepUtility::default()
            .score(&example, &prediction)?
            .value,
        1.0
    );

    // "combined_metric": "60% planning weight + 40% synthesis weight".
    assert_eq!(
        Combined.score(&example, &synthesis)?.value,
        0.6 + 0.4 * 0.75
    );
    assert_eq!(
        Combined
            .score(&example, &prediction! { "subtasks" => PLAN })?
            .value,
        0.6
    );
    Ok(())
}
