//! Listens for the signals that end a run. A separate thread does this, because a metric that blocks all threads of the
//! runtime would otherwise delay it.
//!
//! SIGTERM (`docker stop`, schedulers) and SIGHUP (a closed terminal) are handled like Ctrl-C. The first signal lets
//! the rows in progress finish within the grace period (`mod.rs`). The second abandons them, and the third ends the
//! process, no matter what its other threads are doing. How the run reacts is in `evaluate/error.rs` and `tasks.rs`.

use std::future::poll_fn;
use std::io::Write;
use std::sync::{Arc, Mutex, Once, Weak, mpsc};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use crate::evaluate::error::{Level, Stop, lock};

/// The exit code that shells use for a program ended by Ctrl-C.
const INTERRUPTED: i32 = 130;

/// How long a message may take. Standard error may be a pipe that nothing reads, and later signals
/// must not wait for it.
const MESSAGE_TIMEOUT: Duration = Duration::from_millis(500);

/// The runs that signals stop, with their grace periods. A run that has ended stays in the list while one of its
/// metrics is computing, because the process may wait for that metric's thread.
static RUNS: Mutex<Vec<(Weak<Stop>, Duration)>> = Mutex::new(Vec::new());

/// Forwards every signal to a run once this function has returned. If signals are not available, the run continues
/// without them.
pub(crate) fn listen(stop: &Arc<Stop>, grace_period: Duration) {
    static LISTENER: Once = Once::new();
    lock(&RUNS).push((Arc::downgrade(stop), grace_period));
    LISTENER.call_once(|| {
        let (ready, is_ready) = mpsc::channel();
        let thread = thread::Builder::new().name("ctrl-c".to_owned());
        drop(thread.spawn(move || forward_all(&ready)));
        // Fails if the thread cannot listen for signals.
        let _ = is_ready.recv();
    });
}

fn forward_all(ready: &mpsc::Sender<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    if let Ok(runtime) = runtime {
        runtime.block_on(async {
            let Ok(mut signals) = signals() else { return };
            let _ = ready.send(());
            loop {
                poll_fn(&mut signals).await;
                forward();
            }
        });
    }
}

fn forward() {
    let mut runs = lock(&RUNS);
    runs.retain(|(stop, _)| stop.strong_count() > 0);
    let live = |(stop, grace): &(Weak<Stop>, Duration)| Some((stop.upgrade()?, *grace));
    let live: Vec<(Arc<Stop>, Duration)> = runs.iter().filter_map(live).collect();
    drop(runs);
    let is_abandoned = |(stop, _): &(Arc<Stop>, Duration)| stop.is_at(Level::Abandoned);
    if !live.is_empty() && live.iter().all(is_abandoned) {
        std::process::exit(INTERRUPTED);
    }
    for (stop, grace_period) in live {
        if !stop.is_at(Level::Requested) {
            print(format!(
                "stopping: the rows in progress have {grace_period:?} to finish; press Ctrl-C again to abandon them"
            ));
            stop.raise(Level::Requested);
        } else if !stop.is_at(Level::Abandoned) {
            print("abandoning the rows in progress; press Ctrl-C again to exit at once".to_owned());
            stop.raise(Level::Abandoned);
        }
    }
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
    if thread::Builder::new().spawn(write).is_ok() {
        let _ = is_written.recv_timeout(MESSAGE_TIMEOUT);
    }
}

/// Installs the handlers and returns a function that is ready once a signal has arrived.
#[cfg(unix)]
fn signals() -> std::io::Result<impl FnMut(&mut Context<'_>) -> Poll<()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
    // Under `nohup`, a program ignores the loss of its terminal.
    kinds.extend(Some(SignalKind::hangup()).filter(|hangup| !is_ignored(hangup.as_raw_value())));
    let signals = kinds.into_iter().map(signal);
    let mut signals: Vec<_> = signals.collect::<Result<_, _>>()?;
    Ok(move |context: &mut Context<'_>| {
        let mut signals = signals.iter_mut();
        match signals.any(|signal| signal.poll_recv(context).is_ready()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
}

/// Returns `true` if the process ignores a signal. Returns `false` if `/proc` does not say.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Signals are counted from 1.
    ignored.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(not(unix))]
fn signals() -> std::io::Result<impl FnMut(&mut Context<'_>) -> Poll<()>> {
    let mut signal = tokio::signal::windows::ctrl_c()?;
    Ok(move |context: &mut Context<'_>| signal.poll_recv(context).map(|_| ()))
}
