mod metrics {
    use dsrs_metrics::prelude::*;

    #[metric]
    fn overlap(#[pred] share: f64) -> f64 {
        share
    }
}

fn main() {
    let _ = metrics::Overlap;
}
