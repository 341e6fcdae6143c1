//! Ctrl-C, heard on a thread of its own: metrics that keep all threads of the runtime busy would
//! also keep it from hearing.
//!
//! What becomes of the run is in `stop.rs` and `run.rs`.

use std::pin::pin;
use std::sync::Arc;

use tokio::sync::oneshot;

use super::stop::Stop;

/// Listens as long as it is held.
pub(super) struct Listening {
    _until_dropped: oneshot::Sender<()>,
}

/// Hands every Ctrl-C to `stop`, beginning before this returns. Where signals cannot be had the run
/// goes on without.
pub(super) async fn listen(stop: Arc<Stop>) -> Option<Listening> {
    let (ready, is_ready) = oneshot::channel();
    let (until_dropped, over) = oneshot::channel();
    let hear = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        if let Ok(runtime) = runtime {
            runtime.block_on(async {
                tokio::select! {
                    () = hear(&stop, ready) => {}
                    _ = over => {}
                }
            });
        }
    };
    std::thread::Builder::new().name("ctrl-c".to_owned()).spawn(hear).ok()?;
    is_ready.await.ok()?;
    Some(Listening { _until_dropped: until_dropped })
}

async fn hear(stop: &Stop, ready: oneshot::Sender<()>) {
    let mut ready = Some(ready);
    loop {
        let mut heard = pin!(tokio::signal::ctrl_c());
        // The handler is set when it is first polled.
        let early = tokio::select! {
            biased;
            heard = &mut heard => Some(heard),
            () = std::future::ready(()) => None,
        };
        if let Some(ready) = ready.take() {
            // Nobody waits if the run is dropped already.
            let _ = ready.send(());
        }
        let heard = match early {
            Some(heard) => heard,
            None => heard.await,
        };
        if heard.is_err() {
            return;
        }
        stop.interrupt();
    }
}
