//! The rules for steps, and for outputs with an item for each item of a list.

use proc_macro2::Ident;
use syn::ext::IdentExt as _;
use syn::{Expr, Type};

use super::panel::check_at_least_one;
use crate::judge::field::Source;
use crate::judge::model::{Judge, Output, is_abstain, is_conversation, is_list};
use crate::judge::output_attr::From;
use crate::shared::attributes::doc_text;
use crate::shared::errors::Errors;
use crate::shared::names;
use crate::shared::tokens::{as_written, is_ident};
use crate::shared::types::option_of;
use crate::shared::values::{check_score as check_constant, cost_msats, literal, text};

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
    check_last(judge, errors);
    check_costs(judge, errors);
    if let Some(offline) = &judge.attrs.offline
        && judge
            .answered()
            .any(|output| output.attr.from.is_some() || output.attr.each.is_some())
    {
        errors.at(
            offline,
            "`offline` is not supported for a judge with steps or `each`; remove it",
        );
    }
}

fn check_step(judge: &Judge, index: usize, step: &Output, errors: &mut Errors) {
    let name = &step.field.ident;
    if doc_text(&step.field.docs).is_empty() {
        errors.at(name, format!("missing instruction for the step `{name}`; write what to answer in the field's doc comment"));
    }
    check_place(judge, step, errors);
    if *name == "reasoning" && judge.reasons() {
        errors.at(name, "`reasoning` is an output of the last call; rename the step, or write `#[judge(reasoning = false)]`");
    }
    let Some(From { span, names }) = &step.attr.from else {
        return;
    };
    if names.is_empty() && !step.attr.is_unreadable("from") {
        let readable = readable(judge, index).join("`, `");
        errors.at_span(*span, format!("missing fields that the step `{name}` reads; write `#[step(from(..))]` with some of `{readable}`"));
    }
    check_names(judge, index, names, errors);
    if let Some(limit) = &step.attr.max_items {
        let message = "expected `max_items` to be at least 1, found 0; write `max_items = 100`";
        check_at_least_one(limit, message, errors);
        if !is_list(&step.field.ty) || step.attr.each.is_some() {
            errors.at(
                limit,
                "`max_items` is only supported for a list without `each`; remove it",
            );
        }
    }
}

/// Checks the names in the `from(..)` of the call at `index`.
fn check_names(judge: &Judge, index: usize, names: &[Ident], errors: &mut Errors) {
    for (at, read) in names.iter().enumerate() {
        if names[..at].contains(read) {
            errors.at(read, format!("duplicate `{read}`; keep one"));
        } else {
            check_read(judge, index, read, errors);
        }
    }
}

/// Checks the `from(..)` of the last call.
fn check_last(judge: &Judge, errors: &mut Errors) {
    let Some(From { span, names }) = &judge.attrs.from else {
        return;
    };
    if judge.steps.is_empty() {
        errors.at_span(*span, "`from` is only supported for a judge with steps, because otherwise one call reads all inputs; remove it");
    } else if names.is_empty() {
        let readable = readable(judge, judge.steps.len()).join("`, `");
        errors.at_span(*span, format!("missing fields that the last call reads; write `from(..)` with some of `{readable}`, or remove it"));
    } else {
        check_names(judge, judge.steps.len(), names, errors);
        let pair = judge
            .attrs
            .pairwise
            .iter()
            .flat_map(|pair| [&pair.first, &pair.second]);
        for unread in pair.filter(|input| !names.contains(input)) {
            errors.at(
                unread,
                format!("the last call does not read `{unread}`; add it to `from(..)`"),
            );
        }
    }
}

/// Reports a step after an output, which the last call answers.
fn check_place(judge: &Judge, step: &Output, errors: &mut Errors) {
    let name = &step.field.ident;
    let fields = judge
        .item
        .fields
        .iter()
        .filter_map(|field| field.ident.as_ref());
    let mut earlier = fields.take_while(|field| *field != name);
    let is_output = |field: &&Ident| judge.outputs.iter().any(|it| it.field.ident == **field);
    if let Some(output) = earlier.find(is_output) {
        errors.at(name, format!("the step `{name}` comes after `{output}`, which the last call answers; move the step before it"));
    }
}

