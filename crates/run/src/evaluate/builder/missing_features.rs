//! Methods of disabled features. Nothing implements their traits, so rustc names the feature at the call.
//!
//! The methods are written out, because rustc would mention a macro in its message.

#[cfg(not(feature = "report"))]
#[diagnostic::on_unimplemented(
    message = "`display_table` requires the `report` feature",
    label = "add `features = [\"report\"]` to the `dsrs-metrics` dependency in Cargo.toml"
)]
pub trait FeatureReport {}

#[cfg(not(feature = "report"))]
impl<G, P> super::EvaluateBuilder<G, P> {
    #[doc(hidden)]
    pub fn display_table(self, _: impl Sized) -> Self
    where
        Self: FeatureReport,
    {
        self
    }
}

#[cfg(not(feature = "csv"))]
#[diagnostic::on_unimplemented(
    message = "`csv` requires the `csv` feature",
    label = "add `features = [\"csv\"]` to the `dsrs-metrics` dependency in Cargo.toml"
)]
pub trait FeatureCsv {}

#[cfg(not(feature = "csv"))]
impl<G, P> super::FileSettings<G, P> {
    #[doc(hidden)]
    pub fn csv(self, _: impl Into<std::path::PathBuf>) -> Self
    where
        Self: FeatureCsv,
    {
        self
    }
}

#[cfg(not(feature = "parquet"))]
#[diagnostic::on_unimplemented(
    message = "`parquet` requires the `parquet` feature",
    label = "add `features = [\"parquet\"]` to the `dsrs-metrics` dependency in Cargo.toml"
)]
pub trait FeatureParquet {}

#[cfg(not(feature = "parquet"))]
impl<G, P> super::FileSettings<G, P> {
    #[doc(hidden)]
    pub fn parquet(self, _: impl Into<std::path::PathBuf>) -> Self
    where
        Self: FeatureParquet,
    {
        self
    }
}

#[cfg(not(feature = "store"))]
#[diagnostic::on_unimplemented(
    message = "`store` requires the `store` feature",
    label = "add `features = [\"store\"]` to the `dsrs-metrics` dependency in Cargo.toml"
)]
pub trait FeatureStore {}

#[cfg(not(feature = "store"))]
impl<G, P> super::ModelSettings<G, P> {
    #[doc(hidden)]
    pub fn store(self, _: impl Into<std::path::PathBuf>) -> Self
    where
        Self: FeatureStore,
    {
        self
    }
}

#[cfg(not(feature = "ctrl-c"))]
#[diagnostic::on_unimplemented(
    message = "`on_ctrl_c` requires the `ctrl-c` feature",
    label = "add `features = [\"ctrl-c\"]` to the `dsrs-metrics` dependency in Cargo.toml"
)]
pub trait FeatureCtrlC {}

#[cfg(not(feature = "ctrl-c"))]
impl<G, P> super::StopSettings<G, P> {
    #[doc(hidden)]
    pub fn on_ctrl_c(self) -> Self
    where
        Self: FeatureCtrlC,
    {
        self
    }
}
