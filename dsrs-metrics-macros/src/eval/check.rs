//! The rules that can be checked on tokens. Rules on metric specs are constants in the expansion.

use std::collections::BTreeSet;

use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::{Expr, ExprLit, Lit, LitInt, ReturnType, Type};

use super::attr::{EARLY, Early, EvalAttrs, GATE, METRICS, milliseconds};
use super::gate::{End, Gate, Kind, Limited};
use super::params::Params;
use crate::shared::errors::Errors;
use crate::shared::function::item::Function;
use crate::shared::names;
use crate::shared::tokens::as_written;
use crate::shared::types::{
    first_argument, is_plain, last_segment_is, option_of, ungrouped, vec_of,
};
use crate::shared::values::{cost_msats, literal};

/// The file extensions of devsets.
const EXTENSIONS: [&str; 4] = ["jsonl", "json", "csv", "parquet"];

pub(super) fn check(function: &Function, attrs: &EvalAttrs, params: &Params, errors: &mut Errors) {
    let ident = &function.sig.ident;
    if let Some(path) = &attrs.settings.krate {
        names::check_crate_path(path, errors);
    }
    if !function.sig.generics.params.is_empty() {
        errors.at(&function.sig.generics, "an eval cannot have generic parameters, because a test cannot choose them; write concrete types");
    }
    if !function.has_body() {
        errors.at(
            ident,
            "expected a function with a body; move it out of the trait",
        );
    }
    if attrs.metrics.is_none() && !attrs.has("metrics") {
        errors.at(
            ident,
            format!("missing metrics; write `{METRICS}` in `#[eval]`"),
        );
    }
    if attrs.gates.is_none() && !attrs.has("gate") {
        errors.at(
            ident,
            format!("missing gate, so this test cannot fail; write `{GATE}` in `#[eval]`"),
        );
    }
    rows(function, attrs, params, errors);
    if !matches!(params, Params::None) {
        check_prediction(function, errors);
    }
    values(attrs, errors);
    let mut seen = BTreeSet::new();
    for gate in attrs.gates.iter().flat_map(|list| &list.items) {
        if !seen.insert(gate.text.clone()) {
            errors.at_span(
                gate.ends.0,
                format!("duplicate gate `{}`; keep one", gate.text),
            );
        }
        check_gate(gate, attrs, false, errors);
        if let Some(early) = &attrs.early {
            check_early(gate, early, errors);
        }
    }
}

/// Checks that a gate can be decided before all rows are evaluated.
fn check_early(gate: &Gate, early: &Early, errors: &mut Errors) {
    let reason = match &gate.kind {
        Kind::Score {
            end: End::Estimate, ..
        }
        | Kind::Limited {
            what: Limited::Failed,
            ..
        } => return,
        Kind::Score { .. } | Kind::NoWorse { .. } | Kind::Better { .. }
            if early.alpha.is_some() =>
        {
            return;
        }
        Kind::Score { .. } | Kind::NoWorse { .. } | Kind::Better { .. } => {
            format!(
                "`{}` cannot be decided for certain before all rows are evaluated; write `{EARLY}`, or remove `early`",
                gate.text
            )
        }
        _ => format!(
            "`early` cannot decide `{}`, only limits on metrics and on `failed`, `no_worse` and `better`; remove one of them",
            gate.text
        ),
    };
    errors.at_span(gate.ends.0, reason);
}

/// Reports a return type that is not a prediction. rustc checks all other types.
fn check_prediction(function: &Function, errors: &mut Errors) {
    const OTHERS: [&str; 4] = ["Value", "Example", "char", "Duration"];
    let ReturnType::Type(_, ty) = &function.sig.output else {
        let message = "missing return type; write `-> Prediction` after the parameters";
        return errors.at(&function.sig.ident, message);
    };
    let ty = first_argument(ty, "Result").unwrap_or(ty);
    let is_other = is_plain(ty)
        || vec_of(ty).is_some()
        || option_of(ty).is_some()
        || OTHERS.iter().any(|name| last_segment_is(ty, name))
        || matches!(
            ungrouped(ty),
            Type::Reference(_) | Type::Tuple(_) | Type::Slice(_) | Type::Array(_)
        );
    if is_other {
        let found = as_written(ty);
        errors.at(ty, format!("expected a prediction, found `{found}`; return a `Prediction` such as `prediction! {{ \"answer\" => answer }}`, or a struct that derives `Record` and `serde::Serialize`"));
    }
}

