//! Each call of `fail/uses` as its message says to write it.

use std::sync::Arc;

use dsrs_metrics::prelude::*;
use dsrs_metrics::{Evaluate, Result};

#[derive(serde::Deserialize)]
pub struct Question;

#[metric]
fn short(#[pred] answer: &str, #[param] max: usize) -> bool {
    answer.len() <= max
}

#[metric]
fn empty(#[pred] answer: &str) -> bool {
    answer.is_empty()
}

struct Half;

#[async_trait]
impl Metric for Half {
    fn name(&self) -> &str {
        "half"
    }

    async fn evaluate(&self, _: &Example, _: &Prediction) -> Result<MetricScore> {
        Ok(MetricScore::new(0.5))
    }
}

async fn program(_: Example) -> Prediction {
    prediction! { "answer" => "Paris" }
}

async fn run(evaluate: Evaluate) {
    let _ = evaluate.run(program).await;
    let _ = evaluate.run(|_: Example| async move { prediction! { "answer" => true } }).await;
    let client = Arc::new(String::from("client"));
    let program = move |_: Example| {
        let client = client.clone();
        async move { prediction! { "answer" => client.as_str() } }
    };
    let _ = evaluate.run(program).await;
}

async fn score<M: Metric>(metric: M, any: Box<dyn Metric>) {
    let (gold, pred) = (example! {}, prediction! {});
    let _ = metric.evaluate(&gold, &pred).await;
    let _ = any.evaluate(&gold, &pred).await;
}

pub fn main() {
    let _ = Evaluate::builder().inputs("question");
    let _ = Evaluate::builder().inputs(["question", "context"]);
    let _ = Evaluate::builder().inputs(String::from("question"));
    let _ = Evaluate::builder().devset(vec![example! {}]);
    let _ = Evaluate::builder().devset([]);
    let _ = Evaluate::builder().devset(std::path::Path::new("dev.jsonl"));
    let _ = Evaluate::<Question, f64>::typed().devset("dev.jsonl");
    let built = Short::builder().max(3).build();
    let _ = Evaluate::builder().metric(built).metric(Half);
    let _ = Evaluate::builder().metrics([Empty]);
    let mixed: Vec<Box<dyn Metric>> = vec![Box::new(Empty), Box::new(Half)];
    let _ = Evaluate::builder().metrics(mixed);
    let same = metric_fn("same", |_, pred| {
        let answer = pred.get("answer").cloned();
        async move { answer.is_some() }
    });
    let _ = Evaluate::builder().metric(same);

    let (gold, pred) = (example! {}, prediction! { "answer" => "" });
    let pointed = [Arc::new(Empty).score(&gold, &pred), Box::new(Empty).score(&gold, &pred)];
    assert!(pointed.iter().all(|score| score.as_ref().is_ok_and(|score| score.value == 1.0)));
    let half = Arc::new(metric_fn("half", |_, _| 0.5)).score(&gold, &pred);
    assert!(half.is_ok_and(|score| score.value == 0.5));
}
