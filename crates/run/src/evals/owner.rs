//! The claim of an eval on its name, since evals of one name share their baseline and their folder.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Mutex;

use super::eval::Source;
use super::pool::run_id;
use crate::evaluate::lock::lock;

/// The claim of an eval on its name, for as long as it runs.
pub(super) struct Owner {
    key: (String, String),
}

/// The evals that run in this process: where each is.
static RUNNING: Mutex<BTreeMap<(String, String), String>> = Mutex::new(BTreeMap::new());

impl Owner {
    /// Returns an error if another eval of the package has the same name, in this run of tests.
    pub(super) fn claim(source: &Source, folder: &Path, target: &Path) -> Result<Self, String> {
        let key = (source.package.to_owned(), source.name.to_owned());
        let place = format!("{} at {}:{}", source.module, source.file, source.line);
        let two = |other: &str| {
            format!(
                "two evals of the package `{}` have this name: {place}, and {other}; rename one, since they share baseline and folder",
                source.package
            )
        };
        if let Some(other) = lock(&RUNNING).get(&key).filter(|other| **other != place) {
            return Err(two(other));
        }
        let unwritable = |error: io::Error| {
            format!(
                "cannot write below the target folder `{}`: {error}; make it writable, or set CARGO_TARGET_DIR",
                target.display()
            )
        };
        fs::create_dir_all(folder).map_err(unwritable)?;
        let file = folder.join("owner");
        let (run, found) = (run_id(), fs::read_to_string(&file).unwrap_or_default());
        if let Some(other) = found.strip_prefix(&format!("{run}\n")).filter(|it| *it != place) {
            return Err(two(other));
        }
        fs::write(&file, format!("{run}\n{place}")).map_err(unwritable)?;
        lock(&RUNNING).insert(key.clone(), place);
        Ok(Self { key })
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        lock(&RUNNING).remove(&self.key);
    }
}
