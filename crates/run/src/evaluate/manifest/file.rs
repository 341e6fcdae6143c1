//! The manifest as a file next to a result file. Writes and reads the manifest, and detects if either file was changed,
//! swapped or lost.
//!
//! The last row of a result file contains a reference to the manifest: a hash of what was measured. The manifest
//! contains the hash of the result file and its own checksum.
//!
//! Two files cannot be replaced at once. The new manifest is therefore written under its staged name before the result
//! file is replaced, and then renamed. In between, the manifest under the final name describes the old result file, and
//! readers use the staged one if it describes the new file.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use twox_hash::XxHash3_128;

use super::content::{
    DescribedFile, FORMAT, Manifest, canonical_hash, manifest_path, reference as reference_of,
};
use crate::evaluate::files::real_path;
use crate::messages::escape;
use crate::named_files::open_regular;

/// The key in the last row of a result file that holds the reference to the manifest.
pub(crate) const REFERENCE_KEY: &str = "manifest";

/// The reason given if a run without a reference has no manifest.
pub(crate) const NO_MANIFEST: &str = "it has no manifest";

/// The key of the checksum, which is the hash of all other keys.
const CHECKSUM: &str = "checksum";

/// The maximum size of a manifest that is read, in bytes.
const MAX_LENGTH: u64 = 64 << 20;

dsrs_metrics_values::message_errors! {
    /// An error returned when a manifest or its result file cannot be used.
    pub struct ManifestError;
}

fn unreadable(manifest: &Path, reason: &dyn Display) -> ManifestError {
    ManifestError::from(format!(
        "cannot read the manifest `{}`: {reason}; restore it, or remove it to use the results without their identity",
        manifest.display()
    ))
}

fn later_version(file: &Path, found: &dyn Display) -> ManifestError {
    ManifestError::from(format!(
        "`{}` has the format version {found}, but this version of dsrs-metrics reads {FORMAT}; update dsrs-metrics",
        file.display()
    ))
}

impl Manifest {
    /// Returns the text of the manifest file.
    pub(crate) fn to_file(&self, file: DescribedFile) -> String {
        let manifest = Self {
            file: Some(file),
            ..self.clone()
        };
        let checksum = canonical_hash(&serde_json::to_value(&manifest).unwrap_or_default());
        // Keeps the order of the metrics, which a `Value` may sort.
        let mut text = serde_json::to_string_pretty(&manifest).unwrap_or_default();
        // The last line is the closing brace.
        text.truncate(text.len().saturating_sub("\n}".len()));
        text + &format!(",\n  \"{CHECKSUM}\": \"{checksum}\"\n}}\n")
    }
}

/// Returns the manifest of a result file, or the reason it has none. `references` are the manifest references in the
/// file's rows.
///
/// # Errors
/// Returns a [`ManifestError`] if the manifest cannot be read, was changed, or does not belong to the file.
pub(crate) fn read_manifest(
    file: &Path,
    references: &[String],
) -> Result<Result<Box<Manifest>, String>, ManifestError> {
    if file.as_os_str() == "-" {
        return Ok(Err("standard input has no manifest".to_owned()));
    }
    for reference in references {
        let version = reference.split('-').next().unwrap_or_default();
        if version.parse().is_ok_and(|version: u32| version <= FORMAT) {
            continue;
        }
        return Err(later_version(file, &escape::name(version)));
    }
    let path = manifest_path(file);
    let found = find_at(&path, file, references);
    if let Ok(Some(manifest)) = found {
        return Ok(Ok(manifest));
    }
    match find_at(&staged_path(file), file, references) {
        Ok(Some(staged)) => Ok(Ok(staged)),
        _ => found.map(|_| Err(missing(&path, references))),
    }
}

/// Returns the path of the manifest while its result file is being replaced.
pub(crate) fn staged_path(file: &Path) -> PathBuf {
    let path = real_path(&manifest_path(file));
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".new");
    path.with_file_name(name)
}

/// Finishes the replacement of a result file if the process was killed during it. Publishes the staged manifest if it
/// describes the file, and removes it otherwise.
pub(crate) fn finish_replacement(file: &Path) -> io::Result<()> {
    let staged = staged_path(file);
    match find_at(&staged, file, &[]) {
        Ok(None) => Ok(()),
        Ok(Some(_)) => std::fs::rename(staged, real_path(&manifest_path(file))),
        Err(_) => std::fs::remove_file(staged),
    }
}

