//! Wakes threads of the runtime that sleep although tasks are ready.
//!
//! One thread of the runtime waits for timers and sockets. If it wakes a row that blocks it, the other threads may sleep,
//! and no timer or socket wakes the other rows.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};

/// The time until the first empty task.
const FIRST_PAUSE: Duration = Duration::from_millis(1);

/// The longest time between two empty tasks.
const LONGEST_PAUSE: Duration = Duration::from_millis(64);

/// A guard: until it is dropped, a thread spawns an empty task from time to time, which wakes a sleeping thread.
pub(super) struct WakeUp {
    _until_dropped: mpsc::Sender<()>,
}

impl WakeUp {
    /// Starts the thread if the runtime has several threads. Without it, a row that blocks may delay others.
    pub(super) fn start(runtime: &Handle) -> Option<Self> {
        let is_multi_thread = runtime.runtime_flavor() == RuntimeFlavor::MultiThread;
        if !is_multi_thread || runtime.metrics().num_workers() < 2 {
            return None;
        }
        let runtime = runtime.clone();
        let (until_dropped, dropped) = mpsc::channel::<()>();
        let wake = move || {
            let mut pause = FIRST_PAUSE;
            while dropped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                drop(runtime.spawn(async {}));
                pause = (2 * pause).min(LONGEST_PAUSE);
            }
        };
        let thread = std::thread::Builder::new()
            .name("wake-up".to_owned())
            .spawn(wake);
        thread.is_ok().then_some(Self {
            _until_dropped: until_dropped,
        })
    }
}
