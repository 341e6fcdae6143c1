//! Trajectories as fields of rows.

use dsrs_metrics::prelude::*;
use dsrs_metrics::trajectory::ExpectedTrajectory;
use serde_json::{Value, json};

/// Share of the expected calls that were made; 1 if there is no expected trajectory.
#[metric(range = 0.0..=1.0)]
fn made(
    #[gold("trajectory")] expected: Option<&ExpectedTrajectory>,
    #[pred] trajectory: &Trajectory,
) -> f64 {
    let Some(expected) = expected else { return 1.0 };
    let calls = trajectory.tool_calls();
    let is_made = |name: &&str| !calls.named(name).is_empty();
    let names = expected.tool_calls().names();
    names.iter().filter(|name| is_made(name)).count() as f64 / names.len() as f64
}

#[metric]
fn finished(#[pred] trajectory: Trajectory) -> bool {
    let last = |it: Trajectory| it.tool_calls().iter().last().map(|call| call.name.clone());
    last(trajectory).as_deref() == Some("finish")
}

fn score(gold: impl Into<Value>, pred: impl Into<Value>) -> dsrs_metrics::Result<f64> {
    let gold = example! { "trajectory" => gold.into() };
    Ok(Made
        .score(&gold, &prediction! { "trajectory" => pred.into() })?
        .value)
}

#[test]
fn a_field_is_json_or_a_string_of_json() -> dsrs_metrics::Result<()> {
    let pred = json!([{"name": "search", "args": {"query": "Rome"}}]);
    for pred in [
        pred.clone(),
        pred.to_string().into(),
        json!({"tool_calls": ["search"]}),
    ] {
        assert_eq!(score(json!(["search", "book"]), pred.clone())?, 0.5);
        assert_eq!(score(json!(null), pred)?, 1.0);
    }
    assert_eq!(
        Made.score(
            &example! {},
            &prediction! { "trajectory" => [ToolCall::new("x")] }
        )?
        .value,
        1.0
    );
    assert_eq!(
        Finished
            .score(
                &example! {},
                &prediction! { "trajectory" => ["x", "finish"].map(ToolCall::new) }
            )?
            .value,
        1.0
    );
    Ok(())
}

#[test]
fn a_mistake_is_the_error_of_the_field() {
    let start = "metric `made`: field `pred.trajectory`: expected a trajectory, found ";
    for (pred, found) in [
        (
            json!([{"role": "critic", "content": "x"}]),
            "a list (message 1: unknown role `critic`; write `system`, `user`, `assistant` or `tool`)",
        ),
        (
            json!("[{\"role\": \"critic\"}]"),
            "the string \"[{\\\"role\\\": \\\"critic\\\"}]\" (message 1: unknown role `critic`; write `system`, `user`, `assistant` or `tool`)",
        ),
        (
            json!("search"),
            "the string \"search\" (the string is not JSON: expected value at line 1 column 1)",
        ),
        (json!(null), "null"),
        (
            json!(["Where is Rome?", "And Oslo?"]),
            "a list (expected messages with `role`, calls with `name`, an ATIF object with `schema_version`, or steps with \
             `predictor`; found a list of strings; write `{\"tool_calls\": [..]}` if they are the names of tools)",
        ),
    ] {
        let message = score(json!(["search"]), pred).unwrap_err().to_string();
        assert_eq!(message, format!("{start}{found}"));
    }
    let message = score(json!([["x"]]), json!([])).unwrap_err().to_string();
    assert!(message.starts_with("metric `made`: field `gold.trajectory`: expected a trajectory, found a list (expected messages"), "{message}");
}

#[derive(Record)]
struct Gold {
    trajectory: Option<Trajectory>,
}

#[derive(Record)]
struct Run {
    trajectory: Trajectory,
}

#[derive(Record, serde::Deserialize)]
struct Reply {
    trajectory: Trajectory,
}

/// The row of the expected calls may have none.
#[metric]
fn any_expected(#[gold] trajectory: Option<&ExpectedTrajectory>) -> bool {
    trajectory.is_some_and(|it| !it.tool_calls().is_empty())
}

#[test]
fn typed_rows_have_trajectories() -> dsrs_metrics::Result<()> {
    let expected = Trajectory::of_calls(["search", "book"].map(ToolCall::new));
    let gold = Gold {
        trajectory: Some(expected.clone()),
    };
    let run = Run {
        trajectory: Trajectory::of_calls([ToolCall::new("book")]),
    };
    assert_eq!(Made.score(&gold, &run)?.value, 0.5);
    assert_eq!(Made.score(&Gold { trajectory: None }, &run)?.value, 1.0);
    assert_eq!(
        Made.score(
            &Run {
                trajectory: expected
            },
            &run
        )?
        .value,
        0.5
    );
    assert_eq!(AnyExpected.score(&gold, &run)?.value, 1.0);
    assert_eq!(
        AnyExpected
            .score(&example! { "trajectory" => ["x"] }, &prediction! {})?
            .value,
        1.0
    );
    let reply: Reply =
        serde_json::from_str(r#"{"trajectory": "[{\"name\": \"finish\"}]"}"#).unwrap();
    assert_eq!(Finished.score(&example! {}, &reply)?.value, 1.0);
    Ok(())
}
