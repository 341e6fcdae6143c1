use dsrs_metrics::prelude::*;

#[judge(tier = proxy, scoring(temperature = 9.0), panel(aggregation = mode))]
struct Polite {
    #[input]
    answer: &str,
    context: String,
    #[output(range = 1..5)]
    grade: u8,
    #[output(labels = ["a"])]
    class: String,
}

fn main() {
    let _ = PoliteJudge::default().evaluate(&example! {}, &prediction! {});
}
