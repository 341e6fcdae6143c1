//! The builder of [`Evaluate`](crate::Evaluate).
//!
//! Each group of settings has its own file.

mod devset;
mod evaluate_builder;
mod faults;
mod files;
#[doc(hidden)]
pub mod missing_features;
mod settings;

#[doc(hidden)]
pub use self::devset::{ByList, ByName};
pub use self::devset::{DevsetRows, InputNames};
pub use self::evaluate_builder::{EvaluateBuilder, MetricList};
pub use self::faults::{FailureSettings, StopSettings};
pub use self::files::FileSettings;
#[cfg(feature = "report")]
pub use self::files::TableRows;
pub use self::settings::{ModelSettings, StatisticsSettings};
