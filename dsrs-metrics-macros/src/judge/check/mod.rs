//! The rules of `#[judge]` that can be checked on tokens.
//!
//! Rules for all metrics are checked after lowering. rustc checks the rules that need types.
//!
//! The file is long because each rule has its own message.

mod panel;
mod scoring;
mod steps;
mod turns;

use syn::Type;

use self::panel::{check_panel, check_sampling};
use crate::judge::attr::Pairwise;
use crate::judge::field::Source;
use crate::judge::known_range::known_range;
use crate::judge::lower::{PANEL, SETTERS};
use crate::judge::model::{
    Field, Input, Judge, Output, Score, is_bool, is_list, is_preference, output_named, share,
};
use crate::judge::output_attr::Labels;
use crate::judge::score::check_expression;
use crate::shared::errors::Errors;
use crate::shared::names::{self, shadows_prelude};
use crate::shared::tokens::as_written;
use crate::shared::types::{borrows_inside, is_integer, last_segment_is, option_of, owned};
use crate::shared::values::{bounds, check_range, check_score as check_constant, literal};

pub(crate) fn check(judge: &mut Judge, errors: &mut Errors) {
    check_signature(judge, errors);
    check_names(judge, errors);
    for input in &judge.inputs {
        check_input(input, errors);
    }
    for output in judge.answered() {
        check_output(output, errors);
    }
    steps::check(judge, errors);
    turns::check(judge, errors);
    scoring::check(judge, errors);
    check_reasoning(judge, errors);
    check_sampling(judge, errors);
    check_panel(judge, errors);
    check_pairwise(judge, errors);
    check_score(judge, errors);
    check_empty(judge, errors);
    check_expression(judge, errors);
}

fn check_signature(judge: &Judge, errors: &mut Errors) {
    let item = &judge.item;
    if judge.instruction.is_empty() {
        errors.at(
            &item.ident,
            "missing instruction; write what to judge in the struct's doc comment",
        );
    }
    if let Some(param) = item.generics.params.first() {
        errors.at(param, "generic parameters are not supported on a judge; remove them and write owned types, such as `answer: String`");
    }
    let is_shown = |input: &Input| input.attr.source != Some(Source::Param);
    if !judge.inputs.iter().any(is_shown)
        && item.fields.len() == judge.inputs.len() + judge.answered().count()
    {
        errors.at(&item.ident, "the judge has no input from a row; write `#[input(gold)]` or `#[input(pred)]` before a field");
    }
    if judge.outputs.is_empty() && item.fields.len() == judge.inputs.len() + judge.steps.len() {
        errors.at(&item.ident, "the judge has no output; write `#[output]` before a field, such as `#[output(range = 0.0..=1.0)] score: f64`");
    }
}

fn check_names(judge: &mut Judge, errors: &mut Errors) {
    let ident = &judge.item.ident;
    if judge.attrs.metric.name.is_none() && !ident.to_string().is_ascii() {
        let found = names::lower_snake(&ident.to_string());
        errors.at(
            ident,
            names::not_in_snake_case("judge", &found, "write `name = \"..\"`"),
        );
    }
    if let Some(name) = judge
        .attrs
        .metric
        .struct_name
        .take_if(|name| shadows_prelude(name))
    {
        errors.at(&name, format!("the judge's struct `{name}` would shadow the prelude's `{name}`; write `struct = {name}Judge`"));
    }
    if let Some(name) = judge
        .attrs
        .metric
        .struct_name
        .take_if(|name| *name == *ident && !ident.to_string().ends_with("Judge"))
    {
        errors.at(&name, format!("`{name}` is already the name of the signature; write `struct = {name}Judge`, or remove `struct`"));
    }
    let inputs = judge.inputs.iter().map(|input| &input.field);
    for field in inputs.chain(judge.answered().map(|output| &output.field)) {
        let name = field.name();
        if SETTERS.contains(&name.as_str()) && judge.has_param(&name) {
            errors.at(
                &field.ident,
                format!(
                    "`{name}` is reserved for a method of the judge's builder; rename the parameter"
                ),
            );
        } else if name == PANEL {
            errors.at(
                &field.ident,
                format!("`{PANEL}` is reserved for the judge's panel of models; rename the field"),
            );
        } else if !names::is_snake(name.trim_start_matches('_')) {
            errors.at(
                &field.ident,
                names::not_in_snake_case(
                    "field",
                    &name,
                    "rename the field, and write `#[input(pred = \"..\")]` for the row's field",
                ),
            );
        }
    }
}

fn check_input(input: &Input, errors: &mut Errors) {
    let Field { ident, ty, .. } = &input.field;
    if input.attr.source.is_none() && !input.attr.is_reported {
        errors.at_span(input.attr.span, format!("missing source for the input `{ident}`; write `#[input(gold)]` for the labelled example, `#[input(pred)]` for the prediction, or `#[param]` for configuration"));
    }
    check_owned(ty, errors);
    if input.attr.source == Some(Source::Trace) {
        check_trace(input, errors);
    }
}

