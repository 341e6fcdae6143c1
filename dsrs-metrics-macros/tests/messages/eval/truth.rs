use dsrs_metrics::prelude::*;

#[eval(devset = "evals/x.jsonl", metrics(f1), truth(polite), gate(f1 >= 0.8))]
async fn without_rows(question: String) -> Prediction {
    program(question).await
}

#[eval(devset = "evals/x.jsonl", metrics(f1), truth(polite, sample = 100), gate(f1 >= 0.8))]
async fn unknown(question: String) -> Prediction {
    program(question).await
}

#[eval(devset = "evals/x.jsonl", metrics(f1), truth = polite, gate(f1 >= 0.8))]
async fn assigned(question: String) -> Prediction {
    program(question).await
}

#[eval(devset = "evals/x.jsonl", metrics(f1), truth(rows = 100, by = f1), gate(f1 >= 0.8))]
async fn without_metric(question: String) -> Prediction {
    program(question).await
}

fn main() {}
