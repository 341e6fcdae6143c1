//! A type with `#[judge_output]` needs neither `serde` nor `schemars`, and compiles with a shadowed prelude.
#![deny(warnings, missing_docs)]
#![forbid(unsafe_code)]

use dsrs_metrics::{judge, judge_output};

mod serde {}
mod schemars {}

#[allow(dead_code)]
type Result = ();

/// How it sounds.
#[judge_output]
pub enum Tone {
    /// Well.
    Kind,
    /// Not so well.
    Rude {
        /// How bad it is.
        by: u8,
    },
}

/// A finding, which may hold others.
#[judge_output]
pub struct Finding<T> {
    /// Its tone.
    pub tone: T,
    /// More.
    pub r#more: Vec<Self>,
}

/// Say which tone the answer has.
#[judge(score = tone == Tone::Kind && findings.iter().all(|it| it.tone == Tone::Kind))]
pub struct Toned {
    #[input(pred)]
    answer: String,
    #[output]
    tone: Tone,
    #[output]
    findings: Vec<Finding<Tone>>,
}

/// Runs the items above.
pub fn main() {
    let _ = TonedJudge::default();
}
