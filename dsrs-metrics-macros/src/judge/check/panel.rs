//! The rules for model settings: sampling, and panels of several judges.

use std::fmt::Display;

use syn::{Expr, LitInt};

use crate::judge::attr::Models;
use crate::judge::model::Judge;
use crate::shared::errors::Errors;
use crate::shared::names;
use crate::shared::tokens::as_written;
use crate::shared::values::{form, literal};

pub(super) fn check_sampling(judge: &Judge, errors: &mut Errors) {
    if let Some(temperature) = &judge.attrs.scoring.temperature {
        match literal(temperature) {
            Some(value) if (0.0..=2.0).contains(&value) => {}
            Some(value) => errors.at(temperature, format!("expected `temperature` between 0.0 and 2.0, found {value:?}; write `temperature = 0.0` for the most repeatable answers")),
            None if matches!(temperature, Expr::Lit(_)) => {
                let found = as_written(temperature);
                let write = form("temperature", temperature, "0.0");
                errors.at(temperature, format!("expected a number, found `{found}`; write `{write}`"));
            }
            None => {}
        }
    }
    if let Some(tokens) = &judge.attrs.scoring.max_tokens {
        check_at_least_one(
            tokens,
            "expected `max_tokens` to be at least 1, found 0; write `max_tokens = 1024`, or remove it",
            errors,
        );
    }
}

pub(super) fn check_at_least_one(number: &LitInt, message: impl Display, errors: &mut Errors) {
    match number.base10_parse::<u32>() {
        Ok(0) => errors.at(number, message),
        Ok(_) => {}
        Err(_) => errors.at(
            number,
            format!("`{number}` is out of range; write a smaller number"),
        ),
    }
}

pub(super) fn check_panel(judge: &Judge, errors: &mut Errors) {
    let panel = &judge.attrs.panel;
    let verdict = judge.has_verdicts();
    if let Some(aggregation) = &panel.aggregation {
        match aggregation.to_string().as_str() {
            "majority" => {}
            "median" | "average" if verdict => {
                errors.at(aggregation, format!("`{aggregation}` requires a numeric score, found a `bool`; write `aggregation = majority`"));
            }
            "median" | "average" => {}
            other => errors.at(aggregation, unknown_aggregation(other)),
        }
    }
    let count = panel
        .models
        .as_ref()
        .map(|models| check_models(models, errors));
    let count = count.flatten();
    if let Some(quorum) = &panel.quorum {
        check_at_least_one(
            quorum,
            "expected `quorum` to be at least 1, found 0; write `quorum = 1`",
            errors,
        );
        let wanted = quorum.base10_parse::<usize>().unwrap_or(0);
        if let Some(count) = count.filter(|count| wanted > *count && *count > 0) {
            errors.at(
                quorum,
                format!(
                    "expected a quorum of at most {count}, the number of judges, found {wanted}; write `quorum = {count}` or less",
                ),
            );
        }
    }
    if let Some(limit) = &panel.max_concurrent {
        check_at_least_one(
            limit,
            "expected `max_concurrent` to be at least 1, found 0; write `max_concurrent = 1`",
            errors,
        );
    }
}

fn unknown_aggregation(other: &str) -> String {
    let meant = match other {
        "mean" | "avg" => Some("average"),
        "majority_vote" | "vote" => Some("majority"),
        other => names::nearest(other, &["majority", "median", "average"]),
    };
    match meant {
        Some(meant) => format!("unknown aggregation `{other}`; write `aggregation = {meant}`"),
        None => {
            format!("unknown aggregation `{other}`; expected `majority`, `median` or `average`")
        }
    }
}

/// Checks the models and returns the number of judges.
pub(super) fn check_models(models: &Models, errors: &mut Errors) -> Option<usize> {
    if models.list.is_empty() {
        errors.at_span(
            models.span,
            "empty list of models; write `models = [default]` for the configured model",
        );
    }
    if let Some(times) = &models.times {
        check_at_least_one(
            times,
            "expected at least 1 repetition, found 0; write `models = [default; 3]`",
            errors,
        );
    }
    for model in &models.list {
        let Expr::Lit(literal) = model else {
            continue;
        };
        match &literal.lit {
            syn::Lit::Str(text) if text.value().split_once(':').is_some_and(|(provider, name)| !provider.is_empty() && !name.is_empty()) => {}
            syn::Lit::Str(text) => errors.at(text, format!("expected `provider:model`, found `{}`; write `\"openai:{}\"`", text.value(), text.value().trim_matches(':'))),
            other => errors.at(other, format!("expected a string, found `{}`; write `\"openai:gpt-6-luna\"`, or `default` for the configured model", as_written(other))),
        }
    }
    models.count()
}
