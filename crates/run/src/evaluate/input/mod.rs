//! The rows of a run, before they are evaluated.
//!
//! `source.rs` hands out rows of a list, a stream or chunks (`chunks.rs`) to a run's threads or tasks. `numbering.rs`
//! numbers them and finds duplicate ids. `devset.rs` has the rows that a program is run on and checks their inputs.

mod chunks;
mod devset;
mod numbering;
mod source;

pub(super) use self::chunks::Chunk;
pub use self::devset::DevsetRow;
pub(crate) use self::devset::hash_order;
pub(super) use self::devset::{Devset, check_row, check_rows};
pub(super) use self::numbering::{Given, Input, Numbered, OwnRows, changed, listed};
pub(super) use self::source::{RowId, Source, read_on_thread};
