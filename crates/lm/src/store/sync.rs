//! The thread that syncs what a process has written.
//!
//! A written record survives the death of the process. SQLite itself syncs its log only before copying it into the
//! database. This thread syncs the log a tenth of a second after a write, so a power failure loses no older records.
//! SQLite reads a log up to its first incomplete record.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::private::{ignore_poison, lock};

const EVERY: Duration = Duration::from_millis(100);

/// A running thread. Dropping this ends it after a last sync.
#[derive(Debug)]
pub(super) struct Sync {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_written: bool,
    is_closed: bool,
}

impl Sync {
    pub(super) fn start(log: PathBuf) -> io::Result<Self> {
        let shared = Arc::<Shared>::default();
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new().name("dsrs-store".to_owned());
        let thread = Some(thread.spawn(move || while of_thread.sync_once(&log) {})?);
        Ok(Self { shared, thread })
    }

    pub(super) fn on_write(&self) {
        lock(&self.shared.state).is_written = true;
        self.shared.changed.notify_one();
    }
}

impl Shared {
    /// Waits for a write and a tenth of a second, then syncs. Returns `false` at the end.
    fn sync_once(&self, log: &PathBuf) -> bool {
        let state = lock(&self.state);
        let idle = |state: &mut State| !state.is_written && !state.is_closed;
        let state = ignore_poison(self.changed.wait_while(state, idle));
        let open = |state: &mut State| !state.is_closed;
        let (mut state, _) = ignore_poison(self.changed.wait_timeout_while(state, EVERY, open));
        let (is_written, is_closed) = (std::mem::take(&mut state.is_written), state.is_closed);
        drop(state);
        if is_written {
            // If SQLite has copied the whole log, which it syncs itself, the log does not exist.
            let _ = File::open(log).and_then(|log| log.sync_data());
        }
        !is_closed
    }
}

impl Drop for Sync {
    fn drop(&mut self) {
        lock(&self.shared.state).is_closed = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // The thread only waits and syncs, so it has not panicked.
            let _ = thread.join();
        }
    }
}