fn rows(function: &Function, attrs: &EvalAttrs, params: &Params, errors: &mut Errors) {
    let ident = &function.sig.ident;
    if matches!(params, Params::None) {
        let of_program = |errors: &mut Errors, span: Span, key: &str| {
            errors.at_span(span, format!("`{key}` is for a program, but a function without parameters returns rows to score; remove it, or write the program's inputs as parameters"));
        };
        if let Some(devset) = &attrs.devset {
            of_program(errors, devset.span(), "devset");
        }
        if let Some(limit) = &attrs.limit {
            of_program(errors, limit.span(), "limit");
        }
        return;
    }
    match &attrs.devset {
        None if !attrs.has("devset") => {
            errors.at(
                ident,
                "missing devset; write `devset = \"evals/questions.jsonl\"` in `#[eval]`",
            );
        }
        Some(Expr::Lit(ExprLit {
            lit: Lit::Str(path),
            ..
        })) => {
            let value = path.value();
            let is_outside =
                value.starts_with(['/', '\\']) || value.split(['/', '\\']).any(|part| part == "..");
            let extension = value
                .rsplit_once('.')
                .map_or("", |(_, extension)| extension);
            if is_outside {
                errors.at(path, format!("expected a path in the package, found `{value}`; move the file into it, and write `devset = \"evals/questions.jsonl\"`"));
            } else if !EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str()) {
                errors.at(path, format!("unknown kind of devset `{value}`; write a file that ends in .jsonl, .json, .csv or .parquet, or an expression that returns rows"));
            }
        }
        _ => {}
    }
    if let (Some(gold), Params::Whole { .. }) = (attrs.gold(), params) {
        errors.at(gold, "`inputs(..)` selects fields of dynamic rows, but `gold` declares typed rows; remove one of them");
    }
}

/// Returns the message for a devset that is not in the package, if rustc runs this macro.
pub(super) fn missing_devset(path: &str) -> Option<String> {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").filter(|_| proc_macro::is_available())?;
    let tried = std::path::Path::new(&package).join(path);
    (!tried.exists()).then(|| {
        format!(
            "the devset `{path}` does not exist: no file `{}`; create it, or write a path relative to the package",
            tried.display()
        )
    })
}

fn values(attrs: &EvalAttrs, errors: &mut Errors) {
    for (key, number) in [
        ("repeats", &attrs.repeats),
        ("concurrency", &attrs.concurrency),
    ] {
        if let Some(number) = number {
            whole(key, number, 1, u64::from(u32::MAX), errors);
        }
    }
    if let Some(alpha) = attrs.early.as_ref().and_then(|early| early.alpha.as_ref())
        && let Some(value) = literal(alpha)
        && !(value > 0.0 && value <= 0.5)
    {
        errors.at(
            alpha,
            format!("expected an alpha above 0 and at most 0.5, found {value}; write `{EARLY}`"),
        );
    }
    if let Some(seed) = &attrs.seed {
        whole("seed", seed, 0, u64::MAX, errors);
    }
    if let Some(limit) = &attrs.limit
        && literal(limit) == Some(0.0)
    {
        errors.at(
            limit,
            "expected `limit` to be at least 1, found 0; write the number of rows to sample",
        );
    }
    if let Some(budget) = &attrs.settings.budget
        && let Err(message) = cost_msats("budget", &budget.value())
    {
        errors.at(budget, message);
    }
    if let Some(timeout) = &attrs.timeout
        && milliseconds(&timeout.value()).is_none_or(|it| it == 0)
    {
        let found = timeout.value();
        errors.at(timeout, format!("expected a time above 0 in `ms`, `s` or `min`, found `{found}`; write `timeout = \"30 s\"`"));
    }
    if let Some(flavor) = &attrs.flavor
        && !["current_thread", "multi_thread"].contains(&flavor.value().as_str())
    {
        errors.at(flavor, format!("expected `\"current_thread\"` or `\"multi_thread\"`, as in `#[tokio::test]`, found `{}`; write `flavor = \"current_thread\"`", flavor.value()));
    }
    if let Some(span) = attrs.baseline_rows
        && attrs.baseline.is_none()
    {
        errors.at_span(
            span,
            "`baseline_rows` needs a baseline; write `baseline, baseline_rows`",
        );
    }
    if let Some(span) = attrs.rescore
        && attrs.baseline_rows.is_none()
    {
        let message =
            "`rescore` needs the old predictions; write `baseline, baseline_rows, rescore`";
        errors.at_span(span, message);
    }
    if let (Some(span), Some(_)) = (attrs.rescore, &attrs.repeats) {
        errors.at_span(span, "`rescore` scores one old prediction of each row, but `repeats` makes several; remove one of them");
    }
    if let (Some(span), Some(_)) = (attrs.store, &attrs.replay) {
        errors.at_span(span, "a store would hide calls from the replay; remove `store`, because recorded calls are not made again");
    }
    if let Some(replay) = &attrs.replay
        && attrs.live.is_none()
    {
        errors.at(replay, "`replay` is for recorded calls of a language model; write `live = \"openai:gpt-6-luna\"` too");
    }
}

