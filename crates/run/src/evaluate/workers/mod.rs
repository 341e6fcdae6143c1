//! The threads and tasks that evaluate rows.
//!
//! `threads.rs` evaluates rows that never wait, and `tasks.rs` all others; it also judges a sample of the rows. They
//! share the state of [`Run`]. Finished rows reach the [`Collector`], simple ones in groups. `ctrl_c.rs` ends a run
//! early.

#[cfg(feature = "ctrl-c")]
mod ctrl_c;
mod state;
mod tasks;
mod threads;

#[cfg(feature = "ctrl-c")]
pub(super) use self::ctrl_c::listen;
pub(super) use self::state::{Collector, Run};
pub(super) use self::tasks::run_as_tasks;
pub(super) use self::threads::run_on_threads;
