//! Result files: rows are spooled to disk as they finish, and exported in input order at the end.
//!
//! `line.rs` has the content of a line, and `spool.rs` its place in the spool. The columns of CSV are in `csv.rs`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::spool::{Lines, Spool};
use crate::evaluate::error::{EvaluateError, EvaluateErrorKind};
use crate::evaluate::files::OutputFile;
#[cfg(all(unix, feature = "ctrl-c"))]
use crate::evaluate::files::{in_temporary_folder, stale_files};
use crate::evaluate::manifest::{
    DescribedFile, Hashing, Manifest, finish_replacement, manifest_path, staged_path,
};
use crate::named_files::require_regular;

/// The format of a result file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    #[cfg(feature = "csv")]
    Csv,
    #[cfg(feature = "parquet")]
    Parquet,
    /// One array of objects.
    Json,
    /// One object per line.
    JsonLines,
}

/// The files that an evaluation writes. They appear under their names only once they are complete. A run that ends in
/// an error leaves none behind.
pub(crate) struct ResultFiles {
    targets: Vec<Target>,
    spool: Spool,
    /// `true` if CSV cells that a spreadsheet would evaluate are escaped.
    #[cfg_attr(
        not(feature = "csv"),
        expect(dead_code, reason = "only CSV is escaped")
    )]
    escape_formulas: bool,
}

impl ResultFiles {
    /// Creates the temporary files. If a target is not writable, this fails before any row is evaluated.
    pub(crate) fn create(
        targets: &[(Format, PathBuf)],
        escape_formulas: bool,
    ) -> Result<Option<Self>, EvaluateError> {
        #[cfg(all(unix, feature = "ctrl-c"))]
        stale_files::remove(&in_temporary_folder());
        let mut opened = Vec::with_capacity(targets.len());
        for (format, path) in targets {
            opened.push(Target::open(*format, path)?);
        }
        let Some(first) = opened.first() else {
            return Ok(None);
        };
        let spool = Spool::beside(&first.file.beside());
        let spool = spool.map_err(|error| EvaluateError::output(&first.path, error))?;
        Ok(Some(Self {
            spool,
            targets: opened,
            escape_formulas,
        }))
    }

    /// Spools the lines and removes them from the list.
    pub(crate) fn write(&mut self, lines: &mut Lines) -> Result<(), EvaluateError> {
        let written = self.spool.write(lines);
        written.map_err(|error| self.spool_failed(error))
    }

    /// Writes all targets in input order, even if one of them fails. After a failure, the spool file is kept, and the
    /// returned error names it.
    pub(crate) fn finish(mut self, manifest: &Manifest) -> Result<(), EvaluateError> {
        let spooled = self.spool.finish(manifest.run.reference());
        spooled.map_err(|error| self.spool_failed(error))?;
        let mut failed = Vec::new();
        let mut is_written = true;
        for mut target in std::mem::take(&mut self.targets) {
            if let Err(error) = self.export_with_manifest(&mut target, manifest) {
                is_written &= target.is_published;
                failed.push(error.to_string());
            }
        }
        let errors = failed.join("; ");
        match is_written {
            true if failed.is_empty() => Ok(()),
            true => Err(EvaluateError::new(EvaluateErrorKind::Output, errors)),
            false => Err(self.keep_spool(&errors)),
        }
    }

    fn spool_failed(&mut self, error: io::Error) -> EvaluateError {
        let error = EvaluateError::output(&self.targets[0].path, error);
        self.keep_spool(&error.to_string())
    }

    /// Keeps the spool file and returns an error that names it.
    fn keep_spool(&mut self, error: &str) -> EvaluateError {
        let kept = self.spool.keep();
        let kept = kept.display();
        let reason =
            format!("{error}; the rows so far are kept in `{kept}`, one JSON object per line");
        EvaluateError::new(EvaluateErrorKind::Output, reason)
    }

    /// Replaces a target and its manifest. The old ones remain until the new ones are complete. The new manifest first
    /// gets its staged name, where readers find it between the two renames.
    fn export_with_manifest(
        &self,
        target: &mut Target,
        manifest: &Manifest,
    ) -> Result<(), EvaluateError> {
        let path = target.path.clone();
        let of_target = |error| EvaluateError::output(&path, error);
        let of_manifest = |error| EvaluateError::output(&manifest_path(&path), error);
        let described = self.fill(target).map_err(of_target)?;
        let staged = staged_path(&path);
        if let Some(file) = &mut target.manifest {
            let text = manifest.to_file(described);
            let filled = file.fill(|out| out.write_all(text.as_bytes()));
            let staged = filled.and_then(|()| file.stage(&staged));
            staged.map_err(of_manifest)?;
        }
        target.file.publish().map_err(of_target)?;
        target.is_published = true;
        let Some(file) = &mut target.manifest else {
            return Ok(());
        };
        file.publish().map_err(|error| {
            file.keep_staged();
            let (rows, staged) = (path.display(), staged.display());
            of_manifest(io::Error::other(format!(
                "{error}; the rows are in `{rows}`, and their manifest is read from `{staged}`"
            )))
        })
    }

    /// Writes the content of a target and returns its description.
    fn fill(&self, target: &Target) -> io::Result<DescribedFile> {
        let lines = &self.spool;
        target.file.fill(|out| {
            let mut out = Hashing::new(out);
            match target.format {
                #[cfg(feature = "csv")]
                Format::Csv => super::csv::export(lines, &mut out, self.escape_formulas),
                #[cfg(feature = "parquet")]
                Format::Parquet => super::parquet::export(lines, &mut out),
                Format::Json => export_array(lines, &mut out),
                Format::JsonLines => lines.for_each(|line| {
                    out.write_all(line)?;
                    out.write_all(b"\n")
                }),
            }?;
            Ok(out.described())
        })
    }
}

fn export_array(lines: &Spool, out: &mut impl Write) -> io::Result<()> {
    let mut separator: &[u8] = b"[\n";
    lines.for_each(|line| {
        out.write_all(separator)?;
        separator = b",\n";
        out.write_all(line)
    })?;
    let end: &[u8] = if separator == b"[\n" {
        b"[]\n"
    } else {
        b"\n]\n"
    };
    out.write_all(end)
}

struct Target {
    format: Format,
    path: PathBuf,
    file: OutputFile,
    /// The manifest's file, or `None` if the target is a pipe or device.
    manifest: Option<OutputFile>,
    is_published: bool,
}

impl Target {
    fn open(format: Format, path: &Path) -> Result<Self, EvaluateError> {
        let file = OutputFile::create(path).map_err(|error| EvaluateError::output(path, error))?;
        let manifest = file.is_renamed().then(|| {
            let manifest = Self::open_manifest(path, &file);
            manifest.map_err(|error| EvaluateError::output(&manifest_path(path), error))
        });
        let manifest = manifest.transpose()?;
        Ok(Self {
            format,
            path: path.to_owned(),
            file,
            manifest,
            is_published: false,
        })
    }

    fn open_manifest(path: &Path, file: &OutputFile) -> io::Result<OutputFile> {
        let manifest = manifest_path(path);
        require_regular(&manifest)?;
        let manifest = OutputFile::create(&manifest)?;
        manifest.set_permissions_of(file)?;
        finish_replacement(path)?;
        Ok(manifest)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
