//! Part of [dsrs-metrics](https://docs.rs/dsrs-metrics), which documents it. This package has no stable API of its own.
//!
//! The files of other programs. `import/` converts them to result files.

mod import;

use dsrs_metrics_core as core;
use dsrs_metrics_run::{data, results};
use dsrs_metrics_values::{json, messages, trajectory};

pub use import::{Epochs, ForeignFormat, ImportError, import_file};
