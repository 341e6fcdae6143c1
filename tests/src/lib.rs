//! What several test binaries share. Tests live in the folders beside this one: one folder for each binary.

mod peers;
mod quirks;
pub mod schema;
mod skip;
mod vectors;

pub use peers::Peer;
pub use quirks::{Quirks, SEVERAL, explain};
pub use skip::{can_isolate, data, skip};
pub use vectors::{lines, vectors};

/// Returns the SHA-256 hash in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
