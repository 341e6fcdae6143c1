//! Evals: evaluations as tests, with gates. `#[eval]` expands to calls of [`Eval`].
//!
//! `condition.rs` has the conditions of gates, `checks.rs` their rules, `eval.rs` the settings of an eval and the parameters of its
//! program. `run.rs` runs it: `environment.rs` has the names of evals and when baselines are replaced, `paths.rs` where files are, `models.rs` the language models, `pool.rs` the budget of all evals of a
//! run of tests. `figures.rs` has the figures of all rows and of groups of rows,
//! `decide.rs` combines the verdicts of the gates, `findings.rs` has the verdict and the sentence of each condition. `baseline.rs` has the outcomes of an earlier run,
//! `pending.rs` a baseline that is not accepted yet, `rescore.rs` scores its predictions again. `message.rs` has the message of
//! a test that fails, `github.rs` the annotations of GitHub.

mod baseline;
mod checks;
mod condition;
mod decide;
mod environment;
mod eval;
mod figures;
mod findings;
mod github;
mod message;
mod models;
mod paths;
mod pending;
#[cfg(feature = "lm")]
mod pool;
mod rescore;
mod run;
#[cfg(test)]
mod tests;

pub use self::baseline::Baseline;
pub use self::condition::{Bound, Condition};
pub use self::decide::verdicts;
pub use self::eval::{Eval, Source};
pub use self::eval::{input, inputs_as, returned};
pub use self::paths::FOLDER;
pub use self::pending::Pending;
