//! The threads and tasks that evaluate rows.
//!
//! The module has these files:
//!
//! - `threads.rs` evaluates rows that never wait.
//! - `tasks.rs` evaluates all other rows, and judges a sample of the rows.
//! - `ctrl_c.rs` ends a run early.
//!
//! Threads and tasks share the state of [`Run`]. They pass finished rows to the [`Collector`]. Simple rows are passed
//! in groups.

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
