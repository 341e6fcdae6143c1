//! Recorded model calls, which a test replays without a network or a key.
//!
//! The calls are stored in a file that you commit to your repository.
//!
//! [`Lm`](super::Lm) looks up each call in the replay of its scope before it calls any layer. Calls to other models are
//! not recorded.
//!
//! The file is in JSON Lines format. It consists of a header and one line per call, in sorted order. The same calls
//! always produce the same file. `file.rs` reads and writes it.
//!
//! The file contains no keys and no addresses.

mod file;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use dsrs_metrics_values::messages::escape;
use dsrs_metrics_values::named_files::WriteLock;

use self::file::{Call, key_of};
use super::layers::SingleFlight;
use super::record::Key;
use super::{LanguageModel, Ledger, LmError, LmErrorKind, LmReply, LmRequest, lock};

tokio::task_local! {
    static CURRENT: Option<Arc<Replay>>;
}

/// A replay or recording of the model calls made within a scope.
///
/// ```
/// use std::sync::Arc;
/// use dsrs_metrics::lm::replay::{Replay, Summary};
/// use dsrs_metrics::lm::{LanguageModel, Lm, LmRequest};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = std::env::temp_dir().join(format!("dsrs-doc-replay-{}", std::process::id()));
/// let call = r#"{"model":"openai:m","request":{"messages":[{"role":"user","content":"?"}],"schema":null,"#.to_owned()
///     + r#""sampling":{},"purpose":"example","draw":0},"reply":{"text":"yes","stop_reason":"end","usage":{},"#
///     + r#""model":"m-1","cost_msats":7,"cached":false}}"#;
/// std::fs::write(&path, format!("{{\"replay\":1}}\n{call}\n"))?;
/// let replay = Arc::new(Replay::read(&path)?);
/// let run = async {
///     let lm = Lm::builder("openai:m").variables(|_| None).build()?; // no key is needed
///     lm.complete(&LmRequest::new("example").user("?")).await
/// };
/// let reply = replay.scope(run).await?;
/// assert_eq!((&*reply.text, &*reply.model, reply.cost_msats), ("yes", "m-1", Some(7)));
/// assert_eq!(replay.finish()?, Summary { recorded: 0, replayed: 1, unused: 0 });
/// # std::fs::remove_file(path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Replay {
    path: PathBuf,
    mode: Mode,
    state: Mutex<State>,
    in_progress: SingleFlight,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Replaying,
    /// Replays calls that are in the file, and records all others.
    RecordingNew,
    RecordingAll,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// In the file, but not requested.
    None,
    Replayed,
    Recorded,
}

#[derive(Debug)]
struct State {
    calls: BTreeMap<Key, (Call, Use)>,
    /// The error for the first call missing from the file.
    missing: Option<LmError>,
    /// Kept until the recorded calls are written.
    write_lock: Option<WriteLock>,
}

/// The maximum number of characters that an error shows from a message.
const SHOWN: usize = 80;

/// Returns `true` if the scope only replays calls, without recording any.
///
/// Models then need neither a key nor a store.
pub fn is_replaying() -> bool {
    Replay::current().is_some_and(|replay| !replay.is_recording())
}

/// Runs a future within the caller's replay.
///
/// Use this function for tasks that the caller spawns.
pub fn in_scope<F: Future>(future: F) -> impl Future<Output = F::Output> + use<F> {
    CURRENT.scope(Replay::current(), future)
}

/// A summary of the distinct calls in a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// The number of calls that were recorded.
    pub recorded: usize,
    /// The number of calls that were replayed from the file.
    pub replayed: usize,
    /// The number of calls in the file that were neither replayed nor re-recorded.
    ///
    /// Unused calls stay in the file unless every call was re-recorded.
    pub unused: usize,
}

