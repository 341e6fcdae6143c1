use dsrs_metrics::prelude::*;

#[eval(devset = "evals/x.jsonl", metrics(f1), gate(f1 >= 0.8), live, replay = "evals/x.replay.jsonl", store)]
async fn answers(question: String) -> Prediction {
    program(question).await
}

fn main() {}
