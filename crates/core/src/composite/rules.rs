//! The rules for `#[metric]` composites that depend on the components' specs. If a rule is broken, its function returns
//! the message that `cargo check` shows: the mistake, the value found and a fix. The macro provides the location.

use super::derived::{Derived, is_weight, wrong_sum};
use super::shape::Reads;
use crate::sentence::{self, Sentence, same, sentence, unless};
use crate::spec::{MetricSpec, MetricTier};

/// Returns the middle of the range.
const fn half(derived: &Derived) -> f64 {
    match derived.range {
        Some(range) => range.min / 2.0 + range.max / 2.0,
        None => 0.5,
    }
}

/// Checks that a component scores each row individually.
pub const fn scores_rows(part: &str, derived: &Derived) -> Option<Sentence> {
    unless!(!derived.is_corpus();
        [name part] " scores all rows together, not single rows; remove it from the composite and run it separately")
}

/// Checks that a component scores each row individually and that higher scores are better.
pub const fn points_up(part: &str, derived: &Derived) -> Option<Sentence> {
    if let Some(sentence) = scores_rows(part, derived) {
        return Some(sentence);
    }
    unless!(derived.higher_is_better;
        [name part] " is lower-is-better, but a composite is higher-is-better; write `invert(" [text part] ")`")
}

/// Checks that an operand of `all` or `any` has a verdict.
pub const fn has_verdict(part: &str, derived: &Derived) -> Option<Sentence> {
    // A lower-is-better operand already breaks the previous rule.
    unless!(derived.has_verdict() || derived.is_corpus() || !derived.higher_is_better;
        [name part] " has a score but no verdict; write a pass threshold, such as `" [text part] " >= " [decimal half(derived)] "`")
}

/// Checks that some scores pass a threshold and others fail.
pub const fn bound_fits(what: &str, of: &str, derived: &Derived, bound: f64) -> Option<Sentence> {
    // A lower-is-better operand already breaks another rule.
    if !derived.higher_is_better {
        return None;
    }
    sentence::bound_fits(what, of, derived.range, true, bound)
}

/// Checks that a component has a range.
///
/// The component's range determines the composite's range, the values of `invert` and the possible thresholds.
pub const fn has_range(within: &str, part: &str, derived: &Derived) -> Option<Sentence> {
    // A corpus metric already breaks another rule.
    unless!(derived.range.is_some() || derived.is_corpus();
        [name within] " needs the range of " [name part]
        ", which declares none; write `range = 0.0..=1.0` in its attribute")
}

/// Checks that the compiler knows which fields a component reads.
pub const fn field_is_known(part: &str, spec: &MetricSpec<'_>, param: &str) -> Option<Sentence> {
    let mut index = 0;
    while index < spec.params.len() {
        if same(spec.params[index].name, param) && !spec.params[index].names.is_empty() {
            return Some(sentence!([name param] " names the field that " [name part]
                " reads; expected a string literal, because the compiler checks the field"));
        }
        index += 1;
    }
    None
}

/// Checks that an argument to a judge is a declared parameter.
///
/// An instance can have settings that are not parameters, such as a threshold. The compiler cannot see them.
pub const fn is_param(spec: &MetricSpec<'_>, argument: &str) -> Option<Sentence> {
    let (mut index, mut is_judge) = (0, false);
    while index < spec.params.len() {
        let name = spec.params[index].name;
        if same(name, argument) {
            return None;
        }
        is_judge |= same(name, "max_concurrent_judges");
        index += 1;
    }
    if !is_judge {
        // The builder has no such method, which rustc reports.
        return None;
    }
    let found = sentence!("a component of `#[metric]` keeps the " [text argument] " from its declaration; write ");
    Some(match same(argument, "threshold") {
        true => sentence!(begin: found; "`" [text spec.name] " >= 0.5` for another one"),
        false => found.text("it in `Composite::builder` for another one"),
    })
}

/// Checks that a gate's proxy is a proxy metric.
pub const fn is_proxy(part: &str, derived: &Derived) -> Option<Sentence> {
    unless!(!derived.is_truth();
        [name part] " is a truth metric, but is among the gate's proxies; write it in `truth(..)`")
}

/// Checks that a gate's truth is a truth metric.
pub const fn is_truth(part: &str, derived: &Derived) -> Option<Sentence> {
    unless!(derived.is_truth();
        [name part] " is a proxy metric, but is among the gate's truths; write it in `proxy(..)`, or outside the gate")
}

/// Checks the node of a decision whose branches are `yes` and `no`.
///
/// The node's metric must return true or false.
pub const fn is_yes_or_no(node: &str, derived: &Derived) -> Option<Sentence> {
    // A corpus metric already breaks another rule.
    unless!(derived.is_bool() || derived.is_corpus();
        [name node] " returns a number, but `yes` and `no` are branches of a `bool`; write the variants of \
        the enum that a judge answers with, or a composite such as `#[metric(all(" [text node] " >= " [decimal half(derived)]
        "))] struct Good;` and `good` as the node")
}

