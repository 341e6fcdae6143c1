//! The manifest of a run, which records what was measured.
//!
//! The manifest also records the metrics, the judges and the data.
//!
//! The module has these files:
//!
//! - `content.rs` has the content of a manifest.
//! - `judged_by.rs` has the models that judges used.
//! - `partial.rs` has results that are based on only some of the rows.
//! - `file.rs` reads and writes the file next to a result file.
//! - `started.rs` has the manifest of a run in progress and the information about its process.

mod content;
mod file;
mod judged_by;
mod partial;
mod started;

pub use self::content::FORMAT;
pub use self::content::{
    DescribedFile, GitCommit, Library, Manifest, ProcessManifest, RunCosts, RunManifest,
    manifest_path,
};
pub(crate) use self::content::{MANIFEST_SUFFIX, valid_text};
pub use self::file::ManifestError;
pub(crate) use self::file::{
    Hashing, NO_MANIFEST, REFERENCE_KEY, check_version_of, finish_replacement, read_manifest,
    staged_path,
};
pub use self::judged_by::{JudgeReplies, JudgedBy, JudgedByTally};
pub use self::partial::{DecidedGate, EarlyResult, TruthMethod, TruthResult, TruthStratum};
pub(crate) use self::started::{StartedManifest, executable};
