//! The store for results that cost money, such as model replies.
//!
//! The store is a single SQLite database. Several processes can use it at the same time.
//!
//! `database.rs` opens the database and defines its tables. `records.rs` reads and writes results, and tracks budgets
//! across processes. A thread syncs what was written. `layers/stored.rs` looks up replies by the key that
//! `lm/record.rs` defines.

mod database;
mod records;

pub use self::records::{Pruned, ReservedPart, StoreInfo};

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, LazyLock, Mutex, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::layers::SingleFlight;
use super::{LmError, LmErrorKind, create_private_dir, lock};
use database::{error_of, not_usable, store_error};

/// A store for results that cost money, such as model replies.
///
/// The store also contains program outputs, and metric evaluations that have a cost.
///
/// A record is written before its result is returned, so it survives if the process dies. A power failure can lose the
/// records from the last tenth of a second.
///
/// A record's key contains everything that its result depends on. For a reply, these are the model, address, messages,
/// schema, sampling parameters, purpose and `draw` index; see
/// [`LanguageModel::effective_request`](super::LanguageModel::effective_request). The key never contains API keys.
///
/// Several processes can use one store at the same time. Only the user who created the store can read it, because
/// prompts quote rows. Any SQLite client can read the file.
///
/// The store grows until you [prune](Self::prune) it.
///
/// ```
/// use dsrs_metrics::lm::{LanguageModel, LmRequest, ScriptedLm, Store, Stored};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = std::env::temp_dir().join(format!("dsrs-doc-store-{}", std::process::id()));
/// let store = Store::open(&dir)?;
/// let lm = Stored::new(ScriptedLm::new().otherwise("yes"), store.clone());
/// for row in ["first", "second", "first"] {
///     lm.complete(&LmRequest::new("example").user(row)).await?;
/// }
/// assert_eq!(store.info()?.replies, 2);
/// # drop((lm, store));
/// # std::fs::remove_dir_all(dir)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

/// A process has one connection for reading and one for writing, so reads never wait for other processes.
#[derive(Debug)]
struct Shared {
    path: PathBuf,
    reader: Mutex<Connection>,
    writer: Mutex<Connection>,
    /// `true` if the last write failed. The next call is made only after another write succeeds.
    has_failed: AtomicBool,
    /// The calls in progress whose replies will be stored, for all models in the process.
    in_progress: SingleFlight,
    // Dropped last: SQLite copies its log when the last connection closes.
    sync: LogSync,
}

/// The stores that this process has open.
static OPEN: LazyLock<Mutex<HashMap<PathBuf, Weak<Shared>>>> = LazyLock::new(Mutex::default);

impl Store {
    /// The name of the store's file.
    #[doc(hidden)]
    pub const FILE: &str = "store.sqlite";

