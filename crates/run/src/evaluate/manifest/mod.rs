//! The manifest of a run: what was measured, by which metrics and judges, on which data.
//!
//! `content.rs` has the content, `judged_by.rs` the models that answered for judges, `partial.rs` what a part of the rows
//! decided, and `file.rs` the file beside a result file. `started.rs` has the manifest of a run in progress, and what it
//! records of the process.

mod content;
mod file;
mod judged_by;
mod partial;
mod started;

#[cfg(feature = "parquet")]
pub(crate) use self::content::Embedded;
pub use self::content::FORMAT;
pub use self::content::{
    DescribedFile, GitCommit, Library, Manifest, ProcessManifest, RunCosts, RunManifest,
    manifest_path,
};
pub(crate) use self::content::{MANIFEST_SUFFIX, valid_text};
pub use self::file::ManifestError;
pub(crate) use self::file::{
    Hashing, NO_MANIFEST, REFERENCE_KEY, check_version_of, find, finish_replacement, staged_path,
};
pub use self::judged_by::{JudgeReplies, JudgedBy, JudgedByTally};
pub use self::partial::{DecidedGate, EarlyResult, TruthMethod, TruthResult, TruthStratum};
pub(crate) use self::started::{StartedManifest, executable};
