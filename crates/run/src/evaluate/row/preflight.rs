//! The preflight check of a run, before its first row.

use super::metric_entry;
use super::metric_entry::MetricEntry;
use crate::core::declared::requirements::{self, NotReady, Requirement};

/// The requirements of the metrics of a run.
pub(crate) struct Preflight(Vec<Requirement>);

impl Preflight {
    /// Collects the requirements, with the models of the current scope.
    ///
    /// # Errors
    /// The first metric that cannot score any row, as far as that is known without a call.
    pub(crate) fn new<G: Sync, P: Sync>(
        metrics: &[MetricEntry<'_, G, P>],
    ) -> Result<Self, NotReady> {
        let requirements = metric_entry::requirements(metrics);
        requirements::check(&requirements)?;
        Ok(Self(requirements))
    }

    /// Probes the models and runs the checks.
    ///
    /// # Errors
    /// The first metric that cannot score any row.
    pub(crate) async fn check(&self) -> Result<(), NotReady> {
        requirements::probe(self.0.clone()).await
    }
}
