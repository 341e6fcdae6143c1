//! The Ctrl-C listener, on its own thread: metrics that block all threads of the runtime would
//! otherwise delay it.
//!
//! How the run reacts is in `stop.rs` and `run.rs`.

use std::pin::pin;
use std::sync::Arc;

use tokio::sync::oneshot;

use super::stop::Stop;

/// A guard: the listener runs until it is dropped.
pub(super) struct ListenerGuard {
    _until_dropped: oneshot::Sender<()>,
}

/// Starts a listener that forwards every Ctrl-C to `stop`; it is active when this returns. Returns
/// `None` where signals are not available, and the run continues without a listener.
pub(super) async fn listen(stop: Arc<Stop>) -> Option<ListenerGuard> {
    let (ready, is_ready) = oneshot::channel();
    let (until_dropped, dropped) = oneshot::channel();
    let thread = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        if let Ok(runtime) = runtime {
            runtime.block_on(async {
                tokio::select! {
                    () = forward_signals(&stop, ready) => {}
                    _ = dropped => {}
                }
            });
        }
    };
    std::thread::Builder::new().name("ctrl-c".to_owned()).spawn(thread).ok()?;
    is_ready.await.ok()?;
    Some(ListenerGuard { _until_dropped: until_dropped })
}

async fn forward_signals(stop: &Stop, ready: oneshot::Sender<()>) {
    let mut ready = Some(ready);
    loop {
        let mut signal = pin!(tokio::signal::ctrl_c());
        // The first poll installs the signal handler.
        let early = tokio::select! {
            biased;
            received = &mut signal => Some(received),
            () = std::future::ready(()) => None,
        };
        if let Some(ready) = ready.take() {
            // The receiver is gone if the run was dropped meanwhile.
            let _ = ready.send(());
        }
        let received = match early {
            Some(received) => received,
            None => signal.await,
        };
        if received.is_err() {
            return;
        }
        stop.interrupt();
    }
}