/// Returns the manifest at this path, if it exists and describes the result file.
fn find_at(
    path: &Path,
    file: &Path,
    references: &[String],
) -> Result<Option<Box<Manifest>>, ManifestError> {
    let path = path.to_owned();
    let text = match read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(&path, &error)),
    };
    let (manifest, own) = parse(&path, &text)?;
    let other = || {
        ManifestError::from(format!(
            "the manifest `{}` belongs to a different run than `{}`; restore the run's manifest, or \
             remove this one to use the results without their identity",
            path.display(),
            file.display()
        ))
    };
    if references.iter().any(|reference| *reference != own) {
        return Err(other());
    }
    let described = manifest.file.as_ref().ok_or_else(other)?;
    let found = described_file(file);
    let found = found.map_err(|error| {
        let name = file.to_string_lossy();
        unreadable(
            &path,
            &format!("cannot read `{}`: {error}", escape::name(&name)),
        )
    })?;
    if found == *described {
        return Ok(Some(Box::new(manifest)));
    }
    // A file that lost its last row has no reference.
    Err(match references {
        [] if found.bytes > described.bytes => other(),
        _ => ManifestError::from(format!(
            "`{}` was changed after it was written: its manifest `{}` describes {} bytes with different content, \
             found {} bytes; write it again, or remove the manifest to use the results without their identity",
            file.display(),
            path.display(),
            described.bytes,
            found.bytes
        )),
    })
}

fn missing(path: &Path, references: &[String]) -> String {
    match references {
        [] => NO_MANIFEST.to_owned(),
        [_] => format!(
            "its manifest `{}` is missing",
            escape::name(&path.to_string_lossy())
        ),
        [..] => "it was joined from the files of several runs".to_owned(),
    }
}

/// Returns an error if the manifest says that a later version wrote the result file, because its rows may be invalid
/// here.
pub(crate) fn check_version_of(file: &Path) -> Result<(), ManifestError> {
    #[derive(Deserialize)]
    struct Version {
        format: u64,
    }
    let path = manifest_path(file);
    let version = read(&path)
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok());
    version.map_or(Ok(()), |Version { format }| check_version(&path, format))
}

fn check_version(path: &Path, found: u64) -> Result<(), ManifestError> {
    if found <= u64::from(FORMAT) {
        return Ok(());
    }
    Err(later_version(path, &found))
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_regular(path)?
        .take(MAX_LENGTH)
        .read_to_string(&mut text)?;
    Ok(text)
}

/// Parses and checks a manifest. Also returns the reference to its text, which can have keys that this version does not
/// know.
fn parse(path: &Path, text: &str) -> Result<(Manifest, String), ManifestError> {
    let unreadable = |reason: &dyn Display| unreadable(path, reason);
    let mut value: Value = serde_json::from_str(text).map_err(|error| unreadable(&error))?;
    let Some(fields) = value.as_object_mut() else {
        return Err(unreadable(&"expected an object"));
    };
    match fields.get("format").and_then(Value::as_u64) {
        Some(found) => check_version(path, found)?,
        None => return Err(unreadable(&"expected the version in `format`")),
    }
    let checksum = fields.remove(CHECKSUM);
    if checksum.as_ref().and_then(Value::as_str) != Some(&*canonical_hash(&value)) {
        return Err(ManifestError::from(format!(
            "the manifest `{}` was changed after it was written; restore it, or remove it to use the results without their \
             identity",
            path.display()
        )));
    }
    let reference = reference_of(value.get("run").unwrap_or_default());
    let manifest = serde_json::from_str(text).map_err(|error| unreadable(&error))?;
    Ok((manifest, reference))
}

fn described_file(file: &Path) -> io::Result<DescribedFile> {
    let mut hashing = Hashing::new(io::sink());
    let mut file = BufReader::with_capacity(1 << 16, File::open(file)?);
    io::copy(&mut file, &mut hashing)?;
    Ok(hashing.described())
}

/// A writer that hashes everything it writes.
pub(crate) struct Hashing<W> {
    out: W,
    hash: XxHash3_128,
    bytes: u64,
}

impl<W: Write> Hashing<W> {
    pub(crate) fn new(out: W) -> Self {
        Self {
            out,
            hash: XxHash3_128::new(),
            bytes: 0,
        }
    }

    /// Returns the description of the content so far.
    pub(crate) fn described(&self) -> DescribedFile {
        DescribedFile {
            bytes: self.bytes,
            xxh3: format!("{:032x}", self.hash.finish_128()),
        }
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.write(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