/// Returns the names of the fields that the step at `index` can read.
fn readable(judge: &Judge, index: usize) -> Vec<String> {
    let inputs = judge
        .inputs
        .iter()
        .filter(|input| input.attr.source != Some(Source::Param));
    let steps = judge.steps[..index].iter().map(|step| step.field.name());
    inputs
        .map(|input| input.field.name())
        .chain(steps)
        .collect()
}

/// Reports a field that the step at `index` cannot read.
fn check_read(judge: &Judge, index: usize, read: &Ident, errors: &mut Errors) {
    let text = read.unraw().to_string();
    let readable = readable(judge, index);
    if readable.contains(&text) {
        return;
    }
    if judge.has_param(&text) {
        errors.at(
            read,
            format!("`{text}` is a parameter, which every call receives; remove it"),
        );
        return;
    }
    let later = judge.steps[index.min(judge.steps.len())..].iter();
    if later.clone().take(1).any(|step| step.field.ident == *read) {
        errors.at(read, format!("the step reads itself; remove `{text}`"));
    } else if later.clone().any(|step| step.field.ident == *read) {
        errors.at(
            read,
            format!("`{text}` is a later step; move its field before this one"),
        );
    } else if judge
        .outputs
        .iter()
        .any(|output| output.field.ident == *read)
    {
        errors.at(read, format!("`{text}` is answered by the last call; make it a `#[step(from(..))]` before this one"));
    } else {
        let near = names::nearest(
            &text,
            &readable.iter().map(String::as_str).collect::<Vec<_>>(),
        );
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

/// Checks `each` and `empty` for a step's output. If `index` is the number of steps, checks them for an output of the
/// last call.
fn check_each(judge: &Judge, index: usize, output: &Output, errors: &mut Errors) {
    let attr = &output.attr;
    let Some(list) = &attr.each else {
        if let Some(empty) = attr.empty.as_ref().filter(|_| !attr.is_unreadable("each")) {
            errors.at(empty, "`empty` requires `each`; write `each = ..` with the name of a list, or remove `empty`");
        }
        return;
    };
    check_item(list, output, errors);
    check_list(judge, index, ("each", list), output, errors);
    match &attr.empty {
        Some(empty) => check_empty(judge, list, empty, errors),
        None if attr.is_unreadable("empty") => {}
        None => errors.at(list, format!("missing score for a row without `{list}`; write `empty = 1.0`, another score, or `empty = abstain`")),
    }
}

/// Checks the score for a row without this list.
fn check_empty(judge: &Judge, list: &Ident, empty: &Expr, errors: &mut Errors) {
    let found = as_written(empty);
    if text(empty).is_some_and(|text| text.value() == "abstain") {
        errors.at(
            empty,
            format!("expected a score or `abstain`, found `{found}`; write `empty = abstain`"),
        );
    } else if is_word(&found) && !is_abstain(empty) {
        errors.at(empty, format!("expected a score or `abstain`, found `{found}`; write `empty = 1.0`, another score, or `empty = abstain`"));
    } else if !is_abstain(empty) {
        check_constant("empty", empty, judge.attrs.metric.range.as_ref(), errors);
    }
    let of_list = |other: &&Output| other.attr.each.as_ref() == Some(list);
    let first = judge
        .answered()
        .filter(of_list)
        .find_map(|other| other.attr.empty.as_ref());
    if let Some(first) = first.filter(|first| !is_same(first, empty)) {
        let first = as_written(first);
        errors.at(empty, format!("expected `empty = {first}`, the score above for a row without `{list}`, found `empty = {found}`; write the same score"));
    }
}

fn is_same(one: &Expr, other: &Expr) -> bool {
    match (literal(one), literal(other)) {
        (Some(one), Some(other)) => one == other,
        _ => as_written(one) == as_written(other),
    }
}

/// Returns `true` if an expression is a lower-case name, and therefore not a constant.
fn is_word(written: &str) -> bool {
    is_ident(written)
        && written.starts_with(|first: char| first.is_ascii_lowercase())
        && !["true", "false"].contains(&written)
}

/// Checks that an output with `each` is a list.
fn check_item(list: &Ident, output: &Output, errors: &mut Errors) {
    let ty = &output.field.ty;
    if is_list(ty) {
        return;
    }
    let found = as_written(ty);
    let instead = match option_of(ty) {
        Some(inner) if is_list(inner) => as_written(inner),
        _ => format!("Vec<{found}>"),
    };
    errors.at(ty, format!("expected a list, because `each` has one item for each item of `{list}`, found `{found}`; write `{instead}`"));
}

/// Checks the list that an output's items refer to by number.
fn check_cites(judge: &Judge, index: usize, output: &Output, errors: &mut Errors) {
    let Some(list) = &output.attr.cites else {
        return;
    };
    if output.attr.each.is_none() {
        errors.at(list, "`cites` requires `each`; write `each = ..` with the list that has an item for each verdict");
    }
    check_list(judge, index, ("cites", list), output, errors);
}

/// Checks that a key of an output names a list that its call reads.
fn check_list(
    judge: &Judge,
    index: usize,
    (key, list): (&str, &Ident),
    output: &Output,
    errors: &mut Errors,
) {
    let text = list.unraw().to_string();
    let input = judge.inputs.iter().find(|input| input.field.ident == *list);
    let step = judge.steps.iter().find(|step| step.field.ident == *list);
    let field = input
        .map(|input| &input.field)
        .or(step.map(|step| &step.field));
    let unread = |from: &From| !from.names.is_empty() && !from.names.contains(list);
    // A misspelt name is reported separately.
    let is_known = |from: &From| {
        let readable = readable(judge, index);
        from.names
            .iter()
            .all(|name| readable.contains(&name.unraw().to_string()))
    };
    if output.field.ident == *list {
        errors.at(list, format!("`{text}` has one item for each item of another list; write the name of an input or an earlier step"));
    } else if judge.has_param(&text) {
        errors.at(list, format!("`{key}` requires an input or a step, found the parameter `{text}`; write `#[input(gold)]` or `#[input(pred)]` before it"));
    } else if !readable(judge, index).contains(&text) {
        check_read(judge, index, list, errors);
    } else if input.is_some_and(|input| input.attr.source == Some(Source::Trace)) {
        errors.at(list, format!("`{key}` requires a list, found the trace `{text}`; write a `#[step(from({text}))]` that answers a list"));
    } else if let Some(field) =
        field.filter(|field| !is_list(&field.ty) && !is_conversation(&field.ty))
    {
        if matches!(field.ty, Type::Reference(_)) {
            // A borrowed list is reported elsewhere.
            return;
        }
        let found = as_written(&field.ty);
        let instead = option_of(&field.ty).filter(|inner| is_list(inner));
        let instead = instead.map_or_else(|| "Vec<_>".to_owned(), as_written);
        errors.at(
            list,
            format!("`{key}` requires a list, found `{text}: {found}`; make it a `{instead}`"),
        );
    } else if output.attr.from.as_ref().is_some_and(unread) {
        errors.at(
            list,
            format!("the step does not read `{text}`; add it to `from(..)`"),
        );
    } else if index == judge.steps.len()
        && judge
            .attrs
            .from
            .as_ref()
            .is_some_and(|from| unread(from) && is_known(from))
    {
        errors.at(
            list,
            format!("the last call does not read `{text}`; add it to `from(..)`"),
        );
    }
}

/// Checks that the judge's cost includes the costs of its steps.
fn check_costs(judge: &Judge, errors: &mut Errors) {
    let mut sum = 0_u64;
    for cost in judge
        .steps
        .iter()
        .filter_map(|step| step.attr.cost.as_ref())
    {
        match cost_msats("cost", &cost.value()) {
            Ok(msats) => sum = sum.saturating_add(msats),
            Err(message) => errors.at(cost, message),
        }
        if judge.attrs.metric.cost.is_none() && !judge.attrs.metric.is_unreadable("cost") {
            errors.at(cost, "the cost of a step is part of the judge's cost, which is not declared; write `#[judge(cost = \"..\")]`");
        }
    }
    let Some(cost) = &judge.attrs.metric.cost else {
        return;
    };
    if cost_msats("cost", &cost.value()).is_ok_and(|msats| msats < sum) {
        errors.at(cost, format!("the cost is below the total cost of the steps, {sum} msat; write `cost = \"{sum} msat\"` or more"));
    }
}
