//! The guide to agents: its commands, its metric, and their output.

use dsrs_metrics::Evaluate;
use dsrs_metrics::data::DataReader;
use dsrs_metrics::metrics::Check;
use dsrs_metrics::prelude::*;

use crate::Folder;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const PAGE: &str = include_str!("../../dsrs-metrics/docs/guide/agents.md");

/// The invoice of the task is looked up, then refunded, and no call fails.
#[metric]
fn refund_flow(#[gold] invoice: &str, #[pred] trajectory: &Trajectory) -> Check {
    let calls = trajectory.tool_calls();
    Check::all([
        calls.in_order(["lookup_invoice", "create_refund"]),
        calls
            .named("create_refund")
            .any(|call| call.args["invoice"] == invoice),
        calls.none_failed(),
    ])
}

#[test]
fn the_guide_shows_the_output_of_its_commands() {
    // A command with a model has other output each time.
    let commands = PAGE
        .lines()
        .filter(|line| line.starts_with("dsrs-metrics score "));
    let commands = commands.filter(|line| !line.contains(" --lm "));
    let mut shown = 0;
    for line in commands {
        let command = line
            .replace("dsrs-metrics ", "")
            .replace("examples/", &format!("{ROOT}/examples/"));
        let ran = Folder::new().run(
            &command
                .split(' ')
                .map(|arg| arg.trim_matches('\''))
                .collect::<Vec<_>>(),
        );
        assert_eq!((ran.code, &*ran.err), (Some(0), ""), "{line}");
        assert!(
            PAGE.contains(&format!("{line}\n```\n\n```text\n{}```\n", ran.out)),
            "{line}\n{}",
            ran.out
        );
        shown += 1;
    }
    assert_eq!(shown, 2);
}

#[tokio::test]
async fn the_guide_shows_the_score_of_its_metric() {
    let source = include_str!("trajectories.rs");
    let (_, function) = source.split_once("/// The invoice").unwrap();
    let (function, _) = function.split_once("\n}\n").unwrap();
    assert!(
        PAGE.contains(&format!("/// The invoice{function}\n}}\n")),
        "{function}"
    );
    let rows = format!("{ROOT}/examples/data/agents/refunds.jsonl");
    let rows = DataReader::new().read([rows]).unwrap();
    let evaluate = Evaluate::builder().metric(RefundFlow).build().unwrap();
    let result = evaluate.score_files(rows).await.unwrap();
    let shown =
        format!("cargo run -- score refunds.jsonl -m refund_flow\n```\n\n```text\n{result}\n```\n");
    assert!(PAGE.contains(&shown), "{shown}");
}

/// The error of a row names its message, as the guide shows.
#[test]
fn a_row_with_an_unknown_role_fails() {
    let row = r#"{"gold": {"trajectory": []}, "pred": {"trajectory": [{"role": "critic", "content": "x"}]}}"#;
    let ran = Folder::with("rows.jsonl", row).run("score rows.jsonl -m trajectory_match");
    let reason = "field `pred.trajectory`: expected a trajectory, found a list (message 1: unknown role `critic`; write `system`, `user`, `assistant` or `tool`)";
    assert!(
        ran.err
            .contains(&format!("metric `trajectory_match`: {reason}")),
        "{ran:?}"
    );
    assert!(PAGE.contains(&format!("metric `refund_flow`: {reason}")));
}

