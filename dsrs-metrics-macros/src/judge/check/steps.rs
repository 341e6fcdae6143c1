//! The rules of steps, and of outputs with an item for each item of a list.

use proc_macro2::Ident;
use syn::ext::IdentExt as _;

use super::panel::check_at_least_one;
use crate::judge::field::{From, Source};
use crate::judge::model::{Judge, Output, is_abstain, is_list};
use crate::shared::errors::Errors;
use crate::shared::names;
use crate::shared::tokens::as_written;
use crate::shared::values::{check_score as check_constant, cost_msats};

pub(super) fn check(judge: &Judge, errors: &mut Errors) {
    for (index, step) in judge.steps.iter().enumerate() {
        check_step(judge, index, step, errors);
        check_each(judge, index, step, errors);
        check_cites(judge, index, step, errors);
    }
    for output in &judge.outputs {
        check_each(judge, judge.steps.len(), output, errors);
        check_cites(judge, judge.steps.len(), output, errors);
    }
    check_costs(judge, errors);
    if let Some(offline) = &judge.attrs.offline
        && judge.answered().any(|output| output.attr.from.is_some() || output.attr.each.is_some())
    {
        errors
            .at(offline, "`offline` is not supported for a judge with steps or `each`; remove it");
    }
}

fn check_step(judge: &Judge, index: usize, step: &Output, errors: &mut Errors) {
    let name = &step.field.ident;
    if step.field.docs.is_empty() {
        errors.at(name, format!("missing instruction of the step `{name}`; write what to answer as the doc comment of the field"));
    }
    let Some(From { span, names }) = &step.attr.from else { return };
    if names.is_empty() {
        let readable = readable(judge, index).join("`, `");
        errors.at_span(*span, format!("missing fields that the step `{name}` reads; write `#[step(from(..))]` with some of `{readable}`"));
    }
    for (at, read) in names.iter().enumerate() {
        if names[..at].contains(read) {
            errors.at(read, format!("duplicate `{read}`; keep one"));
        } else {
            check_read(judge, index, read, errors);
        }
    }
    if let Some(limit) = &step.attr.max_items {
        let message = "`max_items` must be at least 1, found 0; write `max_items = 100`";
        check_at_least_one(limit, message, errors);
        if !is_list(&step.field.ty) || step.attr.each.is_some() {
            errors.at(limit, "`max_items` is supported for a list without `each` only; remove it");
        }
    }
}

/// Returns the names of the fields that the step at `index` can read.
fn readable(judge: &Judge, index: usize) -> Vec<String> {
    let inputs = judge.inputs.iter().filter(|input| input.attr.source != Some(Source::Param));
    let steps = judge.steps[..index].iter().map(|step| step.field.name());
    inputs.map(|input| input.field.name()).chain(steps).collect()
}

/// Reports a field that the step at `index` cannot read.
fn check_read(judge: &Judge, index: usize, read: &Ident, errors: &mut Errors) {
    let text = read.unraw().to_string();
    let readable = readable(judge, index);
    if readable.contains(&text) {
        return;
    }
    if judge.has_param(&text) {
        errors.at(read, format!("`{text}` is a parameter, which every call has; remove it"));
        return;
    }
    let later = judge.steps[index.min(judge.steps.len())..].iter();
    if later.clone().take(1).any(|step| step.field.ident == *read) {
        errors.at(read, format!("the step reads itself; remove `{text}`"));
    } else if later.clone().any(|step| step.field.ident == *read) {
        errors.at(read, format!("`{text}` is a later step; move its field before this one"));
    } else if judge.outputs.iter().any(|output| output.field.ident == *read) {
        errors.at(read, format!("`{text}` is answered by the last call; make it a `#[step(from(..))]` before this one"));
    } else {
        let near = names::nearest(&text, &readable.iter().map(String::as_str).collect::<Vec<_>>());
        errors.at(
            read,
            match near {
                Some(near) => {
                    format!("no input or earlier step is named `{text}`; did you mean `{near}`?")
                }
                None => format!(
                    "no input or earlier step is named `{text}`; write one of `{}`",
                    readable.join("`, `")
                ),
            },
        );
    }
}

/// Checks `each` and `empty` of the output of a step, or of an output of the last call if `index` is the number of steps.
fn check_each(judge: &Judge, index: usize, output: &Output, errors: &mut Errors) {
    let attr = &output.attr;
    let Some(list) = &attr.each else {
        if let Some(empty) = &attr.empty {
            errors.at(empty, "`empty` requires `each`; write `each = ..` with the name of a list, or remove `empty`");
        }
        return;
    };
    if !is_list(&output.field.ty) {
        let found = as_written(&output.field.ty);
        errors.at(&output.field.ty, format!("expected a list, since `each` has one item for each item of `{list}`, found `{found}`; write `Vec<{found}>`"));
    }
    check_listed(judge, index, "each", (output, list), errors);
    match &attr.empty {
        None => errors.at(list, format!("missing score of a row without `{list}`; write `empty = 1.0`, another score, or `empty = abstain`")),
        Some(empty) if !is_abstain(empty) => {
            check_constant("empty", empty, judge.attrs.metric.range.as_ref(), errors);
        }
        Some(_) => {}
    }
}

/// Checks the list whose items the items of an output name by number.
fn check_cites(judge: &Judge, index: usize, output: &Output, errors: &mut Errors) {
    let Some(list) = &output.attr.cites else { return };
    if output.attr.each.is_none() {
        errors.at(list, "`cites` requires `each`; write `each = ..` with the list that has an item for each verdict");
    }
    check_listed(judge, index, "cites", (output, list), errors);
}

/// Checks that a key of an output names a list that its call reads.
fn check_listed(
    judge: &Judge,
    index: usize,
    key: &str,
    (output, list): (&Output, &Ident),
    errors: &mut Errors,
) {
    let unread = |from: &From| !from.names.is_empty() && !from.names.contains(list);
    let inputs = judge.inputs.iter().map(|input| &input.field);
    let mut fields = inputs.chain(judge.answered().map(|answered| &answered.field));
    let of = fields.find(|field| field.ident == *list);
    if !readable(judge, index).contains(&list.unraw().to_string()) {
        check_read(judge, index, list, errors);
    } else if let Some(field) = of.filter(|field| !is_list(&field.ty)) {
        let found = as_written(&field.ty);
        errors.at(
            list,
            format!("`{key}` requires a list, found `{list}: {found}`; make it a `Vec<_>`"),
        );
    } else if output.attr.from.as_ref().is_some_and(unread) {
        errors.at(list, format!("the step does not read `{list}`; add it to `from(..)`"));
    }
}

/// Checks that the costs of the steps are part of the cost of the judge.
fn check_costs(judge: &Judge, errors: &mut Errors) {
    let mut sum = 0_u64;
    for cost in judge.steps.iter().filter_map(|step| step.attr.cost.as_ref()) {
        match cost_msats("cost", &cost.value()) {
            Ok(msats) => sum = sum.saturating_add(msats),
            Err(message) => errors.at(cost, message),
        }
        if judge.attrs.metric.cost.is_none() && !judge.attrs.metric.is_unreadable("cost") {
            errors.at(cost, "the cost of a step is part of the cost of the judge, which has none; write `#[judge(cost = \"..\")]`");
        }
    }
    let Some(cost) = &judge.attrs.metric.cost else { return };
    if cost_msats("cost", &cost.value()).is_ok_and(|msats| msats < sum) {
        errors.at(cost, format!("the cost is below the sum of the costs of the steps, {sum} msat; write `cost = \"{sum} msat\"` or more"));
    }
}
