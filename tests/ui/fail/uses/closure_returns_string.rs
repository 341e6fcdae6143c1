use dsrs_metrics::prelude::*;

fn main() {
    let _ = metric_fn("answer", |_, pred| format!("{:?}", pred.get("answer")));
}
