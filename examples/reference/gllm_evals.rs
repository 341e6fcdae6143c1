//! "Metric: Base class for metrics" of gllm-evals.

use std::sync::Arc;

use dsrs_metrics::judge::Aggregation;
use dsrs_metrics::judge::shipped::GEvalCompleteness;
use dsrs_metrics::lm::{LanguageModel as _, LmRequest, ReplySchema, ScriptedLm};
use dsrs_metrics::metrics::{F1, Ndcg};
use dsrs_metrics::prelude::*;
use dsrs_metrics::retrieval::Cutoffs;
use serde_json::json;

use crate::{Result, passed};

pub(crate) async fn run() -> Result {
    attributes()?;
    single_judge().await?;
    homogeneous_judges().await?;
    heterogeneous_judges().await?;
    evaluate_one_or_many().await?;
    multi_output()?;
    invokers().await?;
    passed("gllm_evals", "7 examples");
    Ok(())
}

fn row() -> (Example, Prediction) {
    (
        example! { "question" => "Why?", "response" => "Because of A and B." },
        prediction! { "response" => "Because of A." },
    )
}

/// A model that grades every response with `score`, from 1 to 5.
fn invoker(score: u8) -> ScriptedLm {
    ScriptedLm::new().otherwise(json!({ "reasoning": "B is missing.", "score": score }))
}

/// `name`, `required_fields`, `higher_is_better`, `strict_mode`, `threshold`, `is_success`, `can_evaluate`,
/// `get_input_fields`, `get_input_spec`.
fn attributes() -> Result {
    let metric = F1::default().with_threshold(0.5);
    let spec = metric.spec();
    assert_eq!(
        (
            spec.name,
            spec.higher_is_better(),
            spec.strict_mode(),
            spec.threshold
        ),
        ("f1", true, false, Some(0.5))
    );
    assert_eq!(
        spec.required_fields().collect::<Vec<_>>(),
        ["gold.answer", "pred.answer"]
    );
    assert_eq!(
        (spec.is_success(0.5), spec.is_success(0.49)),
        (Some(true), Some(false))
    );

    // "If True, binarizes score to 1.0 or 0.0".
    let (gold, pred) = (
        example! { "answer" => "x y" },
        prediction! { "answer" => "y z" },
    );
    assert_eq!(metric.evaluate_now(&gold, &pred)?, 0.5);
    assert_eq!(
        F1::default()
            .with_threshold(0.5)
            .strict()
            .evaluate_now(&gold, &pred)?,
        1.0
    );

    assert!(metric.can_evaluate(&gold, &pred));
    assert!(!metric.can_evaluate(&gold, &prediction! { "answer" => 5 }));
    assert!(!metric.can_evaluate(&example! {}, &pred));
    let fields: Vec<String> = spec.get_input_fields().collect();
    assert_eq!(fields, ["gold.answer", "pred.answer"]);
    let types: Vec<(String, bool)> = spec
        .get_input_spec()
        .map(|(side, field)| (format!("{side}.{}", field.name), field.required))
        .collect();
    assert_eq!(
        types,
        [
            ("gold.answer".to_owned(), true),
            ("pred.answer".to_owned(), true)
        ]
    );
    Ok(())
}

/// The value of a synchronous metric.
trait EvaluateNow: Metric {
    fn evaluate_now(&self, gold: &Example, pred: &Prediction) -> Result<f64> {
        let scored = self
            .answer(MetricCall::new(gold, pred))
            .ready()
            .ok_or("asynchronous")??;
        Ok(scored.score.value)
    }
}

impl<M: Metric> EvaluateNow for M {}

/// `metric = GEvalCompletenessMetric(models=my_invoker)`
async fn single_judge() -> Result {
    let (gold, pred) = row();
    let metric = GEvalCompleteness::builder().models([invoker(3)]).build();
    assert_eq!(metric.num_judges(), 1);
    assert_eq!(metric.evaluate(&gold, &pred).await?.value, 0.5);
    Ok(())
}

