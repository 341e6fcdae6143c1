//! End to end with the LiteLLM proxy as an independent server, with an API key, errors and a rate
//! limit.
//!
//! `DSRS_METRICS_PYTHON` names a Python with `litellm[proxy]` (versions in `.ci/peers.txt`).
//! Without one the test is skipped with a message, or fails if `DSRS_METRICS_REQUIRE` is 1.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dsrs_metrics::lm::{
    LanguageModel, Lm, LmErrorKind, Price, Prices, ReplySchema, RetryPolicy, StopReason, Usage,
};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate,
    rows::Pair,
    runs::{EvaluateError, EvaluateErrorKind, EvaluationResult},
};
use dsrs_metrics_tests::{Peer, skip};
use serde_json::json;

use crate::{ask, plain, quick};

const KEY: &str = "sk-master-0123456789abcdef";

const CONFIG: &str = r#"
model_list:
  - model_name: judge
    litellm_params: {model: openai/gpt-6-luna, api_key: sk-upstream, mock_response: '{"score": 1.0}'}
  - model_name: busy
    litellm_params: {model: openai/gpt-6-luna, api_key: sk-upstream, mock_response: "litellm.RateLimitError"}
  - model_name: broken
    litellm_params: {model: openai/gpt-6-luna, api_key: sk-upstream, mock_response: "litellm.InternalServerError"}
  - model_name: short
    litellm_params: {model: openai/gpt-6-luna, api_key: sk-upstream, mock_response: "litellm.ContextWindowExceededError"}
  - model_name: limited
    litellm_params: {model: openai/gpt-6-luna, api_key: sk-upstream, rpm: 5, mock_response: '{"score": 0.5}'}
  - model_name: verdict
    litellm_params: {model: openai/gpt-6-luna, api_key: sk-upstream, mock_response: '{"reasoning": "because", "polite": true}'}
  - model_name: shares
    litellm_params: {model: openai/gpt-6-luna, api_key: sk-upstream, mock_response: '{"reasoning": "because", "recall": 0.5, "precision": 1.0}'}
  - model_name: talker
    litellm_params: {model: openai/gpt-6-luna, api_key: sk-upstream, mock_response: "I would say it is fine."}
  - model_name: limited-verdict
    litellm_params: {model: openai/gpt-6-luna, api_key: sk-upstream, rpm: 5, mock_response: '{"reasoning": "because", "polite": true}'}
router_settings:
  optional_pre_call_checks: ["enforce_model_rate_limits"]
  num_retries: 0
  disable_cooldowns: true
litellm_settings:
  num_retries: 0
general_settings:
  master_key: sk-master-0123456789abcdef
"#;

const PROBE: &str = "from importlib.util import find_spec as f\n\
    print(all(f(m) for m in ('litellm', 'fastapi', 'uvicorn', 'apscheduler', 'orjson')))";

/// The proxy; it ends with the test.
struct Proxy {
    child: Child,
    url: String,
    _folder: tempfile::TempDir,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn program() -> Option<PathBuf> {
    let python = Peer::interpreter();
    let output = Command::new(&python).args(["-c", PROBE]).output();
    let output = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    if output.as_deref().is_ok_and(|output| output == "True") {
        return Some(Path::new(&python).with_file_name("litellm"));
    }
    skip(&format!(
        "{python} has no litellm[proxy] ({output:?}); set DSRS_METRICS_PYTHON to one that has"
    ));
    None
}

impl Proxy {
    async fn start() -> Option<Self> {
        let program = program()?;
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("config.yaml");
        std::fs::write(&config, CONFIG).unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let child = Command::new(program)
            .arg("--config")
            .arg(&config)
            .args(["--host", "127.0.0.1", "--port", &port.to_string()])
            .env("LITELLM_LOCAL_MODEL_COST_MAP", "True")
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let url = format!("http://127.0.0.1:{port}/v1");
        let mut proxy = Self {
            child,
            url,
            _folder: folder,
        };
        proxy.wait().await;
        Some(proxy)
    }

