//! Result files: rows are spooled to disk as they finish, and exported in input order at the end.
//!
//! Rows finish nearly in input order, so the latest lines are sorted in memory before they are spooled. A spool whose
//! lines are all in order becomes the JSON Lines file itself.
//!
//! `line.rs` has the content of a line, and `spool.rs` its place in the spool. The columns of CSV are in `csv.rs`.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::spool::{LineIndex, Lines, SpoolReader, SpooledLine};
use crate::evaluate::error::{EvaluateError, EvaluateErrorKind};
use crate::evaluate::files::{OutputFile, TemporaryFile};
#[cfg(all(unix, feature = "ctrl-c"))]
use crate::evaluate::files::{in_temporary_folder, stale_files};
use crate::evaluate::manifest::{
    DescribedFile, Hashing, Manifest, REFERENCE_KEY, finish_replacement, manifest_path, staged_path,
};
use crate::named_files::require_regular;

/// The maximum size of the lines that are sorted in memory, in bytes.
const MAX_LATEST: usize = 1 << 20;

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
    /// The lines that are not yet spooled.
    latest: Lines,
    spool: Hashing<BufWriter<TemporaryFile>>,
    /// `true` if the spool may become the only file. If not, its hash is not computed.
    is_spool_exported: bool,
    lines: LineIndex,
    end: u64,
    /// `true` if CSV cells that a spreadsheet would evaluate are escaped.
    #[cfg_attr(
        not(feature = "csv"),
        expect(dead_code, reason = "only CSV is escaped")
    )]
    escape_formulas: bool,
}

