//! A checked expression over numbered components, whatever rows it is asked about: what a composite set
//! up at run time and one that `#[metric]` wrote have in common.

use std::ops::Deref;

use super::OnMissing;
use super::check::{Leaves, resolve};
use super::error::Mistake;
use super::run::Run;
use super::shape::{Named, Shape};
use super::tree::{Node, Tree};
use crate::core::dedup::key::Identity;
use crate::core::dedup::memo::{Memo, Sharing};
use crate::core::error::{MetricError, Result};
use crate::core::interned_names;
use crate::core::metric::{Metric, MetricCall};
use crate::core::score::Scored;
use crate::core::spec::MetricSpec;

/// How a composite makes one score of many.
#[derive(Debug)]
pub struct Plan {
    tree: Result<Tree, Mistake>,
    names: &'static [&'static str],
    on_missing: OnMissing,
    /// Of the components, by number.
    identities: Vec<Option<Identity>>,
    /// What stands in several places of the expression, nested composites included.
    sharing: Option<Sharing>,
}

impl Plan {
    /// The plan of a composite that the compiler has checked; `all` are the identities of the components
    /// and of theirs.
    #[must_use]
    pub fn declared(
        whole: Shape<Named>,
        on_missing: OnMissing,
        identities: Vec<Option<Identity>>,
        all: &[Identity],
    ) -> Self {
        let mut leaves = Leaves::new(on_missing);
        // The compiler held all rules against this expression; were one to be broken still, every row says so.
        let tree = resolve(whole, &mut leaves).map(|(node, _)| Tree::new(node));
        let name = |leaf: &Named| format!("{}{}", leaf.spec.name, leaf.configured);
        let names: Vec<String> = leaves.all.iter().map(name).collect();
        let names = interned_names::kept(names.iter().map(String::as_str));
        Self { tree, names, on_missing, identities, sharing: Sharing::among(all) }
    }

    pub(super) fn checked(
        node: Node,
        names: &'static [&'static str],
        on_missing: OnMissing,
    ) -> Self {
        let tree = Ok(Tree::new(node));
        Self { tree, names, on_missing, identities: Vec::new(), sharing: None }
    }

    pub(super) fn sharing(
        mut self,
        identities: Vec<Option<Identity>>,
        sharing: Option<Sharing>,
    ) -> Self {
        (self.identities, self.sharing) = (identities, sharing);
        self
    }

    fn run<'a, L: Deref>(&'a self, leaves: &'a [L]) -> Run<'a, L> {
        Run::new(leaves, self.names, self.on_missing).sharing(&self.identities)
    }

    /// Where nobody remembers answers for the whole run, the outermost composite does for itself.
    fn memo<G, P>(&self, call: &MetricCall<'_, G, P>) -> Option<Memo> {
        let sharing = self.sharing.as_ref().filter(|_| call.memo.is_none())?;
        Some(sharing.memo(call))
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
        if let Some(memo) = self.memo(&call) {
            return self.now(leaves, call.with_memo(Some(&memo)), name, spec);
        }
        self.run(leaves).now(self.tree(name)?, &call, name, spec)
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
        let memo = self.memo(&call);
        let call = call.with_memo(memo.as_ref());
        self.run(leaves).awaited(self.tree(name)?, call, name, spec).await
    }
}
