//! Metrics that run what was predicted: a command's exit code, the tests that pass, and whether more pass than before.
//!
//! How a command is isolated is in [`sandbox`](crate::sandbox).

mod job;
mod run;
mod tests;

pub use job::{Isolation, SandboxFiles, Source, field, gold};
pub use run::{Sandbox, sandbox};
pub use tests::{TestPass, VerificationDelta, test_pass, verification_delta};
