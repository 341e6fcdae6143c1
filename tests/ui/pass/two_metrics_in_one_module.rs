use dsrs_metrics::prelude::*;

#[derive(Record)]
struct Answer {
    answer: String,
    length: usize,
}

#[metric]
fn first(
    #[gold] answer: &str,
    #[pred("answer")] given: &str,
    #[param(default = 1)] n: usize,
) -> bool {
    answer == given && n == 1
}

#[metric]
fn second(
    #[gold] answer: &str,
    #[pred("answer")] given: &str,
    #[param(default = 2)] n: usize,
) -> usize {
    n * answer.len() + given.len()
}

#[metric]
fn third(
    #[pred] answer: &str,
    #[pred("answer")] again: String,
    #[pred] length: f64,
    #[pred("length")] same: Option<usize>,
) -> bool {
    answer == again && same.is_some() && length > 0.0
}

fn run<G: Sync, P: Sync>(metrics: &[&dyn Metric<G, P>], gold: &G, pred: &P) -> f64 {
    let now = |metric: &&dyn Metric<G, P>| metric.answer(MetricCall::new(gold, pred)).ready().unwrap();
    metrics.iter().map(|metric| now(metric).unwrap().score.value).sum()
}

/// Runs the items above.
pub fn main() {
    let gold = example! { "answer" => "ab" };
    let (one, two) = (First::default(), Second::default());
    let pred = prediction! { "answer" => "ab", "length" => 2.0 };
    assert_eq!(run(&[&one, &two], &gold, &pred), 7.0);
    let _: &[&dyn Metric<Answer, Prediction>] = &[&one, &two];
    let _: &[&dyn AcceptanceTest] = &[&one, &Third];
}
