//! Reports an evaluation as progress on standard error, a table, or result files.

#[cfg(feature = "csv")]
mod columns;
#[cfg(feature = "csv")]
mod csv;
mod line;
#[cfg(feature = "parquet")]
mod parquet;
mod progress;
mod record;
mod result_files;
mod spool;
#[cfg(feature = "report")]
mod table;

pub(crate) use self::line::{Render, row_line, score_line};
pub(crate) use self::progress::Progress;
pub use self::progress::ProgressDisplay;
pub use self::record::{ResultOutcome, ResultRow, ResultScore};
pub(crate) use self::result_files::{Format, ResultFiles};
pub(crate) use self::spool::Lines;
#[cfg(feature = "report")]
pub use self::table::ResultTable;
#[allow(unused_imports, reason = "HTML reports are output files too")]
#[doc(hidden)]
pub use super::files::OutputFile;
#[doc(hidden)]
pub use super::files::real_path;
