//! The offline stand-in of a judge answers only where it is asked for: in a run, in a scorer, in a single call.

use std::sync::Arc;

use dsrs_metrics::composite::{Composite, component, gate, min};
use dsrs_metrics::judge::shipped::{CompleteAndGrounded, LlmJudge, SemanticEquivalence};
use dsrs_metrics::judge::{JudgeModel, Models, Panel};
use dsrs_metrics::lm::ScriptedLm;
use dsrs_metrics::metrics::{Em, F1};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate, Outcome, Scored,
    contract::Settings,
    rows::Pair,
    runs::EvaluateErrorKind,
    scoring::{RowStatus, Scorer, ScorerBuilder},
};
use serde_json::json;

use super::setup::{PoliteJudge, unconfigured};

/// How a model is set, in this build.
#[cfg(feature = "lm")]
const SET_MODEL: &str = "set DSRS_LM=provider:model, such as openai:gpt-6-luna, or pass `--lm provider:model` (in code `.with_lm(..)`)";
#[cfg(not(feature = "lm"))]
const SET_MODEL: &str = "build with the `lm` feature, and set DSRS_LM=provider:model or pass `--lm provider:model`; or set a model in code with `.with_lm(..)`";

fn no_model() -> String {
    format!(
        "no language model is configured; {SET_MODEL}; to score by token overlap instead, pass `--offline` (in code `.offline()`)"
    )
}

fn pairs() -> Vec<Pair> {
    let pair = |id: &str, answer: &str| {
        let gold = example! { "question" => "Where?", "answer" => "in Paris" };
        Pair::new(id, gold, prediction! { "answer" => answer })
    };
    vec![pair("a", "in Paris"), pair("b", "Rome")]
}

fn offline() -> Settings {
    Settings::new().with(Models::offline())
}

/// A model whose answer is that the answers are equivalent.
fn yes() -> Arc<ScriptedLm> {
    Arc::new(ScriptedLm::new().otherwise(json!({ "reasoning": "", "equivalent": true })))
}

#[tokio::test]
async fn a_run_with_a_judge_without_a_model_ends_before_its_first_row() {
    let dir = tempfile::tempdir().unwrap();
    let gated = gate(
        [component(Em::default())],
        1.0,
        [component(SemanticEquivalence::default())],
    );
    let composite = Composite::builder("gated", gated).build().unwrap();
    let metrics: [(Arc<dyn Metric>, &str); 3] = [
        (
            Arc::new(SemanticEquivalence::default()),
            "semantic_equivalence",
        ),
        (
            Arc::new(CompleteAndGrounded::default()),
            "complete_and_grounded",
        ),
        (Arc::new(composite), "semantic_equivalence"),
    ];
    for (judge, metric) in metrics {
        let out = dir.path().join("out.jsonl");
        let run = Evaluate::builder()
            .metric(F1::default())
            .metric(Arc::clone(&judge));
        let run = run.files(|files| files.jsonl(out)).build().unwrap();
        let error = unconfigured(run.score(pairs())).await.unwrap_err();
        assert_eq!(error.kind(), EvaluateErrorKind::NotReady);
        assert_eq!(
            error.to_string(),
            format!("metric `{metric}`: {}", no_model())
        );
        assert_eq!(
            std::fs::read_dir(dir.path()).unwrap().count(),
            0,
            "nothing is written"
        );
        // A program is not called.
        let run = Evaluate::builder()
            .devset([example! { "x" => 1 }])
            .inputs(["x"]);
        let run = run.metric(judge).build().unwrap();
        let program = |_: Example| async { panic!("the program was called") as Prediction };
        assert_eq!(unconfigured(run.run(program)).await.unwrap_err(), error);
    }
}

#[tokio::test]
async fn a_scorer_with_a_judge_without_a_model_ends_before_its_first_row() {
    let scorer = || {
        ScorerBuilder::new()
            .with_default_proxy_metrics()
            .with_default_truth_metrics()
    };
    let scorer = scorer().build().unwrap();
    let not_ready = unconfigured(scorer.score_all(pairs(), 2))
        .await
        .unwrap_err();
    let message = format!("metric `llm_judge`: {}", no_model());
    assert_eq!(not_ready.to_string(), message);
    assert_eq!(unconfigured(scorer.probe()).await, Err(not_ready));
    // A single row is not checked before it is scored, and has the same sentence.
    let Pair { gold, pred, .. } = &pairs()[0];
    let error = unconfigured(scorer.score(gold, pred)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("no score: metric `llm_judge`: {}", no_model())
    );

    let result = offline().scope(scorer.score_all(pairs(), 2)).await.unwrap();
    assert_eq!(
        (result.summary.scored, result.summary.judged_offline),
        (2, 2)
    );
    let line = result.summary.to_string();
    assert!(
        line.contains("(mean of 2/2, 0 failed; judge: offline-lexical)"),
        "{line}"
    );
    let judge = LlmJudge::builder().offline().build();
    let scorer = Scorer::builder().metric(judge).build().unwrap();
    let row = scorer.score_row(gold, pred).await;
    assert_eq!(
        (&row.status, row.is_judged_offline()),
        (&RowStatus::Scored { score: 1.0 }, true)
    );
}

