//! The preflight check of a run: before the first row, or before the first call that the journal of the run does not have.

use tokio::sync::OnceCell;

use super::metric_entry;
use super::metric_entry::MetricEntry;
use crate::core::declared::requirements::{self, NotReady, Requirement};

/// The requirements of the metrics of a run, which are checked once.
pub(crate) struct Preflight {
    requirements: Vec<Requirement>,
    checked: OnceCell<Result<(), NotReady>>,
}

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
        Ok(Self { requirements, checked: OnceCell::new() })
    }

    /// Probes the models and runs the checks, unless that was done already.
    ///
    /// # Errors
    /// The first metric that cannot score any row.
    pub(crate) async fn check(&self) -> Result<(), NotReady> {
        let check = || requirements::probe(self.requirements.clone());
        self.checked.get_or_init(check).await.clone()
    }
}
