//! A log: its header, and the places of its samples.

use super::header::Header;
use super::member::Member;
use crate::import::places::Places;

/// What a file of this format is, in messages.
pub(super) const EXPECTED: &str = "a log of inspect_ai (.eval or .json)";

/// The samples of a log, with the parts of its header.
pub(super) struct Log {
    pub(super) header: Header,
    pub(super) samples: Places<Member>,
    /// The first member in the folder of samples whose name is not that of a sample.
    pub(super) unread: Option<String>,
}
