//! The rules for judges that score the turns of a conversation.

use syn::Ident;

use super::panel::check_at_least_one;
use crate::judge::model::Judge;
use crate::shared::errors::Errors;
use crate::shared::names::nearest;

pub(super) fn check(judge: &Judge, errors: &mut Errors) {
    let attrs = &judge.attrs;
    let Some(turns) = &attrs.turns else {
        return;
    };
    if turns.lacks_role() {
        errors.at_span(
            turns.span,
            "missing role in `turns(..)`; write `of = assistant`",
        );
    }
    if let Some(role) = &turns.of {
        one_of(
            "of",
            role,
            "the role of the turns",
            &["assistant", "user"],
            errors,
        );
    }
    if let Some(reduce) = &turns.reduce {
        one_of(
            "reduce",
            reduce,
            "a reduction of the turn scores",
            &["mean", "min", "max"],
            errors,
        );
    }
    if let Some(window) = &turns.window {
        let message = "expected `window` to be at least 1, found 0; write `window = 10`";
        check_at_least_one(window, message, errors);
    }
    if let Some(max) = &turns.max {
        let message = "expected `max` to be at least 1, found 0; write `max = 100`";
        check_at_least_one(max, message, errors);
    }
    let mut conversations = judge.conversations();
    match (conversations.next(), conversations.next()) {
        (None, _) => errors.at_span(turns.span, "the judge has no conversation; write an input of the type `Trajectory`, such as `#[input(pred)] conversation: Trajectory`"),
        (Some(_), Some(second)) => {
            errors.at(&second.field.ty, "expected one conversation for the turns, found two inputs of the type `Trajectory`; keep one");
        }
        (Some(_), None) => {}
    }
    if let Some(pair) = &attrs.pairwise {
        errors.at_span(
            pair.span,
            "`pairwise` is not supported for a judge that scores turns; remove it, or remove `turns`",
        );
    }
}

/// Reports a word that is not one of the expected ones.
pub(super) fn one_of(key: &str, word: &Ident, what: &str, expected: &[&str], errors: &mut Errors) {
    if !expected.iter().any(|name| word == name) {
        let names = expected.join("`, `");
        let found = word.to_string();
        let meant = match &*found {
            "average" => "mean",
            "ai" | "bot" | "model" => "assistant",
            "human" => "user",
            found => nearest(found, expected).unwrap_or(expected[0]),
        };
        errors.at(
            word,
            format!("expected {what}, one of `{names}`, found `{found}`; write `{key} = {meant}`"),
        );
    }
}