/// Checks that a decision-tree branch matches one of its node's answers.
pub const fn is_answer(node: &str, branch: &str, reads: &Reads) -> Option<Sentence> {
    if contains(reads.answers(), branch) {
        return None;
    }
    let found = sentence!([name branch] " is not an answer of " [name node] "; write one of ");
    Some(list(found, reads.answers(), &[]))
}

/// Checks that a node's branches cover all of its answers.
pub const fn branches_are_complete(
    node: &str,
    branches: &[&str],
    reads: &Reads,
) -> Option<Sentence> {
    // An unknown branch breaks another rule, and may be the missing one misspelt.
    if first_other(branches, reads.answers()).is_some() {
        return None;
    }
    let Some(missing) = first_other(reads.answers(), branches) else {
        return None;
    };
    let found = sentence!("missing branches for " [name node] ": ");
    let found = list(found, reads.answers(), branches);
    Some(sentence!(begin: found; "; write `" [text missing] " => 0.0`"))
}

const fn contains(all: &[&str], name: &str) -> bool {
    match all {
        [first, rest @ ..] => same(first, name) || contains(rest, name),
        [] => false,
    }
}

/// Returns the first name that is not among the others.
const fn first_other<'a>(names: &[&'a str], others: &[&str]) -> Option<&'a str> {
    match names {
        [name, rest @ ..] if contains(others, name) => first_other(rest, others),
        [name, ..] => Some(name),
        [] => None,
    }
}

/// Appends all names except the excluded ones.
const fn list(mut sentence: Sentence, all: &[&str], except: &[&str]) -> Sentence {
    let (mut index, mut is_first) = (0, true);
    while index < all.len() {
        if !contains(except, all[index]) {
            sentence = sentence.text(if is_first { "" } else { ", " });
            sentence = sentence.name(all[index]);
            is_first = false;
        }
        index += 1;
    }
    sentence
}

/// Checks that a score in a decision tree is a finite number.
pub const fn score_is_finite(branch: &str, score: f64) -> Option<Sentence> {
    unless!(score.is_finite();
        "the score " [decimal score] " of the branch " [name branch] " is not a finite number; write a number such as `0.5`")
}

/// Checks that a decision tree can return more than one score.
pub const fn scores_differ(derived: &Derived) -> Option<Sentence> {
    match derived.range {
        Some(range) if range.min.is_finite() => unless!(range.min != range.max;
            "the score is " [decimal range.min] " on every path; write different scores, or remove the tree"),
        _ => None,
    }
}

/// Checks that a weight is finite and non-negative.
pub const fn weight_counts(part: &str, weight: f64) -> Option<Sentence> {
    unless!(is_weight(weight);
        "the weight " [decimal weight] " of " [name part] " is negative or not finite")
}

/// Checks that the weights sum to 1.
pub const fn weights_sum_to_one(parts: &[(Derived, f64)]) -> Option<Sentence> {
    let Some(sum) = wrong_sum(parts) else {
        return None;
    };
    let what = if sum < 1.0 { "add " } else { "remove " };
    Some(
        sentence!("the weights sum to " [decimal sum] "; they must sum to 1: " [text what] [decimal (1.0 - sum).abs()]),
    )
}

/// Checks that the operands of a combinator have different names.
pub const fn differ(
    part: &str,
    spec: &MetricSpec<'_>,
    before: &str,
    other: &MetricSpec<'_>,
) -> Option<Sentence> {
    unless!(!same(spec.name, other.name);
        [name part] " and " [name before] " are both named " [name spec.name]
        " in results; use each metric once, or give one of the two another `name = \"..\"`")
}

/// Checks that a declared tier is not below any component's tier.
pub const fn tier_is_high_enough(declared: MetricTier, derived: &Derived) -> Option<Sentence> {
    unless!(matches!(declared, MetricTier::Truth) || !derived.is_truth();
        "the composite is declared as `proxy`, but has a truth metric among its components; write `tier = truth`, or remove `tier`")
}

/// Checks that the components cost no more than the budget.
///
/// For a decision tree, only the most expensive path counts.
pub const fn is_within_budget(budget: u64, cost: u64) -> Option<Sentence> {
    unless!(cost <= budget;
        "the components cost up to " [whole cost as u128] " msat per row, but the budget is " [whole budget as u128]
        " msat; write `budget = \"" [whole cost as u128] " msat\"`, or remove a component")
}

/// Checks that a composite does not declare a threshold if it returns a verdict.
pub const fn takes_threshold(key: &str, derived: &Derived) -> Option<Sentence> {
    unless!(!derived.is_bool();
        [name key] " is not supported for a composite that is true or false; remove it")
}

/// Checks that a composite with `strict` has a threshold.
pub const fn has_threshold(derived: &Derived) -> Option<Sentence> {
    unless!(derived.has_verdict(); "`strict` requires a threshold; add `threshold = 0.5`")
}

#[cfg(test)]
pub(super) mod tests;
