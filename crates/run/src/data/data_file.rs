//! The record of a data file: length, hash and number of rows.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::messages::hash::hexadecimal;

/// A file whose rows a run read.
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
    /// The number of bytes when the file was opened; or the number of bytes that were read, if it grew or is a stream.
    pub bytes: u64,
    /// The SHA-256 hash of the bytes, in hexadecimal digits. `None` if the file was not read to its end, or if the run
    /// writes no result file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The number of rows. `None` if the file was not read to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// The number of bytes by which the file grew while it was read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub grew_by: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "required by serde")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The record of a file that is being read.
#[derive(Debug)]
pub(crate) struct DataFileRecord {
    name: String,
    /// The path of a regular file.
    path: Option<PathBuf>,
    progress: Mutex<Progress>,
    rows: AtomicU64,
}

#[derive(Debug, Default)]
struct Progress {
    hash: Hash,
    /// The length of a regular file when it was opened.
    length: u64,
    bytes: u64,
    has_ended: bool,
}

/// The hash of the bytes that were read so far.
#[derive(Debug, Default)]
enum Hash {
    #[default]
    None,
    /// On a thread of its own, so that the threads that evaluate rows do not wait for it.
    OnThread(SyncSender<Vec<u8>>, JoinHandle<Sha256>),
    /// Without a thread, which the system refused.
    Here(Sha256),
    /// In hexadecimal digits.
    Finished(String),
}

/// The number of buffers that wait to be hashed.
const WAITING: usize = 16;

impl Hash {
    fn start() -> Self {
        let (sender, receiver) = sync_channel::<Vec<u8>>(WAITING);
        let hash = move || receiver.iter().fold(Sha256::new(), Sha256::chain_update);
        match std::thread::Builder::new()
            .name("dsrs-hash".to_owned())
            .spawn(hash)
        {
            Ok(thread) => Self::OnThread(sender, thread),
            Err(_) => Self::Here(Sha256::new()),
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            // The thread ends only after the sender, and does not panic.
            Self::OnThread(sender, _) => drop(sender.send(bytes.to_owned())),
            Self::Here(hash) => hash.update(bytes),
            Self::None | Self::Finished(_) => {}
        }
    }

    /// Ends the hash and returns it.
    fn finish(&mut self) -> Option<String> {
        let hash = match std::mem::take(self) {
            Self::None => return None,
            Self::OnThread(sender, thread) => {
                drop(sender);
                hexadecimal(&thread.join().ok()?.finalize())
            }
            Self::Here(hash) => hexadecimal(&hash.finalize()),
            Self::Finished(hash) => hash,
        };
        *self = Self::Finished(hash.clone());
        Some(hash)
    }
}

impl DataFileRecord {
    pub(super) fn new(path: &Path, is_hashed: bool) -> Self {
        let name = path
            .file_name()
            .unwrap_or(path.as_os_str())
            .to_string_lossy()
            .into_owned();
        let metadata = std::fs::metadata(path)
            .ok()
            .filter(std::fs::Metadata::is_file);
        let length = metadata.as_ref().map_or(0, std::fs::Metadata::len);
        let hash = if is_hashed { Hash::start() } else { Hash::None };
        let progress = Progress {
            hash,
            length,
            ..Progress::default()
        };
        let path = metadata.map(|_| path.to_owned());
        Self {
            name,
            path,
            progress: Mutex::new(progress),
            rows: AtomicU64::new(0),
        }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds bytes that were read.
    fn add(&self, bytes: &[u8]) {
        let mut progress = self.progress();
        progress.bytes += bytes.len() as u64;
        progress.hash.update(bytes);
    }

    /// Reads a whole file that its reader reads in another order, or in another form.
    pub(super) fn add_all(&self, mut file: impl Read) -> io::Result<()> {
        let mut buffer = vec![0; 1 << 16];
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => self.add(&buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Notes that all rows were read.
    pub(super) fn end(&self) {
        self.progress().has_ended = true;
    }

    /// Counts rows that were decoded.
    pub(crate) fn add_rows(&self, rows: usize) {
        self.rows.fetch_add(rows as u64, Ordering::Relaxed);
    }

    /// Returns the record at the end of the run. `is_complete` is whether the run took all rows.
    fn finish(&self, is_complete: bool) -> DataFile {
        let mut progress = self.progress();
        let ended = is_complete && progress.has_ended;
        let length = self
            .path
            .as_ref()
            .and_then(|path| std::fs::metadata(path).ok());
        let length = length
            .map_or(progress.bytes, |file| file.len())
            .max(progress.bytes);
        DataFile {
            name: self.name.clone(),
            bytes: progress.bytes.max(progress.length),
            sha256: progress.hash.finish().filter(|_| ended),
            rows: ended.then(|| self.rows.load(Ordering::Relaxed)),
            grew_by: match self.path {
                Some(_) => length.saturating_sub(progress.length),
                None => 0,
            },
        }
    }
}

/// The records of the files of a run, in the order in which they are read.
#[derive(Debug, Clone, Default)]
pub(crate) struct DataFiles(Arc<Mutex<Vec<Arc<DataFileRecord>>>>);

impl DataFiles {
    pub(super) fn add(&self, file: &Arc<DataFileRecord>) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Arc::clone(file));
    }

    /// Returns the records at the end of the run. `is_complete` is whether the run took all rows.
    pub(crate) fn finish(&self, is_complete: bool) -> Vec<DataFile> {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.iter().map(|file| file.finish(is_complete)).collect()
    }
}

/// A reader whose bytes are recorded.
pub(super) struct Recorded<R> {
    reader: R,
    file: Arc<DataFileRecord>,
}

impl<R> Recorded<R> {
    pub(super) fn new(reader: R, file: &Arc<DataFileRecord>) -> Self {
        Self {
            reader,
            file: Arc::clone(file),
        }
    }
}

impl<R: Read> Read for Recorded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.file.add(&buffer[..read]);
        Ok(read)
    }
}
