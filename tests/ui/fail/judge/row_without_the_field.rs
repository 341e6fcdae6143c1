use dsrs_metrics::prelude::*;

#[derive(Record)]
struct Answer {
    text: String,
}

/// Say whether the answer is polite.
#[judge]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

fn main() {
    let answer = Answer { text: String::new() };
    let _ = PoliteJudge::default().evaluate(&example! {}, &answer);
}
