//! The threads and tasks that evaluate rows.
//!
//! `threads.rs` evaluates rows that never wait, `tasks.rs` the others. [`Run`] is the state that they share. Finished rows
//! reach the [`Collector`], simple ones in groups (`thread_rows.rs`). `grace_period.rs` and `ctrl_c.rs` end a run early.

mod collector;
#[cfg(feature = "ctrl-c")]
mod ctrl_c;
mod grace_period;
mod state;
mod tasks;
mod thread_rows;
mod threads;
mod wake_up;

pub(super) use self::collector::{Collector, CollectorOptions, Finished};
#[cfg(feature = "ctrl-c")]
pub(super) use self::ctrl_c::listen;
pub(super) use self::grace_period::{DEFAULT_GRACE_PERIOD, GraceSettings};
pub(super) use self::state::Run;
pub(super) use self::tasks::run_as_tasks;
pub(super) use self::threads::run_on_threads;
