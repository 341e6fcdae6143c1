//! The model of a judge: its own, the model of the scope, or a named one.

use std::sync::Arc;

use dsrs_metrics::composite::{Composite, component, min};
use dsrs_metrics::contract::Settings;
use dsrs_metrics::judge::Models;
use dsrs_metrics::lm::{LanguageModel, LmErrorKind, ScriptedLm};
use dsrs_metrics::prelude::*;

use super::setup::{PoliteJudge, polite, rows, unconfigured};

/// Say whether the answer is short.
#[judge(panel(models = ["a:one", "b:two"], quorum = 1))]
struct Short {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

#[tokio::test]
async fn a_judge_without_a_model_names_what_to_set() {
    let (gold, pred) = rows();
    let judge = PoliteJudge::default();
    let error = unconfigured(judge.evaluate(&gold, &pred))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("metric `polite`: no language model is configured; "),
        "{error}"
    );
    assert!(
        error.contains("set DSRS_LM=provider:model") && !error.contains('\n'),
        "{error}"
    );
    let judge = ShortJudge::default();
    let error = unconfigured(judge.evaluate(&gold, &pred))
        .await
        .unwrap_err()
        .to_string();
    let expected = "cannot connect to the model `a:one`; build with the `lm` feature";
    assert!(error.contains(expected), "{error}");
    assert!(!error.contains('\n'));
}

#[tokio::test]
async fn the_judges_own_model_takes_precedence_over_the_scope() {
    let (gold, pred) = rows();
    let settings = || Settings::new().with(Models::new(ScriptedLm::new().otherwise(polite(false))));
    let judge = PoliteJudge::default();
    let own = judge
        .clone()
        .with_lm(ScriptedLm::new().otherwise(polite(true)));
    assert_eq!(
        settings()
            .scope(judge.evaluate(&gold, &pred))
            .await
            .unwrap()
            .value,
        0.0
    );
    assert_eq!(
        settings()
            .scope(own.evaluate(&gold, &pred))
            .await
            .unwrap()
            .value,
        1.0
    );
}

#[tokio::test]
async fn a_judge_used_in_two_metrics_of_a_run_is_called_once_per_row() {
    let lm = Arc::new(ScriptedLm::new().cost(7).otherwise(polite(true)));
    let (gold, pred) = rows();
    let settings = Settings::new().with(Models::new(Arc::clone(&lm)));
    let both = min([
        component(PoliteJudge::default()),
        component(PoliteJudge::default()),
    ]);
    let composite = Composite::builder("both", both).build().unwrap();
    let scored = settings
        .scope(
            composite
                .answer(MetricCall::new(&gold, &pred))
                .into_future(),
        )
        .await
        .unwrap();
    assert_eq!(
        (scored.score.value, scored.score.cost_msats, lm.calls()),
        (1.0, 7, 1)
    );
}

#[tokio::test]
async fn named_models_are_found_by_the_scope() {
    let (gold, pred) = rows();
    let two: Arc<dyn LanguageModel> =
        Arc::new(ScriptedLm::new().named("b:two").otherwise(polite(true)));
    let models = Models::new(ScriptedLm::new().named("a:one").otherwise(polite(true)));
    let models = models.connecting(move |id| match id {
        "b:two" => Ok(Arc::clone(&two)),
        id => {
            let reason = format!("unknown provider in model `{id}`");
            Err(LmErrorKind::Setting(reason).into())
        }
    });
    let settings = Settings::new().with(models);
    let judge = ShortJudge::default();
    let scored = settings
        .scope(judge.answer(MetricCall::new(&gold, &pred)).into_future())
        .await
        .unwrap();
    let judges = scored.metadata().unwrap()["judges"].as_array().unwrap();
    let ids: Vec<_> = judges
        .iter()
        .map(|judge| judge["judge"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["a:one", "b:two"]);
}
