//! Stored replies, and the thread that writes them.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, Weak, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use redb::{ReadOnlyDatabase, ReadableDatabase, TableError};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;

use super::super::{LmError, LmReply};
use super::ReplyCache;
use super::file::{File, not_creatable};
use super::tables::{self, Batch, REPLIES};
use crate::key::{Hash, Key};
use crate::layers::SingleFlight;
use crate::lock::lock;
use crate::private_dir::create_private_dir;

/// A stored reply with its whole key.
#[derive(Serialize, Deserialize)]
struct Entry {
    key: String,
    /// The time at which it was stored, in microseconds since 1970.
    stored: u64,
    reply: LmReply,
}

impl Entry {
    /// The entry as JSON, after the SHA-256 hash of that JSON.
    fn encode(&self) -> Result<Vec<u8>, serde_json::Error> {
        let json = serde_json::to_vec(self)?;
        Ok([&Sha256::digest(&json)[..], &json].concat())
    }

    /// The entry, unless it was changed on disk or written in another format.
    fn decode(bytes: &[u8]) -> Option<Self> {
        let (hash, json) = bytes.split_first_chunk::<32>()?;
        let is_intact = Sha256::digest(json)[..] == hash[..];
        is_intact.then(|| serde_json::from_slice(json).ok())?
    }
}

/// An open file of replies. Reads access it directly. Writes are queued for one thread, which
/// commits all queued writes at once: a write is durable when it returns, and concurrent writes
/// share one flush to disk.
#[derive(Debug)]
pub(super) struct Store {
    /// The calls in progress whose replies will be stored, of all models of the process.
    pub(super) in_progress: SingleFlight,
    file: Arc<File>,
    jobs: Option<mpsc::Sender<Job>>,
    writer: Option<JoinHandle<()>>,
}

/// A job of the writer.
pub(super) enum Job {
    Put { hash: Hash, entry: Vec<u8>, done: oneshot::Sender<Result<(), LmError>> },
    MarkUsed(Hash),
}

/// The maximum number of jobs in one commit.
const BATCH: usize = 4096;

/// The current time in microseconds since 1970.
pub(crate) fn now_micros() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// The open files of this process. A file can be opened only once, so several models share one.
static OPEN_FILES: LazyLock<Mutex<OpenFiles>> = LazyLock::new(Mutex::default);

/// What a program does when it begins to wait for the file of another process, such as to handle signals.
#[doc(hidden)]
pub static ON_WAIT: OnceLock<fn()> = OnceLock::new();

#[derive(Default)]
struct OpenFiles {
    stores: HashMap<PathBuf, Weak<Store>>,
    /// The files that another process uses, with a line about it on standard error.
    announced: HashSet<PathBuf>,
}

impl OpenFiles {
    fn get(&self, path: &Path) -> Option<Arc<Store>> {
        self.stores.get(path).and_then(Weak::upgrade)
    }
}

/// The time between two attempts to open a file that is in use.
const RETRY_AFTER: Duration = Duration::from_millis(50);
/// The time after which a line on standard error names the file that is in use.
const ANNOUNCE_AFTER: Duration = Duration::from_secs(1);

impl Store {
    /// Opens the file, or returns the open one of this process. Waits while another process uses it.
    pub(super) fn open(dir: &Path, max_bytes: u64) -> Result<Arc<Self>, LmError> {
        let failed = |error| not_creatable(dir, error);
        create_private_dir(dir).map_err(failed)?;
        let path = dir.canonicalize().map_err(failed)?.join(ReplyCache::FILE);
        let begun = Instant::now();
        loop {
            // Unlocked between two attempts, so that no thread waits for the file of another one.
            if let Some(store) = Self::try_open(&path, max_bytes, begun)? {
                return Ok(store);
            }
            if let Some(on_wait) = ON_WAIT.get() {
                on_wait();
            }
            std::thread::sleep(RETRY_AFTER);
        }
    }

    /// `None` if the file is in use.
    fn try_open(path: &Path, max_bytes: u64, begun: Instant) -> Result<Option<Arc<Self>>, LmError> {
        let mut open = lock(&OPEN_FILES);
        if let Some(store) = open.get(path) {
            return Ok(Some(store));
        }
        let Some(file) = File::open(path)? else {
            if begun.elapsed() >= ANNOUNCE_AFTER && open.announced.insert(path.to_owned()) {
                eprintln!(
                    "waiting for the reply cache {}, which another process uses; set DSRS_CACHE to another directory to run beside it",
                    path.display()
                );
            }
            return Ok(None);
        };
        let store = Arc::new(Self::create(file, max_bytes)?);
        open.announced.remove(path);
        open.stores.retain(|_, store| store.strong_count() > 0);
        open.stores.insert(path.to_owned(), Arc::downgrade(&store));
        Ok(Some(store))
    }

