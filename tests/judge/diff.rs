//! `diff` at `semantic`: the judge is called, but only if the strings differ in more than white space.

use std::sync::Arc;

use dsrs_metrics::composite::{Composite, component, weighted};
use dsrs_metrics::lm::{LanguageModel, LmError, LmErrorKind, LmReply, LmRequest, ScriptedLm};
use dsrs_metrics::metrics::{Diff, DiffStrictness, F1};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate,
    contract::{Configure as _, Params},
    rows::Pair,
    runs::{EvaluateError, EvaluationResult},
};
use serde_json::{Value, json};

use super::setup::{unconfigured, user};

fn semantic() -> dsrs_metrics::metrics::Diff {
    Diff::builder().strictness(DiffStrictness::Semantic)
}

fn says(equivalent: bool) -> Arc<ScriptedLm> {
    let reply = json!({ "reasoning": "because", "equivalent": equivalent });
    Arc::new(ScriptedLm::new().cost(7).otherwise(reply))
}

fn rows() -> (Example, Prediction) {
    (
        example! { "answer" => "six\nof one" },
        prediction! { "answer" => "6\nof one" },
    )
}

const DIFF: &str = "--- expected\n+++ answer\n-six\n+6\n of one";

#[tokio::test]
async fn the_model_decides_and_the_diff_stays() {
    let (gold, pred) = rows();
    for equivalent in [true, false] {
        let lm = says(equivalent);
        let metric = semantic().with_lm(Arc::clone(&lm)).build();
        let scored = metric.answer(MetricCall::new(&gold, &pred)).await.unwrap();
        let value = f64::from(u8::from(equivalent));
        assert_eq!(
            (scored.score.value, scored.passed),
            (value, Some(equivalent))
        );
        assert_eq!(scored.score.cost_msats, 7);
        let details = format!("because\n{DIFF}");
        assert_eq!(scored.score.details.as_deref(), Some(&*details));
        assert_eq!(
            scored.feedback().as_deref(),
            (!equivalent).then_some(&*details)
        );
        let request = &lm.requests()[0];
        assert!(
            request.messages[0]
                .content
                .starts_with("Judge if two answers are semantically equivalent.")
        );
        assert!(
            user(request).contains("]]\nsix\nof one\n[[/expected"),
            "{}",
            user(request)
        );
        assert!(
            user(request).contains("]]\n6\nof one\n[[/actual"),
            "{}",
            user(request)
        );
    }
}

#[tokio::test]
async fn no_model_is_called_if_only_white_space_differs() {
    let lm = says(false);
    let metric = semantic().with_lm(Arc::clone(&lm)).build();
    let pred = prediction! { "answer" => " six  of\tone " };
    let scored = metric
        .answer(MetricCall::new(&rows().0, &pred))
        .ready()
        .unwrap()
        .unwrap();
    assert_eq!(
        (scored.score.value, scored.score.cost_msats, lm.calls()),
        (1.0, 0, 0)
    );
    assert_eq!(metric.score(&rows().0, &pred).unwrap().value, 1.0);
    let of_several = example! { "answer" => ["seven", "six of one"] };
    assert_eq!(
        metric.evaluate(&of_several, &pred).await.unwrap().value,
        1.0
    );
    assert_eq!(lm.calls(), 0);
}

#[tokio::test]
async fn any_of_several_expected_answers_is_shown() {
    let lm = says(true);
    let metric = semantic().field("text").with_lm(Arc::clone(&lm)).build();
    let (gold, pred) = (
        example! { "text" => ["six", "half a dozen"] },
        prediction! { "text" => 6 },
    );
    assert_eq!(metric.evaluate(&gold, &pred).await.unwrap().value, 1.0);
    assert!(user(&lm.requests()[0]).contains("[\n  \"six\",\n  \"half a dozen\"\n]\n[[/expected"));
}

