//! Result files: rows are spooled to disk as they finish and exported in input order at the end.
//!
//! The content of a line is in `line.rs`, its place in the spool in `line_index.rs`, the columns of CSV in `csv.rs`.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::line_index::{LineIndex, SpooledLine};
use super::temporary_file::{Access, TemporaryFile, in_temporary_folder};
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
        for path in targets.iter().map(|(_, path)| real_path(path)).chain([in_temporary_folder()]) {
            super::leftovers::remove(&path);
        }
        let mut opened = Vec::with_capacity(targets.len());
        for (format, path) in targets {
            opened.push(Target::open(*format, path)?);
        }
        let Some(first) = opened.first() else {
            return Ok(None);
        };
        let spool = first.spool().map_err(|error| output_error(&first.path, &error))?;
        Ok(Some(Self {
            lines: LineIndex::new(first.beside()),
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

    /// Writes all targets in input order. If one fails, the spool file is kept and the error names it.
    pub(crate) fn finish(mut self) -> Result<(), EvaluateError> {
        let targets = std::mem::take(&mut self.targets);
        for target in targets {
            let path = target.path.clone();
            if let Err(error) = self.export(&target) {
                return Err(self.keep_spool(path, &error));
            }
        }
        Ok(())
    }

    /// Keeps the spool file and returns an error that names it.
    fn keep_spool(&mut self, path: PathBuf, error: &io::Error) -> EvaluateError {
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
        let (mut out, destination) = target.start()?;
        match target.format {
            #[cfg(feature = "csv")]
            Format::Csv => super::csv::export(&mut lines, &mut out, self.escape_formulas)?,
            #[cfg(feature = "parquet")]
            Format::Parquet => super::parquet::export(&mut lines, &mut out)?,
            Format::Json => export_array(&mut lines, &mut out)?,
            Format::JsonLines => lines.for_each(|line| {
                out.write_all(line)?;
                out.write_all(b"\n")
            })?,
        }
        out.flush()?;
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        destination.publish(&file)
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
    place: Place,
}

enum Place {
    /// A file in the same folder as the path, symbolic links resolved, which is renamed to it.
    Renamed { path: PathBuf, file: TemporaryFile },
    /// A pipe or device, which must not be replaced by a file.
    Direct { file: File },
}

impl Target {
    fn open(format: Format, path: &Path) -> Result<Self, EvaluateError> {
        let place = Place::open(path).map_err(|error| output_error(path, &error))?;
        Ok(Self { format, path: path.to_owned(), place })
    }

    /// Creates the spool file in the same folder as the target. Only its owner can read it.
    fn spool(&self) -> io::Result<TemporaryFile> {
        TemporaryFile::beside(&self.beside(), Access::Owner)
    }

    /// The file beside which temporary files are created.
    fn beside(&self) -> PathBuf {
        match &self.place {
            Place::Renamed { path, .. } => path.clone(),
            Place::Direct { .. } => in_temporary_folder(),
        }
    }

    fn start(&self) -> io::Result<(BufWriter<File>, &Place)> {
        Ok((self.place.start()?, &self.place))
    }
}

impl Place {
    fn open(path: &Path) -> io::Result<Self> {
        let existing = fs::metadata(path).ok();
        if let Some(kind) = &existing {
            if kind.is_dir() {
                return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
            }
            // Opening the file checks that it is writable; nothing is changed yet.
            let file = File::options().append(true).open(path)?;
            if !kind.is_file() {
                return Ok(Self::Direct { file });
            }
        }
        let path = real_path(path);
        let file = TemporaryFile::beside(&path, Access::Default)?;
        if let Some(existing) = existing {
            // Set before any row is written, since other users may not be allowed to read it.
            file.file.set_permissions(existing.permissions())?;
        }
        Ok(Self::Renamed { path, file })
    }

    fn start(&self) -> io::Result<BufWriter<File>> {
        let file = match self {
            Self::Renamed { file, .. } => &file.file,
            Self::Direct { file } => file,
        };
        Ok(BufWriter::with_capacity(1 << 16, file.try_clone()?))
    }

    fn publish(&self, written: &File) -> io::Result<()> {
        let Self::Renamed { path, file } = self else {
            return Ok(());
        };
        // Synced before the rename, so that a crash leaves either the old file or the complete new one.
        written.sync_all()?;
        fs::rename(&file.path, path)
    }
}

/// Writes a file that appears under its name when it is complete. A pipe or device is written directly.
#[cfg(feature = "html")]
pub(crate) fn write_file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    #[cfg(all(unix, feature = "ctrl-c"))]
    super::leftovers::remove(&real_path(path));
    let place = Place::open(path)?;
    let mut out = place.start()?;
    write(&mut out)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    place.publish(&file)
}

/// The largest number of symbolic links to follow; more are treated as a cycle, as by the kernel.
const MAX_LINKS: usize = 40;

/// Returns the canonical path, with symbolic links followed, also if the file does not exist yet.
pub(crate) fn real_path(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if let Ok(real) = fs::canonicalize(&path) {
            return real;
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = fs::canonicalize(folder.unwrap_or(Path::new(".")));
        let (Ok(folder), Some(name)) = (folder, path.file_name()) else {
            return path;
        };
        path = folder.join(name);
        match fs::read_link(&path) {
            Ok(target) if fs::metadata(&path).is_err() => path = folder.join(target),
            _ => return path,
        }
    }
    path
}

fn output_error(path: &Path, error: &io::Error) -> EvaluateError {
    EvaluateError::Output { path: path.to_owned(), reason: error.to_string() }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn trap_22_a_failing_fsync_keeps_the_old_file_and_the_rows() {
        let folder = std::env::temp_dir().join(format!("dsrs-fsync-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let path = folder.join("out.jsonl");
        fs::write(&path, "old").unwrap();
        let files = ResultFiles::create(&[(Format::JsonLines, path.clone())], false);
        let mut files = files.unwrap().unwrap();
        let Place::Renamed { file, .. } = &mut files.targets[0].place else {
            panic!("a regular file is replaced")
        };
        // Writes to this device succeed, and syncing it fails.
        file.file = File::options().write(true).open("/dev/null").unwrap();
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
