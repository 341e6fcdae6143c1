//! `export --to` of a run whose judge is a language model.

use dsrs_metrics_tests::Peer;
use serde_json::{Value, json};

use crate::rejudge::Judges;

#[tokio::test]
async fn the_model_that_judged_is_stated() {
    let Some(peer) = Peer::with(&["every-eval-ever", "mlflow-skinny"]) else {
        return;
    };
    let judges = Judges::start(|_, _| json!({ "reasoning": "because", "polite": true })).await;
    let row = json!({ "id": "r1", "trace_id": "t1", "gold": { "question": "Open?" }, "pred": { "response": "Yes, please come in." } });
    std::fs::write(judges.path("rows.jsonl"), row.to_string()).unwrap();
    let score = [
        "score",
        "rows.jsonl",
        "-m",
        "polite",
        "--lm",
        "openai:judge",
        "-q",
        "--with-rows",
    ];
    Judges::succeeded(
        judges
            .run(&[&score[..], &["--out", "run.jsonl"]].concat())
            .await,
    );
    let export = ["export", "run.jsonl", "--to"];
    Judges::succeeded(
        judges
            .run(&[&export[..], &["mlflow", "--out", "assessments.jsonl"]].concat())
            .await,
    );
    let tags = [
        "eee",
        "--out",
        "eee",
        "--tag",
        "model=acme/small",
        "--tag",
        "organization=Acme",
    ];
    Judges::succeeded(judges.run(&[&export[..], &tags].concat()).await);

    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/parity/read_exports.py");
    let read = peer
        .output(&[script, judges.path("").to_str().unwrap()])
        .unwrap();
    let read: Value = serde_json::from_str(&read).unwrap();
    let url = judges.server_url();
    let model = format!("openai:judge at {url}");
    assert_eq!(
        read["assessments.jsonl"][0]["source"],
        json!(["LLM_JUDGE", model])
    );
    assert_eq!(read["eee"]["valid"], true, "{read}");
    let scoring = &read["eee"]["run"]["evaluation_results"][0]["metric_config"]["llm_scoring"];
    let judge = &scoring["judges"][0]["model_info"];
    assert_eq!(
        (&judge["id"], &judge["name"]),
        (&json!("openai/judge"), &json!("openai:judge"))
    );
    assert_eq!(judge["additional_details"]["endpoint"], url);
    let hash = scoring["input_prompt"]
        .as_str()
        .unwrap()
        .rsplit_once(": ")
        .unwrap()
        .1;
    assert!(
        hash.len() >= 32 && hash.bytes().all(|it| it.is_ascii_hexdigit()),
        "{scoring}"
    );
}
