//! The output of an evaluation: progress on standard error, a table, result files.

#[cfg(feature = "csv")]
mod columns;
#[cfg(feature = "csv")]
mod csv;
mod files;
#[cfg(all(unix, feature = "ctrl-c"))]
mod leftovers;
mod line;
mod line_index;
mod output_file;
#[cfg(feature = "parquet")]
mod parquet;
mod progress;
mod record;
#[cfg(feature = "report")]
mod table;
mod temporary_file;

pub(crate) use self::files::{Format, Lines, ResultFiles};
pub(crate) use self::line::{Render, pair_line, score_line};
#[allow(unused_imports, reason = "HTML reports are output files too")]
#[doc(hidden)]
pub use self::output_file::OutputFile;
#[doc(hidden)]
pub use self::output_file::real_path;
pub(crate) use self::progress::Progress;
pub use self::progress::ProgressDisplay;
pub use self::record::{ResultOutcome, ResultRow, ResultScore};
pub(crate) use self::record::{are_verdicts, is_judged_offline};
#[cfg(feature = "report")]
pub use self::table::ResultTable;
pub(super) use self::temporary_file::TemporaryFile;