    /// Until it answers.
    async fn wait(&mut self) {
        let begun = Instant::now();
        let lm = self.model("judge");
        while let Err(error) = lm.probe().await {
            assert!(
                begun.elapsed() < Duration::from_secs(120),
                "the proxy does not start: {error}"
            );
            assert_eq!(self.child.try_wait().unwrap(), None, "the proxy has ended");
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    }

    fn model(&self, name: &str) -> Lm {
        self.retrying(name, RetryPolicy::never())
    }

    fn retrying(&self, name: &str, policy: RetryPolicy) -> Lm {
        let prices = Prices::empty().with(
            "openai:*",
            Price {
                input: 1.0,
                output: 2.0,
                cached_input: None,
            },
        );
        let lm = plain(&format!("openai:{name}"), &self.url)
            .key(KEY)
            .prices(prices);
        lm.retry(policy).build().unwrap()
    }
}

#[tokio::test]
async fn a_real_openai_compatible_server_end_to_end() {
    let Some(proxy) = Proxy::start().await else {
        return;
    };
    replies_and_their_cost(&proxy).await;
    errors(&proxy).await;
    rate_limits(&proxy).await;
    judges(&proxy).await;
    judges_on_the_command_line(&proxy).await;
}

async fn replies_and_their_cost(proxy: &Proxy) {
    let lm = proxy.model("judge");
    let schema = ReplySchema::new(
        "verdict",
        json!({
            "type": "object",
            "properties": { "score": { "type": "number" } },
            "required": ["score"],
            "additionalProperties": false,
        }),
    );
    let request = ask("How good is it?").with_schema(schema);
    for _ in 0..20 {
        let reply = lm.complete(&request).await.unwrap();
        assert_eq!(reply.text, r#"{"score": 1.0}"#);
        assert_eq!(reply.stop_reason, StopReason::End);
        assert_eq!(reply.usage, Usage::new(10, 20));
        assert_eq!(reply.cost_msats, Some(50));
    }
    assert_eq!(
        lm.ledger().total().to_string(),
        "20 calls (0 cached, 0 failed), 200 prompt + 400 completion tokens, 1000 msat"
    );
}

async fn errors(proxy: &Proxy) {
    let broken = proxy
        .retrying("broken", quick(3))
        .complete(&ask("?"))
        .await
        .unwrap_err();
    assert!(
        matches!(broken.kind(), LmErrorKind::Status { status: 500, .. }),
        "{broken}"
    );
    assert_eq!(broken.attempts(), 3);

    let busy = proxy
        .retrying("busy", quick(3))
        .complete(&ask("?"))
        .await
        .unwrap_err();
    assert!(
        matches!(busy.kind(), LmErrorKind::RateLimited { .. }),
        "{busy}"
    );
    assert_eq!(busy.attempts(), 3);

    let short = proxy.model("short").complete(&ask("?")).await.unwrap_err();
    assert!(
        matches!(short.kind(), LmErrorKind::ContextLengthExceeded { .. }),
        "{short}"
    );

    let nobody = proxy.model("nobody").probe().await.unwrap_err();
    assert!(
        matches!(nobody.kind(), LmErrorKind::ModelNotFound { .. }),
        "{nobody}"
    );

    let wrong = plain("openai:judge", &proxy.url)
        .key("sk-wrong-key-0123")
        .build()
        .unwrap();
    let wrong = wrong.probe().await.unwrap_err();
    assert!(
        matches!(wrong.kind(), LmErrorKind::ApiKeyRejected { .. }),
        "{wrong}"
    );
    assert!(!wrong.to_string().contains("sk-wrong"), "{wrong}");

    for error in [broken, busy, short, nobody, wrong] {
        assert_eq!(error.to_string().lines().count(), 1, "{error}");
    }
}

/// The proxy allows five requests per minute; a new minute may begin meanwhile.
async fn rate_limits(proxy: &Proxy) {
    let lm = proxy.model("limited");
    let mut passed = 0;
    let error = loop {
        match lm.complete(&ask("?")).await {
            Ok(reply) => assert_eq!(reply.text, r#"{"score": 0.5}"#),
            Err(error) => break error,
        }
        passed += 1;
        assert!(passed <= 10, "no limit was met");
    };
    assert!(passed >= 5, "{passed}: {error}");
    assert!(
        matches!(error.kind(), LmErrorKind::RateLimited { .. }),
        "{error}"
    );
    let delay = error.retry_after().expect("the proxy asks for a delay");
    assert!((1..=60).contains(&delay.as_secs()), "{delay:?}");
}

/// Say whether the response is polite.
#[judge]
struct Polite {
    #[input(pred)]
    response: String,
    #[output]
    polite: bool,
}

/// Judges twelve rows, one at a time.
async fn judged(lm: Lm) -> Result<EvaluationResult, EvaluateError> {
    let judge = PoliteJudge::default().with_lm(lm);
    let evaluate = Evaluate::builder()
        .metric(judge)
        .concurrency(1)
        .build()
        .unwrap();
    let row = |id: u32| {
        let pred = prediction! { "response" => format!("Here you are, number {id}.") };
        Pair::new(id.to_string(), example! {}, pred)
    };
    evaluate.score((0..12).map(row)).await
}

async fn judges(proxy: &Proxy) {
    let fine = judged(proxy.model("verdict")).await.unwrap();
    assert_eq!(fine.first_error, None);
    assert_eq!(
        fine.to_string(),
        "polite  100.00% [75.75, 100.00] (12/12, 0 failed)"
    );
    // The proxy rejects a temperature of 0 for this model, as OpenAI does.
    let scored = fine.results[0].outcomes[0].scored().unwrap();
    assert_eq!(
        scored.metadata().unwrap()["omitted_params"],
        json!(["temperature"])
    );
    // 10 tokens of prompt at 1 and 20 of reply at 2.
    assert_eq!(fine.metrics[0].cost_msats, 12 * 50);

    let talker = judged(proxy.model("talker")).await.unwrap();
    assert_eq!(
        (talker.metrics[0].scored, talker.metrics[0].failed),
        (0, 12)
    );
    let error = talker.first_error.unwrap();
    assert!(
        error.contains("returned no verdict after one repair"),
        "{error}"
    );
    assert_eq!(
        talker.metrics[0].cost_msats,
        12 * 2 * 50,
        "with a repair, which is paid for"
    );

    for (model, expected) in [("broken", "status 500"), ("busy", "rate limit exceeded")] {
        let failed = judged(proxy.retrying(model, quick(2))).await.unwrap();
        assert_eq!(
            (failed.metrics[0].scored, failed.metrics[0].failed),
            (0, 12),
            "{model}"
        );
        let error = failed.first_error.unwrap();
        assert!(
            error.contains(expected) && error.contains("after 2 attempts"),
            "{error}"
        );
    }
    let limited = judged(proxy.model("limited-verdict")).await.unwrap();
    let summary = &limited.metrics[0];
    assert!(
        summary.failed > 0 && summary.scored + summary.failed == 12,
        "{limited}"
    );
    assert_eq!(
        summary.mean_scored,
        (summary.scored > 0).then_some(1.0),
        "{limited}"
    );
    assert!(limited.first_error.unwrap().contains("rate limit exceeded"));

    let nobody = judged(proxy.model("nobody")).await.unwrap_err();
    assert_eq!(nobody.kind(), EvaluateErrorKind::NotReady, "{nobody}");
    assert!(
        nobody
            .to_string()
            .starts_with("metric `polite`: openai:nobody: model not found")
    );
}

async fn judges_on_the_command_line(proxy: &Proxy) {
    let folder = tempfile::tempdir().unwrap();
    let row = |id: u32| {
        let gold = json!({ "question": "Where?", "response": "in Paris" });
        format!(
            "{}\n",
            json!({ "id": id, "gold": gold, "pred": { "response": "Paris" } })
        )
    };
    std::fs::write(
        folder.path().join("rows.jsonl"),
        (0..10).map(row).collect::<String>(),
    )
    .unwrap();
    let run = async |model: &str, key: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_judge_scorer"));
        command.args([
            "score",
            "rows.jsonl",
            "-m",
            "semantic_f1,polite",
            "--json",
            "--no-store",
        ]);
        command.args(["--param", "semantic_f1.models=openai:shares"]);
        command
            .args(["--lm", model])
            .current_dir(folder.path())
            .env_remove("DSRS_LM");
        command
            .env("OPENAI_BASE_URL", &proxy.url)
            .env("OPENAI_API_KEY", key);
        command.env("NO_PROXY", "127.0.0.1");
        tokio::task::spawn_blocking(move || command.output().unwrap())
            .await
            .unwrap()
    };
    let fine = run("openai:verdict", KEY).await;
    let stderr = String::from_utf8(fine.stderr).unwrap();
    assert_eq!(fine.status.code(), Some(0), "{stderr}");
    let report: serde_json::Value = dsrs_metrics_tests::schema::parsed(&fine.stdout);
    assert_eq!(report["metrics"]["semantic_f1"]["mean"], 2.0 / 3.0);
    assert_eq!(report["metrics"]["polite"]["score"], 1.0);
    // 20 rows and a probe of each model; the calls that were rejected for their temperature cost
    // nothing.
    assert!(
        stderr.starts_with("language models: ")
            && stderr.contains("220 prompt + 440 completion tokens"),
        "{stderr}"
    );

    for (model, key, expected) in [
        ("openai:nobody", KEY, "openai:nobody: model not found"),
        ("openai:verdict", "sk-wrong-key-0123", "API key rejected"),
    ] {
        let refused = run(model, key).await;
        let stderr = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(
            (refused.status.code(), stderr.lines().count()),
            (Some(2), 1),
            "{stderr}"
        );
        assert!(
            stderr.contains(expected) && !stderr.contains("sk-wrong"),
            "{stderr}"
        );
    }
}
