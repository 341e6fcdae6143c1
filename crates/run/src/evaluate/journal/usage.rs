//! The records that a run took from its journal.

/// The records that a run took from its journal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JournalUse {
    /// The number of rows that earlier runs had recorded completely, so that this run added nothing.
    pub restored_rows: u64,
    /// The number of damaged records, which were ignored: their calls were made again.
    pub damaged_records: u64,
    /// The amount reserved for calls under a budget that were in progress when an earlier run ended, in millisatoshis. It counts
    /// as spent, since the provider may have charged it.
    pub unsettled_msats: u64,
}
