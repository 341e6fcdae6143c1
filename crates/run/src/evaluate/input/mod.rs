//! The rows of a run before they are evaluated.
//!
//! `source.rs` returns the rows of a list, an iterator, a stream or of chunks (`chunks.rs`) to the threads or tasks of a
//! run; `numbering.rs` gives each its number, and `seen_ids.rs` finds duplicate ids. `devset.rs` has the rows that a
//! program is run on, whose inputs `inputs.rs` checks. `stop.rs` has the flag that ends a source early.

mod chunks;
mod devset;
pub(super) mod inputs;
mod numbering;
mod reading_thread;
mod seen_ids;
mod source;
mod source_row;
mod stop;

pub(super) use self::chunks::Chunk;
pub(super) use self::devset::Devset;
pub use self::devset::{DevsetRow, DevsetRows};
pub(super) use self::numbering::{Numbered, OwnRows};
pub(super) use self::reading_thread::read_on_thread;
pub(super) use self::source::{MAX_PREALLOCATED_ROWS, RowId, Source, SourceData};
pub(super) use self::source_row::{Input, ListedRow, RowDetails};
#[cfg(feature = "ctrl-c")]
pub(super) use self::stop::Interrupt;
pub(super) use self::stop::Stop;
