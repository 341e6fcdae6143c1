use dsrs_metrics::prelude::*;

struct Question;
struct Passage;
struct Answer;

#[metric]
fn answered(gold: &Question, pred: &Answer) -> bool {
    let _ = (gold, pred);
    true
}

#[metric]
fn supported(gold: &Passage, pred: &Answer) -> bool {
    let _ = (gold, pred);
    true
}

#[metric(all(answered, supported))]
struct Every;

fn main() {}
