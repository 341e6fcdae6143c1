//! Panels that lose a judge: to the budget, or because a model fails.

use serde_json::{Value, json};

use crate::judge_command_line::{Ran, score};
use crate::server::{Answer, Received, Server};

/// Two cheap judges answer yes, an expensive one answers no.
const PANEL: &str = "semantic_f1.models=openai:gpt-6-luna,openai:gpt-6-luna,openai:gpt-6-sol";

fn by_model(received: &Received) -> Answer {
    let value = if received.body["model"] == "gpt-6-sol" {
        0.0
    } else {
        1.0
    };
    Answer::chat(&json!({ "reasoning": "r", "recall": value, "precision": value }).to_string())
}

/// The expensive model answers only the probe.
fn without_one(received: &Received) -> Answer {
    let is_probe = received.body["response_format"]["json_schema"]["name"] == "probe";
    match received.body["model"] == "gpt-6-sol" && !is_probe {
        true => Answer::error(400, "out of order"),
        false => by_model(received),
    }
}

async fn run(server: &Server, rows: usize, args: &[&str]) -> Ran {
    let panel = [
        "--param",
        PANEL,
        "--param",
        "semantic_f1.aggregation=average",
    ];
    run_one_judge(server, rows, &[&panel[..], args].concat()).await
}

async fn run_one_judge(server: &Server, rows: usize, args: &[&str]) -> Ran {
    let url = server.url("/v1");
    let variables = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", url.as_str())];
    let common = [
        "-m",
        "semantic_f1",
        "--lm",
        "openai:gpt-6-luna",
        "--no-store",
    ];
    score(rows, &[&common[..], args].concat(), &variables).await
}

#[tokio::test]
async fn a_budget_never_changes_the_panel() {
    let server = Server::start(by_model).await;
    for concurrency in ["1", "32"] {
        let before = server.received().len();
        let args = ["--budget", "55000 msat", "--concurrency", concurrency];
        let ran = run(&server, 60, &args).await;
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        let scores: Vec<_> = ran
            .lines
            .iter()
            .map(|line| &line["scores"]["semantic_f1"])
            .collect();
        let of = |outcome: &str| -> Vec<&&Value> {
            scores
                .iter()
                .filter(|score| score["outcome"] == outcome)
                .collect()
        };
        let (scored, skipped) = (of("scored"), of("skipped"));
        assert_eq!(scored.len() + skipped.len(), 60);
        assert!(
            scored.len() > 5 && skipped.len() > 5,
            "{} scored",
            scored.len()
        );
        for score in &scored {
            // (1 + 1 + 0) / 3: all three judges, on every row with a score.
            assert_eq!(score["value"], 2.0 / 3.0, "{score}");
            assert_eq!(score["metadata"]["judges"].as_array().unwrap().len(), 3);
        }
        let headline = format!(
            "; few rows] (mean of {}/60, 0 failed, {} skipped)",
            scored.len(),
            skipped.len()
        );
        assert!(ran.out.starts_with("semantic_f1  0.6667 ["), "{}", ran.out);
        assert!(ran.out.contains(&headline), "{}", ran.out);
        // 12 msat a call, 228 of the expensive one.
        let cost: u64 = scores
            .iter()
            .map(|score| score["cost_msats"].as_u64().unwrap_or(0))
            .sum();
        let calls = server.received().split_off(before);
        let dear = calls
            .iter()
            .filter(|call| call.body["model"] == "gpt-6-sol")
            .count() as u64;
        let total = dear * 228 + (calls.len() as u64 - dear) * 12;
        // One probe of each model belongs to no row.
        assert_eq!(cost, total - 228 - 12, "{}", ran.err);
        assert!(total <= 55_000);
        // No judge is called for a row that the budget does not cover.
        assert_eq!(calls.len(), 3 * scored.len() + 2, "{}", ran.err);
    }
}

#[tokio::test]
async fn a_panel_whose_replies_are_stored_needs_no_reservation() {
    let server = Server::start(by_model).await;
    let (url, store) = (server.url("/v1"), tempfile::tempdir().unwrap());
    let variables = [
        ("OPENAI_API_KEY", "k"),
        ("OPENAI_BASE_URL", url.as_str()),
        ("DSRS_STORE", store.path().to_str().unwrap()),
    ];
    let args = [
        "-m",
        "semantic_f1",
        "--lm",
        "openai:gpt-6-luna",
        "--param",
        PANEL,
    ];
    let first = score(3, &args, &variables).await;
    assert_eq!(
        (first.code, server.received().len()),
        (Some(0), 3 * 3 + 2),
        "{}",
        first.err
    );
    // Enough for the probes, and less than a call of a judge.
    let again = score(
        3,
        &[&args[..], &["--budget", "5000 msat"]].concat(),
        &variables,
    )
    .await;
    assert_eq!(
        (again.code, server.received().len()),
        (Some(0), 3 * 3 + 4),
        "{}",
        again.err
    );
    assert_eq!(again.lines, first.lines);
}

#[tokio::test]
async fn a_judge_that_fails_shows_in_headline_json_and_exit_code() {
    let server = Server::start(without_one).await;
    let ran = run(&server, 4, &[]).await;
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert_eq!(
        ran.out,
        "semantic_f1  1.0000 [0.2476, 1.0000; few rows] (mean of 4/4, 0 failed, 4 judged by part of the panel)\n"
    );
    let line = "semantic_f1: 4 of 4 rows were judged by only part of the panel; first error: openai:gpt-6-sol: provider returned status 400: out of order; set `quorum` (--param semantic_f1.quorum=NUMBER) to allow this\n";
    assert!(ran.err.contains(line), "{}", ran.err);

    let ran = run(&server, 4, &["--json", "--quiet"]).await;
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), line));
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    let metric = &report["metrics"]["semantic_f1"];
    assert_eq!(
        (&metric["judged_in_part"], &metric["judged_without_quorum"]),
        (&json!(4), &json!(4))
    );

    let allowed = run(&server, 4, &["--json", "--param", "semantic_f1.quorum=2"]).await;
    assert_eq!(allowed.code, Some(0), "{}", allowed.err);
    let report: Value = serde_json::from_str(&allowed.out).unwrap();
    let metric = &report["metrics"]["semantic_f1"];
    assert_eq!(
        (
            &metric["judged_in_part"],
            metric.get("judged_without_quorum")
        ),
        (&json!(4), None)
    );
}

#[tokio::test]
async fn a_provider_that_ignores_max_tokens_is_reported() {
    let server = Server::start(|received| {
        let mut body =
            crate::server::chat(r#"{"reasoning":"r","recall":1.0,"precision":1.0}"#, "stop");
        let is_probe = received.body["response_format"]["json_schema"]["name"] == "probe";
        body["usage"]["completion_tokens"] = json!(if is_probe { 10 } else { 5000 });
        Answer::json(200, &body)
    })
    .await;
    // 12 for the probe, 2507 for a call that reserves less than 2488: the second row is not covered.
    let beyond = run_one_judge(&server, 1, &["--budget", "2500 msat"]).await;
    assert_eq!(beyond.code, Some(1), "{}", beyond.err);
    let line = "the calls cost 2519 msat, 19 msat more than --budget; openai:gpt-6-luna reported 5000 tokens for a reply limited to 4096\n";
    assert!(beyond.err.contains(line), "{}", beyond.err);
}
