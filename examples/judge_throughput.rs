//! How many rows a judge does in a second, when its model takes 50 ms and 1,000 rows are judged at a time.
//!
//! ```sh
//! cargo run --release --example judge_throughput -- 50000 1000
//! ```
//!
//! The bound is concurrency / latency; everything below it is what judging costs besides waiting.

use std::error::Error;
use std::time::{Duration, Instant};

use dsrs_metrics::lm::ScriptedLm;
use dsrs_metrics::prelude::*;
use dsrs_metrics::{Evaluate, ProgramError};

const LATENCY: Duration = Duration::from_millis(50);

/// Compare a system's response to the ground truth and report recall and precision.
#[judge(score = f1(precision, recall), threshold = 0.66, range = 0.0..=1.0)]
struct SemanticRecallPrecision {
    #[input(gold)]
    question: String,
    #[input(gold = "response")]
    ground_truth: String,
    #[input(pred = "response")]
    system_response: String,
    /// fraction of the ground truth that the response covers
    #[output(range = 0.0..=1.0)]
    recall: f64,
    /// fraction of the response that the ground truth supports
    #[output(range = 0.0..=1.0)]
    precision: f64,
}

async fn respond(inputs: Example) -> Result<Prediction, ProgramError> {
    let question = inputs.get("question").and_then(|question| question.as_str());
    Ok(prediction! { "response" => question.unwrap_or_default() })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let rows: usize = arguments.next().map_or(Ok(50_000), |rows| rows.parse())?;
    let concurrency: usize = arguments.next().map_or(Ok(1_000), |limit| limit.parse())?;

    let reply = r#"{ "reasoning": "Half of it.", "recall": 0.5, "precision": 1.0 }"#;
    let lm = ScriptedLm::new().latency(LATENCY).remember(0).otherwise(reply);
    let devset = (0..rows).map(|row| {
        let response = format!("The answer to question {row}, in a sentence of some length.");
        example! { "question" => format!("Question {row}?"), "response" => response }
    });
    let evaluate = Evaluate::builder()
        .devset(devset)
        .metric(SemanticRecallPrecisionJudge::default().with_lm(lm))
        .concurrency(concurrency)
        .build()?;

    let start = Instant::now();
    let result = evaluate.run(respond).await?;
    let rate = rows as f64 / start.elapsed().as_secs_f64();
    let bound = concurrency as f64 / LATENCY.as_secs_f64();
    println!("{result}\n{rate:.0} rows/s, {:.1}% of {bound:.0}", 100.0 * rate / bound);
    Ok(())
}
