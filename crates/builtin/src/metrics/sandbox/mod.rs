//! Metrics that run predicted code: the exit code of a command, test results, and whether more
//! tests pass than before.
//!
//! How a command is isolated is documented in [`sandbox`](crate::sandbox).

mod command;
mod exit_code;
mod files;
mod isolation;
mod stages;
mod test_results;

pub use command::{CommandSettings, CommandSettingsSetters};
pub use exit_code::{Sandbox, sandbox};
pub use files::{FileSource, SandboxFiles};
pub use isolation::Isolation;
pub use test_results::{TestPass, VerificationDelta, test_pass, verification_delta};
