use dsrs_metrics::prelude::*;

struct Overlap;

#[async_trait]
impl Metric for Overlap {
    async fn evaluate(&self, _: &Example, _: &Prediction) -> dsrs_metrics::Result<MetricScore> {
        Ok(MetricScore::new(1.0))
    }
}

fn main() {}
