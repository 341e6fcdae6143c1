//! The grace period of a stopped run: how long the rows in progress may take.
//!
//! It is measured on its own thread: metrics that block all threads of the runtime would otherwise delay it, and the
//! runtime may have no timer.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use crate::evaluate::input::Stop;

/// The default grace period.
pub(crate) const DEFAULT_GRACE_PERIOD: Duration = Duration::from_secs(30);

/// The grace period of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GraceSettings {
    pub(crate) period: Duration,
    /// Whether its end is reported on standard error, as signals are.
    #[cfg(feature = "ctrl-c")]
    pub(crate) is_reported: bool,
}

/// How long abandoned rows may take to be cancelled. A metric that computes without awaiting
/// anything cannot be cancelled, and the run ends without it.
pub(crate) const CANCELLATION: Duration = Duration::from_secs(1);

/// A guard: the grace period is measured until it is dropped.
pub(crate) struct GracePeriod {
    _until_dropped: mpsc::Sender<()>,
}

impl GracePeriod {
    /// Abandons the rows in progress after `period`, and calls `report` before. If no thread can be started, the
    /// period does not end.
    pub(crate) fn start(
        stop: Arc<Stop>,
        period: Duration,
        report: impl FnOnce() + Send + 'static,
    ) -> Self {
        let (until_dropped, dropped) = mpsc::channel::<()>();
        let is_over = move |time| dropped.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
        let measure = move || {
            if is_over(period) && !stop.is_abandoned() {
                report();
                stop.abandon();
                if is_over(CANCELLATION) {
                    stop.give_up();
                }
            }
        };
        let _ = std::thread::Builder::new()
            .name("grace-period".to_owned())
            .spawn(measure);
        Self {
            _until_dropped: until_dropped,
        }
    }
}
