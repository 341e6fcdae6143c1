//! Judges of conversations and of what agents did, after deepeval 4.3 and ragas 0.4. The guide pages `conversations` and `agents`
//! have their formulas.
//!
//! They read `pred.conversation` or `pred.trajectory` in any form of [`Trajectory`](crate::core::trajectory::Trajectory).

mod outcome;
mod topics;
mod turns;

pub use self::outcome::*;
pub use self::topics::*;
pub use self::turns::*;

use dsrs_metrics::judge_output;

/// The verdict on an intention or a claim.
#[judge_output]
#[derive(Debug, Clone)]
pub struct Fulfilment {
    /// why, in one sentence
    pub reason: String,
    /// whether it is fulfilled
    pub fulfilled: bool,
}
