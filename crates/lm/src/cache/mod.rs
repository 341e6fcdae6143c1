//! The reply cache on disk: a redb file in a directory.
//!
//! `store` reads and writes entries, `tables` contains the tables
//! with their order of use, and `file` opens the file and converts its errors. The layer that uses
//! the cache is [`Cached`](super::Cached).

mod file;
mod store;
mod tables;

use std::path::{Path, PathBuf};
use std::sync::Arc;

#[doc(hidden)]
pub use self::store::ON_WAIT;
use self::store::Store;
pub(super) use self::store::{StoredReplies, now_micros};
use super::key::Key;
use super::layers::SingleFlight;
use super::{LmError, LmReply};

/// A cache of replies: a file in a directory, safe against crashes.
///
/// A reply is on disk before the call returns. The key consists of provider, model, endpoint,
/// messages, schema, all sampling parameters, the purpose (which names the judge and its version)
/// and the draw
/// ([`LanguageModel::effective_request`](super::LanguageModel::effective_request)). The file
/// contains the whole key, and a reply is returned only for an equal one. API keys are not part of
/// it. Several models of one process share the file. A second process waits until the first one has
/// closed it, and then reads its replies; `DSRS_CACHE` sets another directory. Only the user can
/// read the file, since prompts quote rows.
///
/// ```
/// use dsrs_metrics::lm::ReplyCache;
///
/// # fn main() -> Result<(), dsrs_metrics::lm::LmError> {
/// # let dir = std::env::temp_dir().join(format!("dsrs-doc-reply-cache-{}", std::process::id()));
/// let cache = ReplyCache::open(&dir, 1 << 30)?;
/// assert!(cache.is_empty()?);
/// assert!(cache.path().starts_with(dir.canonicalize().unwrap()));
/// # drop(cache);
/// # std::fs::remove_dir_all(dir).unwrap();
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ReplyCache {
    store: Arc<Store>,
}

impl ReplyCache {
    /// Opens the cache in the directory `dir`, which is created if necessary.
    ///
    /// Beyond `max_bytes` of replies, the least recently used ones are removed. The file grows to
    /// about twice that size; it does not shrink, but reuses its space. If this process has the
    /// cache open already, its `max_bytes` remains unchanged.
    ///
    /// If another process has the cache open, the thread is blocked until that process has closed it. After a
    /// second, a line on standard error names the file.
    ///
    /// ```
    /// use dsrs_metrics::lm::ReplyCache;
    ///
    /// # let dir = std::env::temp_dir().join(format!("dsrs-doc-open-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// std::fs::write(dir.join("notes.txt"), "")?;
    /// let error = ReplyCache::open(dir.join("notes.txt"), 1 << 30).unwrap_err().to_string();
    /// assert!(
    ///     error.ends_with("set DSRS_CACHE to another directory, or disable the cache (--no-cache)"),
    ///     "{error}"
    /// );
    /// # std::fs::remove_dir_all(dir)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`LmErrorKind::Cache`](super::LmErrorKind::Cache), if the directory is not writable, or the
    /// file is damaged.
    pub fn open(dir: impl AsRef<Path>, max_bytes: u64) -> Result<Self, LmError> {
        Ok(Self { store: Store::open(dir.as_ref(), max_bytes)? })
    }

    /// The name of the file in its directory.
    #[doc(hidden)]
    pub const FILE: &str = "replies.redb";

    /// The default directory: `dsrs-metrics` in the user's cache directory. `None` if the user has
    /// no home directory.
    ///
    /// ```
    /// use dsrs_metrics::lm::ReplyCache;
    ///
    /// if let Some(dir) = ReplyCache::default_dir() {
    ///     assert!(dir.iter().any(|part| part == "dsrs-metrics"));
    /// }
    /// ```
    #[must_use]
    pub fn default_dir() -> Option<PathBuf> {
        let dirs = directories::ProjectDirs::from("", "", "dsrs-metrics")?;
        Some(dirs.cache_dir().to_owned())
    }

