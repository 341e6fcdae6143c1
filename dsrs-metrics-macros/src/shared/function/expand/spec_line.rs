//! The last line of the struct's documentation: tier, kind, range, direction, threshold, cost and fields, in the words
//! of `MetricSpec::properties`, which `list` prints. A macro sees only tokens, so constants appear as written.

use quote::ToTokens as _;
use syn::{Expr, GenericArgument, PathArguments, Type};

use super::context::Context;
use crate::shared::tokens::as_written;
use crate::shared::types::{integer_name, ungrouped};
use crate::shared::values::{bounds, cost_msats, literal};

pub(super) fn spec_line(cx: &Context<'_>) -> String {
    let attrs = &cx.model.attrs;
    let tier = attrs
        .tier
        .as_ref()
        .filter(|tier| *tier == "truth")
        .map_or("proxy", |_| "truth");
    let kind = match attrs.corpus {
        Some(_) => Some("one score for all rows"),
        None => cx.model.output().and_then(kind),
    };
    let mut line = kind.map_or_else(|| tier.to_owned(), |kind| format!("{tier}, {kind}"));
    if let Some((min, max)) = attrs.range.as_ref().and_then(bounds) {
        let separator = if kind.is_some() { " in" } else { ", in" };
        line.push_str(&format!("{separator} {}..={}", shown(min), shown(max)));
    }
    // A strict score is 1 or 0, regardless of the number's direction.
    line.push_str(
        match attrs.lower_is_better.is_some() && attrs.strict.is_none() {
            true => ", lower is better",
            false => ", higher is better",
        },
    );
    if let Some(threshold) = &attrs.threshold {
        line.push_str(&format!(", threshold {}", shown(threshold)));
    }
    if attrs.strict.is_some() {
        line.push_str(", strict");
    }
    let cost = attrs
        .cost
        .as_ref()
        .and_then(|cost| cost_msats("cost", &cost.value()).ok());
    match cost.filter(|cost| *cost > 0) {
        Some(cost) => line.push_str(&format!(", {cost} msat a row")),
        None => line.push_str(", free"),
    }
    line + &fields(cx)
}

/// Returns the fields that the metric reads, without duplicates.
fn fields(cx: &Context<'_>) -> String {
    let mut names: Vec<String> = Vec::new();
    for field in &cx.fields {
        let name = format!("`{}.{}`", field.side.name(), field.field.name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        String::new()
    } else {
        format!("; reads {}", names.join(", "))
    }
}

/// Returns a number as `list` prints it, or a constant as written.
fn shown(number: &Expr) -> String {
    literal(number).map_or_else(
        || format!("`{}`", as_written(number)),
        |number| format!("{number:?}"),
    )
}

/// Returns the kind of the score, if the return type shows it.
fn kind(ty: &Type) -> Option<&'static str> {
    const NUMBERS: [&str; 6] = [
        "f64",
        "f32",
        "MetricScore",
        "FeedbackMetric",
        "Scores",
        "Breakdown",
    ];
    const WRAPPERS: [&str; 5] = ["Result", "Option", "Judged", "WithCorpus", "Explained"];
    let Type::Path(path) = ungrouped(ty) else {
        return None;
    };
    let last = path.path.segments.last()?;
    let name = last.ident.to_token_stream().to_string();
    match (&last.arguments, &*name) {
        (PathArguments::None, "bool" | "Check") => Some("bool"),
        (PathArguments::None, name) if NUMBERS.contains(&name) => Some("number"),
        (PathArguments::None, _) => integer_name(ty).map(|_| "number"),
        (PathArguments::AngleBracketed(arguments), name) if WRAPPERS.contains(&name) => {
            match arguments.args.first() {
                Some(GenericArgument::Type(inner)) => kind(inner),
                _ => None,
            }
        }
        _ => None,
    }
}
