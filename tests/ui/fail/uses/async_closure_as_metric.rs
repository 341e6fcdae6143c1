use dsrs_metrics::prelude::*;
use dsrs_metrics::Evaluate;

fn main() {
    let same = metric_fn("same", async |gold, pred| gold.get("answer") == pred.get("answer"));
    let _ = Evaluate::builder().metric(same);
}
