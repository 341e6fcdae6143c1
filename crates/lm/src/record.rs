//! A record of the store.

use super::hash::Hash;

/// A result that is stored.
#[derive(Debug)]
#[doc(hidden)]
pub struct Record<'a> {
    /// The SHA-256 hash of `about`.
    pub key: &'a Hash,
    pub kind: &'static str,
    pub about: &'a str,
    /// As JSON.
    pub result: &'a str,
    pub cost_msats: Option<u64>,
}
