//! The rules for `scoring(..)`: how a model's answers become a score.

use syn::Expr;

use super::is_number;
use super::turns::one_of;
use crate::judge::groups::Scoring;
use crate::judge::model::{Judge, Output, is_list};
use crate::shared::errors::Errors;
use crate::shared::tokens::as_written;
use crate::shared::types::{is_integer, last_segment_is, option_of};
use crate::shared::values::{bounds, literal};

/// The maximum number of draws. Each draw is one call per row.
const MAX_DRAWS: u32 = 100;

pub(super) fn check(judge: &Judge, errors: &mut Errors) {
    let Some(scoring) = &judge.attrs.scoring.by else {
        return;
    };
    let Scoring { word, draws } = scoring;
    one_of(
        "by",
        word,
        "a scoring",
        &["logprobs", "draws", "text"],
        errors,
    );
    match draws {
        None if word == "draws" => {
            errors.at(
                word,
                "`draws` requires the number of answers; write `by = draws(20)`",
            );
        }
        Some(draws) if word == "text" || word == "logprobs" => {
            errors.at(
                draws,
                format!("`{word}` takes no number; write `by = {word}`, or `by = draws({draws})`"),
            );
        }
        Some(draws)
            if !draws
                .base10_parse()
                .is_ok_and(|it| (2..=MAX_DRAWS).contains(&it)) =>
        {
            errors.at(
                draws,
                format!("expected 2 to {MAX_DRAWS} draws, found {draws}; write `by = draws(20)`"),
            );
        }
        _ => {}
    }
    let temperature = judge.attrs.scoring.temperature.as_ref();
    if word == "draws"
        && let Some(temperature) = temperature.filter(|it| literal(it) == Some(0.0))
    {
        errors.at(temperature, "at temperature 0, all draws give the same answer; write `temperature = 1.0`, the default for draws, or remove it");
    }
    if word == "logprobs" {
        check_weighed(judge, scoring, errors);
    }
}

/// Checks that one output has few values, which begin differently.
fn check_weighed(judge: &Judge, Scoring { word, .. }: &Scoring, errors: &mut Errors) {
    const FEW: &str = "a `bool`, an integer with `range = 0..=9`, a `String` with `labels`, or an enum without fields";
    let mut decisions = judge.decisions();
    let Some(output) = decisions.next() else {
        if !judge.outputs.is_empty() {
            errors.at(word, format!("`scoring(by = logprobs)` weighs the values of an output, but the judge has only strings; write {FEW}"));
        }
        return;
    };
    if let Some(second) = decisions.next() {
        errors.at(&second.field.ident, format!("`scoring(by = logprobs)` weighs the values of one output, found `{}` and `{}`; keep one, and make the others a `String`", output.field.name(), second.field.name()));
        return;
    }
    let ty = &output.field.ty;
    let found = as_written(ty);
    if let Some(plain) = option_of(ty) {
        errors.at(
            ty,
            format!(
                "`scoring(by = logprobs)` needs an answer in every reply, found `{found}`; write `{}`",
                as_written(plain)
            ),
        );
    } else if is_list(ty) || (is_number(ty) && !is_integer(ty)) || last_segment_is(ty, "char") {
        errors.at(
            ty,
            format!(
                "`scoring(by = logprobs)` needs an output with few values, found `{found}`; write {FEW}"
            ),
        );
    } else if is_integer(ty) {
        check_digits(output, errors);
    }
    check_labels(output, errors);
}

/// Checks that every integer begins with a different digit.
fn check_digits(output: &Output, errors: &mut Errors) {
    let Some(range) = &output.attr.range else {
        errors.at(&output.field.ty, format!("`scoring(by = logprobs)` needs an output with few values, found `{}` without a range; write `#[output(range = 0..=9)]`", as_written(&output.field.ty)));
        return;
    };
    let Some(bounds) = bounds(range) else { return };
    let value = |bound: &Expr| literal(bound);
    let (Some(min), Some(max)) = (value(bounds.0), value(bounds.1)) else {
        return;
    };
    if min < -1.0 || max > 9.0 {
        errors.at(range, format!("`scoring(by = logprobs)` needs values that begin differently, because the first token decides, found `{}`; write `range = 0..=9` or a part of it, and convert it in `score = ..`", as_written(range)));
    }
}

fn check_labels(output: &Output, errors: &mut Errors) {
    let labels = output.attr.labels.iter().flat_map(|labels| &labels.texts);
    let mut earlier: Vec<String> = Vec::new();
    for label in labels {
        let text = label.value();
        let same = earlier
            .iter()
            .find(|it| it.chars().next() == text.chars().next());
        if let Some(same) = same.filter(|same| **same != text) {
            errors.at(label, format!("`scoring(by = logprobs)` needs labels that begin differently, because the first token decides: {same:?} and {text:?} begin alike; rename one"));
        }
        earlier.push(text);
    }
}
