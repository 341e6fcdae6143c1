//! Result files: rows are kept on disk as they finish and exported in input order at the end.
//!
//! A line's content is in `line.rs`, the columns of CSV in `csv.rs`.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::evaluate::EvaluateError;

/// The form of a result file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    #[cfg(feature = "csv")]
    Csv,
    /// One array of objects.
    Json,
    /// An object a line.
    JsonLines,
}

/// The files that an evaluation writes. Nothing appears under their names before all is done, and
/// nothing stays behind of a run that ends in an error.
pub(crate) struct ResultFiles {
    targets: Vec<Target>,
    spool: BufWriter<TemporaryFile>,
    /// Position, offset and length of every line in the spool.
    lines: Vec<SpooledLine>,
    end: u64,
}

#[derive(Clone, Copy)]
struct SpooledLine {
    row: u64,
    offset: u64,
    length: usize,
}

impl ResultFiles {
    /// Creates what will be needed, so that a target that cannot be written is found out at once.
    pub(crate) fn create(targets: &[(Format, PathBuf)]) -> Result<Option<Self>, EvaluateError> {
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
        }))
    }

    /// Keeps the line of the row at this position.
    pub(crate) fn write(&mut self, row: u64, line: &[u8]) -> Result<(), EvaluateError> {
        let written = self.spool.write_all(line);
        if let Err(error) = written.and_then(|()| self.spool.write_all(b"\n")) {
            let path = self.targets[0].path.clone();
            return Err(self.kept(path, &error));
        }
        self.lines.push(SpooledLine { row, offset: self.end, length: line.len() });
        self.end += line.len() as u64 + 1;
        Ok(())
    }

    /// Writes all targets in input order. If one fails, the rows stay on disk and the error says where.
    pub(crate) fn finish(mut self) -> Result<(), EvaluateError> {
        self.lines.sort_unstable_by_key(|line| line.row);
        let targets = std::mem::take(&mut self.targets);
        for target in targets {
            let path = target.path.clone();
            if let Err(error) = self.export(&target) {
                return Err(self.kept(path, &error));
            }
        }
        Ok(())
    }

    /// The error, once it is seen to that the rows survive it.
    fn kept(&mut self, path: PathBuf, error: &io::Error) -> EvaluateError {
        let spool = self.spool.get_mut();
        spool.keep = true;
        let kept = spool.path.display();
        let reason = format!("{error}; the rows so far are kept, a JSON object each, in `{kept}`");
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
            Format::Csv => super::csv::export(&mut lines, &mut out)?,
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

/// The lines of a spool in input order.
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
            // Relative, so that neighbours are read from the buffer.
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
    /// Written beside the path, links followed, and then renamed over it.
    Renamed { path: PathBuf, file: TemporaryFile },
    /// A pipe or device, which must not be replaced by a file.
    Direct { file: File },
}

impl Target {
    fn open(format: Format, path: &Path) -> Result<Self, EvaluateError> {
        let place = Place::open(path).map_err(|error| output_error(path, &error))?;
        Ok(Self { format, path: path.to_owned(), place })
    }

    /// Where the rows are kept meanwhile: beside the target, and no more readable than it.
    fn spool(&self) -> io::Result<TemporaryFile> {
        match &self.place {
            Place::Renamed { path, file } => {
                let spool = TemporaryFile::beside(path)?;
                spool.file.set_permissions(file.file.metadata()?.permissions())?;
                Ok(spool)
            }
            Place::Direct { .. } => {
                TemporaryFile::beside(&std::env::temp_dir().join("dsrs-metrics"))
            }
        }
    }

    fn start(&self) -> io::Result<(BufWriter<File>, &Place)> {
        let file = match &self.place {
            Place::Renamed { file, .. } => &file.file,
            Place::Direct { file } => file,
        };
        Ok((BufWriter::with_capacity(1 << 16, file.try_clone()?), &self.place))
    }
}

impl Place {
    fn open(path: &Path) -> io::Result<Self> {
        let existing = fs::metadata(path).ok();
        if let Some(kind) = &existing {
            if kind.is_dir() {
                return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
            }
            // Opening tells whether it may be written; nothing is changed yet.
            let file = File::options().append(true).open(path)?;
            if !kind.is_file() {
                return Ok(Self::Direct { file });
            }
        }
        let path = real_path(path);
        let file = TemporaryFile::beside(&path)?;
        if let Some(existing) = existing {
            // Before any row is in it, which others might not be meant to read.
            file.file.set_permissions(existing.permissions())?;
        }
        Ok(Self::Renamed { path, file })
    }

    fn publish(&self, written: &File) -> io::Result<()> {
        let Self::Renamed { path, file } = self else {
            return Ok(());
        };
        // On disk before the name points to it: a crash leaves the old file or the whole new one.
        written.sync_all()?;
        fs::rename(&file.path, path)
    }
}

/// So many links one after the other are a circle, as systems see it too.
const MOST_LINKS: usize = 40;

/// The path itself, whatever it was called by: links are followed, also to what does not exist yet.
pub(crate) fn real_path(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
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

/// A hidden file beside another, removed in the end.
struct TemporaryFile {
    file: File,
    path: PathBuf,
    keep: bool,
}

impl TemporaryFile {
    /// Whatever a killed process left behind is another name: in containers process ids repeat.
    fn beside(target: &Path) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let mut name = OsString::from(".");
            name.push(target.file_name().ok_or(io::ErrorKind::InvalidFilename)?);
            name.push(format!(".{}-{number}.tmp", std::process::id()));
            let path = target.with_file_name(name);
            match File::options().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok(Self { file, path, keep: false }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                // The folder is missing, whatever the file is called.
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(error),
                Err(error) => {
                    let reason = format!("its temporary file `{}`: {error}", path.display());
                    return Err(io::Error::new(error.kind(), reason));
                }
            }
        }
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
        if !self.keep {
            // Renamed files are gone from here, and nothing can be done about the others.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn output_error(path: &Path, error: &io::Error) -> EvaluateError {
    EvaluateError::Output { path: path.to_owned(), reason: error.to_string() }
}
