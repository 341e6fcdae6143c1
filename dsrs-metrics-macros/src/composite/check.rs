//! The rules of composites that can be checked on tokens. Rules that need the components' specs are
//! checked in the constants of `expand/tree.rs`.

use std::collections::BTreeSet;

use super::attr::CompositeAttrs;
use super::attr::equally_weighted;
use super::decision;
use super::expression::{
    Combination, Expression, Gate, Kind, Part, is_verdict, may_have_a_threshold, parts_of,
};
use super::item::Item;
use crate::shared::errors::Errors;
use crate::shared::names;
use crate::shared::settings::Settings;
use crate::shared::tokens::as_written;
use crate::shared::values::{check_threshold, check_tier, check_version, cost_msats, literal};

/// The tolerance for the sum of weights, the same as in the runtime crate.
const WEIGHT_TOLERANCE: f64 = 1e-9;

pub(super) fn check(item: &Item, attrs: &CompositeAttrs, errors: &mut Errors) {
    if !attrs.has_root && matches!(item.item.fields, syn::Fields::Unit) {
        let message = format!(
            "the composite `{}` has no components; write `#[metric(weighted(first = 0.5, second = 0.5))]`, or another combinator",
            item.ident()
        );
        errors.at(item.ident(), message);
    }
    check_name(item, &attrs.settings, errors);
    check_values(&attrs.settings, errors);
    if let Some(root) = &attrs.root {
        check_verdict(root, &attrs.settings, errors);
        check_self_reference(root, item.ident(), errors);
        expression(root, errors);
    }
}

fn check_name(item: &Item, attrs: &Settings, errors: &mut Errors) {
    if let Some(path) = &attrs.krate {
        names::check_crate_path(path, errors);
    }
    match &attrs.name {
        Some(name) if !names::is_snake(&name.value()) => {
            let snake = names::suggested_snake(&name.value());
            errors.at(
                name,
                names::not_in_snake_case(
                    "metric",
                    &name.value(),
                    &format!("write `name = \"{snake}\"`"),
                ),
            );
        }
        None if !names::is_snake(&names::lower_snake(&item.ident().to_string())) => {
            let found = names::lower_snake(&item.ident().to_string());
            let write = "rename the struct, or write `name = \"exact_match\"`";
            errors.at(
                item.ident(),
                names::not_in_snake_case("metric", &found, write),
            );
        }
        _ => {}
    }
}

fn check_values(attrs: &Settings, errors: &mut Errors) {
    if let Some(tier) = &attrs.tier {
        check_tier(tier, errors);
    }
    if let Some(budget) = &attrs.budget
        && let Err(message) = cost_msats("budget", &budget.value())
    {
        errors.at(budget, message);
    }
    if let Some(threshold) = &attrs.threshold {
        check_threshold(threshold, errors);
    }
    if let Some(version) = &attrs.version {
        check_version(version, errors);
    }
    if let Some(word) = &attrs.on_missing
        && !["fail", "skip", "zero"].contains(&word.to_string().as_str())
    {
        errors.at(word, format!("expected `fail` (the composite fails), `skip` (the component is left out) or `zero` (it counts with its lowest score), found `{word}`"));
    }
}

fn check_verdict(root: &Expression, attrs: &Settings, errors: &mut Errors) {
    let message = |key: &str| {
        format!(
            "`{key}` is not supported for `{}`, which returns a `bool`; remove it",
            root.text()
        )
    };
    if is_verdict(root) {
        if let Some(threshold) = &attrs.threshold {
            errors.at(threshold, message("threshold"));
        }
        if let Some(span) = attrs.strict {
            errors.at_span(span, message("strict"));
        }
    } else if let (Some(span), false, false) = (
        attrs.strict,
        attrs.mentions_threshold(),
        may_have_a_threshold(root),
    ) {
        errors.at_span(span, "`strict` requires a threshold; add `threshold = 0.5`");
    }
}

/// Reports a composite that contains itself, because rustc would only report a cycle.
fn check_self_reference(root: &Expression, ident: &syn::Ident, errors: &mut Errors) {
    if let Expression::Component(component) = root
        && component.ty.is_ident(ident)
    {
        let message = format!("`{ident}` cannot be a component of itself; write other metrics");
        errors.at_span(component.span, message);
    }
    parts_of(root).for_each(|part| check_self_reference(&part.expression, ident, errors));
}

fn expression(root: &Expression, errors: &mut Errors) {
    match root {
        Expression::Component(_) => {}
        Expression::Combination(combination) => match combination.kind {
            Kind::Weighted => {
                weighted(combination, errors);
                check_unique("weighted", &combination.parts, errors);
            }
            Kind::All | Kind::Any => {
                reject_weights(&combination.word.to_string(), &combination.parts, errors);
                check_unique(&combination.word.to_string(), &combination.parts, errors);
            }
            Kind::Min | Kind::Max => {
                reject_weights_and_thresholds(
                    &combination.word.to_string(),
                    &combination.parts,
                    errors,
                );
            }
            Kind::Invert => inverted(combination, errors),
        },
        Expression::Gate(Gate {
            proxies, truths, ..
        }) => {
            reject_weights_and_thresholds("proxy", proxies, errors);
            reject_weights_and_thresholds("truth", truths, errors);
        }
        Expression::Decision(decision) => decision::check(decision, errors),
    }
    parts_of(root).for_each(|part| expression(&part.expression, errors));
}

