//! The hash of a key.

/// The SHA-256 hash of a key.
#[doc(hidden)]
pub type Hash = [u8; 32];
