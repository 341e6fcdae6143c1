//! Replies that were paid for once: the layer that looks them up, and makes equal calls at once one call.
//!
//! What makes two calls equal is in `key`, the file in `store`, `tables` and `file`.

mod file;
mod key;
mod store;
mod tables;

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use self::key::{Hash, Key};
use self::store::Store;
use super::{LanguageModel, LmError, LmReply, LmRequest};

/// Where replies are kept: a file in a folder, safe against crashes.
///
/// A reply is on disk before the call returns. The key is provider, model, address, messages, schema, every
/// sampling parameter, the purpose (which names the judge and its version) and the draw, all as they are sent
/// ([`LanguageModel::as_sent`]); the file holds it in full, and a reply is only given for an equal one. Keys of an account are never in it. Several models of one process share
/// the file; a second process is refused with a clear error, since it may not write to it.
#[derive(Debug, Clone)]
pub struct ReplyCache {
    store: Arc<Store>,
}

impl ReplyCache {
    /// Opens the cache in `folder`, which is created if need be. Beyond `max_bytes` of replies, those
    /// that were not used for longest are dropped; the file is up to twice as large, does not shrink, but uses its
    /// space again. If
    /// this process has it open already, the limit stays as it was.
    ///
    /// # Errors
    /// [`LmError::Cache`], if the folder can't be written, another process has the file, or it is damaged.
    pub fn open(folder: impl AsRef<Path>, max_bytes: u64) -> Result<Self, LmError> {
        Ok(Self { store: Store::open(folder.as_ref(), max_bytes)? })
    }

    /// The folder used if none is named: `dsrs-metrics` in the user's folder for caches.
    #[must_use]
    pub fn default_folder() -> Option<PathBuf> {
        let folders = directories::ProjectDirs::from("", "", "dsrs-metrics")?;
        Some(folders.cache_dir().to_owned())
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.store.path()
    }

    /// How many replies it holds.
    ///
    /// # Errors
    /// [`LmError::Cache`], if it can't be read.
    pub fn len(&self) -> Result<u64, LmError> {
        self.store.len()
    }

    /// Whether it holds none.
    ///
    /// # Errors
    /// [`LmError::Cache`], if it can't be read.
    pub fn is_empty(&self) -> Result<bool, LmError> {
        Ok(self.len()? == 0)
    }
}

/// How a cache is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CacheMode {
    /// Replies are read and kept.
    #[default]
    Use,
    /// `--refresh`: replies are asked for anew, and kept instead of the old ones. A call that is made again
    /// in the same run is answered by its new reply.
    Refresh,
    /// `--no-cache`: nothing is read or kept.
    Off,
}

/// A model whose replies are kept, so that no call is paid twice.
///
/// What is kept is what the model said and ended by itself, as it came: also what a judge cannot read, so that a
/// run that is resumed takes the same way, through the same repair, and pays for none of it twice
/// ([`CacheMode::Refresh`] asks anew). Not kept are failures, and replies that say nothing of the row: cut short by the limit on
/// tokens, withheld by a filter, declined through the provider's own field, or empty. The next run asks again.
///
/// Equal calls that are under way at the same time are one call: the others wait for it and get its
/// reply (or its failure). If the one that calls is dropped, one of those that wait calls instead.
///
/// ```
/// use dsrs_metrics::lm::{CacheMode, Cached, LanguageModel, LmRequest, ReplyCache, ScriptedLm};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = std::env::temp_dir().join(format!("dsrs-doc-cache-{}", std::process::id()));
/// let cache = ReplyCache::open(&folder, 1 << 30)?;
/// let scripted = ScriptedLm::new().replies(["only once"]);
/// let lm = Cached::new(&scripted, cache, CacheMode::Use);
/// let request = LmRequest::new("example").user("?");
/// assert!(!lm.complete(&request).await?.cached);
/// let again = lm.complete(&request).await?;
/// assert_eq!((again.text.as_str(), again.cached, scripted.calls()), ("only once", true, 1));
/// # drop(lm);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Cached<L> {
    inner: L,
    cache: ReplyCache,
    mode: CacheMode,
    /// What was stored earlier does not count; in microseconds since 1970.
    since: u64,
    flights: Mutex<HashMap<Hash, Arc<Flight>>>,
}