#[tokio::test]
async fn a_single_call_without_a_model_is_an_error() {
    let Pair { gold, pred, .. } = &pairs()[0];
    let judge = SemanticEquivalence::default();
    let expected = format!("metric `semantic_equivalence`: {}", no_model());
    let evaluated = unconfigured(judge.evaluate(gold, pred)).await;
    assert_eq!(evaluated.unwrap_err().to_string(), expected);
    let answered = unconfigured(judge.answer(MetricCall::new(gold, pred)).into_future()).await;
    assert_eq!(answered.unwrap_err().to_string(), expected);
    assert_eq!(
        judge.offline().evaluate(gold, pred).await.unwrap().value,
        1.0
    );
}

/// The judge has no stand-in.
#[tokio::test]
async fn what_a_judge_cannot_do_offline_is_an_error() {
    let Pair { gold, pred, .. } = &pairs()[0];
    let expected = format!("metric `polite`: no language model is configured; {SET_MODEL}");
    let judge = PoliteJudge::default();
    let error = unconfigured(judge.evaluate(gold, pred))
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(error, expected, "without `--offline`");
    let expected = format!(
        "metric `polite`: the judge has no offline stand-in; {SET_MODEL}, or declare one with `#[judge(offline = path::to::function)]`"
    );
    let asked = PoliteJudge::builder().offline().build();
    assert_eq!(
        asked.evaluate(gold, pred).await.unwrap_err().to_string(),
        expected
    );
    let run = Evaluate::builder().metric(asked).build().unwrap();
    assert_eq!(run.score(pairs()).await.unwrap_err().to_string(), expected);
    let run = Evaluate::builder().metric(judge).build().unwrap();
    let error = offline()
        .scope(run.score(pairs()))
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(error, expected);
}

#[tokio::test]
async fn a_judge_is_asked_offline_by_its_value_or_by_the_scope() {
    let Pair { gold, pred, .. } = &pairs()[1];
    let value = async |judge: SemanticEquivalence, settings: Settings| {
        let scored = settings.scope(judge.answer(MetricCall::new(gold, pred)).into_future());
        let scored = scored.await.map_err(|error| error.to_string())?;
        Ok::<_, String>((scored.score.value, scored.is_judged_offline()))
    };
    let (by_overlap, by_model) = (Ok((0.0, true)), Ok((1.0, false)));
    let with_model = || Settings::new().with(Models::new(yes()));
    let judge = SemanticEquivalence::default;
    assert_eq!(value(judge(), offline()).await, by_overlap);
    assert_eq!(value(judge(), with_model()).await, by_model);
    // The setting of the judge takes precedence over the scope, and the last setting over the first.
    assert_eq!(value(judge().offline(), with_model()).await, by_overlap);
    assert_eq!(value(judge().with_lm(yes()), offline()).await, by_model);
    assert_eq!(
        value(judge().with_lm(yes()).offline(), with_model()).await,
        by_overlap
    );
    assert_eq!(
        value(judge().offline().with_lm(yes()), offline()).await,
        by_model
    );
    assert_eq!(
        value(judge().with_lm(JudgeModel::Offline), with_model()).await,
        by_overlap
    );
    // The panel decides for all of its judges.
    let panel = |models: [JudgeModel; 3]| SemanticEquivalence::builder().models(models);
    let [model, none] = [JudgeModel::Value(yes()), JudgeModel::Configured];
    let three = panel([none.clone(), none.clone(), none.clone()]);
    assert_eq!(
        value(three.offline().build(), with_model()).await,
        by_overlap
    );
    let mixed = panel([model, none.clone(), none]).offline().build();
    let expected = "metric `semantic_equivalence`: a panel cannot mix models and offline judges; remove the named models or the offline setting";
    assert_eq!(value(mixed, with_model()).await, Err(expected.to_owned()));
    let named = judge().with_lm("openai:gpt-6-luna");
    let expected = "metric `semantic_equivalence`: the judge names the model `openai:gpt-6-luna`, which is not called with `--offline`; remove `--offline` (in code `Models::offline()`), or the model's name";
    assert_eq!(value(named, offline()).await, Err(expected.to_owned()));
}

/// Whether two answers mean the same, in a declared composite.
#[metric(min(semantic_equivalence(panel = Panel::new().offline())))]
struct Overlapping;

#[tokio::test]
async fn the_judges_of_a_composite_carry_their_settings() {
    let built = min([
        component(SemanticEquivalence::default().offline()),
        component(F1::default()),
    ]);
    let built = Composite::builder("built", built).build().unwrap();
    let run = Evaluate::builder()
        .metric(Overlapping)
        .metric(built)
        .build()
        .unwrap();
    let result = unconfigured(run.score(pairs())).await.unwrap();
    assert_eq!(
        result.to_string(),
        "overlapping  0.5000 [0.0015, 0.9985; few rows] (mean of 2/2, 0 failed; judge: offline-lexical)\n\
         built        0.5000 [0.0015, 0.9985; few rows] (mean of 2/2, 0 failed; judge: offline-lexical)"
    );
    let judged = |outcome: &Outcome| outcome.scored().is_some_and(Scored::is_judged_offline);
    assert!(
        result
            .results
            .iter()
            .flat_map(|row| &row.outcomes)
            .all(judged)
    );
}
