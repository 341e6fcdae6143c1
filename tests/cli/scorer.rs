//! A user's program: the command line with metrics of its own.
#![forbid(unsafe_code)]
#![expect(
    clippy::needless_pass_by_value,
    reason = "a field parameter is passed as it was read from the row"
)]

use std::collections::BTreeMap;
use std::time::Duration;

use dsrs_metrics::metrics::{StrOrList, StrOrNumber};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    MetricError,
    contract::{Configure, ParamError, Params},
};
use serde::{Deserialize, Deserializer};

/// Passes if the answers are the same string.
///
/// No character is folded: "Paris" is not "paris".
#[metric]
fn same_text(#[gold] answer: &str, #[pred("answer")] guess: &str) -> bool {
    answer == guess
}

/// How far the guess is from the answer, in units of `scale`; a metric with a first line of
/// documentation that is longer than most terminals are wide, so that it has to be wrapped
/// somewhere.
#[metric(lower_is_better, range = 0.0..=1000.0)]
fn distance(
    #[gold] answer: f64,
    #[pred("answer")] guess: f64,
    /// what counts as 1
    #[param(default = 1.0)]
    scale: f64,
) -> f64 {
    (answer - guess).abs() / scale
}

/// Passes if the answer is one of several.
#[metric]
fn any_of(#[gold] answers: &[String], #[pred] answer: &str) -> bool {
    answers.iter().any(|one| one == answer)
}

/// Passes if the note is short; without a note it abstains.
#[metric]
fn short_note(#[pred] note: Option<&str>, #[param] limit: usize) -> Option<bool> {
    note.map(|note| note.chars().count() <= limit)
}

/// Returns the number in the prediction, or panics, fails or returns NaN on command.
#[metric]
fn obeys(#[pred] answer: &str) -> Result<f64, String> {
    match answer {
        "panic" => panic!("ordered to\npanic"),
        "fail" => Err("ordered to fail".to_owned()),
        "nan" => Ok(f64::NAN),
        text => text.parse().map_err(|_| format!("unknown order {text:?}")),
    }
}

/// Takes the number of seconds in the prediction.
#[metric]
async fn sleeps(#[pred] seconds: f64) -> bool {
    tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
    true
}

/// Blocks its thread for the number of seconds in the prediction.
#[metric]
fn blocks(#[pred] seconds: f64) -> bool {
    std::thread::sleep(Duration::from_secs_f64(seconds));
    true
}

/// The number in the prediction, without any rounding.
#[metric]
fn number(#[pred] x: f64) -> f64 {
    x
}

/// Passes if the prediction is sure.
#[metric]
fn certain(#[pred] sure: bool) -> bool {
    sure
}

/// How many things the prediction counts.
#[metric]
fn things(#[pred] counts: BTreeMap<String, f64>) -> f64 {
    counts.values().sum()
}

/// A type whose deserializer panics on `!`.
struct Picky;

impl<'de> Deserialize<'de> for Picky {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        assert!(text != "!", "cannot\nread `!`");
        Ok(Self)
    }
}

/// Passes if the word is a word.
#[metric]
fn pickiness(#[pred] word: Picky) -> bool {
    let Picky = word;
    true
}

/// How words are compared.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    WholeWord,
}

/// How many words differ, as a verdict.
#[metric(lower_is_better, threshold = 0.5, strict)]
fn word_gap(
    #[pred] words: StrOrList<'_>,
    #[pred] shown: StrOrNumber<'_>,
    #[param(default = Mode::WholeWord)] mode: Mode,
    #[param(default = "a, b")] ignored: String,
    #[param(default = f64::MAX)] limit: f64,
) -> f64 {
    let known = mode == Mode::WholeWord && shown.as_str() != ignored;
    if known {
        0.0_f64.min(limit)
    } else {
        words.iter().count() as f64
    }
}

/// A hand-written metric whose configuration panics.
struct Broken;

#[async_trait]
impl Metric for Broken {
    fn name(&self) -> &str {
        Self::SPEC.name
    }

    async fn evaluate(&self, _: &Example, _: &Prediction) -> Result<MetricScore, MetricError> {
        Ok(MetricScore::new(0.0))
    }
}

impl Configure for Broken {
    const SPEC: MetricSpec<'static> = MetricSpec::new("broken");

    fn configure(_: &Params) -> Result<Self, ParamError> {
        panic!("there is\na mistake");
    }
}

dsrs_metrics::main![
    same_text, distance, AnyOf, ShortNote, Obeys, Sleeps, Blocks, Number, Certain, Things,
    Pickiness, WordGap, Broken,
];
