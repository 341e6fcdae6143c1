//! Listens for the signals that end a run, on a separate thread: a metric that blocks all threads of the runtime would
//! otherwise delay it.
//!
//! SIGTERM (`docker stop`, schedulers) and SIGHUP (a closed terminal) are handled like Ctrl-C. The first signal lets
//! the rows in progress finish within the grace period (`mod.rs`). The second abandons them, and the third ends the
//! process, no matter what its other threads are doing. How the run reacts is in `evaluate/error.rs` and `tasks.rs`.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::CANCELLATION;
use crate::evaluate::error::{Level, Stop};

/// The exit code that shells use for a program ended by Ctrl-C.
const INTERRUPTED: i32 = 130;

/// How long a message may take. Standard error may be a pipe that nothing reads, and later signals
/// must not wait for it.
const MESSAGE_TIMEOUT: Duration = Duration::from_millis(500);

/// The number of runs that have a listener.
static LISTENING_RUNS: AtomicUsize = AtomicUsize::new(0);

/// A guard. The run has a listener until it is dropped.
pub(crate) struct ListenerGuard {
    _until_dropped: oneshot::Sender<()>,
}

impl Drop for ListenerGuard {
    fn drop(&mut self) {
        LISTENING_RUNS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Starts a listener that forwards every signal to `stop`; it is active when this returns. Returns `None` if signals
/// are not available; the run continues without a listener.
pub(crate) async fn listen(stop: Arc<Stop>, grace_period: Duration) -> Option<ListenerGuard> {
    let (ready, is_ready) = oneshot::channel();
    let (until_dropped, dropped) = oneshot::channel();
    let thread = move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        if let Ok(runtime) = runtime {
            runtime.block_on(async {
                let Ok(signals) = Signals::install() else {
                    return;
                };
                // The receiver is gone if the run was dropped in the meantime.
                let _ = ready.send(());
                let listener = Listener {
                    stop,
                    signals,
                    grace_period,
                    give_up_at: None,
                };
                listener.run(dropped).await;
            });
        }
    };
    std::thread::Builder::new()
        .name("ctrl-c".to_owned())
        .spawn(thread)
        .ok()?;
    is_ready.await.ok()?;
    LISTENING_RUNS.fetch_add(1, Ordering::SeqCst);
    Some(ListenerGuard {
        _until_dropped: until_dropped,
    })
}

struct Listener {
    stop: Arc<Stop>,
    signals: Signals,
    grace_period: Duration,
    /// When the run ends without waiting for rows that cannot be cancelled.
    give_up_at: Option<Instant>,
}

impl Listener {
    async fn run(mut self, dropped: oneshot::Receiver<()>) {
        let mut dropped = std::pin::pin!(dropped);
        let mut has_ended = false;
        loop {
            let give_up_at = self.give_up_at.unwrap_or_else(Instant::now);
            tokio::select! {
                biased;
                _ = &mut dropped, if !has_ended => {
                    // A metric may still be computing, and the process may wait for its thread.
                    has_ended = self.stop.is_at(Level::GivenUp);
                    if !has_ended {
                        return;
                    }
                }
                () = self.signals.recv() => match has_ended {
                    false => self.forward(),
                    true if LISTENING_RUNS.load(Ordering::SeqCst) == 0 => exit(),
                    true => {}
                },
                () = tokio::time::sleep_until(give_up_at), if self.give_up_at.is_some() => {
                    self.give_up_at = None;
                    self.stop.raise(Level::GivenUp);
                }
            }
        }
    }

    fn forward(&mut self) {
        if !self.stop.is_at(Level::Requested) {
            print(format!(
                "stopping: the rows in progress have {:?} to finish; press Ctrl-C again to abandon them",
                self.grace_period
            ));
            self.stop.raise(Level::Requested);
        } else if !self.stop.is_at(Level::Abandoned) {
            print("abandoning the rows in progress; press Ctrl-C again to exit at once".to_owned());
            self.give_up_at = Some(Instant::now() + CANCELLATION);
            self.stop.raise(Level::Abandoned);
        } else {
            exit();
        }
    }
}

fn exit() -> ! {
    std::process::exit(INTERRUPTED)
}

/// Prints that the grace period is over.
pub(super) fn report_end_of(grace_period: Duration) {
    print(format!(
        "abandoning the rows in progress, which did not finish within {grace_period:?}; press Ctrl-C again to exit at once"
    ));
}

/// Writes a line to standard error, waiting only a short time for it.
fn print(line: String) {
    let (written, is_written) = mpsc::channel::<()>();
    let write = move || {
        // If standard error is closed, nothing can be reported.
        let _ = writeln!(std::io::stderr(), "{line}");
        drop(written);
    };
    if std::thread::Builder::new().spawn(write).is_ok() {
        let _ = is_written.recv_timeout(MESSAGE_TIMEOUT);
    }
}

#[cfg(unix)]
struct Signals(Vec<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl Signals {
    fn install() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
        // A program under `nohup` ignores that its terminal is gone.
        kinds
            .extend(Some(SignalKind::hangup()).filter(|hangup| !is_ignored(hangup.as_raw_value())));
        Ok(Self(
            kinds.into_iter().map(signal).collect::<Result<_, _>>()?,
        ))
    }

    async fn recv(&mut self) {
        let signals = self.0.iter_mut().map(|signal| Box::pin(signal.recv()));
        futures_util::future::select_all(signals).await;
    }
}

/// Returns `true` if the process ignores a signal; `false` if `/proc` does not say.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Signals are counted from 1.
    ignored.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(not(unix))]
struct Signals(tokio::signal::windows::CtrlC);

#[cfg(not(unix))]
impl Signals {
    fn install() -> std::io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    async fn recv(&mut self) {
        self.0.recv().await;
    }
}
