//! What an evaluation shows and writes: progress on standard error, a table, result files.
//!
//! What there is to show is gathered in `evaluate/`.

#[cfg(feature = "csv")]
mod csv;
mod files;
mod line;
mod progress;
#[cfg(feature = "report")]
mod table;

pub(crate) use self::files::{Format, ResultFiles, real_path};
pub(crate) use self::line::{Render, pair_line, score_line};
pub(crate) use self::progress::Progress;
pub use self::progress::ProgressDisplay;
#[cfg(feature = "report")]
pub use self::table::ResultTable;
