//! The suite with `#[eval]`.

use dsrs_metrics::lm::{LanguageModel, LmError, LmReply, LmRequest};
use dsrs_metrics::prelude::*;

/// Decide whether the reply to the customer is polite.
#[judge]
struct Polite {
    #[input(pred)]
    reply: String,
    #[output]
    polite: bool,
}

/// A judge that finds each reply polite in nine of ten runs.
struct Noisy;

#[async_trait]
impl LanguageModel for Noisy {
    fn id(&self) -> &str {
        "scripted:noisy"
    }

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        let prompt = &request.messages.last().expect("a message").content;
        let row = prompt.split("reply number ").nth(1).and_then(|rest| rest.split_whitespace().next());
        let row: u64 = row.and_then(|row| row.parse().ok()).unwrap_or(0);
        let run: u64 = std::env::var("RUN").ok().and_then(|run| run.parse().ok()).unwrap_or(0);
        let is_polite = noise(1_000 * run + row) < 0.9;
        Ok(LmReply::new(format!("{{\"reasoning\": \"\", \"polite\": {is_polite}}}")))
    }
}

/// A number in [0, 1) for a seed (SplitMix64), the same as in `suite_deepeval.py`.
fn noise(seed: u64) -> f64 {
    let mixed = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

fn rows() -> impl Iterator<Item = Example> {
    (0..40).map(|row| example! { "question" => format!("question number {row}") })
}

// begin
#[eval(
    devset = rows(),
    metrics(PoliteJudge::default().with_lm(Noisy)),
    gate(polite >= 0.75, polite.no_worse(by = 0.05)),
    baseline
)]
fn replies(question: String) -> Prediction {
    prediction! { "reply" => question.replace("question", "reply") }
}
// end