    /// Opens the store in a folder.
    ///
    /// The folder and the store are created if they don't exist.
    ///
    /// ```
    /// use dsrs_metrics::lm::Store;
    ///
    /// # let dir = std::env::temp_dir().join(format!("dsrs-doc-store-open-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// std::fs::write(dir.join("notes.txt"), "")?;
    /// let error = Store::open(dir.join("notes.txt")).unwrap_err().to_string();
    /// assert!(error.ends_with("notes.txt: it is a file; choose a folder"), "{error}");
    /// # std::fs::remove_dir_all(dir)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`LmErrorKind::Store`](super::LmErrorKind::Store) if the folder is not writable or is on a network file
    /// system. Also returns this error if the file is damaged, has a newer version, or belongs to another program.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self, LmError> {
        let dir = dir.as_ref();
        check_folder(dir)?;
        create_private_dir(dir).map_err(|error| not_usable(dir, error))?;
        let path = dir.canonicalize();
        let path = path
            .map_err(|error| not_usable(dir, error))?
            .join(Self::FILE);
        let mut open = lock(&OPEN);
        if let Some(shared) = open.get(&path).and_then(Weak::upgrade) {
            return Ok(Self { shared });
        }
        let writer = database::open(&path)?;
        let mut log = path.clone().into_os_string();
        log.push("-wal");
        let shared = Arc::new(Shared {
            reader: Mutex::new(database::connect(&path)?),
            writer: Mutex::new(writer),
            has_failed: AtomicBool::new(false),
            in_progress: SingleFlight::default(),
            sync: LogSync::start(log.into()).map_err(|error| not_usable(&path, error))?,
            path: path.clone(),
        });
        open.retain(|_, store| store.strong_count() > 0);
        open.insert(path, Arc::downgrade(&shared));
        Ok(Self { shared })
    }

    /// Opens the store in a folder if the store exists.
    ///
    /// Returns `None` if the store does not exist.
    ///
    /// # Errors
    /// Returns the same errors as [`open`](Self::open).
    #[doc(hidden)]
    pub fn open_existing(dir: &Path) -> Result<Option<Self>, LmError> {
        check_folder(dir)?;
        match dir.join(Self::FILE).metadata() {
            Ok(file) if file.len() > 0 => Self::open(dir).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns the store's default folder.
    ///
    /// The default folder is `dsrs-metrics` in the user's cache folder. Returns `None` if the user has no home folder.
    ///
    /// ```
    /// use dsrs_metrics::lm::Store;
    ///
    /// if let Some(dir) = Store::default_dir() {
    ///     assert!(dir.iter().any(|part| part == "dsrs-metrics"));
    /// }
    /// ```
    pub fn default_dir() -> Option<PathBuf> {
        let dirs = directories::ProjectDirs::from("", "", "dsrs-metrics")?;
        Some(dirs.cache_dir().to_owned())
    }

    /// Returns the folder that `DSRS_STORE` names.
    ///
    /// If the variable is not set, this method returns the default folder.
    ///
    /// # Errors
    /// Returns [`LmErrorKind::NoStoreFolder`](super::LmErrorKind::NoStoreFolder) if the variable is not set and there
    /// is no default folder.
    #[doc(hidden)]
    pub fn chosen_dir() -> Result<PathBuf, LmError> {
        let variable = std::env::var_os("DSRS_STORE").filter(|value| !value.is_empty());
        let dir = variable.map(PathBuf::from).or_else(Self::default_dir);
        dir.ok_or_else(|| LmErrorKind::NoStoreFolder.into())
    }

    /// Returns the path of the store's file.
    ///
    /// ```
    /// use dsrs_metrics::lm::Store;
    ///
    /// # let dir = std::env::temp_dir().join(format!("dsrs-doc-store-path-{}", std::process::id()));
    /// let store = Store::open(&dir)?;
    /// assert_eq!(store.path(), dir.canonicalize()?.join("store.sqlite"));
    /// # drop(store);
    /// # std::fs::remove_dir_all(dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Returns the calls in progress whose replies will be stored, for all models in the process.
    pub(super) fn in_progress(&self) -> &SingleFlight {
        &self.shared.in_progress
    }

    /// Returns an error for this store.
    pub(super) fn error(&self, reason: &impl ToString) -> LmError {
        store_error(&self.shared.path, reason.to_string())
    }

    fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, LmError> {
        read(&lock(&self.shared.reader)).map_err(|error| error_of(&self.shared.path, error))
    }

    fn write<T>(
        &self,
        write: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, LmError> {
        let mut writer = lock(&self.shared.writer);
        let written = write(&mut writer);
        self.shared.has_failed.store(written.is_err(), Relaxed);
        drop(writer);
        self.shared.sync.on_write();
        written.map_err(|error| error_of(&self.shared.path, error))
    }
}

fn check_folder(dir: &Path) -> Result<(), LmError> {
    match dir.is_file() {
        true => Err(store_error(dir, "it is a file; choose a folder")),
        false => Ok(()),
    }
}

const EVERY: Duration = Duration::from_millis(100);

/// A running thread that syncs the log. Dropping this value ends the thread after a final sync.
#[derive(Debug)]
struct LogSync(Option<(Sender<()>, JoinHandle<()>)>);

impl LogSync {
    fn start(log: PathBuf) -> io::Result<Self> {
        let (writes, written) = mpsc::channel();
        let thread = thread::Builder::new().name("dsrs-store".to_owned());
        let thread = thread.spawn(move || sync_written(&log, &written))?;
        Ok(Self(Some((writes, thread))))
    }

    fn on_write(&self) {
        if let Some((writes, _)) = &self.0 {
            let _ = writes.send(());
        }
    }
}

/// After each write, waits for a tenth of a second, or until the store is closed, and syncs.
fn sync_written(log: &Path, written: &Receiver<()>) {
    while written.recv().is_ok() {
        let end = Instant::now() + EVERY;
        let left = || end.saturating_duration_since(Instant::now());
        while !left().is_zero() && written.recv_timeout(left()).is_ok() {}
        // If SQLite has copied the whole log, which it syncs itself, the log does not exist.
        let _ = File::open(log).and_then(|log| log.sync_data());
    }
}

impl Drop for LogSync {
    fn drop(&mut self) {
        if let Some((writes, thread)) = self.0.take() {
            drop(writes);
            // The thread only waits and syncs, so it has not panicked.
            let _ = thread.join();
        }
    }
}
