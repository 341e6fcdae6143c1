//! The rules of `#[metric]` composites that need the components' specs. Each gives the message that
//! `cargo check` shows if it is broken: what is wrong, what was found, what to write. The macro says where.

use super::derived::{Bound, Derived, is_weight, total_cost, wrong_sum};
use super::sentence::Sentence;
use crate::core::spec::{MetricSpec, MetricTier, ScoreRange};

const fn says(what: &str) -> Sentence {
    Sentence::new().text(what)
}

const fn names(name: &str) -> Sentence {
    Sentence::new().name(name)
}

const fn with_range(sentence: Sentence, range: Option<ScoreRange>) -> Sentence {
    match range {
        Some(range) => sentence.decimal(range.min).text("..=").decimal(range.max),
        None => sentence,
    }
}

/// Every part has its good end up.
#[must_use]
pub const fn points_up(part: &str, derived: &Derived) -> Option<Sentence> {
    if derived.higher_is_better {
        return None;
    }
    let found =
        names(part).text(" is lower-is-better, and the whole is higher-is-better: write `invert(");
    Some(found.text(part).text(")`"))
}

/// A part of `all` and `any` passes or fails.
#[must_use]
pub const fn has_verdict(part: &str, derived: &Derived) -> Option<Sentence> {
    // One that points down has the rule before this one to obey.
    if derived.has_verdict() || !derived.higher_is_better {
        return None;
    }
    let found =
        names(part).text(" gives a score and no verdict: write from where on it passes, as in `");
    let half = match derived.range {
        Some(range) => range.min / 2.0 + range.max / 2.0,
        None => 0.5,
    };
    Some(found.text(part).text(" >= ").decimal(half).text("`"))
}

/// A bound on a part, or a threshold of the whole, can be reached and can be missed.
#[must_use]
pub const fn bound_fits(what: &str, of: &str, derived: &Derived, bound: f64) -> Option<Sentence> {
    // One that points down has another rule to obey first.
    if !derived.higher_is_better {
        return None;
    }
    let found = says("the ").text(what).text(" ").decimal(bound);
    let sentence = match derived.bound(bound) {
        Bound::Fits => return None,
        Bound::NotFinite => found.text(" is no finite number"),
        Bound::Outside => {
            with_range(found.text(" lies outside the range ").text(of).text(", "), derived.range)
        }
        Bound::CannotFail => {
            let found = found.text(" can never fail, since every score ").text(of).text(" is in ");
            with_range(found, derived.range).text(": write a larger one")
        }
    };
    Some(sentence)
}

/// A part can be turned upside down only if both ends are known.
#[must_use]
pub const fn has_range(part: &str, derived: &Derived) -> Option<Sentence> {
    if derived.range.is_some() {
        return None;
    }
    let found = says("`invert` turns a score round in its range, and ").name(part);
    Some(found.text(" declares none: write `#[metric(range = 0.0..=1.0)]` on it"))
}

/// Which field a component reads is known to the compiler.
#[must_use]
pub const fn field_is_known(part: &str, spec: &MetricSpec<'_>, param: &str) -> Option<Sentence> {
    let mut index = 0;
    while index < spec.params.len() {
        if same(spec.params[index].name, param) && !spec.params[index].names.is_empty() {
            let found = names(param).text(" says which field ").name(part).text(" reads");
            return Some(found.text(", which the compiler must know: write it out as text"));
        }
        index += 1;
    }
    None
}

/// Proxies stand before the gate.
#[must_use]
pub const fn is_proxy(part: &str, derived: &Derived) -> Option<Sentence> {
    if !derived.is_truth() {
        return None;
    }
    let found =
        names(part).text(" is a truth metric, and proxies decide whether the truths are asked");
    Some(found.text(": write it in `truth(..)`"))
}

/// Truths stand behind the gate.
#[must_use]
pub const fn is_truth(part: &str, derived: &Derived) -> Option<Sentence> {
    if derived.is_truth() {
        return None;
    }
    let found =
        names(part).text(" is a proxy metric, which costs too little to stand behind a gate");
    Some(found.text(": write it in `proxy(..)`, or beside the gate"))
}

/// A weight is a finite number of at least 0.
#[must_use]
pub const fn weight_counts(part: &str, weight: f64) -> Option<Sentence> {
    if is_weight(weight) {
        return None;
    }
    let found = says("the weight ").decimal(weight).text(" of ").name(part);
    Some(found.text(" is no finite number of at least 0"))
}

/// Weights sum to 1.
#[must_use]
pub const fn weights_sum_to_one(parts: &[(Derived, f64)]) -> Option<Sentence> {
    match wrong_sum(parts) {
        Some(sum) => {
            let found = says("the weights sum to ").decimal(sum).text("; they must sum to 1: ");
            let (gap, what) =
                if sum < 1.0 { (1.0 - sum, " is missing") } else { (sum - 1.0, " is too much") };
            Some(found.decimal(gap).text(what))
        }
        None => None,
    }
}

/// Of two parts of one combination, whether they are one metric, or would be called alike.
#[must_use]
pub const fn differ(
    part: &str,
    spec: &MetricSpec<'_>,
    before: &str,
    other: &MetricSpec<'_>,
) -> Option<Sentence> {
    if !same(spec.name, other.name) {
        return None;
    }
    let found = names(part).text(" and ").name(before).text(" are both called ").name(spec.name);
    Some(
        found.text(" in results: name one metric once, or give one of two another `name = \"..\"`"),
    )
}

/// A declared tier is not below the components'.
#[must_use]
pub const fn tier_is_high_enough(declared: MetricTier, derived: &Derived) -> Option<Sentence> {
    if matches!(declared, MetricTier::Truth) || !derived.is_truth() {
        return None;
    }
    Some(says(
        "the composite is declared a proxy, and has a truth metric among its components: write `tier = truth`, or leave the tier to be derived",
    ))
}

/// The components together cost no more than the budget.
#[must_use]
pub const fn is_within_budget(budget: u64, specs: &[MetricSpec<'_>]) -> Option<Sentence> {
    let cost = total_cost(specs);
    if cost <= budget {
        return None;
    }
    let found = says("the components cost up to ").whole(cost as u128);
    let found = found.text(" msat a row, and the budget is ").whole(budget as u128);
    Some(
        found
            .text(" msat: write `budget = \"")
            .whole(cost as u128)
            .text(" msat\"`, or take a component away"),
    )
}

/// What is a verdict already takes no threshold.
#[must_use]
pub const fn takes_threshold(key: &str, derived: &Derived) -> Option<Sentence> {
    if !derived.is_bool() {
        return None;
    }
    Some(says("the whole is true or false already: take ").name(key).text(" away"))
}

/// A strict score is 1 or 0 at a threshold.
#[must_use]
pub const fn has_threshold(derived: &Derived) -> Option<Sentence> {
    if derived.has_verdict() {
        return None;
    }
    Some(says(
        "`strict` makes the score 1 or 0 at the threshold, and there is none: add `threshold = 0.5`",
    ))
}

/// Whether two names are one.
pub(super) const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut index = 0;
    while index < a.len() {
        if a[index] != b[index] {
            return false;
        }
        index += 1;
    }
    true
}
