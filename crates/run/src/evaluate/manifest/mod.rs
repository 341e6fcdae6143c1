//! The manifest of a run: what was measured, by which metrics and judges, on which data.
//!
//! `content.rs` has the content, `judged_by.rs` the models that answered for judges, `started.rs` the manifest of a run
//! in progress, and `file.rs` the file beside a result file. `git.rs` reads the commit, `program.rs` hashes the
//! program, and `early.rs` and `truth.rs` have what a part of the rows decided.

mod content;
mod early;
mod file;
mod git;
mod judged_by;
mod program;
mod started;
mod truth;

#[cfg(feature = "parquet")]
pub(crate) use self::content::Embedded;
pub use self::content::FORMAT;
pub use self::content::{
    DescribedFile, GitCommit, Library, Manifest, ProcessManifest, RunCosts, RunManifest,
    manifest_path,
};
pub(crate) use self::content::{MANIFEST_SUFFIX, RunDescription};
pub use self::early::{DecidedGate, EarlyResult};
pub use self::file::ManifestError;
pub(crate) use self::file::{
    Hashing, NO_MANIFEST, REFERENCE_KEY, check_version_of, find, finish_replacement, staged_path,
};
pub use self::judged_by::{JudgeReplies, JudgedBy};
pub(crate) use self::program::executable;
pub(crate) use self::started::StartedManifest;
pub use self::truth::{TruthMethod, TruthResult, TruthStratum};
