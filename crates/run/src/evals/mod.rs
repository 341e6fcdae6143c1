//! Evaluations that run as tests and have gates.
//!
//! The `#[eval]` attribute expands to calls of [`Eval`].
//!
//! `eval.rs` has an eval's settings and its program's parameters, and `condition.rs` the conditions of gates with their
//! rules. `run.rs` runs an eval with `environment.rs` (names of evals, when baselines are replaced, where files are),
//! `models.rs` (language models) and `pool.rs` (the shared budget of a test run). `figures.rs` has the figures for all
//! rows and for groups. `findings.rs` has the verdict and sentence for each condition, and `decide.rs` combines them.
//! `baseline.rs` has the outcomes of an earlier run and scores its predictions again, and `pending.rs` has a baseline
//! that is not yet accepted. `message.rs` has the message from a failing test, and GitHub's annotations.

mod baseline;
mod condition;
mod decide;
mod environment;
mod eval;
mod figures;
mod findings;
mod message;
mod models;
mod pending;
#[cfg(feature = "lm")]
mod pool;
mod run;
#[cfg(test)]
mod tests;

pub use self::baseline::Baseline;
pub use self::condition::{Bound, Condition, End};
pub use self::decide::verdicts;
pub use self::environment::FOLDER;
pub use self::eval::{Eval, Source, input, inputs_as, returned};
pub use self::pending::Pending;