/// Rejects weights and thresholds in a combinator that uses only the scores of its parts.
fn reject_weights_and_thresholds(within: &str, parts: &[Part], errors: &mut Errors) {
    reject_weights(within, parts, errors);
    reject_thresholds(within, parts, errors);
    check_unique(within, parts, errors);
}

fn reject_weights(within: &str, parts: &[Part], errors: &mut Errors) {
    for part in parts {
        if let Some(weight) = &part.weight {
            let (text, written) = (part.expression.text(), as_written(weight));
            let write = match within {
                "all" | "any" => format!("write `{text} >= {written}`, or `weighted(..)`"),
                _ => format!("write `{text}` alone, or `weighted(..)`"),
            };
            errors.at(
                weight,
                format!("weights are not supported in `{within}`; {write}"),
            );
        }
    }
}

fn reject_thresholds(within: &str, parts: &[Part], errors: &mut Errors) {
    for part in parts {
        if let Some(threshold) = &part.threshold {
            let text = part.expression.text();
            errors.at(threshold, format!("thresholds are not supported in `{within}`, which uses the score of `{text}`; write `{text}` alone"));
        }
    }
}

/// Reports a component that is used twice in one combinator.
fn check_unique(within: &str, parts: &[Part], errors: &mut Errors) {
    let mut seen = BTreeSet::new();
    for part in parts {
        if let Expression::Component(component) = &part.expression
            && !seen.insert(component.key())
        {
            let text = &component.text;
            errors.at_span(
                component.span,
                format!("duplicate component `{text}` in `{within}`; write it once"),
            );
        }
    }
}

fn inverted(combination: &Combination, errors: &mut Errors) {
    let [part] = &combination.parts[..] else {
        let message = "`invert` takes one metric; write `invert(..)` for each";
        return errors.at(&combination.word, message);
    };
    reject_weights("invert", std::slice::from_ref(part), errors);
    if let Some(threshold) = &part.threshold {
        let (text, written) = (part.expression.text(), as_written(threshold));
        errors.at(
            threshold,
            format!("unexpected threshold inside `invert`; write `invert({text}) >= {written}`"),
        );
    }
}

fn weighted(combination: &Combination, errors: &mut Errors) {
    let parts = &combination.parts;
    reject_thresholds("weighted", parts, errors);
    let unweighted: Vec<&Part> = parts.iter().filter(|part| part.weight.is_none()).collect();
    let rest = remaining_weight(parts).filter(|_| combination.is_complete);
    if unweighted.len() == parts.len() && parts.len() > 1 && combination.is_complete {
        let texts: Vec<String> = parts.iter().map(|part| part.expression.text()).collect();
        let write = equally_weighted(&texts);
        return errors.at(
            &combination.word,
            format!("missing weights; write `{write}`"),
        );
    }
    for part in &unweighted {
        let text = part.expression.text();
        let weight = rest.filter(|_| unweighted.len() == 1).unwrap_or(0.5);
        let message = format!("missing weight for `{text}`; write `{text} = {weight:?}`");
        errors.at_span(part.expression.span(), message);
    }
    let mut all_make_sense = combination.is_complete && unweighted.is_empty();
    for part in parts {
        if let Some(weight) = &part.weight
            && literal(weight).is_some_and(|value| value < 0.0)
        {
            all_make_sense = false;
            let (text, written) = (part.expression.text(), as_written(weight));
            errors.at(weight, format!("expected a non-negative weight for `{text}`, found {written}; write 0 or a positive number, or `invert({text})` to invert the score"));
        }
    }
    let weights = parts
        .iter()
        .map(|part| part.weight.as_ref().and_then(literal));
    if let (true, Some(weights)) = (all_make_sense, weights.collect::<Option<Vec<f64>>>())
        && let Some(message) = weight_sum_error(weights)
    {
        errors.at(&combination.word, message);
    }
}

/// Returns how much weight is missing from 1, if any.
fn remaining_weight(parts: &[Part]) -> Option<f64> {
    let given = parts
        .iter()
        .filter_map(|part| part.weight.as_ref())
        .map(literal);
    let rest = rounded(1.0 - given.sum::<Option<f64>>()?);
    (rest > 0.0).then_some(rest)
}

/// Rounds to twelve decimals, to show 0.1 + 0.2 + 0.65 as 0.95.
fn rounded(value: f64) -> f64 {
    (value * 1e12).round() / 1e12
}

fn weight_sum_error(mut weights: Vec<f64>) -> Option<String> {
    weights.sort_unstable_by(f64::total_cmp);
    let sum: f64 = weights.iter().sum();
    if (sum - 1.0).abs() <= WEIGHT_TOLERANCE {
        return None;
    }
    let gap = rounded((sum - 1.0).abs());
    let change = if sum < 1.0 { "add" } else { "remove" };
    let found = format!("the weights sum to {:?}; they must sum to 1", rounded(sum));
    Some(match rounded(sum) {
        100.0 => {
            format!("{found}: write fractions instead of percentages, such as `= 0.25` for 25")
        }
        _ => format!("{found}: {change} {gap:?}"),
    })
}
