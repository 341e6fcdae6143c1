//! Rows per second of a judge whose model takes some time per call: by default 50,000 rows, 1,000 of them concurrently, and
//! 50 ms per call. With 10,000 rows in progress and 2 s per call:
//!
//! ```sh
//! cargo run --release --example judge_throughput -- 100000 10000 2000
//! ```
//!
//! The upper bound is concurrency / latency, with the measured latency: a timer fires a little later than it is set, and
//! much later on a busy machine. The difference from the bound is the overhead of judging. The first figure is for the whole
//! run, with its start and its end, when not all workers have a row. The steady state is measured between a tenth and nine
//! tenths of the calls. On Linux the memory that each row in progress takes is printed at both points.

use std::error::Error;
use std::time::{Duration, Instant};

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use dsrs_metrics::lm::{LanguageModel, LmError, LmReply, LmRequest, ScriptedLm};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{Evaluate, runs::ProgramError};

/// Compare a system's response to the ground truth and report recall and precision.
#[judge(score = harmonic_mean(precision, recall), threshold = 0.66, range = 0.0..=1.0)]
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

/// A model that records the latency of its calls, and prints the memory in use.
struct Timed {
    lm: ScriptedLm,
    calls: AtomicU64,
    nanos: AtomicU64,
    rows: u64,
    concurrency: u64,
    /// Resident memory before the run, in kB.
    memory_before: Option<u64>,
    /// The times at which a tenth and nine tenths of the calls had been made.
    tenths: [OnceLock<Instant>; 2],
}

impl Timed {
    /// Returns the calls per second between these times.
    fn steady(&self) -> Option<f64> {
        let [early, late] = self.tenths.each_ref().map(OnceLock::get);
        let calls = (self.rows * 9 / 10 - self.rows / 10) as f64;
        Some(calls / late?.duration_since(*early?).as_secs_f64())
    }
}

#[async_trait]
impl LanguageModel for Timed {
    fn id(&self) -> &str {
        self.lm.id()
    }

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        let start = Instant::now();
        let reply = self.lm.complete(request).await;
        let nanos = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
        let calls = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let tenths = [self.rows / 10, self.rows * 9 / 10];
        if let Some(at) = tenths.iter().position(|tenth| *tenth == calls) {
            let _ = self.tenths[at].set(Instant::now());
            if let (Some(before), Some(memory)) = (self.memory_before, resident()) {
                let each = (memory - before) as f64 / self.concurrency as f64;
                println!(
                    "{memory} kB in use after {calls} calls: {each:.1} kB for each row in progress"
                );
            }
        }
        reply
    }

    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        Ok(None)
    }
}

/// Returns the process's resident memory in kB, as reported by Linux.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

async fn respond(inputs: Example) -> Result<Prediction, ProgramError> {
    let question = inputs
        .get("question")
        .and_then(|question| question.as_str());
    Ok(prediction! { "response" => question.unwrap_or_default() })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let rows: usize = arguments.next().map_or(Ok(50_000), |rows| rows.parse())?;
    let concurrency: usize = arguments.next().map_or(Ok(1_000), |limit| limit.parse())?;
    let latency: u64 = arguments
        .next()
        .map_or(Ok(50), |milliseconds| milliseconds.parse())?;

    let reply = r#"{ "reasoning": "Half of it.", "recall": 0.5, "precision": 1.0 }"#;
    let lm = ScriptedLm::new()
        .latency(Duration::from_millis(latency))
        .remember(0)
        .otherwise(reply);
    let (calls, nanos) = (AtomicU64::new(0), AtomicU64::new(0));
    let lm = Arc::new(Timed {
        lm,
        calls,
        nanos,
        rows: rows as u64,
        concurrency: concurrency as u64,
        memory_before: resident(),
        tenths: Default::default(),
    });
    let devset = (0..rows).map(|row| {
        let response = format!("The answer to question {row}, in a sentence of some length.");
        Ok::<_, String>(
            example! { "question" => format!("Question {row}?"), "response" => response },
        )
    });
    let evaluate = Evaluate::builder()
        .devset_stream(futures_util::stream::iter(devset))
        .inputs(["question"])
        .keep_results(false)
        .metric(SemanticRecallPrecisionJudge::default().with_lm(Arc::clone(&lm)))
        .concurrency(concurrency)
        .build()?;

    let start = Instant::now();
    let result = evaluate.run(respond).await?;
    let rate = rows as f64 / start.elapsed().as_secs_f64();
    let latency = lm.nanos.load(Ordering::Relaxed) as f64 / 1e9 / rows as f64;
    let bound = concurrency as f64 / latency;
    println!(
        "{result}\n{rate:.0} rows/s, {:.1}% of {bound:.0}",
        100.0 * rate / bound
    );
    if let Some(steady) = lm.steady() {
        println!(
            "steady state: {steady:.0} rows/s, {:.1}%",
            100.0 * steady / bound
        );
    }
    println!("the model took {:.2} ms a call", 1e3 * latency);
    Ok(())
}