    fn create(file: File, max_bytes: u64) -> Result<Self, LmError> {
        let file = Arc::new(file);
        file.with(tables::create)?;
        let (jobs, queue) = mpsc::channel();
        let written = Arc::clone(&file);
        let writer = std::thread::Builder::new()
            .name("reply-cache".to_owned())
            .spawn(move || write(&written, &queue, max_bytes))
            .map_err(|error| file.error(&error).with_source(error))?;
        let in_progress = SingleFlight::default();
        Ok(Self { in_progress, file, jobs: Some(jobs), writer: Some(writer) })
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    pub(super) fn get(&self, key: &Key, min_stored: u64) -> Result<Option<LmReply>, LmError> {
        let found = find(&self.file, key, min_stored)?;
        if found.is_some() {
            self.send(Job::MarkUsed(key.hash));
        }
        Ok(found)
    }

    /// Stores a reply; it is on disk when this returns.
    pub(super) async fn put(&self, key: &Key, reply: &LmReply) -> Result<(), LmError> {
        let entry = Entry { key: key.text.clone(), stored: now_micros(), reply: reply.clone() };
        let entry = entry.encode();
        let entry = entry.map_err(|error| self.file.error(&error).with_source(error))?;
        let (done, written) = oneshot::channel();
        self.send(Job::Put { hash: key.hash, entry, done });
        let stopped = |_| Err(self.file.error("the thread that writes the file has stopped"));
        written.await.unwrap_or_else(stopped)
    }

    /// The number of replies.
    pub(super) fn len(&self) -> Result<u64, LmError> {
        self.file.with(tables::len)
    }

    fn send(&self, job: Job) {
        // If the writer has stopped, the job is dropped with its sender, and `put` returns an
        // error.
        let _ = self.jobs.as_ref().map(|jobs| jobs.send(job));
    }
}

impl Drop for Store {
    /// Waits for the writer, so that the file can be reopened at once.
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

fn read(database: &impl ReadableDatabase, hash: &Hash) -> Result<Option<Vec<u8>>, redb::Error> {
    let transaction = database.begin_read()?;
    let table = match transaction.open_table(REPLIES) {
        // The process that created the file was killed before it wrote anything.
        Err(TableError::TableDoesNotExist(_)) => return Ok(None),
        table => table?,
    };
    Ok(table.get(hash)?.map(|bytes| bytes.value().to_vec()))
}

/// The reply that is stored for `key`, unless it was stored before `min_stored`.
fn find<D: ReadableDatabase>(
    file: &File<D>,
    key: &Key,
    min_stored: u64,
) -> Result<Option<LmReply>, LmError> {
    let found = file.with(|database| read(database, &key.hash))?;
    let Some(bytes) = found else { return Ok(None) };
    let Some(entry) = Entry::decode(&bytes) else { return Ok(None) };
    let is_found = entry.key == key.text && entry.stored >= min_stored;
    Ok(is_found.then_some(entry.reply))
}

/// The replies of a cache, which are only read: not even the order of use changes.
pub(crate) struct StoredReplies(Source);

enum Source {
    /// The cache is disabled or empty.
    None,
    /// The file of a cache that this process has open.
    Open(Arc<Store>),
    Closed(File<ReadOnlyDatabase>),
}

impl StoredReplies {
    pub(crate) fn none() -> Self {
        Self(Source::None)
    }

    pub(crate) fn open(dir: &Path) -> Result<Self, LmError> {
        let Ok(path) = dir.canonicalize().map(|dir| dir.join(ReplyCache::FILE)) else {
            return Ok(Self::none());
        };
        let open = lock(&OPEN_FILES);
        if let Some(store) = open.get(&path) {
            return Ok(Self(Source::Open(store)));
        }
        match path.metadata() {
            Ok(file) if file.len() > 0 => Ok(Self(Source::Closed(File::open_read_only(&path)?))),
            _ => Ok(Self::none()),
        }
    }

    pub(crate) fn get(&self, key: &Key) -> Result<Option<LmReply>, LmError> {
        match &self.0 {
            Source::None => Ok(None),
            Source::Open(store) => find(&store.file, key, 0),
            Source::Closed(file) => find(file, key, 0),
        }
    }
}

/// The writer thread: commits all queued jobs and reports the result. Marks of use are committed
/// with the next reply, and the last of them when the file is closed.
fn write(file: &File, queue: &mpsc::Receiver<Job>, max_bytes: u64) {
    let mut used = Vec::new();
    while let Ok(first) = queue.recv() {
        let mut puts = Vec::new();
        for job in std::iter::once(first).chain(queue.try_iter()).take(BATCH) {
            match job {
                Job::MarkUsed(hash) => used.push(hash),
                Job::Put { hash, entry, done } => puts.push((hash, entry, done)),
            }
        }
        if puts.is_empty() && used.len() < BATCH {
            continue;
        }
        let entries: Vec<_> = puts.iter().map(|(hash, entry, _)| (*hash, &entry[..])).collect();
        let batch = Batch { entries: &entries, used: &used, max_bytes };
        let result = file.with(|database| batch.commit(database));
        used.clear();
        for (_, _, done) in puts {
            // It fails if the caller was dropped meanwhile; the reply is stored all the same.
            let _ = done.send(result.clone());
        }
    }
    // An error here loses only the order of use.
    let batch = Batch { entries: &[], used: &used, max_bytes };
    let _ = file.with(|database| batch.commit(database));
}
