//! The journal of an eval, with which a run that was killed continues.

use std::env;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use twox_hash::XxHash3_128;

use crate::evaluate::EvaluateBuilder;

/// Returns the folder of the journal. Its name has a hash of the test binary and of the rows, since a run of another program
/// must not restore predictions; journals of other binaries are removed.
pub(super) fn folder<G: Send + Sync + 'static, P: Send + Sync + 'static>(
    folder: &Path,
    evaluate: &EvaluateBuilder<G, P>,
) -> Result<PathBuf, String> {
    let failed = |error: std::io::Error| format!("cannot read the test binary: {error}");
    let mut hash = XxHash3_128::new();
    let mut binary = env::current_exe().and_then(File::open).map_err(failed)?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        match binary.read(&mut buffer).map_err(failed)? {
            0 => break,
            read => hash.write(&buffer[..read]),
        }
    }
    for file in evaluate.data_files() {
        hash.write(file.as_bytes());
    }
    let name = format!("journal-{:016x}", hash.finish_128() >> 64);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let other = entry.file_name();
        let other = other.to_string_lossy();
        if other.starts_with("journal-") && *other != *name {
            fs::remove_dir_all(entry.path()).map_err(|error| {
                format!("cannot remove the old journal `{}`: {error}", entry.path().display())
            })?;
        }
    }
    Ok(folder.join(name))
}