fn check_trace(input: &Input, errors: &mut Errors) {
    let ty = &input.field.ty;
    let plain = option_of(ty).unwrap_or(ty);
    if !last_segment_is(plain, "Trace") && !matches!(plain, Type::Reference(_)) {
        let found = as_written(ty);
        errors.at(ty, format!("expected `Trace` or `Option<Trace>` for a trace, found `{found}`; write `Option<Trace>`, or `Trace` if the judge requires one"));
    }
    if let Some(default) = &input.attr.default {
        errors.at(
            default,
            "`default` is not supported for a trace; write `Option<Trace>`",
        );
    }
}

fn check_owned(ty: &Type, errors: &mut Errors) {
    let inner = option_of(ty).unwrap_or(ty);
    if last_segment_is(inner, "str") || borrows_inside(inner) {
        let found = as_written(ty);
        let owned = if last_segment_is(inner, "str") {
            found.replace("str", "String")
        } else {
            as_written(owned(inner))
        };
        errors.at(
            ty,
            format!("expected an owned type, found `{found}`; write `{owned}`"),
        );
        return;
    }
    let Type::Reference(reference) = option_of(ty).unwrap_or(ty) else {
        return;
    };
    let owned = match &*reference.elem {
        text if last_segment_is(text, "str") => "String".to_owned(),
        Type::Slice(slice) => format!("Vec<{}>", as_written(&slice.elem)),
        other => as_written(other),
    };
    let found = as_written(reference);
    errors.at(
        reference,
        format!("expected an owned type, found `{found}`; write `{owned}`"),
    );
}

fn check_output(output: &Output, errors: &mut Errors) {
    let ty = &output.field.ty;
    check_owned(ty, errors);
    let plain = option_of(ty).unwrap_or(ty);
    let name = as_written(ty);
    if let Some(range) = &output.attr.range {
        if is_list(plain) {
            errors.at(range, format!("`range` requires a numeric output, found `{name}`; remove `range`, and write the range of the items in the field's doc comment"));
        } else if !is_number(plain) && is_known(plain) {
            errors.at(range, format!("`range` requires a numeric output, found `{name}`; remove `range`, or make the output an `f64`"));
        }
        check_range(range, errors);
    }
    if let Some(labels) = &output.attr.labels {
        check_labels(labels, plain, &name, errors);
    }
}

fn check_labels(labels: &Labels, ty: &Type, written: &str, errors: &mut Errors) {
    if is_list(ty) {
        errors.at_span(labels.span, format!("`labels` requires a `String` output, found `{written}`; for a list of labels make the items an enum with `#[judge_output]`, or remove `labels`"));
    } else if !last_segment_is(ty, "String") && is_known(ty) {
        errors.at_span(labels.span, format!("`labels` requires a `String` output, found `{written}`; make the output a `String`, or remove `labels`"));
    }
    if labels.count < 2 {
        errors.at_span(
            labels.span,
            format!(
                "expected at least two labels, found {}; write `labels = [\"good\", \"bad\"]`",
                labels.count
            ),
        );
    }
    for (index, label) in labels.texts.iter().enumerate() {
        let text = label.value();
        if text.trim().is_empty() {
            errors.at(
                label,
                "empty label; write a value that the judge may answer",
            );
        } else if labels.texts[..index]
            .iter()
            .any(|earlier| earlier.value() == text)
        {
            errors.at(label, format!("duplicate label {text:?}; keep one"));
        }
    }
}

fn is_number(ty: &Type) -> bool {
    is_integer(ty) || ["f32", "f64"].iter().any(|name| last_segment_is(ty, name))
}

/// Returns `true` if a type's spelling determines the type.
fn is_known(ty: &Type) -> bool {
    is_list(ty)
        || is_number(ty)
        || is_preference(ty)
        || ["String", "bool", "char"]
            .iter()
            .any(|name| last_segment_is(ty, name))
}

fn check_reasoning(judge: &Judge, errors: &mut Errors) {
    let own = judge
        .outputs
        .iter()
        .find(|output| output.field.name() == "reasoning");
    let Some(own) = own.filter(|_| judge.reasons()) else {
        return;
    };
    if !last_segment_is(&own.field.ty, "String") {
        let found = as_written(&own.field.ty);
        errors.at(&own.field.ty, format!("expected `String` for the output `reasoning`, found `{found}`; write `String`, rename the output, or write `reasoning = false`"));
    }
    if let Some(first) = judge
        .outputs
        .first()
        .filter(|first| first.field.ident != own.field.ident)
    {
        let first = first.field.name();
        errors.at(&own.field.ident, format!("`reasoning` comes after `{first}`, and a model answers in this order; move `reasoning` before `{first}`"));
    }
}

