use dsrs_metrics::metrics::F1;
use dsrs_metrics::prelude::*;

/// Decide whether the answer is polite.
#[judge(cost = "100 msat")]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

#[eval(devset = "evals/x.jsonl", metrics(F1, polite_judge), gate(polite >= 0.9), repeats = 3, budget = "200 msat")]
async fn answers(question: String) -> Prediction {
    prediction! { "answer" => question }
}

fn main() {}
