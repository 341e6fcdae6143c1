//! What several test binaries share. Tests live in the folders beside this one: one folder for each binary.

mod peers;
mod skip;
mod vectors;

pub use peers::Peer;
pub use skip::{can_isolate, data, skip};
pub use vectors::{lines, vectors};
