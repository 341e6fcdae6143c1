//! An internal crate of [dsrs-metrics](https://docs.rs/dsrs-metrics).
//!
//! This crate has no stable API of its own. Use `dsrs-metrics` instead.
//!
//! Conversion between result files and the file formats of other programs.
//!
//! `import/` reads the files of other programs, and `export/` writes them.

mod error;
mod export;
mod import;

use dsrs_metrics_core as contract;
use dsrs_metrics_run::{data, evaluate, results};
#[cfg(feature = "inspect")]
use dsrs_metrics_values::text;
use dsrs_metrics_values::{json, messages, trajectory};

pub use error::FormatError;
pub use export::{Export, ExportFormat};
pub use import::{Epochs, ForeignFormat, import_file};
#[doc(hidden)]
pub use import::{import_files, recognize, source_files};