fn check_pairwise(judge: &Judge, errors: &mut Errors) {
    let Some(Pairwise {
        span,
        first,
        second,
    }) = &judge.attrs.pairwise
    else {
        return;
    };
    let shown = |name: &syn::Ident| {
        judge
            .inputs
            .iter()
            .find(|input| input.field.ident == *name && input.attr.source != Some(Source::Param))
    };
    for name in [first, second] {
        if shown(name).is_none() {
            let names: Vec<_> = judge
                .inputs
                .iter()
                .map(|input| input.field.name())
                .collect();
            errors.at(
                name,
                format!(
                    "no input is named `{name}`; write two of `{}`",
                    names.join("`, `")
                ),
            );
        }
    }
    if first == second {
        errors.at(
            second,
            format!("`{first}` is compared with itself; write the names of two inputs"),
        );
    } else if let (Some(a), Some(b)) = (shown(first), shown(second))
        && as_written(&a.field.ty) != as_written(&b.field.ty)
    {
        errors.at(
            &b.field.ty,
            format!(
                "expected the type of `{first}`, because both orders are judged, found `{}`; write `{}`",
                as_written(&b.field.ty),
                as_written(&a.field.ty)
            ),
        );
    }
    if judge.score.as_ref().is_some_and(|score| score.is_verdict) {
        errors.at_span(*span, "a pairwise judge can answer with a tie, which is not a `bool`; score with an output of type `Preference`, or a number in 0.0..=1.0");
    }
}

/// Checks the score for a row whose prediction has an empty input.
fn check_empty(judge: &Judge, errors: &mut Errors) {
    let Some(empty) = &judge.attrs.empty else {
        return;
    };
    check_constant("empty", empty, judge.attrs.metric.range.as_ref(), errors);
    if judge.has_verdicts() && literal(empty).is_some_and(|score| score != 0.0 && score != 1.0) {
        let found = as_written(empty);
        errors.at(empty, format!("expected `true` or `false` for a `bool` score, found `{found}`; write `empty = false`"));
    }
    if !judge
        .inputs
        .iter()
        .any(|input| input.attr.source == Some(Source::Pred))
    {
        errors.at(empty, "`empty` has no effect, because no input is from the prediction; remove it, or write `#[input(pred)]` before a field");
    }
}

fn check_score(judge: &mut Judge, errors: &mut Errors) {
    let has_verdicts = judge.has_verdicts();
    let Some(Score { expr, .. }) = &judge.score else {
        return;
    };
    let known = known_range(judge, expr);
    let metric = &mut judge.attrs.metric;
    if has_verdicts {
        let instead = "score with a number";
        if let Some(threshold) = metric.threshold.take() {
            errors.at(
                threshold,
                format!("`threshold` is not supported for a `bool` score; remove it, or {instead}"),
            );
        }
        if let Some(range) = metric.range.take() {
            errors.at(
                range,
                format!("`range` is not supported for a `bool` score; remove it, or {instead}"),
            );
        }
        if let Some(span) = metric.strict.take() {
            errors.at_span(span, "a `bool` score is always strict; remove `strict`");
        }
        if let Some(span) = metric.lower_is_better.take() {
            errors.at_span(span, "`lower_is_better` is not supported for a `bool` score, where `true` passes; write `score = !..`");
        }
        return;
    }
    let output = output_named(&judge.outputs, expr);
    let preferred = judge.attrs.pairwise.is_some()
        || output.is_some_and(|output| is_preference(&output.field.ty));
    let own = output.and_then(|output| output.attr.range.clone());
    let unit = || preferred.then(|| syn::parse_quote!(0.0..=1.0));
    if !metric.is_unreadable("range") {
        metric.range = metric
            .range
            .take()
            .or(own.filter(|range| bounds(range).is_some()))
            .or_else(unit)
            .or(known);
    }
    if let Some(output) = output {
        let (ty, name) = (&output.field.ty, output.field.name());
        if option_of(ty).is_some() {
            errors.at(
                ty,
                format!(
                    "expected a score that is not an `Option`, found `{}`; write `{}`",
                    as_written(ty),
                    as_written(option_of(ty))
                ),
            );
        } else if is_list(ty) {
            errors.at(
                ty,
                format!(
                    "expected a number or a `bool` as the score, found `{}`; write `score = {}`",
                    as_written(ty),
                    share(&output.field)
                ),
            );
        } else if is_known(ty) && !is_number(ty) && !is_preference(ty) && !is_bool(ty) {
            errors.at(ty, format!("expected a number or a `bool` as the score, found `{}`; write an expression, such as `score = {name} == \"good\"`", as_written(ty)));
        }
    }
}