fn whole(key: &str, number: &LitInt, least: u64, most: u64, errors: &mut Errors) {
    match number.base10_parse::<u64>() {
        Ok(value) if value >= least && value <= most => {}
        _ => errors.at(
            number,
            format!(
                "expected `{key}` to be a whole number of at least {least}, found {}; write `{key} = {}`",
                as_written(number),
                least.max(3)
            ),
        ),
    }
}

fn check_gate(gate: &Gate, attrs: &EvalAttrs, is_nested: bool, errors: &mut Errors) {
    match &gate.kind {
        Kind::NoWorse { metric, .. } | Kind::Better { metric }
            if attrs.baseline.is_none() && !attrs.has("baseline") =>
        {
            errors.at(metric, format!("`{}` compares the run with a baseline; write `baseline` in `#[eval]`, or `baseline = \"evals/name.baseline.jsonl\"`", gate.text));
        }
        Kind::NoWorse { by, .. } => {
            if let Some(value) = literal(by)
                && value <= 0.0
            {
                errors.at(by, format!("expected a margin above 0, found {}; write `by = 0.02`, or `better()` for a gate without a margin", as_written(by)));
            }
        }
        Kind::PassedAt { k, operator, .. } => {
            let repeats = attrs
                .repeats
                .as_ref()
                .and_then(|it| it.base10_parse::<u32>().ok());
            let attempts = k.base10_parse::<u32>().unwrap_or(0);
            match repeats {
                _ if attempts == 0 => errors.at(k, "expected at least 1 attempt, found 0; write `passed_at(3) >= 0.9`"),
                None if attrs.repeats.is_none() && !attrs.has("repeats") => errors.at(k, format!("`passed_at({k})` needs {attempts} repeats of each row; write `repeats = {attempts}` in `#[eval]`")),
                Some(repeats) if attempts > repeats => errors.at(k, format!("`passed_at({k})` needs {attempts} repeats of each row, found `repeats = {repeats}`; write `repeats = {attempts}`")),
                _ => {}
            }
            if !operator.is_at_least {
                errors.at_span(
                    operator.span,
                    format!(
                        "a higher share is better; write `{}`",
                        gate.text.replacen("<=", ">=", 1)
                    ),
                );
            }
            share(gate, errors);
        }
        Kind::Limited {
            what,
            operator,
            word,
            bound,
        } => {
            if operator.is_at_least {
                errors.at_span(
                    operator.span,
                    format!(
                        "lower is better for `{word}`; write `{word} <= {}`",
                        as_written(bound)
                    ),
                );
            }
            if *what != Limited::Latency {
                share(gate, errors);
            } else if literal(bound).is_some_and(|value| value < 0.0) {
                errors.at(
                    bound,
                    "expected a non-negative number of seconds; write `latency <= 2.0`",
                );
            }
        }
        Kind::Each { gate: inner, .. } => {
            if is_nested {
                errors.at_span(
                    gate.ends.0,
                    "`each` within `each` is not supported; write one field",
                );
            }
            check_gate(inner, attrs, true, errors);
        }
        Kind::Score { .. } | Kind::Better { .. } => {}
    }
}

/// Checks that a share is in [0, 1].
fn share(gate: &Gate, errors: &mut Errors) {
    let (Kind::PassedAt { bound, .. } | Kind::Limited { bound, .. }) = &gate.kind else {
        return;
    };
    let Some(value) = literal(bound).filter(|value| !(0.0..=1.0).contains(value)) else {
        return;
    };
    let write = match value > 1.0 && value <= 100.0 {
        true => format!("a fraction such as {}", value / 100.0),
        false => "a fraction such as 0.9".to_owned(),
    };
    errors.at(
        bound,
        format!(
            "expected a share in 0.0..=1.0, found {}; write {write}",
            as_written(bound)
        ),
    );
}
