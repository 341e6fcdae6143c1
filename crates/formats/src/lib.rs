//! Part of [dsrs-metrics](https://docs.rs/dsrs-metrics), which documents it. This package has no stable API of its own.
//!
//! Conversion of files of other programs: `import/` converts them to result files, and `export/` converts result files
//! to them.

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
