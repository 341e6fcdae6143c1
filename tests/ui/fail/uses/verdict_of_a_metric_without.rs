use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] answer: &str) -> f64 {
    f64::from(u8::from(answer.is_empty()))
}

struct ByHand;

#[async_trait]
impl Metric for ByHand {
    fn name(&self) -> &str {
        "by_hand"
    }
    async fn evaluate(&self, _: &Example, _: &Prediction) -> dsrs_metrics::Result<MetricScore> {
        Ok(MetricScore::new(1.0))
    }
}

fn main() {
    let (gold, pred, trace) = (example! {}, prediction! {}, Trace::default());
    let _ = Overlap.accepts(&gold, &pred, &trace);
    let _ = ByHand.accepts(&gold, &pred, &trace);
}