#[tokio::test]
async fn what_must_be_awaited_says_so_and_costs_what_a_judge_does() {
    let (gold, pred) = rows();
    let metric = semantic().with_lm(says(true)).build();
    assert_eq!(
        metric.score(&gold, &pred).unwrap_err().to_string(),
        "metric `diff`: with `semantic`, the metric is asynchronous because it calls a language model; write `.evaluate(&gold, &pred).await`"
    );
    assert!(
        metric
            .answer(MetricCall::new(&gold, &pred))
            .ready()
            .is_none()
    );
    let spec = |metric: &Diff| {
        let spec = Metric::<Example, Prediction>::spec(metric);
        (
            spec.cost_msats,
            spec.is_async,
            spec.tier,
            spec.name.to_owned(),
        )
    };
    assert_eq!(
        spec(&metric),
        (50, true, MetricTier::Truth, "diff".to_owned())
    );
    assert_eq!(
        spec(&Diff::default()),
        (0, false, MetricTier::Truth, "diff".to_owned())
    );
}

#[tokio::test]
async fn offline_token_overlap_answers_and_says_so() {
    let (gold, pred) = rows();
    let scored = semantic()
        .offline()
        .build()
        .answer(MetricCall::new(&gold, &pred))
        .await
        .unwrap();
    assert_eq!(
        (scored.score.value, scored.is_judged_offline()),
        (1.0, true)
    );
    let details = scored.score.details.unwrap();
    assert!(
        details.starts_with("judge: offline-lexical. Token F1: 0.67.\n--- expected"),
        "{details}"
    );
    let other = prediction! { "answer" => "seven" };
    let score = semantic()
        .build()
        .offline()
        .evaluate(&gold, &other)
        .await
        .unwrap();
    assert_eq!(score.value, 0.0);
    // Without `offline` or a model the metric has no score.
    let error = unconfigured(semantic().build().evaluate(&gold, &pred))
        .await
        .unwrap_err();
    let error = error.to_string();
    assert!(
        error.starts_with("metric `diff`: no language model is configured; "),
        "{error}"
    );
    let error = unconfigured(run(semantic().build()))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("metric `diff`: no language model is configured; "),
        "{error}"
    );
}

#[tokio::test]
async fn a_model_that_fails_is_a_failure_and_no_difference() {
    let (gold, pred) = rows();
    let timeout = LmErrorKind::Timeout {
        limit: std::time::Duration::from_secs(1),
    };
    let lm = ScriptedLm::new()
        .named("a:down")
        .otherwise(LmError::new("a:down", timeout));
    let error = semantic()
        .with_lm(lm)
        .build()
        .evaluate(&gold, &pred)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `diff`: a:down: no reply within 1 s"
    );
}

#[tokio::test]
async fn models_vote_and_are_named_on_a_command_line() {
    let (gold, pred) = rows();
    let vote = |equivalent| json!({ "reasoning": "", "equivalent": equivalent });
    let lm = || ScriptedLm::new().replies([true, false, true].map(vote));
    let mut params = Params::default();
    params.insert("strictness", "semantic");
    params.insert("models", "default,default,default");
    params.insert("max_concurrent_judges", "1");
    let metric = Diff::configure(&params).unwrap().with_lm(lm());
    assert_eq!(
        metric.evaluate(&gold, &pred).await.unwrap().confidence,
        2.0 / 3.0
    );
    let metric = semantic()
        .models(["default"; 3])
        .max_concurrent_judges(1)
        .with_lm(lm())
        .build();
    assert_eq!(
        metric.evaluate(&gold, &pred).await.unwrap().confidence,
        2.0 / 3.0
    );
}

/// A model without a key.
struct Keyless;

#[async_trait]
impl LanguageModel for Keyless {
    fn id(&self) -> &str {
        "a:b"
    }

    async fn complete(&self, _: &LmRequest) -> Result<LmReply, LmError> {
        Err(LmError::new(
            "a:b",
            LmErrorKind::MissingApiKey("A_KEY".into()),
        ))
    }

    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        Err(LmError::new(
            "a:b",
            LmErrorKind::MissingApiKey("A_KEY".into()),
        ))
    }
}

async fn run(metric: impl Metric + 'static) -> Result<EvaluationResult, EvaluateError> {
    let (gold, pred) = rows();
    let evaluate = Evaluate::builder().metric(metric).build().unwrap();
    evaluate
        .score(vec![Pair::new("1".to_owned(), gold, pred)])
        .await
}

