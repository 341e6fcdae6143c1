use std::collections::BTreeMap;

use dsrs_metrics::prelude::*;

fn main() {
    let _ = FeedbackMetric { score: 1.0, feedback: String::new(), metadata: BTreeMap::new() };
}
