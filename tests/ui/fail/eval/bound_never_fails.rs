use dsrs_metrics::metrics::F1;
use dsrs_metrics::prelude::*;

#[eval(devset = "evals/x.jsonl", metrics(F1), gate(f1 >= 0.0))]
async fn answers(question: String) -> Prediction {
    prediction! { "answer" => question }
}

fn main() {}
