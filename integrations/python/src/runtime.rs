//! Metrics that wait: the runtime that runs them, while Ctrl-C is noticed.

use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tokio::runtime::{Builder, Runtime};

/// How often signals are checked.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// Returns the runtime of this process. After a `fork`, the threads of the parent's runtime do not exist, so that the child
/// gets its own.
fn runtime() -> PyResult<Arc<Runtime>> {
    static RUNTIME: Mutex<Option<(u32, Arc<Runtime>)>> = Mutex::new(None);
    let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    let process = process::id();
    if let Some((owner, runtime)) = &*runtime
        && *owner == process
    {
        return Ok(Arc::clone(runtime));
    }
    let new = Builder::new_multi_thread()
        .enable_all()
        .thread_name("dsrs-metrics")
        .build();
    let new = new.map(Arc::new).map_err(|error| {
        PyRuntimeError::new_err(format!("cannot start the threads of the runtime: {error}"))
    })?;
    // Dropping the parent's runtime would wait for its threads.
    std::mem::forget(runtime.replace((process, Arc::clone(&new))));
    Ok(new)
}

/// Runs a future without the interpreter lock.
///
/// # Errors
/// The exception of a signal handler, such as `KeyboardInterrupt`; the future is dropped.
pub(crate) fn block_on<T: Send>(
    py: Python<'_>,
    future: impl Future<Output = T> + Send,
) -> PyResult<T> {
    let runtime = runtime()?;
    py.detach(|| {
        runtime.block_on(async {
            let mut future = std::pin::pin!(future);
            loop {
                tokio::select! {
                    biased;
                    output = &mut future => return Ok(output),
                    () = tokio::time::sleep(SIGNAL_INTERVAL) => {
                        #[expect(
                            clippy::redundant_closure_for_method_calls,
                            reason = "the method has one lifetime"
                        )]
                        Python::attach(|py| py.check_signals())?;
                    }
                }
            }
        })
    })
}
