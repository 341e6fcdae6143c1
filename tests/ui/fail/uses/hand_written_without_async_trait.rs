use dsrs_metrics::prelude::*;
use dsrs_metrics::Evaluate;

struct Half;

impl Metric for Half {
    fn name(&self) -> &str {
        "half"
    }

    async fn evaluate(&self, _: &Example, _: &Prediction) -> dsrs_metrics::Result<MetricScore> {
        Ok(MetricScore::new(0.5))
    }
}

fn main() {
    let _ = Evaluate::builder().metric(Half);
}
