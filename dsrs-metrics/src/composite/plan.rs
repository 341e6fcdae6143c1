//! A checked expression over numbered components, whatever rows it is asked about: what a composite set
//! up at run time and one that `#[metric]` wrote have in common.

use std::ops::Deref;
use std::sync::Arc;

use super::OnMissing;
use super::check::resolve;
use super::error::Mistake;
use super::fold::Node;
use super::run::Run;
use super::shape::{Named, Shape};
use crate::error::{MetricError, Result};
use crate::metric::{Metric, MetricCall};
use crate::score::Scored;
use crate::spec::MetricSpec;

/// How a composite makes one score of many.
#[derive(Debug)]
pub struct Plan {
    node: Result<Node, Mistake>,
    names: Arc<[String]>,
    on_missing: OnMissing,
}

impl Plan {
    /// The plan of a composite that the compiler has checked.
    #[must_use]
    pub fn declared(whole: Shape<Named>, on_missing: OnMissing) -> Self {
        let mut leaves = Vec::new();
        // The compiler held all rules against this expression; were one to be broken still, every row says so.
        let node = resolve(whole, &mut leaves).map(|(node, _)| node);
        let name = |leaf: &Named| format!("{}{}", leaf.spec.name, leaf.configured);
        Self { node, names: leaves.iter().map(name).collect(), on_missing }
    }

    pub(super) fn checked(node: Node, names: Arc<[String]>, on_missing: OnMissing) -> Self {
        Self { node: Ok(node), names, on_missing }
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    fn node(&self, spec: &MetricSpec<'_>) -> Result<&Node> {
        self.node.as_ref().map_err(|mistake| MetricError::failed(spec.name, mistake))
    }

    /// Scores a row where no component must be awaited.
    ///
    /// # Errors
    /// A component without a score, a row that a gate rejected, a score that breaks the spec.
    pub fn now<G: Sync, P: Sync, L>(
        &self,
        leaves: &[L],
        call: MetricCall<'_, G, P>,
        spec: &MetricSpec<'_>,
    ) -> Result<Scored>
    where
        L: Deref<Target: Metric<G, P>>,
    {
        Run::new(leaves, &self.names, self.on_missing).now(self.node(spec)?, call, spec)
    }

    /// Scores a row, components that must be awaited side by side.
    ///
    /// # Errors
    /// As [`now`](Self::now).
    pub async fn awaited<G: Sync, P: Sync, L>(
        &self,
        leaves: &[L],
        call: MetricCall<'_, G, P>,
        spec: &MetricSpec<'_>,
    ) -> Result<Scored>
    where
        L: Deref<Target: Metric<G, P>> + Sync,
    {
        let run = Run::new(leaves, &self.names, self.on_missing);
        run.awaited(self.node(spec)?, call, spec).await
    }
}
