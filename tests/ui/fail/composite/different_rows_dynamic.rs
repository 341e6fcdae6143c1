use dsrs_metrics::prelude::*;

struct Question;
struct Answer;

#[metric]
fn answered(gold: &Question, pred: &Answer) -> bool {
    let _ = (gold, pred);
    true
}

#[metric]
fn said(example: &Example, pred: &Prediction) -> bool {
    example.data.len() == pred.data.len()
}

#[metric(all(answered, said))]
struct Every;

fn main() {}
