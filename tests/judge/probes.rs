//! Preflight checks before the first row of a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use dsrs_metrics::composite::{Composite, component, min};
use dsrs_metrics::judge::Models;
use dsrs_metrics::lm::{
    LanguageModel, LmError, LmErrorKind, LmReply, LmRequest, ScriptedLm, StopReason,
};
use dsrs_metrics::metrics::F1;
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate, Outcome,
    contract::Settings,
    rows::Pair,
    runs::{EvaluateError, EvaluateErrorKind, EvaluationResult},
    scoring::Scorer,
};

use super::setup::{Grade5Judge, PoliteJudge, SemanticRecallPrecisionJudge, grade, polite, says};

/// A model that counts its probes, which end so.
#[derive(Default)]
struct Probed {
    error: Option<LmError>,
    probes: AtomicU32,
    calls: AtomicU32,
}

impl Probed {
    fn failing(error: LmError) -> Arc<Self> {
        Arc::new(Self {
            error: Some(error),
            ..Self::default()
        })
    }

    fn counts(&self) -> (u32, u32) {
        (
            self.probes.load(Ordering::SeqCst),
            self.calls.load(Ordering::SeqCst),
        )
    }
}

#[async_trait]
impl LanguageModel for Probed {
    fn id(&self) -> &str {
        "test:probed"
    }

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let is_grade = request.messages[0].content.contains("Grade");
        let reply = if is_grade { grade(4) } else { polite(true) };
        Ok(LmReply::new(reply.to_string()))
    }

    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        self.probes.fetch_add(1, Ordering::SeqCst);
        self.error.clone().map_or(Ok(None), Err)
    }
}

fn no_key() -> LmError {
    let kind = LmErrorKind::MissingApiKey("TEST_API_KEY".into());
    LmError::new("test:probed", kind)
}

fn rows() -> Vec<Pair> {
    let row = |id: u32| {
        let pred = prediction! { "answer" => format!("answer {id}") };
        Pair::new(id.to_string(), example! { "answer" => "one" }, pred)
    };
    (0..5).map(row).collect()
}

async fn run(metrics: Vec<Arc<dyn Metric>>) -> Result<EvaluationResult, EvaluateError> {
    let evaluate = Evaluate::builder()
        .metrics(metrics)
        .concurrency(4)
        .build()
        .unwrap();
    // No model is configured, whatever the environment.
    let nothing = Settings::new().with(Models::default());
    Box::pin(nothing.scope(evaluate.score(rows()))).await
}

#[tokio::test]
async fn a_model_is_probed_once_per_run_by_any_number_of_judges() {
    let lm = Arc::new(Probed::default());
    let settings = Settings::new().with(Models::new(Arc::clone(&lm)));
    let evaluate = Evaluate::builder()
        .metric(Grade5Judge::default())
        .metric(F1::default())
        .metric(PoliteJudge::default())
        .build()
        .unwrap();
    let result = settings.scope(evaluate.score(rows())).await.unwrap();
    assert_eq!((result.metrics[0].scored, lm.counts()), (5, (1, 10)));
}

#[tokio::test]
async fn a_model_that_cannot_answer_ends_the_run_before_the_first_row() {
    let lm = Probed::failing(no_key());
    let judge = PoliteJudge::default().with_lm(Arc::clone(&lm));
    let error = run(vec![Arc::new(F1::default()), Arc::new(judge.clone())])
        .await
        .unwrap_err();
    assert_eq!(error.kind(), EvaluateErrorKind::NotReady);
    // A judge within a composite is checked too.
    let both = min([component(F1::default()), component(judge)]);
    let composite = Composite::builder("both", both).build().unwrap();
    let error = run(vec![Arc::new(composite)]).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `polite`: test:probed: missing API key; set TEST_API_KEY"
    );
    assert_eq!(lm.counts(), (2, 0));
}

#[tokio::test]
async fn a_busy_provider_passes_the_check() {
    let busy = LmErrorKind::RateLimited {
        retry_after: None,
        message: String::new(),
    };
    let lm = Probed::failing(LmError::new("test:probed", busy));
    let result = run(vec![Arc::new(
        PoliteJudge::default().with_lm(Arc::clone(&lm)),
    )])
    .await;
    assert_eq!(
        (result.unwrap().metrics[0].scored, lm.counts()),
        (5, (1, 5))
    );
}

#[tokio::test]
async fn a_scorer_probes_before_its_first_row_too() {
    let no_key = Probed::failing(no_key());
    let judge = || PoliteJudge::default().with_lm(Arc::clone(&no_key));
    let scorer = Scorer::builder().metric(judge()).build().unwrap();
    let error = scorer.score_all(rows(), 4).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `polite`: test:probed: missing API key; set TEST_API_KEY"
    );
    assert_eq!(no_key.counts(), (1, 0));
    // Rows that are scored one by one are not checked.
    assert_eq!(scorer.probe().await, Err(error));
    assert_eq!(no_key.counts(), (2, 0));

    let lm = Arc::new(Probed::default());
    let judge = PoliteJudge::default().with_lm(Arc::clone(&lm));
    let scorer = Scorer::builder().metric(judge).build().unwrap();
    assert_eq!(scorer.score_all(rows(), 4).await.unwrap().summary.scored, 5);
    assert_eq!(lm.counts(), (1, 5));
}

