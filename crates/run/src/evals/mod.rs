//! Evals: evaluations as tests, with gates. `#[eval]` expands to calls of [`Eval`].
//!
//! `condition.rs` has the conditions of gates, `eval.rs` the settings of an eval.

mod condition;
mod eval;
mod inputs;

pub use self::condition::{Bound, Condition};
pub use self::eval::{Eval, Source};
pub use self::inputs::{input, inputs_as, returned};
