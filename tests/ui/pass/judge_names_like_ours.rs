//! The user's names are those that the expansion could use itself.
#![allow(non_camel_case_types, dead_code)]

use dsrs_metrics::{example, judge, prediction};

struct Judge;
struct Judged;
struct Panel;
struct Signature;
struct Content;
struct Untrusted;
struct Reply;
struct Answer;
struct IntoScore;
struct Shown;
struct Input;
struct Output;
struct Aggregation;
struct OnceLock;
mod core {}
mod std {}

/// Judge.
#[judge(score = harmonic_mean(score, value) + weight * value, struct = Both)]
struct Metric {
    #[input(gold)]
    judge: String,
    #[input(gold)]
    input: String,
    #[input(pred)]
    row: String,
    #[input(pred)]
    reply: String,
    #[input(pred)]
    output: String,
    #[param(default = 1.0)]
    weight: f64,
    #[param(default = 1.0)]
    lm: f64,
    #[param]
    signature: Option<String>,
    #[output]
    score: f64,
    #[output]
    value: f64,
    #[output]
    self_: String,
    #[output]
    output_: Option<String>,
}

fn harmonic_mean(a: f64, b: f64) -> f64 {
    a + b
}

/// Runs the items above.
pub fn main() {
    let judge = Both::builder().weight(2.0).lm(1.0).with_lm("openai:gpt-6-luna").build();
    let _ = ::dsrs_metrics::Metric::evaluate(&judge, &example! {}, &prediction! {});
    let _ = (Judge, Judged, Panel, Signature, Content, Untrusted, Reply, Answer, IntoScore);
}
