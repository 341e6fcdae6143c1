//! Expands a node of a decision tree with its branches, and their rules: a branch for each answer, and no others.

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use syn::ext::IdentExt as _;

use super::{Node, Writer};
use crate::composite::expression::{Branch, Component, Decision, Target};
use crate::shared::names;
use crate::shared::number::is_literal;
use crate::shared::tokens::ends;

impl Writer<'_> {
    pub(super) fn decision(&mut self, decision: &Decision) -> Node {
        let (Some(node), Some(part)) = (decision.node(), decision.parts.first()) else {
            return Node {
                derived: self.constant(self.cx.span),
                shape: TokenStream::new(),
            };
        };
        let (span, compiled) = (self.cx.span, self.cx.compiled.clone());
        let known = self.component(node).derived;
        self.rule_of(&part.expression, "scores_rows", &known);
        if decision.is_yes_or_no() {
            self.rule_of(&part.expression, "is_yes_or_no", &known);
        }
        let targets: Vec<Node> = decision
            .branches
            .iter()
            .map(|branch| self.target(decision, branch))
            .collect();
        let (derived, shapes): (Vec<_>, Vec<_>) = targets
            .into_iter()
            .map(|target| (target.derived, target.shape))
            .unzip();
        let answers = decision.branches.iter().map(|branch| {
            let answers = branch
                .answers
                .iter()
                .map(|answer| answer.unraw().to_string());
            quote_spanned!(span=> &[#(#answers),*])
        });
        let (named, reads) = (self.named(node), self.reads(decision, node));
        let operator = quote_spanned! {span=>
            Decision(#compiled::Decision {
                node: #named,
                reads: #reads,
                answers: #compiled::list([#(#answers),*]),
            })
        };
        let shape = self.shape(operator, &shapes);
        let derived =
            quote_spanned!(span=> #compiled::Derived::decision(&#known, &[#(#derived),*]));
        let derived = self.derive(&derived);
        if decision.is_root && decision.is_complete && decision.answers().count() > 1 {
            let at = (decision.span, decision.span);
            self.rule(at, "scores_differ", &quote_spanned!(span=> &#derived));
        }
        Node { derived, shape }
    }

    /// Expands what a branch leads to.
    fn target(&mut self, decision: &Decision, branch: &Branch) -> Node {
        let (span, compiled) = (self.cx.span, self.cx.compiled.clone());
        match &branch.to {
            Target::Score(score) => {
                let number = self.number(score);
                if let (false, Some(answer)) = (is_literal(score), branch.answers.first()) {
                    let answer = answer.unraw().to_string();
                    let args = quote_spanned!(span=> #answer, #number);
                    self.rule(ends(score), "score_is_finite", &args);
                }
                let derived = quote_spanned!(span=> #compiled::Derived::constant(#number));
                Node {
                    derived: self.derive(&derived),
                    shape: self.shape(quote_spanned!(span=> Number(#number)), &[]),
                }
            }
            Target::Part(index) => {
                let expression = &decision.parts[*index].expression;
                let node = self.expression(expression);
                self.rule_of(expression, "points_up", &node.derived);
                self.has_range("tree", expression, &node.derived);
                node
            }
        }
    }

    /// Emits how a node's answer is read, and the rules for its branches.
    fn reads(&mut self, decision: &Decision, node: &Component) -> Ident {
        let Self { cx, .. } = self;
        let (span, compiled) = (cx.span, cx.compiled.clone());
        let at = node.span.resolved_at(span);
        let alias = cx.alias(cx.index(node));
        let value = match decision.is_yes_or_no() {
            true => quote_spanned!(span=> #compiled::Reads::Bool),
            false => {
                let runtime = names::runtime_at(cx.attrs.krate.as_ref(), at, span);
                quote_spanned!(at=> #runtime::__private::compiled::Reads::of::<#alias>())
            }
        };
        let reads = self.constant(span);
        self.items
            .extend(quote_spanned!(span=> const #reads: #compiled::Reads = #value;));
        if decision.is_yes_or_no() {
            return reads;
        }
        let text = &node.text;
        for answer in decision.answers() {
            let branch = answer.unraw().to_string();
            let args = quote_spanned!(span=> #text, #branch, &#reads);
            self.rule((answer.span(), answer.span()), "is_answer", &args);
        }
        if decision.is_complete {
            let branches = decision.answers().map(|answer| answer.unraw().to_string());
            let args = quote_spanned!(span=> #text, &[#(#branches),*], &#reads);
            self.rule((node.span, node.span), "branches_are_complete", &args);
        }
        reads
    }
}
