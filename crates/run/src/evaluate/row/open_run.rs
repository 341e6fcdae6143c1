//! The run of a program without a version, whose outputs are kept until it has ended; and the keys of results.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::evaluate::lock::lock;
use crate::lm::recording::Scope;
use crate::lm::{Hash, LmError};

/// The key of a result.
pub(super) struct Key {
    pub(super) about: String,
    pub(super) hash: Hash,
}

impl Key {
    pub(super) fn new(about: &Value) -> Self {
        let about = about.to_string();
        let hash = Sha256::digest(about.as_bytes()).into();
        Self { about, hash }
    }
}

/// What the outputs of a program depend on, apart from its inputs.
pub(crate) enum ProgramIdentity {
    /// The version that the user named.
    Version(String),
    /// The hash of the executable, for a program without a version. Nothing is known about what such a program reads, so its outputs
    /// belong to one run, which continues after it was interrupted or killed.
    Executable(String),
    /// Outputs are not kept: predictions are given, or the executable cannot be read.
    None,
}

/// A run that has not ended, of a program without a version.
pub(super) struct OpenRun {
    key: Key,
    /// The store, and the key of the first such run of this process.
    first: (PathBuf, Hash),
    /// Distinguishes its outputs from those of other runs: the process that began it, and its number in the store.
    pub(super) begun: String,
}

/// The number of runs that have ended in this process, by the store and the key of the first one.
static ENDED: LazyLock<Mutex<HashMap<(PathBuf, Hash), u64>>> = LazyLock::new(Mutex::default);

impl OpenRun {
    /// Returns the run that was interrupted, or a new one.
    pub(super) fn open(scope: &Scope, run: &Value, executable: &str) -> Self {
        let arguments: Vec<_> = std::env::args_os()
            .map(|it| it.display().to_string())
            .collect();
        let mut about =
            json!({ "run": run, "executable": executable, "arguments": arguments, "ended": 0 });
        // The next run in one process is another one.
        let first = (scope.store().path().to_owned(), Key::new(&about).hash);
        about["ended"] = lock(&ENDED).get(&first).copied().unwrap_or(0).into();
        let key = Key::new(&about);
        let begun = scope.find(&key.hash).unwrap_or_else(|| {
            // No later run finds this number: its record is the next one.
            let number = scope.store().last_number().unwrap_or_default();
            let begun = format!("{} {number}", std::process::id());
            scope.keep("run", (&key.hash, &key.about), &begun, None);
            begun
        });
        Self { key, first, begun }
    }

    /// Ends the run: the next one calls the program again.
    pub(super) fn end(&self, scope: &Scope) -> Result<(), LmError> {
        scope.store().remove(&self.key.hash)?;
        *lock(&ENDED).entry(self.first.clone()).or_default() += 1;
        Ok(())
    }
}
