//! Trajectories in ATIF.

use serde_json::{Value, json};

use crate::Folder;

/// Two trajectories, one in each line.
pub(super) const TRAJECTORIES: &str = concat!(
    r#"{"schema_version":"ATIF-v1.7","session_id":"s1","agent":{"name":"guide","version":"2","model_name":"m"},"steps":[{"step_id":1,"source":"user","message":"Is it sunny?"},{"step_id":2,"source":"agent","message":"","tool_calls":[{"tool_call_id":"k","function_name":"weather","arguments":{"city":"Rome"}}],"observation":{"results":[{"source_call_id":"k","content":"21 C"}]}},{"step_id":3,"source":"agent","message":"Yes."}],"final_metrics":{"total_prompt_tokens":50,"total_completion_tokens":10}}"#,
    "\n",
    r#"{"schema_version":"ATIF-v1.0","agent":{"name":"guide","version":"3"},"steps":[{"step_id":1,"source":"user","message":"And in Oslo?"},{"step_id":2,"source":"agent","message":"No."}]}"#,
    "\n"
);

#[test]
fn a_trajectory_is_a_row() {
    let folder = Folder::with("t.jsonl", TRAJECTORIES);
    let score = "score --from atif t.jsonl -m no_loops --with-rows";
    folder.printed(&format!("{score} --out out.jsonl"));
    let rows: Vec<Value> = folder
        .read("out.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        (&rows[0]["id"], &rows[1]["id"]),
        (&"s1".into(), &"2".into())
    );
    assert_eq!(rows[0]["gold"], json!({"task": "Is it sunny?"}));
    assert_eq!(rows[0]["pred"]["answer"], "Yes.");
    let document: Value = serde_json::from_str(TRAJECTORIES.lines().next().unwrap()).unwrap();
    assert_eq!(rows[0]["pred"]["trajectory"], document);
    assert_eq!(
        (&rows[0]["input_tokens"], &rows[0]["output_tokens"]),
        (&50.into(), &10.into())
    );
    assert_eq!(
        rows[0]["attributes"],
        json!({"agent": "guide", "agent_version": "2", "model": "m"})
    );
    assert_eq!(
        rows[1]["attributes"],
        json!({"agent": "guide", "agent_version": "3"})
    );
    // One document over several lines is the same.
    folder.write("one.json", serde_json::to_string_pretty(&document).unwrap());
    folder.printed("score --from atif one.json -m no_loops");
}

#[test]
fn an_invalid_trajectory_is_named_with_its_line() {
    let (first, _) = TRAJECTORIES.split_once('\n').unwrap();
    let score = "--from atif t.jsonl -m no_loops";
    for (second, expected) in [
        (
            r#"{"steps":[]}"#,
            "line 2: no `schema_version` of ATIF; expected a trajectory",
        ),
        (
            r#"{"schema_version":"ATIF-v2.0","steps":[]}"#,
            "line 2: `schema_version`: expected `ATIF-v1.0` or a later 1.x, found the string \"ATIF-v2.0\"",
        ),
        (
            r#"{"schema_version":"ATIF-v1.0","steps":[{"#,
            "line 2: EOF while parsing",
        ),
    ] {
        let error = Folder::with("t.jsonl", format!("{first}\n{second}")).score_error(score);
        assert!(
            error.starts_with(&format!("t.jsonl: {expected}")),
            "{error}"
        );
    }
}
