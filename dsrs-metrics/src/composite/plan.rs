//! A checked expression over numbered components, whatever rows it is asked about: what a composite set
//! up at run time and one that `#[metric]` wrote have in common.

use std::ops::Deref;

use super::OnMissing;
use super::check::resolve;
use super::error::Mistake;
use super::fold::{Node, Tree};
use super::names;
use super::run::Run;
use super::shape::{Named, Shape};
use crate::error::{MetricError, Result};
use crate::metric::{Metric, MetricCall};
use crate::score::Scored;
use crate::spec::MetricSpec;

/// How a composite makes one score of many.
#[derive(Debug)]
pub struct Plan {
    tree: Result<Tree, Mistake>,
    names: &'static [&'static str],
    on_missing: OnMissing,
}

impl Plan {
    /// The plan of a composite that the compiler has checked.
    #[must_use]
    pub fn declared(whole: Shape<Named>, on_missing: OnMissing) -> Self {
        let mut leaves = Vec::new();
        // The compiler held all rules against this expression; were one to be broken still, every row says so.
        let tree = resolve(whole, &mut leaves).map(|(node, _)| Tree::new(node));
        let name = |leaf: &Named| format!("{}{}", leaf.spec.name, leaf.configured);
        let names: Vec<String> = leaves.iter().map(name).collect();
        Self { tree, names: names::kept(names.iter().map(String::as_str)), on_missing }
    }

    pub(super) fn checked(
        node: Node,
        names: &'static [&'static str],
        on_missing: OnMissing,
    ) -> Self {
        Self { tree: Ok(Tree::new(node)), names, on_missing }
    }

    pub(super) fn names(&self) -> &'static [&'static str] {
        self.names
    }

    fn tree(&self, name: &str) -> Result<&Tree> {
        self.tree.as_ref().map_err(|mistake| MetricError::failed(name, mistake))
    }

    /// Scores a row where no component must be awaited.
    ///
    /// # Errors
    /// A component without a score, a row that a gate rejected, a score that breaks the spec.
    pub fn now<G: Sync, P: Sync, L>(
        &self,
        leaves: &[L],
        call: MetricCall<'_, G, P>,
        name: &str,
        spec: &MetricSpec<'_>,
    ) -> Result<Scored>
    where
        L: Deref<Target: Metric<G, P>>,
    {
        Run::new(leaves, self.names, self.on_missing).now(self.tree(name)?, call, name, spec)
    }

    /// Scores a row, components that must be awaited side by side.
    ///
    /// # Errors
    /// As [`now`](Self::now).
    pub async fn awaited<G: Sync, P: Sync, L>(
        &self,
        leaves: &[L],
        call: MetricCall<'_, G, P>,
        name: &str,
        spec: &MetricSpec<'_>,
    ) -> Result<Scored>
    where
        L: Deref<Target: Metric<G, P>> + Sync,
    {
        let run = Run::new(leaves, self.names, self.on_missing);
        run.awaited(self.tree(name)?, call, name, spec).await
    }
}