/// Equal calls under way: who holds the lock calls, the others wait for it and find what came of it.
type Flight = tokio::sync::Mutex<Option<Result<LmReply, LmError>>>;

impl<L> Cached<L> {
    /// Keeps the replies of `inner` in `cache`.
    pub fn new(inner: L, cache: ReplyCache, mode: CacheMode) -> Self {
        let since = if mode == CacheMode::Refresh { store::now() } else { 0 };
        Self { inner, cache, mode, since, flights: Mutex::default() }
    }

    fn board(&self, hash: Hash) -> Seat<'_> {
        let mut flights = self.flights.lock().unwrap_or_else(PoisonError::into_inner);
        let flight = Arc::clone(flights.entry(hash).or_default());
        Seat { flights: &self.flights, hash, flight }
    }
}

impl<L: LanguageModel> Cached<L> {
    async fn reply(&self, key: &Key, request: &LmRequest) -> Result<LmReply, LmError> {
        if let Some(reply) = self.cache.store.get(key, self.since)? {
            return Ok(for_nothing(reply));
        }
        let reply = self.inner.complete(request).await?;
        if !is_kept(&reply) {
            return Ok(reply);
        }
        match self.cache.store.put(key, &reply).await {
            Ok(()) => Ok(reply),
            Err(error) => {
                let cost = reply.cost_msats.filter(|_| !reply.cost_is_lower_bound);
                Err(error.charged(cost))
            }
        }
    }
}

/// A place among those who wait for one call; the last to leave takes the flight off the board.
struct Seat<'a> {
    flights: &'a Mutex<HashMap<Hash, Arc<Flight>>>,
    hash: Hash,
    flight: Arc<Flight>,
}

impl Seat<'_> {
    /// Whoever comes from now on calls for itself (or finds the reply on disk).
    fn land(&self) {
        let mut flights = self.flights.lock().unwrap_or_else(PoisonError::into_inner);
        self.remove(&mut flights);
    }

    fn remove(&self, flights: &mut HashMap<Hash, Arc<Flight>>) {
        if flights.get(&self.hash).is_some_and(|flight| Arc::ptr_eq(flight, &self.flight)) {
            flights.remove(&self.hash);
        }
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut flights = self.flights.lock().unwrap_or_else(PoisonError::into_inner);
        // The board and this seat hold it: nobody else waits.
        if Arc::strong_count(&self.flight) <= 2 {
            self.remove(&mut flights);
        }
    }
}

#[async_trait]
impl<L: LanguageModel> LanguageModel for Cached<L> {
    fn id(&self) -> &str {
        self.inner.id()
    }

    fn endpoint(&self) -> Option<&str> {
        self.inner.endpoint()
    }

    fn as_sent<'a>(&self, request: &'a LmRequest) -> Cow<'a, LmRequest> {
        self.inner.as_sent(request)
    }

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        if self.mode == CacheMode::Off {
            return self.inner.complete(request).await;
        }
        let sent = self.inner.as_sent(request);
        let key = Key::of(&self.inner, &sent);
        let seat = self.board(key.hash);
        let mut landed = seat.flight.lock().await;
        if let Some(result) = &*landed {
            return match result {
                Ok(reply) => Ok(for_nothing(reply.clone())),
                Err(error) => Err(error.clone().charged(Some(0))),
            };
        }
        let result = self.reply(&key, &sent).await;
        *landed = Some(result.clone());
        seat.land();
        result
    }

    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        self.inner.probe().await
    }
}

/// Whether the model came to its own end and said something.
fn is_kept(reply: &LmReply) -> bool {
    reply.stop.is_an_end() && !reply.text.trim().is_empty()
}

/// What the one call cost is counted once.
fn for_nothing(mut reply: LmReply) -> LmReply {
    reply.cached = true;
    reply.cost_msats = Some(0);
    reply.cost_is_lower_bound = false;
    reply
}
