//! A record of the store.

/// The SHA-256 hash of a key.
#[doc(hidden)]
pub type Hash = [u8; 32];

/// A result to store.
#[doc(hidden)]
#[derive(Debug)]
pub struct Record<'a> {
    /// The SHA-256 hash of `about`.
    pub key: &'a Hash,
    /// The kind of result: `reply`, `output`, `evaluation` or `run`.
    pub kind: &'static str,
    /// What the result depends on, as JSON.
    pub about: &'a str,
    /// The result, as JSON.
    pub result: &'a str,
    /// The cost of the call, in millisatoshis; `None` if it is unknown.
    pub cost_msats: Option<u64>,
}
