//! A record of the store.

/// The SHA-256 hash of a key.
#[doc(hidden)]
pub type Hash = [u8; 32];

/// A result to write to the store.
#[doc(hidden)]
#[derive(Debug)]
pub struct Record<'a> {
    /// The SHA-256 hash of `about`.
    pub key: &'a Hash,
    /// The kind of the result, which is `reply`, `output`, `evaluation` or `run`.
    pub kind: &'static str,
    /// The inputs that the result depends on, as JSON.
    pub about: &'a str,
    /// The result, as JSON.
    pub result: &'a str,
    /// The cost of the call in millisatoshis, or `None` if it is unknown.
    pub cost_msats: Option<u64>,
}