/// `metric = GEvalCompletenessMetric(models=[my_invoker] * 3)`, `metric.aggregation_method = AggregationMethod.MEDIAN`
async fn homogeneous_judges() -> Result {
    let (gold, pred) = row();
    let my_invoker = Arc::new(invoker(5));
    let metric = GEvalCompleteness::builder()
        .models(vec![Arc::clone(&my_invoker); 3])
        .aggregation(Aggregation::Median)
        .build();
    assert_eq!(metric.num_judges(), 3);
    assert_eq!(metric.evaluate(&gold, &pred).await?.value, 1.0);
    assert_eq!(my_invoker.calls(), 3);
    Ok(())
}

/// `metric = GEvalCompletenessMetric(models=[invoker_a, invoker_b, invoker_c])`,
/// `metric.aggregation_method = AggregationMethod.MAJORITY_VOTE`
async fn heterogeneous_judges() -> Result {
    let (gold, pred) = row();
    let graded = |aggregation| {
        let models = [invoker(1), invoker(5), invoker(5)];
        GEvalCompleteness::builder()
            .models(models)
            .aggregation(aggregation)
            .max_concurrent_judges(2)
            .build()
    };
    assert_eq!(
        graded(Aggregation::Majority)
            .evaluate(&gold, &pred)
            .await?
            .value,
        1.0
    );
    assert_eq!(
        graded(Aggregation::Median)
            .evaluate(&gold, &pred)
            .await?
            .value,
        1.0
    );
    assert_eq!(
        graded(Aggregation::Average)
            .evaluate(&gold, &pred)
            .await?
            .value,
        2.0 / 3.0
    );
    Ok(())
}

/// `evaluate(data)`: "single item or batch".
async fn evaluate_one_or_many() -> Result {
    let (gold, pred) = row();
    let metric = GEvalCompleteness::default().with_lm(invoker(3));
    assert_eq!(metric.evaluate(&gold, &pred).await?.value, 0.5);
    let pairs = vec![(gold, pred); 20];
    let results = metric.evaluate_batch(&pairs).await;
    let values: Vec<f64> = results
        .into_iter()
        .map(|result| Ok(result?.value))
        .collect::<Result<_>>()?;
    assert_eq!(values, [0.5; 20]);
    Ok(())
}

/// `MultiOutputBaseMetric`: "metrics that emit one result dict per sub-metric".
fn multi_output() -> Result {
    let gold = example! { "relevant" => ["a", "b"] };
    let pred = prediction! { "retrieved" => ["a", "c", "b"] };
    let metric = Ndcg::builder().k(Cutoffs::new([1, 3])?).build();
    let scored = metric
        .answer(MetricCall::new(&gold, &pred))
        .ready()
        .ok_or("asynchronous")??;
    let parts: Vec<&str> = scored
        .parts()
        .iter()
        .map(|part| part.name.as_str())
        .collect();
    assert_eq!(parts, ["at_1", "at_3"]);
    assert_eq!(scored.parts()[0].value, 1.0);
    Ok(())
}

/// `copy_invoker_with_schema(model, schema)`, `resolve_primary_invoker(models)`.
async fn invokers() -> Result {
    // The schema is part of the request, so the model is not copied.
    let model = invoker(5);
    let schema = ReplySchema {
        name: "grade".to_owned(),
        schema: json!({ "type": "object" }),
    };
    let request = LmRequest::new("grade")
        .user("Grade it.")
        .with_schema(schema);
    assert!(model.complete(&request).await?.text.contains("\"score\":5"));

    // "empty lists and None use the default invoker": that of the scope, else of `DSRS_LM`.
    let (gold, pred) = row();
    let settings =
        dsrs_metrics::contract::Settings::new().with(dsrs_metrics::judge::Models::new(invoker(5)));
    let scored = settings
        .scope(async move { GEvalCompleteness::default().evaluate(&gold, &pred).await })
        .await?;
    assert_eq!(scored.value, 1.0);
    Ok(())
}
