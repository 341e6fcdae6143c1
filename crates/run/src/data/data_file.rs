//! The record of a data file: length, hash and number of rows.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::messages::hash::hexadecimal;

/// A file that a run read rows from.
///
/// ```
/// use dsrs_metrics::data::DataReader;
/// use dsrs_metrics::{Evaluate, metrics::Em};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let file = std::env::temp_dir().join(format!("dsrs-data-file-{}.jsonl", std::process::id()));
/// std::fs::write(&file, r#"{"gold": {"answer": "Paris"}, "pred": {"answer": "paris"}}"#)?;
/// let rows = DataReader::new().read([&file])?;
/// let result = Evaluate::builder().metric(Em::default()).build()?.score_files(rows).await?;
/// let data = &result.manifest.run.data[0];
/// assert_eq!((data.bytes, data.rows), (58, Some(1)));
/// # std::fs::remove_file(file)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DataFile {
    /// The name of the file, without its folder.
    pub name: String,
    /// The size of the file in bytes, when it was opened.
    ///
    /// If the file grew or is a stream, this is the number of bytes read.
    pub bytes: u64,
    /// The SHA-256 hash of the file's content, in hexadecimal.
    ///
    /// This is `None` if the file was not read to its end. It can also be `None` if the run wrote no result file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The number of rows in the file.
    ///
    /// This is `None` if the file was not read to its end, or if the rows were read from a converted copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// The number of bytes added to the file while it was being read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub grew_by: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "required by serde")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The record of a file while it is being read.
#[derive(Debug)]
pub(super) struct DataFileRecord {
    path: PathBuf,
    progress: Mutex<Progress>,
}

#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The hash of the bytes read so far.
    hash: Option<Sha256>,
    /// The length of a regular file when it was opened.
    length: Option<u64>,
    bytes: u64,
    /// The number of rows, if all were read.
    pub(super) rows: Option<u64>,
    /// `true` if the hash covers the whole file, even if not all of its rows were read.
    is_whole: bool,
    /// How the file is read, if that is not obvious.
    pub(super) note: Option<String>,
}

impl DataFileRecord {
    pub(super) fn new(path: &Path, is_hashed: bool) -> Self {
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file);
        let progress = Progress {
            hash: is_hashed.then(Sha256::new),
            length: metadata.map(|file| file.len()),
            ..Progress::default()
        };
        Self {
            path: path.to_owned(),
            progress: Mutex::new(progress),
        }
    }

    /// Hashes a file whose rows are read from a converted copy.
    pub(super) fn of_source(file: &Path, is_hashed: bool) -> io::Result<Arc<Self>> {
        let record = Arc::new(Self::new(file, is_hashed));
        record.hash_all(file)?;
        record.progress().is_whole = true;
        Ok(record)
    }

    pub(super) fn progress(&self) -> MutexGuard<'_, Progress> {
        lock(&self.progress)
    }

    /// Hashes a whole file whose reader reads it in a different order or form.
    pub(super) fn hash_all(self: &Arc<Self>, file: &Path) -> io::Result<()> {
        if self.progress().hash.is_some() {
            let mut file = RecordedFile::new(fs::File::open(file)?, 0, Some(Arc::clone(self)));
            io::copy(&mut file, &mut io::sink())?;
        }
        Ok(())
    }

    /// Returns the record at the end of the run. `is_complete` is `true` if the run took all rows.
    fn finish(&self, is_complete: bool) -> DataFile {
        let progress = self.progress();
        let rows = progress.rows.filter(|_| is_complete);
        let is_read = rows.is_some() || is_complete && progress.is_whole;
        let hash = progress.hash.as_ref().filter(|_| is_read);
        let grew_by = |length: u64| {
            let now = fs::metadata(&self.path).map_or(0, |file| file.len());
            now.max(progress.bytes).saturating_sub(length)
        };
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        DataFile {
            name: name.to_string_lossy().into_owned(),
            bytes: progress.bytes.max(progress.length.unwrap_or(0)),
            sha256: hash.map(|hash| hexadecimal(&hash.clone().finalize())),
            rows,
            grew_by: progress.length.map_or(0, grew_by),
        }
    }
}

/// The records of a run's files, in the order they are read.
#[derive(Debug, Clone, Default)]
pub(crate) struct DataFiles(Arc<Mutex<Vec<Arc<DataFileRecord>>>>);

impl DataFiles {
    pub(super) fn add(&self, files: &[Arc<DataFileRecord>]) {
        lock(&self.0).extend_from_slice(files);
    }

    /// Returns notes on how files were read, where that is not obvious.
    pub(crate) fn notes(&self) -> Vec<String> {
        let files = lock(&self.0);
        let notes = files.iter().map(|file| file.progress().note.clone());
        notes.flatten().collect()
    }

    /// Returns the records at the end of the run. `is_complete` is `true` if the run took all rows.
    pub(crate) fn finish(&self, is_complete: bool) -> Vec<DataFile> {
        let files = lock(&self.0);
        files.iter().map(|file| file.finish(is_complete)).collect()
    }
}

/// A reader that records the bytes it reads. If the file became shorter after it was opened, the reader returns an
/// `Err` at its end, because the missing rows would otherwise go unnoticed.
pub(super) struct RecordedFile<R> {
    reader: R,
    /// The length of the file when it was opened; 0 for a pipe or device.
    length: u64,
    read: u64,
    record: Option<Arc<DataFileRecord>>,
}

impl<R> RecordedFile<R> {
    pub(super) fn new(reader: R, length: u64, record: Option<Arc<DataFileRecord>>) -> Self {
        Self {
            reader,
            length,
            read: 0,
            record,
        }
    }
}

impl<R: Read> Read for RecordedFile<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        if let Some(record) = &self.record {
            let mut progress = record.progress();
            progress.bytes += read as u64;
            if let Some(hash) = &mut progress.hash {
                hash.update(&buffer[..read]);
            }
        }
        self.read += read as u64;
        if read == 0 && !buffer.is_empty() && self.read < self.length {
            let Self { length, read, .. } = self;
            return Err(io::Error::other(format!(
                "the file shrank while it was being read: expected {length} bytes, found {read}; \
                 run again when nothing is writing to the file"
            )));
        }
        Ok(read)
    }
}
