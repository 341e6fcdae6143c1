//! The trajectories of subagents in ATIF documents.

use dsrs_metrics::prelude::*;
use dsrs_metrics::trajectory::{Subagent, SubagentTrajectory};
use serde_json::{Value, json};

/// A step with a call of `delegate`, whose result has these references.
fn delegating(id: &str, refs: &Value) -> Value {
    json!({
        "source": "agent", "message": "I delegate.",
        "tool_calls": [{"tool_call_id": id, "function_name": "delegate", "arguments": {"task": id}}],
        "observation": {"results": [
            {"source_call_id": id, "content": "done", "subagent_trajectory_ref": refs},
        ]},
    })
}

/// A trajectory with one call, as the embedded form of ATIF 1.7 has it.
fn of_subagent(id: &str, tool: &str) -> Value {
    json!({
        "schema_version": "ATIF-v1.7", "trajectory_id": id, "session_id": "s",
        "agent": {"name": "sub", "version": "1"},
        "steps": [
            {"step_id": 1, "source": "user", "message": "Look."},
            {"step_id": 2, "source": "agent", "message": "", "metrics": {"prompt_tokens": 5, "completion_tokens": 2},
                "tool_calls": [{"tool_call_id": "x", "function_name": tool, "arguments": {}}]},
        ],
        "final_metrics": {"total_prompt_tokens": 5, "total_completion_tokens": 2},
    })
}

fn document(steps: &[Value], subagents: &Value) -> Value {
    json!({
        "schema_version": "ATIF-v1.7", "trajectory_id": "root", "agent": {"name": "x", "version": "1"},
        "steps": steps, "subagent_trajectories": subagents,
    })
}

fn tools(subagent: &Subagent) -> (Option<&str>, Vec<&str>) {
    match &subagent.trajectory {
        SubagentTrajectory::Embedded { trajectory } => (
            subagent.tool_call_id.as_deref(),
            trajectory.tool_calls().names(),
        ),
        SubagentTrajectory::External { path } => (subagent.tool_call_id.as_deref(), vec![path]),
    }
}

#[test]
fn embedded_subagents_are_nested_and_count_in_no_other_method() {
    let steps = [
        delegating(
            "a",
            &json!([{"trajectory_id": "two"}, {"trajectory_path": "logs/3.json", "session_id": "s"}]),
        ),
        // A path beside the id of an embedded trajectory is for people.
        delegating(
            "b",
            &json!([{"trajectory_id": "one", "trajectory_path": "one.json"}, {"trajectory_id": "two"}]),
        ),
    ];
    let mut one = of_subagent("one", "search");
    one["subagent_trajectories"] = json!([of_subagent("one", "grep")]);
    one["steps"][1]["observation"] = json!({"results": [{"content": "", "subagent_trajectory_ref": [{"trajectory_id": "one"}]}]});
    let subagents = json!([
        one,
        of_subagent("two", "read"),
        of_subagent("three", "write")
    ]);
    let trajectory = Trajectory::from_json(document(&steps, &subagents)).unwrap();

    let found: Vec<_> = trajectory.subagents().iter().map(tools).collect();
    let expected = [
        (Some("a"), vec!["read"]),
        (Some("a"), vec!["logs/3.json"]),
        (Some("b"), vec!["search"]),
        (None, vec!["write"]),
    ];
    assert_eq!(found, expected);
    let SubagentTrajectory::Embedded { trajectory: one } = &trajectory.subagents()[2].trajectory
    else {
        panic!()
    };
    assert_eq!(
        one.subagents().iter().map(tools).collect::<Vec<_>>(),
        [(None, vec!["grep"])]
    );
    assert_eq!(one.tokens(), Some(7));

    let alone = steps.map(|mut step| {
        step["observation"]["results"][0]
            .as_object_mut()
            .unwrap()
            .remove("subagent_trajectory_ref");
        step
    });
    let alone = Trajectory::from_json(document(&alone, &json!(null))).unwrap();
    assert_eq!(
        (trajectory.messages(), trajectory.tokens()),
        (alone.messages(), alone.tokens())
    );
    assert_eq!(
        (trajectory.steps(), trajectory.tool_calls().names()),
        (2, vec!["delegate"; 2])
    );

    let written = serde_json::to_value(&trajectory).unwrap();
    assert_eq!(Trajectory::from_json(written).unwrap(), trajectory);
}

#[test]
fn references_of_older_versions_are_kept() {
    let refs = json!([{"session_id": "s-1"}, {"session_id": "s-2", "trajectory_path": "s3://logs/2.json"}]);
    let mut old = document(&[delegating("a", &refs)], &json!(null));
    old["schema_version"] = json!("ATIF-v1.4");
    let trajectory = Trajectory::from_json(old).unwrap();
    let found: Vec<_> = trajectory.subagents().iter().map(tools).collect();
    assert_eq!(
        found,
        [
            (Some("a"), vec!["session s-1"]),
            (Some("a"), vec!["s3://logs/2.json"])
        ]
    );
    let written = serde_json::to_value(&trajectory).unwrap();
    assert_eq!(Trajectory::from_json(written).unwrap(), trajectory);
}

#[test]
fn invalid_references_and_subagents_are_errors() {
    let one = || json!([of_subagent("one", "search")]);
    let mut broken = of_subagent("one", "search");
    broken["steps"][1]["source"] = json!("robot");
    let reference = "step 1: `subagent_trajectory_ref`: ";
    for (refs, subagents, message) in [
        (json!([{"trajectory_id": "two"}]), one(), format!(
            "{reference}no trajectory in `subagent_trajectories` has the `trajectory_id` `two`; add it, or write a `trajectory_path`"
        )),
        (json!([{}]), one(), format!(
            "{reference}expected `trajectory_id` or `trajectory_path`, found neither; write the id of one of \
             `subagent_trajectories`, or the path of a file"
        )),
        (json!(["one"]), one(), format!("{reference}expected an object, found the string \"one\"")),
        (json!([{"trajectory_id": 1}]), one(), format!("{reference}`trajectory_id`: expected a string, found the number 1")),
        (json!(null), json!({}), "`subagent_trajectories`: expected a list, found an object".to_owned()),
        (json!(null), json!([7]), "subagent trajectory 1: expected an object, found the number 7".to_owned()),
        (json!(null), json!([broken]),
            "subagent trajectory 1: step 2: unknown role `robot`; write `system`, `user`, `assistant` or `tool`".to_owned()),
        (json!(null), json!([of_subagent("one", "a"), of_subagent("one", "b")]),
            "subagent trajectory 2: duplicate `trajectory_id` `one`; give each trajectory a different id".to_owned()),
    ] {
        let error = Trajectory::from_json(document(&[delegating("a", &refs)], &subagents)).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}