    /// The path of the file.
    ///
    /// ```
    /// use dsrs_metrics::lm::ReplyCache;
    ///
    /// # let dir = std::env::temp_dir().join(format!("dsrs-doc-path-{}", std::process::id()));
    /// let cache = ReplyCache::open(&dir, 1 << 30)?;
    /// assert_eq!(cache.path(), dir.canonicalize()?.join("replies.redb"));
    /// # drop(cache);
    /// # std::fs::remove_dir_all(dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn path(&self) -> &Path {
        self.store.path()
    }

    /// The number of replies.
    ///
    /// ```
    /// use dsrs_metrics::lm::{CacheMode, Cached, LanguageModel, LmRequest, ReplyCache, ScriptedLm};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let dir = std::env::temp_dir().join(format!("dsrs-doc-len-{}", std::process::id()));
    /// let cache = ReplyCache::open(&dir, 1 << 30)?;
    /// let lm = Cached::new(ScriptedLm::new().otherwise("yes"), cache.clone(), CacheMode::Use);
    /// for row in ["first", "second", "first"] {
    ///     lm.complete(&LmRequest::new("example").user(row)).await?;
    /// }
    /// assert_eq!(cache.len()?, 2);
    /// # drop((lm, cache));
    /// # std::fs::remove_dir_all(dir)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`LmErrorKind::Cache`](super::LmErrorKind::Cache), if the file cannot be read.
    pub fn len(&self) -> Result<u64, LmError> {
        self.store.len()
    }

    /// Whether the cache contains no replies.
    ///
    /// ```
    /// use dsrs_metrics::lm::{
    ///     CacheMode, Cached, LanguageModel, LmReply, LmRequest, ReplyCache, ScriptedLm,
    ///     StopReason,
    /// };
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let dir = std::env::temp_dir().join(format!("dsrs-doc-is-empty-{}", std::process::id()));
    /// let cache = ReplyCache::open(&dir, 1 << 30)?;
    /// let cut = LmReply::new("It is pol").with_stop_reason(StopReason::Length);
    /// let lm = Cached::new(ScriptedLm::new().otherwise(cut), cache.clone(), CacheMode::Use);
    /// lm.complete(&LmRequest::new("example").user("?")).await?;
    /// assert!(cache.is_empty()?, "a truncated reply is not stored");
    /// # drop((lm, cache));
    /// # std::fs::remove_dir_all(dir)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`LmErrorKind::Cache`](super::LmErrorKind::Cache), if the file cannot be read.
    pub fn is_empty(&self) -> Result<bool, LmError> {
        Ok(self.len()? == 0)
    }

    /// The calls in progress whose replies will be stored, of all models of the process.
    pub(super) fn in_progress(&self) -> &SingleFlight {
        &self.store.in_progress
    }

    /// The reply that is stored for `key`, unless it was stored before `min_stored` (microseconds
    /// since 1970).
    pub(super) fn get(&self, key: &Key, min_stored: u64) -> Result<Option<LmReply>, LmError> {
        self.store.get(key, min_stored)
    }

    /// Stores a reply; it is on disk when this returns.
    pub(super) async fn put(&self, key: &Key, reply: &LmReply) -> Result<(), LmError> {
        self.store.put(key, reply).await
    }
}

/// How a cache is used.
///
/// ```
/// use dsrs_metrics::lm::{CacheMode, Cached, LanguageModel, LmRequest, ScriptedLm};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = std::env::temp_dir().join(format!("dsrs-doc-cache-mode-{}", std::process::id()));
/// # let cache = dsrs_metrics::lm::ReplyCache::open(&dir, 1 << 30)?;
/// let scripted = ScriptedLm::new().otherwise("yes");
/// let lm = |mode| Cached::new(&scripted, cache.clone(), mode);
/// let request = LmRequest::new("example").user("?");
/// for mode in [CacheMode::Use, CacheMode::Use, CacheMode::Refresh, CacheMode::Off] {
///     lm(mode).complete(&request).await?;
/// }
/// assert_eq!(scripted.calls(), 3, "all but the second one");
/// # drop(cache);
/// # std::fs::remove_dir_all(dir)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CacheMode {
    /// Stored replies are returned, and new ones are stored.
    #[default]
    Use,
    /// Calls are made again, and their replies replace the stored ones (`--refresh`). A call that is
    /// repeated in the same run is answered by its new reply.
    Refresh,
    /// Nothing is read or stored (`--no-cache`).
    Off,
}
