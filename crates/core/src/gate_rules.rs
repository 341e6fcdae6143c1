//! The rules for `#[eval]` gates that depend on the metrics' specs. If a rule is broken, its function returns a message
//! that states the mistake, the value found and a fix.
//!
//! The macro emits the rules as constants, so `cargo check` shows the message at the gate; `specs` then contains the
//! metrics whose types the attribute names. The harness checks the rules again before the first row, using the specs of
//! all built metrics.

pub use crate::sentence::check;
use crate::sentence::{self, Sentence, same, sentence, unless};
use crate::spec::{MetricSpec, ScoreKind, ScoreRange};

const fn position(specs: &[MetricSpec<'_>], name: &str) -> Option<usize> {
    let mut index = 0;
    while index < specs.len() {
        if same(specs[index].name, name) {
            return Some(index);
        }
        index += 1;
    }
    None
}

/// Returns the specs if all metrics have valid attributes.
///
/// Otherwise, returns an empty slice.
pub const fn known(specs: &'static [MetricSpec<'static>]) -> &'static [MetricSpec<'static>] {
    if MetricSpec::any_stub(specs) {
        return &[];
    }
    specs
}

/// Checks that a gate's metric is listed in `metrics(..)`.
pub const fn is_listed(specs: &[MetricSpec<'_>], name: &str) -> Option<Sentence> {
    if specs.is_empty() || position(specs, name).is_some() {
        return None;
    }
    let mut sentence = sentence!("`metrics(..)` has no metric " [name name] "; it has ");
    let mut index = 0;
    while index < specs.len() {
        if index > 0 {
            sentence = sentence.text(", ");
        }
        sentence = sentence.name(specs[index].name);
        index += 1;
    }
    Some(sentence.text(": write one of these, or add the metric"))
}

/// Returns the range of a metric's scores, if it has one.
const fn range(spec: &MetricSpec<'_>) -> Option<ScoreRange> {
    match (spec.strict, spec.kind) {
        (true, _) => Some(ScoreRange::UNIT),
        (false, ScoreKind::Bool) if spec.range.is_none() => Some(ScoreRange::UNIT),
        _ => spec.range,
    }
}

/// Checks that a gate's bound is valid for its metric.
///
/// The bound must point in the metric's direction and lie in its range. For example, a higher-is-better metric needs a
/// lower bound.
///
/// `end` is `lower`, `upper` or empty, and `text` is the bound as written.
pub const fn bound_fits(
    specs: &[MetricSpec<'_>],
    name: &str,
    end: &str,
    is_at_least: bool,
    bound: f64,
    text: &str,
) -> Option<Sentence> {
    let Some(at) = position(specs, name) else {
        return None;
    };
    let spec = &specs[at];
    let higher = spec.higher_is_better();
    let right_end = if higher { "lower" } else { "upper" };
    if is_at_least != higher || !same(end, "") && !same(end, right_end) {
        let better = if higher { "higher" } else { "lower" };
        let found = sentence!([text better] " is better for " [name name] "; write `");
        let found = match same(end, "") {
            true => found.text(name),
            false => sentence!(begin: found; [text right_end] "(" [text name] ")"),
        };
        let sign = if higher { " >= " } else { " <= " };
        return Some(sentence!(begin: found; [text sign] [text text] "`"));
    }
    let range = range(spec);
    let is_unit = matches!(range, Some(range) if range.min == 0.0 && range.max == 1.0);
    if is_unit && bound > 1.0 && bound <= 100.0 {
        return Some(
            sentence!("the bound " [decimal bound] " is outside the range of " [name name]
            ", 0.0..=1.0: write a fraction instead of a percentage, " [decimal bound / 100.0]),
        );
    }
    let of = sentence!("of " [name name]);
    sentence::bound_fits("bound", of.as_str(), range, is_at_least, bound)
}

/// Checks that a margin is smaller than the metric's range.
pub const fn margin_fits(specs: &[MetricSpec<'_>], name: &str, by: f64) -> Option<Sentence> {
    let Some(at) = position(specs, name) else {
        return None;
    };
    let Some(range) = range(&specs[at]) else {
        return None;
    };
    let width = range.max - range.min;
    let smaller = if width == 1.0 && by <= 100.0 && by > 1.0 {
        by / 100.0
    } else {
        width / 50.0
    };
    unless!(by < width;
        "the margin " [decimal by] " is as wide as the range of " [name name] ", " [range range]
        ", so the gate never fails; write `by = " [decimal smaller] "`")
}

/// Checks that a metric used for pass@k has a verdict for each repeat.
///
/// A metric given as an expression is not checked, because the expression could set a threshold.
pub const fn has_verdict(
    specs: &[MetricSpec<'_>],
    is_default: &[bool],
    name: &str,
) -> Option<Sentence> {
    let Some(at) = position(specs, name) else {
        return None;
    };
    let spec = &specs[at];
    let may_pass = matches!(spec.kind, ScoreKind::Bool) || spec.threshold.is_some();
    unless!(!is_default[at] || may_pass;
        "`passed_at` needs a verdict, and " [name name]
        " has none; write its threshold in `metrics(..)`, such as `F1::default().with_threshold(0.5)`")
}

/// Checks that the declared cost of one row is within the budget.
///
/// Metrics given as expressions are not counted, because an expression can set a different cost.
pub const fn budget_covers(
    specs: &[MetricSpec<'_>],
    is_default: &[bool],
    repeats: u64,
    budget_msats: u64,
) -> Option<Sentence> {
    let (mut index, mut cost) = (0, 0_u64);
    while index < specs.len() {
        if is_default[index] {
            cost = cost.saturating_add(specs[index].cost_msats);
        }
        index += 1;
    }
    let cost = cost.saturating_mul(repeats);
    unless!(cost <= budget_msats;
        "one row may cost " [whole cost as u128] " msat, more than the budget of " [whole budget_msats as u128]
        " msat; write a larger budget, or fewer repeats")
}
