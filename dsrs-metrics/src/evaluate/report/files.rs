//! Result files: rows are spooled to disk as they finish and exported in input order at the end.
//!
//! The content of a line is in `line.rs`, its place in the spool in `line_index.rs`, the columns of CSV in `csv.rs`.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::line_index::{LineIndex, SpooledLine};
use super::output_file::OutputFile;
#[cfg(all(unix, feature = "ctrl-c"))]
use super::temporary_file::in_temporary_folder;
use super::temporary_file::{Access, TemporaryFile};
use crate::evaluate::EvaluateError;

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

/// The files that an evaluation writes. They appear under their names only when they are complete, and a
/// run that ends in an error leaves no file behind.
pub(crate) struct ResultFiles {
    targets: Vec<Target>,
    spool: BufWriter<TemporaryFile>,
    lines: LineIndex,
    end: u64,
    /// Whether CSV cells that a spreadsheet would evaluate are escaped.
    #[cfg_attr(not(feature = "csv"), expect(dead_code, reason = "only CSV is escaped"))]
    escape_formulas: bool,
}

impl ResultFiles {
    /// Creates the temporary files, so that an unwritable target is an error before any row is run.
    pub(crate) fn create(
        targets: &[(Format, PathBuf)],
        escape_formulas: bool,
    ) -> Result<Option<Self>, EvaluateError> {
        #[cfg(all(unix, feature = "ctrl-c"))]
        super::leftovers::remove(&in_temporary_folder());
        let mut opened = Vec::with_capacity(targets.len());
        for (format, path) in targets {
            opened.push(Target::open(*format, path)?);
        }
        let Some(first) = opened.first() else {
            return Ok(None);
        };
        let spool = first.spool().map_err(|error| output_error(&first.path, &error))?;
        Ok(Some(Self {
            lines: LineIndex::new(first.file.beside()),
            spool: BufWriter::with_capacity(1 << 16, spool),
            targets: opened,
            end: 0,
            escape_formulas,
        }))
    }

    /// Spools the line of the row at this position.
    pub(crate) fn write(&mut self, row: u64, line: &[u8]) -> Result<(), EvaluateError> {
        self.spool_line(row, line).map_err(|error| {
            let path = self.targets[0].path.clone();
            self.keep_spool(path, &error)
        })
    }

    fn spool_line(&mut self, row: u64, line: &[u8]) -> io::Result<()> {
        self.spool.write_all(line)?;
        self.spool.write_all(b"\n")?;
        let length = line.len() as u64;
        self.lines.insert(row, SpooledLine { offset: self.end, length })?;
        self.end += length + 1;
        Ok(())
    }

    /// Writes all targets in input order; each is tried. If any fails, the spool file is kept and the error names it.
    pub(crate) fn finish(mut self) -> Result<(), EvaluateError> {
        let targets = std::mem::take(&mut self.targets);
        let mut failed = Vec::new();
        for target in targets {
            if let Err(error) = self.export(&target) {
                failed.push((target.path, error));
            }
        }
        let mut failed = failed.into_iter();
        let Some((path, error)) = failed.next() else { return Ok(()) };
        let others =
            failed.map(|(path, error)| format!("; cannot write `{}`: {error}", path.display()));
        let error = format!("{error}{}", others.collect::<String>());
        Err(self.keep_spool(path, &error))
    }

    /// Keeps the spool file and returns an error that names it.
    fn keep_spool(&mut self, path: PathBuf, error: &impl Display) -> EvaluateError {
        let kept = self.spool.get_mut().keep();
        let kept = kept.display();
        let reason =
            format!("{error}; the rows so far are kept in `{kept}`, one JSON object per line");
        EvaluateError::Output { path, reason }
    }

    fn export(&mut self, target: &Target) -> io::Result<()> {
        self.spool.flush()?;
        let mut file = self.spool.get_ref().file();
        file.seek(SeekFrom::Start(0))?;
        let mut lines = SpoolReader {
            file: BufReader::with_capacity(1 << 16, file),
            offset: 0,
            lines: &mut self.lines,
            buffer: Vec::new(),
        };
        #[cfg(feature = "csv")]
        let escape_formulas = self.escape_formulas;
        target.file.write(|out| match target.format {
            #[cfg(feature = "csv")]
            Format::Csv => super::csv::export(&mut lines, out, escape_formulas),
            #[cfg(feature = "parquet")]
            Format::Parquet => super::parquet::export(&mut lines, out),
            Format::Json => export_array(&mut lines, out),
            Format::JsonLines => lines.copy(out),
        })
    }
}

