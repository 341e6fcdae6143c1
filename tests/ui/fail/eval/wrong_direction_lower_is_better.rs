use dsrs_metrics::metrics::F1;
use dsrs_metrics::prelude::*;

/// Edits of the answer.
#[metric(lower_is_better, range = 0.0..=1.0)]
fn error_rate(#[gold] answer: &str, #[pred("answer")] found: &str) -> f64 {
    if answer == found { 0.0 } else { 1.0 }
}

#[eval(devset = "evals/x.jsonl", metrics(F1, error_rate), gate(error_rate >= 0.2, lower(error_rate) >= 0.1))]
async fn answers(question: String) -> Prediction {
    prediction! { "answer" => question }
}

fn main() {}
