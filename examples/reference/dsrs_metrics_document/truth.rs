//! "Truth Metrics": judges, comparisons, and programs in the sandbox.

use std::path::{Path, PathBuf};
use std::process::Command;

use dsrs_metrics::judge::shipped::LlmJudge;
use dsrs_metrics::lm::ScriptedLm;
use dsrs_metrics::metrics::{Diff, DiffStrictness, Sandbox, TestPass, VerificationDelta};
use dsrs_metrics::prelude::*;
use dsrs_metrics::sandbox::counts;
use serde_json::json;

use crate::{Result, passed};

pub(super) async fn run() -> Result {
    llm_judge().await?;
    diff().await?;
    match sandbox_is_available()? {
        true => programs().await?,
        false => passed(
            "dsrs_metrics_document",
            "skipped: the sandbox, which needs bubblewrap",
        ),
    }
    Ok(())
}

/// "LlmJudgeMetric": "score.details contains LLM's explanation"; about 100 msat.
async fn llm_judge() -> Result {
    let lm = ScriptedLm::new().otherwise(json!({
        "reasoning": "It handles the empty list.", "score": 0.75, "feedback": "Name the variables.",
    }));
    let metric = LlmJudge::builder()
        .system_prompt("You are an expert code reviewer...")
        .criteria(vec!["Correctness", "Completeness", "Code quality"])
        .with_lm(lm)
        .build();

    let input = example! { "question" => "Reverse a list." };
    let output = prediction! { "answer" => "fn reverse() {}" };
    let score = metric.evaluate(&input, &output).await?;
    assert_eq!((score.value, score.cost_msats), (0.75, 100));
    assert!(
        score
            .details
            .is_some_and(|details| details.contains("It handles the empty list."))
    );
    Ok(())
}

/// "DiffMetric": the example, and the table of strictness levels with their costs.
async fn diff() -> Result {
    let metric = Diff::builder()
        .strictness(DiffStrictness::NormalizedWhitespace)
        .field("answer")
        .build();

    let input = example! { "answer" => "fn f() { 1 }" };
    let output = prediction! { "answer" => "fn  f() {\n 1 }" };
    let score = metric.evaluate(&input, &output).await?;
    assert_eq!((score.value, score.cost_msats), (1.0, 0));

    let same = json!({ "reasoning": "Both return 1.", "equivalent": true });
    let cost = |strictness, output: &'static str| {
        let same = same.clone();
        let metric = Diff::builder().strictness(strictness).language("rust");
        let metric = metric
            .with_lm(ScriptedLm::new().cost(50).otherwise(same))
            .build();
        let (input, output) = (input.clone(), prediction! { "answer" => output });
        async move {
            Ok::<_, dsrs_metrics::MetricError>((
                metric.evaluate(&input, &output).await?.value,
                metric.cost_estimate(),
            ))
        }
    };
    assert_eq!(
        cost(DiffStrictness::Exact, "fn  f() { 1 }").await?,
        (0.0, 0)
    );
    assert_eq!(
        cost(DiffStrictness::NormalizedWhitespace, "fn  f() { 1 }").await?,
        (1.0, 0)
    );
    assert_eq!(
        cost(DiffStrictness::AstEquivalent, "fn f(){ /* one */ 1 }").await?,
        (1.0, 10)
    );
    assert_eq!(
        cost(DiffStrictness::Semantic, "fn f() { 2 - 1 }").await?.0,
        1.0
    );
    Ok(())
}

fn sandbox_is_available() -> Result<bool> {
    let found = Command::new("bwrap")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !found && std::env::var_os("DSRS_METRICS_REQUIRE").is_some() {
        return Err("bubblewrap is required, and was not found".into());
    }
    Ok(found)
}

/// A crate with tests.
struct Crate(PathBuf);

impl Crate {
    fn new(tests: &str) -> Result<Self> {
        let folder = std::env::temp_dir().join(format!(
            "dsrs-metrics-crate-{}-{}",
            std::process::id(),
            tests.len()
        ));
        std::fs::create_dir_all(folder.join("src"))?;
        let manifest = "[package]\nname = \"tested\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
        std::fs::write(folder.join("Cargo.toml"), manifest)?;
        std::fs::write(folder.join("src/lib.rs"), tests)?;
        Ok(Self(folder))
    }

    fn path(&self) -> String {
        Path::display(&self.0).to_string()
    }
}

impl Drop for Crate {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

async fn programs() -> Result {
    let passing = Crate::new(
        "#[test] fn adds() { assert_eq!(1 + 1, 2) }\n#[test] fn multiplies() { assert_eq!(2 * 3, 6) }\n",
    )?;
    let failing = Crate::new("#[test] fn adds() { assert_eq!(1 + 1, 3) }\n")?;
    let (input, output) = (example! { "tests_passing" => 1 }, prediction! {});

    // "SandboxMetric": "1.0 if command succeeds, 0.0 otherwise"; about 500 msat.
    let metric = Sandbox::builder()
        .command("cargo test")
        .expected_exit_code(0)
        .timeout_secs(120)
        .folder(passing.path())
        .build();
    let score = metric.evaluate(&input, &output).await?;
    assert_eq!((score.value, score.cost_msats), (1.0, 500));

    // "TestPassMetric": "Checks exit code = 0"; "Reports test output in details".
    let metric = TestPass::builder()
        .command("cargo test")
        .folder(failing.path())
        .build();
    let score = metric.evaluate(&input, &output).await?;
    assert_eq!(score.value, 0.0);
    let details = score.details.ok_or("expected details")?;
    assert!(
        details.contains("0 passed; 1 failed") || details.contains("assertion"),
        "{details}"
    );
    // "Default command: `cargo test`".
    let score = TestPass::builder()
        .folder(passing.path())
        .build()
        .evaluate(&input, &output)
        .await?;
    assert_eq!(score.value, 1.0);

    // "VerificationDeltaMetric": 2 tests pass after the step, 1 before.
    let metric = VerificationDelta::builder()
        .command("cargo test")
        .folder(passing.path())
        .build();
    let score = metric.evaluate(&input, &output).await?;
    assert_eq!(
        (score.value, score.confidence, score.cost_msats),
        (1.0, 0.9, 500)
    );
    assert_eq!(
        score.details.as_deref(),
        Some("Tests before: 1, after: 2, delta: 1")
    );

    // `parse_test_count`: "24 passed; 0 failed".
    assert_eq!(
        counts::parse("24 passed; 0 failed").map(|counts| counts.passed),
        Some(24)
    );
    let metric = VerificationDelta::builder()
        .command("echo '24 passed; 0 failed'")
        .build();
    let score = metric
        .evaluate(&example! { "tests_passing" => 3 }, &output)
        .await?;
    assert_eq!(score.value, 1.0);
    Ok(())
}