#[tokio::test]
async fn the_harness_probes_the_model_under_the_name_of_the_metric() {
    let error = run(semantic().with_lm(Keyless).build())
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("diff") && error.contains("set A_KEY"),
        "{error}"
    );
    let result = run(semantic().with_lm(says(true)).build()).await.unwrap();
    assert_eq!(
        result.to_string(),
        "diff  100.00% [20.65, 100.00] (1/1, 0 failed)"
    );
    assert_eq!(result.metrics[0].cost_msats, 7);
    // At the other strictness levels no model is required.
    let result = run(Diff::builder().with_lm(Keyless).build()).await.unwrap();
    assert_eq!(
        result.to_string(),
        "diff  0.00% [0.00, 79.35] (0/1, 0 failed)"
    );
}

/// A constant has neither its cost nor that it is asynchronous.
#[metric(weighted(diff(strictness = DiffStrictness::Semantic) = 0.5, f1 = 0.5))]
struct Declared;

#[tokio::test]
async fn in_a_composite_it_is_awaited_or_says_what_to_name_instead() {
    let (gold, pred) = rows();
    let lm = says(true);
    let parts = [
        component(semantic().with_lm(Arc::clone(&lm)).build()),
        component(F1::default()),
    ];
    let composite = Composite::builder("whole", weighted(parts.map(|part| (part, 0.5))));
    let composite = composite.build().unwrap();
    let score = composite.evaluate(&gold, &pred).await.unwrap();
    assert_eq!(
        (score.value, score.cost_msats),
        (0.5 + 0.5 * (2.0 / 3.0), 7)
    );
    assert_eq!(composite.spec().cost_msats, 100);
    let error = run(Declared).await.unwrap_err().to_string();
    assert!(
        error.contains("use `semantic_equivalence` or `Composite::builder` instead"),
        "{error}"
    );
}

#[test]
fn list_shows_what_can_be_set() {
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_scorer"));
        command
            .env_remove("DSRS_LM")
            .args(arguments)
            .output()
            .unwrap()
            .stdout
    };
    let specs: Value = serde_json::from_slice(&run(&["list", "diff", "--json"])).unwrap();
    let names = |params: &Value| {
        let params = params.as_array().unwrap();
        params
            .iter()
            .map(|it| it["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(&specs[0]["params"]),
        [
            "strictness",
            "language",
            "field",
            "models",
            "aggregation",
            "max_concurrent_judges",
            "quorum"
        ]
    );
    let text = String::from_utf8(run(&["list", "diff", "semantic_f1"])).unwrap();
    assert!(text.contains("semantic"), "{text}");
    assert!(!text.contains("Panel") && !text.contains("::"), "{text}");
}

#[test]
fn a_command_line_asks_for_meaning() {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows.jsonl");
    let row = |expected: &str, answer: &str| {
        json!({ "gold": { "answer": expected }, "pred": { "answer": answer } }).to_string()
    };
    let text = [
        row("six of one", "6 of one"),
        row("six", "seven"),
        row("a  b", "a b"),
    ]
    .join("\n");
    std::fs::write(&rows, text).unwrap();
    let offline = |params: &[&str], is_offline: bool| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_scorer"));
        command
            .env_remove("DSRS_LM")
            .arg("score")
            .arg(&rows)
            .args(["-m", "diff", "--quiet"]);
        command.args(is_offline.then_some("--offline"));
        params.iter().for_each(|param| {
            command.args(["--param", param]);
        });
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    };
    let score = |params: &[&str]| offline(params, false);
    let (code, headline, said) = score(&["diff.strictness=semantic"]);
    assert_eq!((code, headline.as_str()), (Some(2), ""));
    assert!(
        said.starts_with("error: metric `diff`: no language model is configured; "),
        "{said}"
    );
    let score = |params: &[&str]| offline(params, true);
    let (code, headline, said) = score(&["diff.strictness=semantic"]);
    assert_eq!((code, said.as_str()), (Some(0), ""));
    assert_eq!(
        headline,
        "diff  66.67% [20.77, 93.85] (2/3, 0 failed; judge: offline-lexical)\n"
    );
    let (_, headline, _) = score(&[]);
    assert_eq!(headline, "diff  33.33% [6.15, 79.23] (1/3, 0 failed)\n");
    let (code, _, said) = score(&["diff.strictness=semantic", "diff.quorum=2"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("expected `quorum` of 1 for one judge, found 2"),
        "{said}"
    );
}
