//! For each part of the expression, emits the constant that the compiler derives for it, and its rules. A violated rule
//! is a constant whose evaluation fails at the offending token.
//!
//! The file is long because each part of an expression has its own constant and rule.

mod decision;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::Expr;
use syn::ext::IdentExt as _;

use super::context::Context;
use super::{cost, leaves};
use crate::composite::expression::{
    Combination, Component, Expression, Gate, Kind, Part, is_verdict, may_have_a_threshold,
};
use crate::shared::contract::rule;
use crate::shared::number::{is_literal, may_be_a_number};
use crate::shared::tokens::ends;
use crate::shared::values::{cost_msats, number, text};

/// The expansion of an expression.
pub(super) struct Tree {
    /// Aliases, constants and rules.
    pub(super) items: TokenStream,
    /// The constant for the whole expression.
    pub(super) derived: Ident,
    /// The expression as a runtime value.
    pub(super) shape: TokenStream,
}

/// The settings of a judge's builder that are not its parameters.
const SETTINGS: [&str; 3] = ["threshold", "strict", "cost_msats"];

pub(super) fn tree(cx: &Context<'_>) -> Tree {
    let mut writer = Writer {
        cx,
        items: leaves::components(cx),
        constants: 0,
    };
    writer.items.extend(cost::declared(cx));
    let Node { derived, shape } = writer.expression(cx.root);
    writer.fields_are_known();
    writer.settings_are_params();
    writer.settings(&derived);
    Tree {
        items: writer.items,
        derived,
        shape,
    }
}

/// The expansion of a part.
struct Node {
    derived: Ident,
    shape: TokenStream,
}

struct Writer<'a> {
    cx: &'a Context<'a>,
    items: TokenStream,
    constants: usize,
}

