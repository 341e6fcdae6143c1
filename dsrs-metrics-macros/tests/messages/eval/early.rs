use dsrs_metrics::prelude::*;

#[eval(devset = "evals/x.jsonl", metrics(f1), gate(f1 >= 0.8), early(alpha = 0.7))]
async fn too_large(question: String) -> Prediction {
    program(question).await
}

#[eval(devset = "evals/x.jsonl", metrics(f1), gate(f1 >= 0.8), early(level = 0.1))]
async fn unknown(question: String) -> Prediction {
    program(question).await
}

#[eval(devset = "evals/x.jsonl", metrics(f1), gate(f1 >= 0.8), early = 0.1)]
async fn assigned(question: String) -> Prediction {
    program(question).await
}

#[eval(devset = "evals/x.jsonl", metrics(f1), gate(lower(f1) >= 0.8), early)]
async fn certain(question: String) -> Prediction {
    program(question).await
}

#[eval(devset = "evals/x.jsonl", metrics(f1), gate(latency <= 2.0, f1 >= 0.8), early(alpha = 0.01))]
async fn latency(question: String) -> Prediction {
    program(question).await
}

fn main() {}