fn export_array(lines: &mut SpoolReader<'_>, out: &mut impl Write) -> io::Result<()> {
    let mut separator: &[u8] = b"[\n";
    lines.for_each(|line| {
        out.write_all(separator)?;
        separator = b",\n";
        out.write_all(line)
    })?;
    let end: &[u8] = if separator == b"[\n" { b"[]\n" } else { b"\n]\n" };
    out.write_all(end)
}

/// A reader of the spooled lines in input order.
pub(super) struct SpoolReader<'a> {
    file: BufReader<&'a File>,
    offset: u64,
    lines: &'a mut LineIndex,
    buffer: Vec<u8>,
}

impl SpoolReader<'_> {
    /// Copies the lines with their line breaks. Lines that follow each other in the spool are copied at once.
    fn copy(self, out: &mut impl Write) -> io::Result<()> {
        let mut file = *self.file.get_ref();
        let mut copy = |block: &Range<u64>| {
            file.seek(SeekFrom::Start(block.start))?;
            let copied = io::copy(&mut file.take(block.end - block.start), out)?;
            match copied == block.end - block.start {
                true => Ok(()),
                false => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
            }
        };
        let mut block = 0..0;
        self.lines.for_each(|line| {
            if line.offset != block.end {
                copy(&block)?;
                block = line.offset..line.offset;
            }
            block.end += line.length + 1;
            Ok(())
        })?;
        copy(&block)
    }

    pub(super) fn for_each(
        &mut self,
        mut each: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let Self { file, offset, lines, buffer } = self;
        lines.for_each(|line| {
            // A relative seek keeps the buffer for adjacent lines.
            file.seek_relative(line.offset.cast_signed() - offset.cast_signed())?;
            let length = usize::try_from(line.length).map_err(|_| io::ErrorKind::FileTooLarge)?;
            buffer.resize(length, 0);
            file.read_exact(buffer)?;
            *offset = line.offset + line.length;
            each(buffer)
        })
    }
}

struct Target {
    format: Format,
    path: PathBuf,
    file: OutputFile,
}

impl Target {
    fn open(format: Format, path: &Path) -> Result<Self, EvaluateError> {
        let file = OutputFile::create(path).map_err(|error| output_error(path, &error))?;
        Ok(Self { format, path: path.to_owned(), file })
    }

    /// Creates the spool file in the same folder as the target. Only its owner can read it.
    fn spool(&self) -> io::Result<TemporaryFile> {
        TemporaryFile::beside(&self.file.beside(), Access::Owner)
    }
}

fn output_error(path: &Path, error: &io::Error) -> EvaluateError {
    EvaluateError::Output { path: path.to_owned(), reason: error.to_string() }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn trap_22_a_failing_fsync_keeps_the_old_file_and_the_rows() {
        let folder = std::env::temp_dir().join(format!("dsrs-fsync-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let path = folder.join("out.jsonl");
        fs::write(&path, "old").unwrap();
        let files = ResultFiles::create(&[(Format::JsonLines, path.clone())], false);
        let mut files = files.unwrap().unwrap();
        // Writes to this device succeed, and syncing it fails.
        let null = File::options().write(true).open("/dev/null").unwrap();
        files.targets[0].file.replace_file(null);
        files.write(1, b"{\"id\":\"b\"}").unwrap();
        files.write(0, b"{\"id\":\"a\"}").unwrap();
        let error = files.finish().unwrap_err().to_string();
        let start = format!("cannot write `{}`: Invalid argument (os error 22); ", path.display());
        assert!(error.starts_with(&start), "{error}");
        let kept = error.split('`').nth(3).unwrap();
        assert_eq!(fs::read_to_string(kept).unwrap(), "{\"id\":\"b\"}\n{\"id\":\"a\"}\n");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "no temporary file is left");
        fs::remove_dir_all(folder).unwrap();
    }
}