impl Writer<'_> {
    fn constant(&mut self, span: Span) -> Ident {
        self.constants += 1;
        format_ident!(
            "__PART{}",
            self.constants,
            span = span.resolved_at(self.cx.span)
        )
    }

    fn derive(&mut self, value: &TokenStream) -> Ident {
        let name = self.constant(self.cx.span);
        let compiled = &self.cx.compiled;
        let item = quote_spanned!(self.cx.span=> static #name: #compiled::Derived = #value;);
        self.items.extend(item);
        name
    }

    /// Emits a number as a constant, so rustc reports an error in it once.
    fn number(&mut self, expr: &Expr) -> Ident {
        let (start, _) = ends(expr);
        let name = self.constant(start);
        let value = number(expr);
        let item = quote_spanned!(self.cx.span=> const #name: __p::f64 = #value;);
        self.items.extend(item);
        name
    }

    /// Emits a constant whose evaluation fails with the message of the rule, if there is one.
    fn rule(&mut self, at: (Span, Span), name: &str, args: &TokenStream) {
        let guard = quote_spanned!(self.cx.span=> __STUB,);
        self.items
            .extend(rule(self.cx.span, at, &guard, name, args));
    }

    fn rule_of(&mut self, part: &Expression, rule: &str, derived: &Ident) {
        let (text, span) = (part.text(), part.span());
        self.rule(
            (span, span),
            rule,
            &quote_spanned!(self.cx.span=> #text, &#derived),
        );
    }

    /// Requires an argument that names a field to be a string literal.
    fn fields_are_known(&mut self) {
        for (index, leaf) in self.cx.leaves.iter().enumerate() {
            for (key, value) in leaf.args.iter().filter(|(_, value)| text(value).is_none()) {
                let (component, key) = (&leaf.text, key.unraw().to_string());
                let index = Literal::usize_unsuffixed(index);
                let args = quote_spanned!(self.cx.span=> #component, &__SPECS[#index], #key);
                self.rule(ends(value), "field_is_known", &args);
            }
        }
    }

    /// Requires an argument to be a parameter if it could also be a setting of a judge, which the rules do not see.
    fn settings_are_params(&mut self) {
        for (index, leaf) in self.cx.leaves.iter().enumerate() {
            for (key, _) in &leaf.args {
                let name = key.unraw().to_string();
                if SETTINGS.contains(&&*name) {
                    let index = Literal::usize_unsuffixed(index);
                    let args = quote_spanned!(self.cx.span=> &__SPECS[#index], #name);
                    self.rule((key.span(), key.span()), "is_param", &args);
                }
            }
        }
    }

    fn expression(&mut self, expression: &Expression) -> Node {
        match expression {
            Expression::Component(component) => self.component(component),
            Expression::Combination(combination) => self.combination(combination),
            Expression::Gate(gate) => self.gate(gate),
            Expression::Decision(decision) => self.decision(decision),
        }
    }

    fn component(&self, component: &Component) -> Node {
        let named = self.named(component);
        Node {
            derived: leaves::derived(self.cx, self.cx.index(component)),
            shape: self.shape(quote_spanned!(self.cx.span=> Leaf(#named)), &[]),
        }
    }

    fn named(&self, component: &Component) -> TokenStream {
        let Context { span, compiled, .. } = self.cx;
        let configured = &component.configured;
        let index = Literal::usize_unsuffixed(self.cx.index(component));
        quote_spanned! {*span=>
            #compiled::Named {
                index: #index,
                configured: #configured,
                spec: &__SPECS[#index],
            }
        }
    }

    fn combination(&mut self, combination: &Combination) -> Node {
        let parts = &combination.parts;
        match combination.kind {
            Kind::Weighted => self.weighted(combination),
            Kind::All => self.verdict("All", "all", parts),
            Kind::Any => self.verdict("Any", "any", parts),
            Kind::Min => self.extreme("Min", "min", parts),
            Kind::Max => self.extreme("Max", "max", parts),
            Kind::Invert => self.invert(parts),
        }
    }

    /// Requires a component to have a range. A combination has one, because its components do.
    fn has_range(&mut self, within: &str, part: &Expression, derived: &Ident) {
        if let Expression::Component(Component { text, span, .. }) = part {
            let args = quote_spanned!(self.cx.span=> #within, #text, &#derived);
            self.rule((*span, *span), "has_range", &args);
        }
    }

    /// Expands the parts of one combinator.
    fn siblings(&mut self, within: &str, parts: &[Part]) -> Vec<Node> {
        let nodes: Vec<Node> = parts
            .iter()
            .map(|part| self.expression(&part.expression))
            .collect();
        for (part, node) in parts.iter().zip(&nodes) {
            self.rule_of(&part.expression, "points_up", &node.derived);
            self.has_range(within, &part.expression, &node.derived);
        }
        self.names_differ(parts);
        nodes
    }

    /// Requires the components of one combinator to be different metrics with different names.
    fn names_differ(&mut self, parts: &[Part]) {
        let components = parts.iter().filter_map(|part| match &part.expression {
            Expression::Component(component) => Some(component),
            _ => None,
        });
        let components: Vec<_> = components.collect();
        for (position, component) in components.iter().enumerate() {
            for before in &components[..position] {
                if before.key().0 == component.key().0 {
                    continue;
                }
                let [one, other] = [component, before].map(|component| {
                    let index = Literal::usize_unsuffixed(self.cx.index(component));
                    let text = &component.text;
                    quote_spanned!(self.cx.span=> #text, &__SPECS[#index])
                });
                let at = (component.span, component.span);
                self.rule(at, "differ", &quote_spanned!(self.cx.span=> #one, #other));
            }
        }
    }

    fn weighted(&mut self, combination: &Combination) -> Node {
        let nodes = self.siblings("weighted", &combination.parts);
        let (mut pairs, mut parts) = (Vec::new(), Vec::new());
        let (mut weights, mut shapes) = (Vec::new(), Vec::new());
        for (part, Node { derived, shape }) in combination.parts.iter().zip(nodes) {
            let Some(weight) = &part.weight else { continue };
            let number = self.number(weight);
            if !is_literal(weight) {
                let text = part.expression.text();
                let args = quote_spanned!(self.cx.span=> #text, #number);
                self.rule(ends(weight), "weight_counts", &args);
            }
            pairs.push(quote_spanned!(self.cx.span=> (#derived, #number)));
            parts.push(derived);
            weights.push(number);
            shapes.push(shape);
        }
        let written = combination
            .parts
            .iter()
            .filter_map(|part| part.weight.as_ref());
        if !written.into_iter().all(is_literal) {
            let at = combination.word.span();
            self.rule(
                (at, at),
                "weights_sum_to_one",
                &quote_spanned!(at=> &[#(#pairs),*]),
            );
        }
        let Context { span, compiled, .. } = self.cx;
        let derived = quote_spanned!(*span=> #compiled::Derived::weighted(&[#(#pairs),*]));
        let derived = self.unless_skipped(derived, &parts);
        let operator = quote_spanned!(*span=> Weighted(#compiled::list([#(#weights),*])));
        Node {
            derived: self.derive(&derived),
            shape: self.shape(operator, &shapes),
        }
    }

    /// Adjusts a combinator's constant, if parts may be skipped.
    fn unless_skipped(&self, derived: TokenStream, parts: &[Ident]) -> TokenStream {
        match &self.cx.attrs.on_missing {
            Some(word) if word == "skip" => {
                quote_spanned!(self.cx.span=> #derived.or_fewer(&[#(#parts),*]))
            }
            _ => derived,
        }
    }

    fn shape(&self, operator: impl ToTokens, parts: &[TokenStream]) -> TokenStream {
        let Context { span, compiled, .. } = self.cx;
        quote_spanned!(*span=> #compiled::Shape::new(#compiled::Operator::#operator, [#(#parts),*]))
    }

    fn verdict(&mut self, combinator: &str, within: &str, parts: &[Part]) -> Node {
        let nodes = self.siblings(within, parts);
        let mut derived = Vec::new();
        let mut shapes = Vec::new();
        for (part, node) in parts.iter().zip(nodes) {
            let node = match &part.threshold {
                Some(threshold) => {
                    let text = part.expression.text();
                    self.at_least(threshold, &format!("of `{text}`"), node)
                }
                None => {
                    self.rule_of(&part.expression, "has_verdict", &node.derived);
                    node
                }
            };
            derived.push(node.derived);
            shapes.push(node.shape);
        }
        let Context { span, compiled, .. } = self.cx;
        let derived = quote_spanned!(*span=> #compiled::Derived::verdict(&[#(#derived),*]));
        Node {
            derived: self.derive(&derived),
            shape: self.shape(Ident::new(combinator, *span), &shapes),
        }
    }

    fn at_least(&mut self, threshold: &Expr, of: &str, node: Node) -> Node {
        let (number, Node { derived, shape }) = (self.number(threshold), node);
        let span = self.cx.span;
        let args = quote_spanned!(span=> "threshold", #of, &#derived, #number);
        self.rule(ends(threshold), "bound_fits", &args);
        let derived = quote_spanned!(span=> #derived.at_least(#number));
        Node {
            derived: self.derive(&derived),
            shape: self.shape(quote_spanned!(span=> AtLeast(#number)), &[shape]),
        }
    }

    fn extreme(&mut self, combinator: &str, derive: &str, parts: &[Part]) -> Node {
        let nodes = self.siblings(derive, parts);
        let (derived, shapes): (Vec<_>, Vec<_>) = nodes
            .into_iter()
            .map(|node| (node.derived, node.shape))
            .unzip();
        let Context { span, compiled, .. } = self.cx;
        let derive = Ident::new(derive, *span);
        let combined = quote_spanned!(*span=> #compiled::Derived::#derive(&[#(#derived),*]));
        let combined = self.unless_skipped(combined, &derived);
        Node {
            derived: self.derive(&combined),
            shape: self.shape(Ident::new(combinator, *span), &shapes),
        }
    }

    fn invert(&mut self, parts: &[Part]) -> Node {
        let node = parts
            .first()
            .map(|part| (part, self.expression(&part.expression)));
        let Some((part, Node { derived, shape })) = node else {
            return Node {
                derived: self.constant(self.cx.span),
                shape: TokenStream::new(),
            };
        };
        self.rule_of(&part.expression, "scores_rows", &derived);
        self.has_range("invert", &part.expression, &derived);
        let span = self.cx.span;
        Node {
            derived: self.derive(&quote_spanned!(span=> #derived.invert())),
            shape: self.shape(quote_spanned!(span=> Invert), &[shape]),
        }
    }

    fn gate(&mut self, gate: &Gate) -> Node {
        let (proxies_derived, mut shapes) = self.half("proxy", &gate.proxies, "is_proxy");
        let (truths_derived, truth_shapes) = self.half("truth", &gate.truths, "is_truth");
        let number = self.number(&gate.threshold);
        let (span, proxies) = (self.cx.span, shapes.len());
        let args = quote_spanned!(span=> "threshold", "of the proxies", &#proxies_derived, #number);
        self.rule(ends(&gate.threshold), "bound_fits", &args);
        shapes.extend(truth_shapes);
        let operator = quote_spanned!(span=> Gate { proxies: #proxies, at_least: #number });
        Node {
            derived: truths_derived,
            shape: self.shape(operator, &shapes),
        }
    }

    /// Expands proxies or truths: returns the constant of their mean, and the parts.
    fn half(&mut self, within: &str, parts: &[Part], rule: &str) -> (Ident, Vec<TokenStream>) {
        let nodes = self.siblings(within, parts);
        for (part, node) in parts.iter().zip(&nodes) {
            self.rule_of(&part.expression, rule, &node.derived);
        }
        let (derived, shapes): (Vec<_>, Vec<_>) = nodes
            .into_iter()
            .map(|node| (node.derived, node.shape))
            .unzip();
        let Context { span, compiled, .. } = self.cx;
        let mean = quote_spanned!(*span=> #compiled::Derived::mean(&[#(#derived),*]));
        let mean = self.unless_skipped(mean, &derived);
        (self.derive(&mean), shapes)
    }

    /// Emits the rules that compare declared settings with derived ones.
    fn settings(&mut self, derived: &Ident) {
        let Context {
            attrs,
            span,
            runtime,
            ..
        } = self.cx;
        if let Some(tier) = attrs.tier.as_ref().filter(|tier| *tier == "proxy") {
            let args = quote_spanned!(*span=> #runtime::__private::MetricTier::Proxy, &#derived);
            self.rule((tier.span(), tier.span()), "tier_is_high_enough", &args);
        }
        if let Some(budget) = &attrs.budget
            && let Ok(msats) = cost_msats("budget", &budget.value())
        {
            let msats = Literal::u64_unsuffixed(msats);
            let args = quote_spanned!(*span=> #msats, __COST);
            self.rule((budget.span(), budget.span()), "is_within_budget", &args);
        }
        // Errors visible in the tokens are already reported.
        let is_verdict = is_verdict(self.cx.root);
        if let Some(threshold) = attrs.threshold.as_ref().filter(|it| may_be_a_number(it)) {
            let number = self.number(threshold);
            if !is_verdict {
                let args = quote_spanned!(*span=> "threshold", &#derived);
                self.rule(ends(threshold), "takes_threshold", &args);
            }
            let args = quote_spanned!(*span=> "threshold", "of the composite", &#derived, #number);
            self.rule(ends(threshold), "bound_fits", &args);
        }
        if let Some(strict) = attrs.strict.filter(|_| !is_verdict) {
            let args = quote_spanned!(*span=> "strict", &#derived);
            self.rule((strict, strict), "takes_threshold", &args);
            if !attrs.mentions_threshold() && may_have_a_threshold(self.cx.root) {
                self.rule(
                    (strict, strict),
                    "has_threshold",
                    &quote_spanned!(*span=> &#derived),
                );
            }
        }
    }
}

/// Returns the declared threshold as an `Option`.
pub(super) fn threshold(cx: &Context<'_>) -> TokenStream {
    match &cx.attrs.threshold {
        Some(threshold) => {
            let number = number(threshold);
            quote_spanned!(cx.span=> __p::Some(#number))
        }
        None => quote_spanned!(cx.span=> __p::None),
    }
}
