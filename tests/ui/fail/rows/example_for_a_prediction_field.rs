use dsrs_metrics::prelude::*;

#[derive(Record)]
struct Gold {
    answer: String,
}

#[metric]
fn same(#[gold] answer: &str, pred: &Prediction) -> bool {
    pred.get("answer").is_some_and(|given| given == answer)
}

fn main() {
    let gold = Gold { answer: String::new() };
    let _ = Same.score(&gold, &gold);
}