fn over_budget() -> LmError {
    let kind = LmErrorKind::BudgetExceeded {
        needed_msats: 70,
        remaining_msats: 20,
        budget_msats: 90,
    };
    LmError::new("scripted:lm", kind)
}

#[tokio::test]
async fn a_row_that_the_budget_does_not_cover_is_skipped_with_what_it_cost_until_then() {
    // The first row is judged; the second has no verdict, and no money for a repair; then none is left.
    let lm = ScriptedLm::new().cost(7).replies([
        Ok(LmReply::new(polite(true).to_string())),
        Ok(LmReply::new("hm").with_stop_reason(StopReason::End)),
    ]);
    let lm = lm.otherwise(over_budget());
    let judge = PoliteJudge::default().with_lm(lm);
    let evaluate = Evaluate::builder()
        .metric(judge)
        .concurrency(1)
        .build()
        .unwrap();
    let result = evaluate.score(rows()).await.unwrap();
    let skipped = |cost_msats| Outcome::Skipped {
        budget: 90,
        cost_msats,
    };
    assert_eq!(result.results[1].outcomes[0], skipped(7));
    assert_eq!(result.results[2].outcomes[0], skipped(0));
    assert_eq!(
        result.to_string(),
        "polite  100.00% [20.65, 100.00] (1/1, 0 failed, 4 skipped)"
    );
    assert_eq!(result.metrics[0].cost_msats, 14);
}

#[tokio::test]
async fn a_composite_whose_judge_exceeds_the_budget_is_skipped() {
    let judge = PoliteJudge::default().with_lm(ScriptedLm::new().otherwise(over_budget()));
    let both = min([component(F1::default()), component(judge)]);
    let composite = Composite::builder("both", both).build().unwrap();
    let result = run(vec![Arc::new(composite)]).await.unwrap();
    assert_eq!(
        (result.metrics[0].skipped, result.metrics[0].failed),
        (5, 0)
    );
}

/// A model that refuses these parameters, as OpenAI's reasoning models refuse a temperature of 0.
fn picky(id: &str) -> ScriptedLm {
    ScriptedLm::new()
        .named(id)
        .cost(7)
        .otherwise(|request: &LmRequest| {
            let refuse = |parameter: &str| {
                let (parameter, message) = (parameter.into(), "only the default".into());
                LmError::new(
                    "picky",
                    LmErrorKind::ParameterUnsupported { parameter, message },
                )
            };
            let sampling = request.sampling;
            match (sampling.temperature, sampling.seed) {
                (Some(_), _) => Err(refuse("temperature")),
                (_, Some(_)) => Err(refuse("seed")),
                _ => Ok(LmReply::new(grade(4).to_string())),
            }
        })
}

#[tokio::test]
async fn a_parameter_that_a_model_rejects_is_omitted_from_then_on_and_reported() {
    let lm = Arc::new(picky("test:picky"));
    let judge = Grade5Judge::default().with_lm(Arc::clone(&lm));
    let pred = prediction! { "answer" => "Paris" };
    let gold = example! {};
    let first = judge.answer(MetricCall::new(&gold, &pred)).await.unwrap();
    assert_eq!((first.score.value, lm.calls()), (4.0, 3));
    let again = judge.answer(MetricCall::new(&gold, &pred)).await.unwrap();
    assert_eq!(lm.calls(), 4, "the model is known now");
    for scored in [first, again] {
        let omitted = &scored.metadata().unwrap()["omitted_params"];
        assert_eq!(omitted, &serde_json::json!(["seed", "temperature"]));
        assert_eq!(scored.score.details.as_deref(), Some("because"));
    }
    // Another model is called with all parameters.
    let other = Arc::new(says(grade(4)).named("test:patient"));
    let judge = Grade5Judge::default().with_lm(Arc::clone(&other));
    let scored = judge.answer(MetricCall::new(&gold, &pred)).await.unwrap();
    assert_eq!(other.requests()[0].sampling.temperature, Some(0.0));
    assert!(!scored.metadata().unwrap().contains_key("omitted_params"));
}

#[tokio::test]
async fn a_parameter_that_a_judge_needs_is_not_omitted() {
    let kind = LmErrorKind::ParameterUnsupported {
        parameter: "max_tokens".into(),
        message: "use another".into(),
    };
    let lm = ScriptedLm::new()
        .named("test:short")
        .otherwise(LmError::new("test:short", kind));
    let lm = Arc::new(lm);
    let judge = Grade5Judge::default().with_lm(Arc::clone(&lm));
    let pred = prediction! { "answer" => "Paris" };
    let error = judge
        .evaluate(&example! {}, &pred)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("test:short: `max_tokens` not supported"),
        "{error}"
    );
    assert_eq!(lm.calls(), 1);
}

#[tokio::test]
async fn the_schema_is_shared_by_all_requests() {
    let lm = Arc::new(says(super::setup::recall_precision(1.0, 1.0)));
    let judge = SemanticRecallPrecisionJudge::default().with_lm(Arc::clone(&lm));
    let (gold, pred) = super::setup::rows();
    judge.evaluate(&gold, &pred).await.unwrap();
    judge.evaluate(&gold, &pred).await.unwrap();
    let requests = lm.requests();
    let schema = |at: usize| requests[at].schema.as_ref().unwrap();
    assert!(Arc::ptr_eq(schema(0), schema(1)));
}
