//! Evals in all forms: functions beside their tests, which are called here as any other function.
#![deny(warnings)]

use dsrs_metrics::metrics::{Em, F1};
use dsrs_metrics::prelude::*;
use dsrs_metrics::rows::Pair;
use dsrs_metrics::runs::ProgramOutput;

const LIMIT: f64 = 0.8;

/// Every key, and gates of each kind.
#[eval(
    devset = "evals/x.jsonl",
    metrics(f1, Em),
    gate(
        f1 >= LIMIT,
        lower(f1) >= 0.5,
        em.passed_at(2) >= 0.5,
        passed_at(1) >= 0.5,
        failed <= 0.1,
        abstained <= 0.1,
        latency <= 2.0,
        em.no_worse(by = 0.02),
        em.better(),
        each("topic", f1 >= 0.5),
    ),
    repeats = 3,
    budget = "50 sat",
    concurrency = 4,
    group = "topic",
    timeout = "30 s",
    limit = 20 * 10,
    seed = 7,
    failure_score = 0.0,
    baseline = "evals/other.jsonl",
    baseline_rows,
    strict,
    store,
    live = "openai:gpt-6-luna"
)]
async fn every_key(
    question: String,
    #[input("context")] more: Option<&str>,
    all: &[String],
) -> Prediction {
    prediction! { "answer" => format!("{question}{more:?}{all:?}") }
}

/// A plain function that borrows; the metric is an expression.
#[eval(
    devset = rows(),
    metrics(F1::default().with_threshold(0.5)),
    gate(f1 >= 0.5, f1.passed_at(2) >= 0.5),
    repeats = 2,
    flavor = "current_thread"
)]
fn plain(question: &str) -> Result<Prediction, String> {
    Ok(prediction! { "answer" => question })
}

fn rows() -> Vec<Example> {
    vec![example! { "question" => "1?", "answer" => "1" }]
}

/// A metric that judges a sample.
#[eval(
    devset = rows(),
    metrics(f1),
    truth(Em::default(), rows = 20, by = f1),
    gate(f1 >= 0.5, lower(em) >= 0.2)
)]
fn sampled(question: &str) -> Prediction {
    prediction! { "answer" => question }
}

/// The inputs as one row.
#[eval(
    devset = rows(),
    inputs(question),
    metrics(em),
    gate(em >= 0.5),
    baseline,
    baseline_rows,
    rescore
)]
async fn whole(row: Example) -> ProgramOutput {
    ProgramOutput::new(prediction! { "answer" => row.get("question") })
}

/// The inputs as a struct.
#[derive(serde::Deserialize)]
struct Question {
    question: String,
}

#[eval(devset = rows(), inputs(question), metrics(em), gate(em >= 0.5))]
async fn as_a_struct(row: Question) -> Prediction {
    prediction! { "answer" => row.question }
}

/// Rows with types.
#[derive(Clone, Record, serde::Serialize, serde::Deserialize)]
struct Gold {
    question: String,
    answer: String,
}

#[derive(Record, serde::Serialize)]
struct Answer {
    answer: String,
}

#[eval(
    gold = Gold,
    devset = [Gold { question: "1?".into(), answer: "1".into() }],
    metrics(em, f1),
    gate(em >= 0.5)
)]
fn typed(question: &str) -> Answer {
    Answer { answer: question.to_owned() }
}

/// Rows to score.
#[eval(metrics(em), gate(em >= 0.5))]
fn scored() -> Vec<Pair> {
    vec![Pair::new("q1", example! { "answer" => "1" }, prediction! { "answer" => "1" })]
}

#[eval(metrics(em), gate(em >= 0.5))]
async fn scored_later() -> Result<Vec<Pair>, String> {
    Ok(scored())
}

mod renamed {
    pub(super) use dsrs_metrics as other;
    use other::metrics::Em;
    use other::{eval, prediction};

    #[eval(
        devset = [other::example! { "q" => 1, "answer" => "1" }],
        metrics(Em),
        gate(em >= 0.5),
        crate = crate::evals::renamed::other
    )]
    pub(super) fn named_differently(q: u64) -> other::Prediction {
        prediction! { "answer" => q.to_string() }
    }
}

pub fn main() {
    let answer = prediction! { "answer" => "1" };
    assert_eq!(plain("1").unwrap(), answer);
    assert_eq!(sampled("1"), answer);
    assert_eq!(renamed::named_differently(1), answer);
    assert_eq!(typed("1").answer, "1");
    assert_eq!(scored().len(), 1);
    let _ = (every_key, whole, as_a_struct, scored_later);
}
