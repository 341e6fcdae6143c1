//! The rules on the metrics' specs, as constants.

use std::collections::BTreeSet;

use proc_macro2::{Literal, TokenStream};
use quote::quote_spanned;

use super::expand::Context;
use super::gate::{End, Gate, Kind};
use super::metrics::Value;
use crate::shared::contract::rule;
use crate::shared::names;
use crate::shared::tokens::{as_written, ends};
use crate::shared::values::{cost_msats, number};

impl Context<'_> {
    /// Emits the specs of the metrics whose types the tokens name, and the rules on them.
    pub(super) fn rules(&self, cfgs: &TokenStream) -> TokenStream {
        let Self { span, private, .. } = self;
        let known: Vec<_> = self
            .metrics()
            .iter()
            .filter(|metric| metric.ty.is_some())
            .collect();
        let specs = known.iter().map(|metric| {
            let (ty, span) = (&metric.ty, metric.span);
            let runtime = names::runtime_at(self.attrs.settings.krate.as_ref(), span, self.span);
            quote_spanned!(span=> <#ty as #runtime::Declared>::SPEC)
        });
        // An expression may set a different threshold or cost than its type's spec.
        let is_default = known
            .iter()
            .map(|metric| matches!(metric.value, Value::Default));
        let is_complete = known.len() == self.metrics().len();
        let mut rules = TokenStream::new();
        let mut listed = BTreeSet::new();
        for gate in self.gates() {
            self.rules_of(gate, is_complete, &mut listed, &mut rules);
        }
        let samples = self.metrics().iter().filter_map(|it| it.sample.as_ref());
        for by in samples.filter_map(|sample| sample.by.as_ref()) {
            let name = by.to_string();
            if is_complete && listed.insert(name.clone()) {
                let args = quote_spanned!(*span=> __SPECS, #name);
                let at = (by.span(), by.span());
                rules.extend(rule(*span, at, &TokenStream::new(), "is_listed", &args));
            }
        }
        if let Some(budget) = &self.attrs.settings.budget {
            let repeats = self
                .attrs
                .repeats
                .as_ref()
                .and_then(|it| it.base10_parse::<u64>().ok());
            let repeats = Literal::u64_unsuffixed(repeats.unwrap_or(1));
            let msats = cost_msats("budget", &budget.value()).unwrap_or(u64::MAX);
            let msats = Literal::u64_unsuffixed(msats);
            let args = quote_spanned!(*span=> __SPECS, __DEFAULT, #repeats, #msats);
            rules.extend(rule(
                *span,
                (budget.span(), budget.span()),
                &TokenStream::new(),
                "budget_covers",
                &args,
            ));
        }
        quote_spanned! {*span=>
            #cfgs
            #[allow(deprecated, unused, clippy::all)]
            const _: () = {
                use #private::gates as __rules;
                const __SPECS: &[#private::MetricSpec<'static>] = __rules::known(&[#(#specs),*]);
                const __DEFAULT: &[::core::primitive::bool] = &[#(#is_default),*];
                #rules
            };
        }
    }

    fn rules_of(
        &self,
        gate: &Gate,
        is_complete: bool,
        listed: &mut BTreeSet<String>,
        rules: &mut TokenStream,
    ) {
        if let Kind::Each { gate, .. } = &gate.kind {
            return self.rules_of(gate, is_complete, listed, rules);
        }
        let Some(metric) = gate.metric() else { return };
        let none = TokenStream::new();
        let (span, name, at) = (
            self.span,
            metric.to_string(),
            (metric.span(), metric.span()),
        );
        if is_complete && listed.insert(name.clone()) {
            let args = quote_spanned!(span=> __SPECS, #name);
            rules.extend(rule(span, at, &none, "is_listed", &args));
        }
        match &gate.kind {
            Kind::Score {
                end,
                operator,
                bound,
                ..
            } => {
                let (is_at_least, text, value) =
                    (operator.is_at_least, as_written(bound), number(bound));
                let end = match end {
                    End::Estimate => "",
                    End::Lower => "lower",
                    End::Upper => "upper",
                };
                let args = quote_spanned!(span=> __SPECS, #name, #end, #is_at_least, #value, #text);
                let (_, last) = ends(bound);
                rules.extend(rule(
                    span,
                    (operator.span, last),
                    &none,
                    "bound_fits",
                    &args,
                ));
            }
            Kind::NoWorse { by, .. } => {
                let value = number(by);
                let args = quote_spanned!(span=> __SPECS, #name, #value);
                rules.extend(rule(span, ends(by), &none, "margin_fits", &args));
            }
            Kind::PassedAt { .. } => {
                let args = quote_spanned!(span=> __SPECS, __DEFAULT, #name);
                rules.extend(rule(span, at, &none, "has_verdict", &args));
            }
            Kind::Better { .. } | Kind::Limited { .. } | Kind::Each { .. } => {}
        }
    }
}
