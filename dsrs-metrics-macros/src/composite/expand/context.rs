//! A composite with the names that its expansion uses.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};

use crate::composite::expression::{Component, Expression, parts_of};
use crate::composite::item::Item;
use crate::shared::contract::Paths;
use crate::shared::names;
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
    /// The path of the items of the runtime crate that only composites use.
    pub(super) compiled: TokenStream,
    /// The distinct components, in the order of the expression.
    pub(super) leaves: Vec<&'a Component>,
}

impl<'a> Context<'a> {
    pub(super) fn new(item: &'a Item, attrs: &'a Settings, root: &'a Expression) -> Self {
        let span = item.ident().span();
        let runtime = names::runtime(attrs.krate.as_ref(), span);
        Self {
            item,
            attrs,
            root,
            span,
            ident: item.ident(),
            private: quote_spanned!(span=> #runtime::__private),
            compiled: quote_spanned!(span=> #runtime::__private::compiled),
            runtime,
            leaves: leaves(root),
        }
    }

    pub(super) fn paths(&self) -> Paths<'_> {
        Paths { span: self.span, runtime: &self.runtime, private: &self.private }
    }

    /// Returns the index of a component.
    pub(super) fn index(&self, component: &Component) -> usize {
        self.leaves.iter().position(|leaf| leaf.key() == component.key()).unwrap_or_default()
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
        && !found.iter().any(|known: &&Component| known.key() == component.key())
    {
        found.push(component);
    }
    parts_of(expression).for_each(|part| collect(&part.expression, found));
}