/// Every metric of trajectories, each with its outcome and details on the first row.
#[test]
fn a_malformed_call_of_the_model_is_scored_and_named() {
    let call = r#"{"id": "a", "type": "function", "function": {"name": "search", "arguments": "{\"city\":\"Par"}}"#;
    let pred = format!(
        r#"[{{"role": "assistant", "content": null, "tool_calls": [{{"name": "now"}}, {call}], "usage": {{"prompt_tokens": 1}}}}]"#
    );
    let gold = r#"[{"role": "assistant", "tool_calls": [{"name": "now"}, {"name": "search", "args": {"city": "Paris"}}]}]"#;
    let row = format!(r#"{{"gold": {{"trajectory": {gold}}}, "pred": {{"trajectory": {pred}}}}}"#);
    let folder = Folder::with("rows.jsonl", row);
    let named = "the arguments of call 2 to `search` are not JSON: EOF while parsing a string at line 1 column 12";
    for (metric, params, value) in [
        ("trajectory_match", vec![], 0.0),
        ("trajectory_match", vec!["mode=unordered"], 0.0),
        (
            "trajectory_match",
            vec!["mode=superset", "args=subset"],
            0.0,
        ),
        ("trajectory_match", vec!["args=[\"country\"]"], 0.0),
        (
            "trajectory_match",
            vec!["mode=unordered", "args=[\"country\"]"],
            0.0,
        ),
        ("trajectory_match", vec!["args=ignore"], 1.0),
        ("tool_call_f1", vec![], 0.5),
        ("trajectory_f1", vec![], 1.0),
        ("tool_correctness", vec![], 1.0),
        ("tool_correctness", vec!["arguments=true"], 0.5),
        ("no_loops", vec![], 1.0),
        ("within_steps", vec!["max=1"], 1.0),
        ("within_tool_calls", vec!["max=1"], 0.0),
        ("within_tokens", vec!["max=1"], 1.0),
    ] {
        let mut args = vec![
            "score".to_owned(),
            "rows.jsonl".to_owned(),
            "-m".to_owned(),
            metric.to_owned(),
        ];
        for param in &params {
            args.extend(["--param".to_owned(), format!("{metric}.{param}")]);
        }
        args.extend(["--out".to_owned(), "out.jsonl".to_owned()]);
        let ran = folder.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!((ran.code, &*ran.err), (Some(0), ""), "{metric} {params:?}");
        let scored: serde_json::Value =
            serde_json::from_str(folder.read("out.jsonl").trim_end()).unwrap();
        let score = &scored["scores"][metric];
        assert_eq!(score["value"], value, "{metric} {params:?}: {score}");
        let details = score["details"].as_str().unwrap_or_default();
        assert!(details.ends_with(named), "{metric} {params:?}: {score}");
    }
}

#[test]
fn a_malformed_call_of_the_gold_row_is_an_error() {
    let malformed = r#"[{"name": "search", "arguments": "{\"city\":\"Par"}]"#;
    let row = format!(
        r#"{{"gold": {{"trajectory": {malformed}}}, "pred": {{"trajectory": {malformed}}}}}"#
    );
    for metric in [
        "trajectory_match",
        "tool_call_f1",
        "trajectory_f1",
        "tool_correctness",
    ] {
        let error =
            Folder::with("rows.jsonl", &row).score_error(&format!("rows.jsonl -m {metric}"));
        let reason = "field `gold.trajectory`: expected a trajectory, found a list (the arguments of call 1 to `search` are not JSON: \
                      EOF while parsing a string at line 1 column 12; write an object such as {\"city\": \"Rome\"})";
        assert!(
            error.ends_with(&format!("metric `{metric}`: {reason}")),
            "{error}"
        );
    }
}

/// The arguments of deepeval's calls, and a list of questions that is no list of tools.
#[test]
fn keys_of_deepeval_are_compared_and_questions_are_no_calls() {
    let calls =
        |query: &str| format!(r#"[{{"name": "lookup", "inputParameters": {{"q": "{query}"}}}}]"#);
    let row = format!(
        r#"{{"gold": {{"trajectory": {}}}, "pred": {{"trajectory": {}}}}}"#,
        calls("a"),
        calls("WRONG")
    );
    let shown = Folder::with("rows.jsonl", row).printed("score rows.jsonl -m trajectory_match");
    assert!(shown.starts_with("trajectory_match  0.00%"), "{shown}");
    let row = r#"{"gold": {}, "pred": {"trajectory": ["Where is Rome?", "And Oslo?"]}}"#;
    let error = Folder::with("rows.jsonl", row)
        .score_error("rows.jsonl -m within_steps --param within_steps.max=9");
    assert!(error.ends_with("found a list of strings; write `{\"tool_calls\": [..]}` if they are the names of tools)"), "{error}");
}
