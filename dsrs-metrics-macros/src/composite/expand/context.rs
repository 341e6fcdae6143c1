//! A composite with the names that its expansion uses.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};

use crate::composite::attr::CompositeAttrs;
use crate::composite::expression::{Component, Expression, Target, parts_of};
use crate::composite::item::Item;
use crate::shared::contract::{Paths, short, short_private};
use crate::shared::settings::Settings;

/// A composite and the names that its expansion uses.
pub(super) struct Context<'a> {
    pub(super) item: &'a Item,
    pub(super) attrs: &'a Settings,
    pub(super) root: &'a Expression,
    pub(super) span: Span,
    pub(super) ident: &'a Ident,
    pub(super) runtime: TokenStream,
    pub(super) private: TokenStream,
    /// The path to the items of the runtime crate that only composites use.
    pub(super) compiled: TokenStream,
    /// The distinct components, in the order of the expression.
    pub(super) leaves: Vec<&'a Component>,
    /// The components on each path through the expression, if it has a decision tree.
    pub(super) paths: Option<Vec<BTreeSet<usize>>>,
    /// The fingerprint of the expression.
    pub(super) code: u64,
}

impl<'a> Context<'a> {
    pub(super) fn new(item: &'a Item, attrs: &'a CompositeAttrs, root: &'a Expression) -> Self {
        let CompositeAttrs {
            settings: attrs,
            code,
            ..
        } = attrs;
        let span = item.ident().span();
        let leaves = leaves(root);
        let paths = has_tree(root).then(|| paths(root, &leaves));
        let (runtime, private) = (short(span), short_private(span));
        Self {
            item,
            attrs,
            root,
            span,
            ident: item.ident(),
            compiled: quote_spanned!(span=> #private::compiled),
            private,
            runtime,
            leaves,
            paths,
            code: *code,
        }
    }

    pub(super) fn paths(&self) -> Paths<'_> {
        Paths {
            span: self.span,
            runtime: &self.runtime,
            private: &self.private,
        }
    }

    /// Returns the index of a component.
    pub(super) fn index(&self, component: &Component) -> usize {
        index(&self.leaves, component)
    }

    /// Returns the alias of a component's type.
    pub(super) fn alias(&self, index: usize) -> Ident {
        let span = self.leaves.get(index).map_or(self.span, |leaf| leaf.span);
        format_ident!("__Component{index}", span = span.resolved_at(self.span))
    }
}

fn leaves(root: &Expression) -> Vec<&Component> {
    let mut found = Vec::new();
    collect(root, &mut found);
    found
}

fn collect<'a>(expression: &'a Expression, found: &mut Vec<&'a Component>) {
    if let Expression::Component(component) = expression
        && !found
            .iter()
            .any(|known: &&Component| known.key() == component.key())
    {
        found.push(component);
    }
    parts_of(expression).for_each(|part| collect(&part.expression, found));
}

fn index(leaves: &[&Component], component: &Component) -> usize {
    leaves
        .iter()
        .position(|leaf| leaf.key() == component.key())
        .unwrap_or_default()
}

fn has_tree(expression: &Expression) -> bool {
    matches!(expression, Expression::Decision(_))
        || parts_of(expression).any(|part| has_tree(&part.expression))
}

/// The maximum number of paths that are counted separately to compute a composite's cost. If there are more, the cost
/// covers the components of all paths together.
const MAX_PATHS: usize = 1 << 10;

/// Returns the components that are evaluated on each path through an expression: one path for each leaf of a decision
/// tree.
fn paths(expression: &Expression, leaves: &[&Component]) -> Vec<BTreeSet<usize>> {
    match expression {
        Expression::Component(component) => vec![BTreeSet::from([index(leaves, component)])],
        Expression::Decision(decision) => {
            let node: BTreeSet<usize> = decision
                .node()
                .map(|node| index(leaves, node))
                .into_iter()
                .collect();
            let ends = decision.branches.iter().flat_map(|branch| match branch.to {
                Target::Score(_) => vec![BTreeSet::new()],
                Target::Part(part) => paths(&decision.parts[part].expression, leaves),
            });
            ends.map(|end| &node | &end).collect()
        }
        _ => {
            let parts = parts_of(expression).map(|part| paths(&part.expression, leaves));
            parts.fold(vec![BTreeSet::new()], |before, part| {
                let both = before
                    .iter()
                    .flat_map(|path| part.iter().map(move |it| path | it));
                if before.len() * part.len() > MAX_PATHS {
                    return vec![before.iter().chain(&part).flatten().copied().collect()];
                }
                both.collect()
            })
        }
    }
}