impl ResultFiles {
    /// Creates the temporary files, so an unwritable target is an error before any row is evaluated.
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
        let spool = first
            .spool()
            .map_err(|error| EvaluateError::output(&first.path, error))?;
        Ok(Some(Self {
            lines: LineIndex::new(first.file.beside()),
            spool: Hashing::new(BufWriter::with_capacity(1 << 16, spool)),
            is_spool_exported: matches!(targets, [(Format::JsonLines, _)]),
            targets: opened,
            latest: Lines::default(),
            end: 0,
            escape_formulas,
        }))
    }

    /// Spools the lines and removes them from the list.
    pub(crate) fn write(&mut self, lines: &mut Lines) -> Result<(), EvaluateError> {
        self.latest.append(lines);
        if self.latest.text.len() < MAX_LATEST {
            return Ok(());
        }
        self.spool_latest(MAX_LATEST / 2).map_err(|error| {
            let error = EvaluateError::output(&self.targets[0].path, error);
            self.keep_spool(&error.to_string())
        })
    }

    /// Spools the earliest rows in memory until at most this many bytes are left. Unless `kept` is 0, the last row
    /// stays, because the reference to the manifest is added to it at the end.
    fn spool_latest(&mut self, kept: usize) -> io::Result<()> {
        let mut latest = std::mem::take(&mut self.latest);
        // Each thread adds its rows in order, so there are few sequences to merge.
        latest.rows.sort_by_key(|(row, _)| *row);
        let mut left = latest.text.len();
        let candidates = latest.rows.len().saturating_sub(usize::from(kept > 0));
        let is_spooled = |(_, place): &&(u64, Range<usize>)| {
            let is_spooled = left > kept;
            left -= place.len();
            is_spooled
        };
        let number = latest.rows[..candidates].iter().take_while(is_spooled);
        let (spooled, rest) = latest.rows.split_at(number.count());
        for (row, place) in rest {
            let line = &latest.text[place.start..place.end - 1];
            self.latest.push(*row, |text| text.extend_from_slice(line));
        }
        // Writes the rows first, adjacent ones together: if the index cannot be written, the rows are still saved.
        for adjacent in spooled.chunk_by(|(_, a), (_, b)| a.end == b.start) {
            if let [(_, first), ..] = adjacent
                && let [.., (_, last)] = adjacent
            {
                self.spool(&latest.text[first.start..last.end])?;
            }
        }
        for (row, place) in spooled {
            let length = place.len() as u64;
            let line = SpooledLine {
                offset: self.end,
                length: length - 1,
            };
            self.end += length;
            self.lines.insert(*row, line)?;
        }
        Ok(())
    }

    fn spool(&mut self, lines: &[u8]) -> io::Result<()> {
        match self.is_spool_exported {
            true => self.spool.write_all(lines),
            false => self.spool.out().write_all(lines),
        }
    }

    /// Writes all targets in input order, even if one of them fails. After a failure, the spool file is kept and the
    /// error names it.
    pub(crate) fn finish(mut self, manifest: &Manifest) -> Result<(), EvaluateError> {
        self.latest
            .add_to_last(REFERENCE_KEY, &manifest.run.reference());
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

    /// Keeps the spool file and returns an error that names it.
    fn keep_spool(&mut self, error: &str) -> EvaluateError {
        // On a full disk there may still be room for some of them.
        let _ = self.spool_latest(0);
        let kept = self.spool.out().get_mut().keep();
        let kept = kept.display();
        let reason =
            format!("{error}; the rows so far are kept in `{kept}`, one JSON object per line");
        EvaluateError::new(EvaluateErrorKind::Output, reason)
    }

    /// Replaces a target and its manifest. The old ones remain until the new ones are complete. The new manifest first
    /// gets its staged name, where readers find it between the two renames.
    fn export_with_manifest(
        &mut self,
        target: &mut Target,
        manifest: &Manifest,
    ) -> Result<(), EvaluateError> {
        let path = target.path.clone();
        let of_target = |error| EvaluateError::output(&path, error);
        let of_manifest = |error| EvaluateError::output(&manifest_path(&path), error);
        let (described, is_spool) = self.fill(target, manifest).map_err(of_target)?;
        let staged = staged_path(&path);
        if let Some(file) = &mut target.manifest {
            let text = manifest.to_file(described);
            let filled = file.fill(|out| out.write_all(text.as_bytes()));
            let staged = filled.and_then(|()| file.stage(staged.clone()));
            staged.map_err(of_manifest)?;
        }
        let spool = is_spool.then(|| self.spool.out().get_ref());
        target.file.publish(spool).map_err(of_target)?;
        target.is_published = true;
        let Some(file) = &mut target.manifest else {
            return Ok(());
        };
        file.publish(None).map_err(|error| {
            file.keep_staged();
            let (rows, staged) = (path.display(), staged.display());
            of_manifest(io::Error::other(format!(
                "{error}; the rows are in `{rows}`, and their manifest is read from `{staged}`"
            )))
        })
    }

    /// Writes the content of a target. Returns its description, and `true` if the spool is the file to publish.
    fn fill(&mut self, target: &Target, manifest: &Manifest) -> io::Result<(DescribedFile, bool)> {
        self.spool_latest(0)?;
        self.spool.flush()?;
        let is_complete = self.is_spool_exported && self.lines.is_sorted;
        if is_complete && target.file.accepts(self.spool.out().get_ref())? {
            return Ok((self.spool.described(), true));
        }
        #[cfg(not(feature = "parquet"))]
        let _ = manifest;
        let mut file = self.spool.out().get_ref().file();
        file.seek(SeekFrom::Start(0))?;
        let mut lines = SpoolReader::new(file, &mut self.lines);
        #[cfg(feature = "csv")]
        let escape_formulas = self.escape_formulas;
        let described = target.file.fill(|out| {
            let mut out = Hashing::new(out);
            match target.format {
                #[cfg(feature = "csv")]
                Format::Csv => super::csv::export(&mut lines, &mut out, escape_formulas),
                #[cfg(feature = "parquet")]
                Format::Parquet => super::parquet::export(&mut lines, &mut out, &manifest.run),
                Format::Json => export_array(&mut lines, &mut out),
                Format::JsonLines => lines.for_each(|line| {
                    out.write_all(line)?;
                    out.write_all(b"\n")
                }),
            }?;
            Ok(out.described())
        })?;
        Ok((described, false))
    }
}

fn export_array(lines: &mut SpoolReader<'_>, out: &mut impl Write) -> io::Result<()> {
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
    /// `None` for a pipe or device.
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

    /// Creates the spool file in the same folder as the target. Only its owner can read it.
    fn spool(&self) -> io::Result<TemporaryFile> {
        TemporaryFile::beside(&self.file.beside(), true)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
