//! Replies on disk, and the one thread that writes them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak, mpsc};
use std::thread::JoinHandle;
use std::time::SystemTime;

use redb::{Database, ReadableDatabase};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;

use super::super::{LmError, LmReply};
use super::file::{File, failed, no_place};
use super::key::{Hash, Key};
use super::tables::{self, Batch, REPLIES};

/// A reply as it is stored, with the key in full.
#[derive(Serialize, Deserialize)]
struct Entry {
    key: String,
    /// When it was stored, in microseconds since 1970.
    stored: u64,
    reply: LmReply,
}

impl Entry {
    /// The hash of what follows, and JSON.
    fn write(&self) -> Result<Vec<u8>, serde_json::Error> {
        let json = serde_json::to_vec(self)?;
        Ok([&Sha256::digest(&json)[..], &json].concat())
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (hash, json) = bytes.split_first_chunk::<32>()?;
        let whole = Sha256::digest(json)[..] == hash[..];
        whole.then(|| serde_json::from_slice(json).ok())?
    }
}

/// An open file of replies. Reads go straight to it; writes go through one thread, which puts all that
/// wait into one commit. So a write is durable when it returns, and many at once cost one flush to disk.
#[derive(Debug)]
pub(super) struct Store {
    file: Arc<File>,
    jobs: Option<mpsc::Sender<Job>>,
    writer: Option<JoinHandle<()>>,
}

pub(super) enum Job {
    Put { hash: Hash, entry: Vec<u8>, done: oneshot::Sender<Result<(), LmError>> },
    Used(Hash),
}

/// Jobs that one commit takes at most.
const BATCH: usize = 4096;

/// Microseconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// Open files of this process: several models share one, since only one may open it.
fn open_files() -> &'static Mutex<HashMap<PathBuf, Weak<Store>>> {
    static OPEN: OnceLock<Mutex<HashMap<PathBuf, Weak<Store>>>> = OnceLock::new();
    OPEN.get_or_init(Mutex::default)
}

impl Store {
    pub(super) fn open(folder: &Path, max_bytes: u64) -> Result<Arc<Self>, LmError> {
        let no_folder = |error| failed(folder, &no_place(&error));
        std::fs::create_dir_all(folder).map_err(no_folder)?;
        let folder = folder.canonicalize().map_err(no_folder)?;
        let path = folder.join("replies.redb");
        let mut open = open_files().lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = open.get(&path).and_then(Weak::upgrade) {
            return Ok(store);
        }
        let store = Arc::new(Self::create(&path, max_bytes)?);
        open.retain(|_, store| store.strong_count() > 0);
        open.insert(path, Arc::downgrade(&store));
        Ok(store)
    }

    fn create(path: &Path, max_bytes: u64) -> Result<Self, LmError> {
        let file = Arc::new(File::open(path)?);
        file.with(tables::create)?;
        let (jobs, queue) = mpsc::channel();
        let writing = Arc::clone(&file);
        let writer = std::thread::Builder::new()
            .name("reply-cache".to_owned())
            .spawn(move || write(&writing, &queue, max_bytes))
            .map_err(|error| failed(path, &error))?;
        Ok(Self { file, jobs: Some(jobs), writer: Some(writer) })
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// The stored reply to exactly this call, unless it was stored before `since`.
    pub(super) fn get(&self, key: &Key, since: u64) -> Result<Option<LmReply>, LmError> {
        let found = self.file.with(|database| read(database, &key.hash))?;
        let Some(bytes) = found else { return Ok(None) };
        // What an older version wrote in another form, or the disk has changed, is asked again.
        let Some(entry) = Entry::read(&bytes) else { return Ok(None) };
        if entry.key != key.text || entry.stored < since {
            return Ok(None);
        }
        self.send(Job::Used(key.hash));
        Ok(Some(entry.reply))
    }

    /// Stores a reply; it is on disk when this returns.
    pub(super) async fn put(&self, key: &Key, reply: &LmReply) -> Result<(), LmError> {
        let entry = Entry { key: key.text.clone(), stored: now(), reply: reply.clone() };
        let entry = entry.write().map_err(|error| self.file.failed(&error))?;
        let (done, written) = oneshot::channel();
        self.send(Job::Put { hash: key.hash, entry, done });
        let ended = |_| Err(self.file.failed(&"its writer has ended"));
        written.await.unwrap_or_else(ended)
    }

    /// How many replies are stored.
    pub(super) fn len(&self) -> Result<u64, LmError> {
        self.file.with(tables::len)
    }

    fn send(&self, job: Job) {
        // Without a writer the job is dropped, and with it the sender that `put` waits for.
        let _ = self.jobs.as_ref().map(|jobs| jobs.send(job));
    }
}

impl Drop for Store {
    /// Waits for the writer, so that the file can be opened again at once.
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

fn read(database: &Database, hash: &Hash) -> Result<Option<Vec<u8>>, redb::Error> {
    let transaction = database.begin_read()?;
    let table = transaction.open_table(REPLIES)?;
    Ok(table.get(hash)?.map(|bytes| bytes.value().to_vec()))
}

/// The writer: takes what waits, commits it, says so. Marks of use alone do not wake the disk; they
/// ride with the next reply, and the last of them with the end.
fn write(file: &File, queue: &mpsc::Receiver<Job>, max_bytes: u64) {
    let mut used = Vec::new();
    while let Ok(first) = queue.recv() {
        let mut puts = Vec::new();
        for job in std::iter::once(first).chain(queue.try_iter()).take(BATCH) {
            match job {
                Job::Used(hash) => used.push(hash),
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
            // Nobody waits if the caller was dropped meanwhile; the reply is kept all the same.
            let _ = done.send(result.clone());
        }
    }
    // A failure here loses only the order of use.
    let batch = Batch { entries: &[], used: &used, max_bytes };
    let _ = file.with(|database| batch.commit(database));
}
