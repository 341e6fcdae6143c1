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
        calls.named("create_refund").any(|call| call.args["invoice"] == invoice),
        calls.none_failed(),
    ])
}

#[test]
fn the_guide_shows_the_output_of_its_commands() {
    // A command with a model has other output each time.
    let commands = PAGE.lines().filter(|line| line.starts_with("dsrs-metrics score "));
    let commands = commands.filter(|line| !line.contains(" --lm "));
    let mut shown = 0;
    for line in commands {
        let command =
            line.replace("dsrs-metrics ", "").replace("examples/", &format!("{ROOT}/examples/"));
        let ran = Folder::new()
            .run(&command.split(' ').map(|arg| arg.trim_matches('\'')).collect::<Vec<_>>());
        assert_eq!((ran.code, &*ran.err), (Some(0), ""), "{line}");
        assert!(
            PAGE.contains(&format!("{line}\n```\n\n```text\n{}```\n", ran.out)),
            "{line}\n{}",
            ran.out
        );
        shown += 1;
    }
    assert_eq!(shown, 3);
}

#[tokio::test]
async fn the_guide_shows_the_score_of_its_metric() {
    let source = include_str!("trajectories.rs");
    let (_, function) = source.split_once("/// The invoice").unwrap();
    let (function, _) = function.split_once("\n}\n").unwrap();
    assert!(PAGE.contains(&format!("/// The invoice{function}\n}}\n")), "{function}");
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
    let row = r#"{"gold": {"trajectory": []}, "pred": {"trajectory": [{"role": "human", "content": "x"}]}}"#;
    let ran = Folder::with("rows.jsonl", row).run("score rows.jsonl -m trajectory_match");
    let reason = "field `pred.trajectory`: expected a trajectory, found a list (message 1: unknown role `human`; write `user`)";
    assert!(ran.err.contains(&format!("metric `trajectory_match`: {reason}")), "{ran:?}");
    assert!(PAGE.contains(&format!("metric `refund_flow`: {reason}")));
}
