//! Result files: rows are spooled to disk as they finish and exported in input order at the end.
//!
//! The content of a line is in `line.rs`, the columns of CSV in `csv.rs`.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

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
    /// Position, offset and length of every line in the spool.
    lines: Vec<SpooledLine>,
    end: u64,
    /// Whether CSV cells that a spreadsheet would evaluate are escaped.
    #[cfg_attr(not(feature = "csv"), expect(dead_code, reason = "only CSV is escaped"))]
    escape_formulas: bool,
}

#[derive(Clone, Copy)]
struct SpooledLine {
    row: u64,
    offset: u64,
    length: usize,
}

impl ResultFiles {
    /// Creates the temporary files, so that an unwritable target is an error before any row is run.
    pub(crate) fn create(
        targets: &[(Format, PathBuf)],
        escape_formulas: bool,
    ) -> Result<Option<Self>, EvaluateError> {
        #[cfg(all(unix, feature = "ctrl-c"))]
        for path in targets.iter().map(|(_, path)| real_path(path)).chain([spool_of_stream()]) {
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
            spool: BufWriter::with_capacity(1 << 16, spool),
            targets: opened,
            lines: Vec::new(),
            end: 0,
            escape_formulas,
        }))
    }

    /// Spools the line of the row at this position.
    pub(crate) fn write(&mut self, row: u64, line: &[u8]) -> Result<(), EvaluateError> {
        let written = self.spool.write_all(line);
        if let Err(error) = written.and_then(|()| self.spool.write_all(b"\n")) {
            let path = self.targets[0].path.clone();
            return Err(self.keep_spool(path, &error));
        }
        self.lines.push(SpooledLine { row, offset: self.end, length: line.len() });
        self.end += line.len() as u64 + 1;
        Ok(())
    }

    /// Writes all targets in input order. If one fails, the spool file is kept and the error names it.
    pub(crate) fn finish(mut self) -> Result<(), EvaluateError> {
        self.lines.sort_unstable_by_key(|line| line.row);
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
        let file = File::open(&self.spool.get_ref().path)?;
        let mut lines = SpoolReader {
            file: BufReader::with_capacity(1 << 16, file),
            offset: 0,
            lines: &self.lines,
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
    file: BufReader<File>,
    offset: u64,
    lines: &'a [SpooledLine],
    buffer: Vec<u8>,
}

impl SpoolReader<'_> {
    pub(super) fn for_each(
        &mut self,
        mut each: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        for line in self.lines {
            // A relative seek keeps the buffer for adjacent lines.
            let distance = line.offset.cast_signed() - self.offset.cast_signed();
            self.file.seek_relative(distance)?;
            self.buffer.resize(line.length, 0);
            self.file.read_exact(&mut self.buffer)?;
            self.offset = line.offset + line.length as u64;
            each(&self.buffer)?;
        }
        Ok(())
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
        match &self.place {
            Place::Renamed { path, .. } => TemporaryFile::beside(path, Access::Owner),
            Place::Direct { .. } => TemporaryFile::beside(&spool_of_stream(), Access::Owner),
        }
    }

    fn start(&self) -> io::Result<(BufWriter<File>, &Place)> {
        Ok((self.place.start()?, &self.place))
    }
}

/// The name after which the spool file of a pipe or device is named.
fn spool_of_stream() -> PathBuf {
    std::env::temp_dir().join("dsrs-metrics")
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

/// A hidden file in the same folder as another, removed on drop.
struct TemporaryFile {
    file: File,
    path: PathBuf,
    is_kept: bool,
}

/// Who may read a new file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    /// Those whom the process's umask allows to.
    Default,
    Owner,
}

impl Access {
    fn create_new(self, path: &Path) -> io::Result<File> {
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if self == Self::Owner {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        options.open(path)
    }
}

impl TemporaryFile {
    /// Creates the file under an unused name: process ids repeat in containers, so a killed process may
    /// have left a file of the same name.
    fn beside(target: &Path, access: Access) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let mut name = OsString::from(".");
            name.push(target.file_name().ok_or(io::ErrorKind::InvalidFilename)?);
            name.push(format!(".{}-{number}.tmp", std::process::id()));
            let path = target.with_file_name(name);
            match access.create_new(&path) {
                Ok(file) => {
                    #[cfg(all(unix, feature = "ctrl-c"))]
                    super::leftovers::lock(&file);
                    let temporary = Self { file, path, is_kept: false };
                    // Before it was locked, another run may have removed it.
                    if fs::exists(&temporary.path)? {
                        return Ok(temporary);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                // The folder does not exist, so no other name would help.
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(error),
                Err(error) => {
                    let reason = format!("temporary file `{}`: {error}", path.display());
                    return Err(io::Error::new(error.kind(), reason));
                }
            }
        }
    }

    /// Keeps the file, under a name that later runs do not remove, and returns its path.
    fn keep(&mut self) -> &Path {
        self.is_kept = true;
        let name = self.path.file_name().and_then(|name| name.to_str());
        let name = name.and_then(|name| name.strip_prefix('.')?.strip_suffix(".tmp"));
        if let Some(name) = name {
            let kept = self.path.with_file_name(format!("{name}.rows.jsonl"));
            let is_free = fs::exists(&kept).is_ok_and(|exists| !exists);
            if is_free && fs::rename(&self.path, &kept).is_ok() {
                self.path = kept;
            }
        }
        &self.path
    }
}

impl Write for TemporaryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if !self.is_kept {
            // A renamed file no longer exists, and a failure to remove another cannot be handled.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn output_error(path: &Path, error: &io::Error) -> EvaluateError {
    EvaluateError::Output { path: path.to_owned(), reason: error.to_string() }
}
