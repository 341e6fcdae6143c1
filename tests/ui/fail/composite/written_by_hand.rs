use dsrs_metrics::prelude::*;

#[metric(range = 0.0..=1.0)]
fn overlap(#[gold] answer: f64, #[pred("answer")] guess: f64) -> f64 {
    1.0 - (answer - guess).abs().min(1.0)
}

struct Brevity;

#[async_trait]
impl Metric for Brevity {
    fn name(&self) -> &str {
        "brevity"
    }

    async fn evaluate(&self, _: &Example, _: &Prediction) -> dsrs_metrics::Result<MetricScore> {
        Ok(MetricScore::new(1.0))
    }
}

#[metric(min(overlap, Brevity))]
struct Least;

fn main() {}