impl Replay {
    /// Reads a file of recorded calls to replay.
    ///
    /// A call that is not in the file fails with [`LmErrorKind::NotRecorded`].
    ///
    /// # Errors
    /// Returns an error if the file is missing or cannot be read, or if a line is damaged. Also returns this
    /// error if the format version is not supported.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, LmError> {
        let path = path.as_ref();
        let calls = file::read(path, true)?.ok_or_else(|| {
            let path = path.display();
            file::failed(format!(
                "no recorded calls: {path} does not exist; record them: DSRS_UPDATE=new cargo test"
            ))
        })?;
        Ok(Self::new(path, Mode::Replaying, calls, None))
    }

    /// Creates a replay that records calls to a file.
    ///
    /// Call [`finish`](Self::finish) to write the file.
    ///
    /// If `keep` is `true`, calls already in the file are replayed; otherwise, each call is made again. Identical calls
    /// are made only once.
    ///
    /// # Errors
    /// Returns an error if the file exists but cannot be read, is not a replay, or has an unsupported format
    /// version. Also returns this error if another recording to the file is unfinished, or if `keep` is `true` and a
    /// line is damaged.
    pub fn recording(path: impl AsRef<Path>, keep: bool) -> Result<Self, LmError> {
        let path = path.as_ref();
        // Locked before reading, because another recording would lose its calls.
        let write_lock = file::lock(path)?;
        let mode = match keep {
            true => Mode::RecordingNew,
            false => Mode::RecordingAll,
        };
        // Otherwise, all lines are replaced anyway.
        let calls = file::read(path, keep)?.unwrap_or_default();
        Ok(Self::new(path, mode, calls, Some(write_lock)))
    }

    fn new(
        path: &Path,
        mode: Mode,
        calls: Vec<(Key, Call)>,
        write_lock: Option<WriteLock>,
    ) -> Self {
        let calls = calls
            .into_iter()
            .map(|(key, call)| (key, (call, Use::None)));
        let state = State {
            calls: calls.collect(),
            missing: None,
            write_lock,
        };
        Self {
            path: path.to_owned(),
            mode,
            state: Mutex::new(state),
            in_progress: SingleFlight::default(),
        }
    }

    /// Runs a future, and replays or records its model calls.
    ///
    /// Tasks that the future spawns are not covered; see [`in_scope`].
    pub fn scope<F: Future>(
        self: &Arc<Self>,
        future: F,
    ) -> impl Future<Output = F::Output> + use<F> {
        CURRENT.scope(Some(Arc::clone(self)), future)
    }

    /// Runs a function, and replays or records its model calls.
    ///
    /// Use this method instead of [`scope`](Self::scope) for a function that blocks on a runtime.
    pub fn scope_sync<T>(self: &Arc<Self>, run: impl FnOnce() -> T) -> T {
        CURRENT.sync_scope(Some(Arc::clone(self)), run)
    }

    /// Returns the current scope's replay, if there is one.
    pub fn current() -> Option<Arc<Self>> {
        CURRENT.try_with(Clone::clone).ok().flatten()
    }

    /// Returns `true` if calls are being recorded.
    pub fn is_recording(&self) -> bool {
        self.mode != Mode::Replaying
    }

    /// Returns the error for the first call that is missing from the file.
    ///
    /// Returns `None` if no call is missing, or if calls are being recorded.
    pub fn missing(&self) -> Option<LmError> {
        lock(&self.state).missing.clone()
    }

    /// Writes the file if calls are being recorded, and returns the call counts.
    ///
    /// If the process crashes, the file contains either the old calls or all the new calls.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn finish(&self) -> Result<Summary, LmError> {
        let mut state = lock(&self.state);
        let count = |of| state.calls.values().filter(|(_, it)| *it == of).count();
        let summary = Summary {
            recorded: count(Use::Recorded),
            replayed: count(Use::Replayed),
            unused: count(Use::None),
        };
        if self.is_recording() {
            let calls = state.calls.values().filter(|(_, it)| self.is_kept(*it));
            file::write(&self.path, calls.map(|(call, _)| call))?;
        }
        state.write_lock = None;
        Ok(summary)
    }

    /// Returns the recorded reply, or calls the model and records its reply. The ledger counts the calls that are not
    /// made here; the model's layers count the others.
    pub(super) async fn complete(
        &self,
        lm: &dyn LanguageModel,
        request: &LmRequest,
        ledger: &Ledger,
    ) -> Result<LmReply, LmError> {
        let request = &*lm.effective_request(request);
        let key = key_of(lm.id(), request);
        let not_made = |result: Result<LmReply, LmError>| {
            ledger.record(&request.purpose, &result);
            result
        };
        if let Some(reply) = self.find(&key) {
            return not_made(Ok(reply));
        }
        if !self.is_recording() {
            let error = self.not_recorded(lm, request);
            let mut state = lock(&self.state);
            state.missing.get_or_insert_with(|| error.clone());
            drop(state);
            return not_made(Err(error));
        }
        let call = async || {
            // It may have been recorded in the meantime.
            if let Some(reply) = self.find(&key) {
                return not_made(Ok(reply));
            }
            let reply = lm.complete(request).await?;
            let call = (Call::new(lm, request, &reply), Use::Recorded);
            lock(&self.state).calls.insert(key.clone(), call);
            Ok(reply)
        };
        match self.in_progress.run(key.hash, 0, call).await {
            (result, true) => result,
            (result, false) => not_made(result),
        }
    }

    /// Returns `true` if this request calls the model.
    pub(super) fn is_called(&self, lm: &dyn LanguageModel, request: &LmRequest) -> bool {
        let key = key_of(lm.id(), &lm.effective_request(request));
        let state = lock(&self.state);
        let known = state.calls.get(&key);
        self.is_recording() && !known.is_some_and(|(_, it)| self.is_kept(*it))
    }

    /// Returns `true` if the call stays in the file; `false` if it is made again.
    fn is_kept(&self, of_call: Use) -> bool {
        of_call != Use::None || self.mode != Mode::RecordingAll
    }

    fn find(&self, key: &Key) -> Option<LmReply> {
        let mut state = lock(&self.state);
        let (call, of_call) = state.calls.get_mut(key)?;
        if !self.is_kept(*of_call) {
            return None;
        }
        if *of_call == Use::None {
            *of_call = Use::Replayed;
        }
        Some(call.reply.clone().into_cached())
    }

    fn not_recorded(&self, lm: &dyn LanguageModel, request: &LmRequest) -> LmError {
        let last = request.messages.last();
        let message = last.map_or("", |message| &message.content);
        let message: String = message.chars().take(SHOWN).collect();
        let [purpose, message] = [&request.purpose, &message].map(|it| escape::escaped(it));
        let path = self.path.display();
        let call = format!("{path}: purpose `{purpose}`, last message `{message}`");
        LmError::new(lm.id(), LmErrorKind::NotRecorded(call))
    }
}
