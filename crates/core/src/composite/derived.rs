//! Derives an expression's kind, range, tier and threshold from its components in `const` functions. The compiler
//! evaluates them for a `#[metric]` composite, and `check.rs` calls them for one built at run time. Rules that both
//! check are predicates in this file; `rules.rs` has the compiler's messages.
//!
//! The file is long because each combinator derives each property, and the derivations have to agree.

use crate::spec::{MetricSpec, MetricTier, ScoreKind, ScoreRange, code_of_components};

/// The largest allowed difference between the weights' sum and 1. The rounding error of ten decimal weights is smaller.
const WEIGHT_TOLERANCE: f64 = 1e-9;

/// The properties of a component or composite that are known before it runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Derived {
    pub(super) kind: ScoreKind,
    pub(super) range: Option<ScoreRange>,
    pub(super) tier: MetricTier,
    /// The smallest passing value, if the metric returns a number and has a threshold.
    pub(super) threshold: Option<f64>,
    pub(super) higher_is_better: bool,
}

impl Derived {
    /// Computes the properties of a single metric.
    pub const fn of(spec: &MetricSpec<'_>) -> Self {
        Self {
            kind: spec.kind,
            range: if spec.strict {
                Some(ScoreRange::UNIT)
            } else {
                spec.range
            },
            tier: spec.tier,
            threshold: match spec.higher_is_better() {
                true if spec.strict => Some(1.0),
                true => spec.threshold,
                false => None,
            },
            higher_is_better: spec.higher_is_better(),
        }
    }

    /// Returns `true` if the metric has one score over all rows instead of one per row.
    pub(super) const fn is_corpus(&self) -> bool {
        matches!(self.kind, ScoreKind::Corpus)
    }

    const fn number(range: Option<ScoreRange>, tier: MetricTier) -> Self {
        let kind = ScoreKind::Number;
        Self {
            kind,
            range,
            tier,
            threshold: None,
            higher_is_better: true,
        }
    }

    /// Computes the properties of a weighted mean from its parts.
    pub const fn weighted(parts: &[(Self, f64)]) -> Self {
        let mut index = 0;
        let mut is_truth = false;
        let mut has_range = true;
        while index < parts.len() {
            is_truth |= parts[index].0.is_truth();
            has_range &= parts[index].0.range.is_some();
            index += 1;
        }
        let range = match has_range {
            true => Some(ScoreRange {
                min: sum_in_order(parts, Term::Min),
                max: sum_in_order(parts, Term::Max),
            }),
            false => None,
        };
        Self::number(range, tier(is_truth))
    }

    /// Computes the properties of an `all` or `any` composite from its parts.
    pub const fn verdict(parts: &[Self]) -> Self {
        Self {
            kind: ScoreKind::Bool,
            ..Self::number(Some(ScoreRange::UNIT), highest_tier(parts))
        }
    }

    /// Computes the properties of a minimum from its parts.
    pub const fn min(parts: &[Self]) -> Self {
        Self::number(joined(parts, false, false), highest_tier(parts))
    }

    /// Computes the properties of a maximum from its parts.
    pub const fn max(parts: &[Self]) -> Self {
        Self::number(joined(parts, true, true), highest_tier(parts))
    }

    /// Computes the properties of a mean from its parts.
    ///
    /// For example, the parts can be the proxies or the truths of a gate.
    ///
    /// If there is only one part, this function returns its properties unchanged.
    pub const fn mean(parts: &[Self]) -> Self {
        if let [only] = parts {
            return *only;
        }
        let mut min = 0.0;
        let mut max = 0.0;
        let mut known = !parts.is_empty();
        let mut index = 0;
        while index < parts.len() {
            match parts[index].range {
                Some(range) => {
                    min += range.min / parts.len() as f64;
                    max += range.max / parts.len() as f64;
                }
                None => known = false,
            }
            index += 1;
        }
        let range = if known {
            Some(ScoreRange { min, max })
        } else {
            None
        };
        Self::number(range, highest_tier(parts))
    }

    /// Computes the properties of a constant score in a decision tree.
    pub const fn constant(number: f64) -> Self {
        Self::number(
            Some(ScoreRange {
                min: number,
                max: number,
            }),
            MetricTier::Proxy,
        )
    }

    /// Computes the properties of a decision from its node and branches.
    ///
    /// The resulting range contains the range of every branch.
    pub const fn decision(node: &Self, branches: &[Self]) -> Self {
        let is_truth = node.is_truth() || matches!(highest_tier(branches), MetricTier::Truth);
        Self::number(joined(branches, false, true), tier(is_truth))
    }

    /// Widens a composite's range to allow for omitted components.
    ///
    /// The new range contains the range of each component, because only one component might remain.
    pub const fn or_fewer(self, parts: &[Self]) -> Self {
        Self {
            range: joined(parts, false, true),
            ..self
        }
    }

    /// Computes the properties of an inverted component.
    pub const fn invert(self) -> Self {
        Self::number(self.range, self.tier)
    }

    /// Sets `bound` as the smallest passing value.
    pub const fn at_least(self, bound: f64) -> Self {
        Self {
            kind: ScoreKind::Number,
            threshold: Some(bound),
            ..self
        }
    }

    /// Creates the composite's spec from the derived properties.
    ///
    /// A declared tier or threshold replaces the derived one.
    ///
    /// By default, a gate with a single truth metric uses that metric's threshold.
    pub const fn spec<'a>(
        &self,
        name: &'a str,
        components: &[MetricSpec<'_>],
        tier: Option<MetricTier>,
        threshold: Option<f64>,
        strict: bool,
    ) -> MetricSpec<'a> {
        let tier = match tier {
            Some(tier) => tier,
            None => self.tier,
        };
        let mut spec = MetricSpec::new(name).with_tier(tier).with_kind(self.kind);
        spec.cost_msats = total_cost(components);
        spec.range = self.range;
        spec.threshold = if threshold.is_some() {
            threshold
        } else {
            self.threshold
        };
        spec.strict = strict;
        spec.is_async = is_async(components);
        spec.code = code_of_components(components);
        spec.is_stub = MetricSpec::any_stub(components);
        spec
    }

    pub(super) const fn has_verdict(&self) -> bool {
        self.is_bool() || self.threshold.is_some()
    }

    pub(super) const fn is_truth(&self) -> bool {
        matches!(self.tier, MetricTier::Truth)
    }

    pub(super) const fn is_bool(&self) -> bool {
        matches!(self.kind, ScoreKind::Bool)
    }
}

const fn is_async(components: &[MetricSpec<'_>]) -> bool {
    match components {
        [component, rest @ ..] => component.is_async || is_async(rest),
        [] => false,
    }
}

pub(super) const fn is_weight(weight: f64) -> bool {
    weight.is_finite() && weight >= 0.0
}

/// Returns the sum of the weights if it is not 1. Returns `None` if a weight is invalid, which breaks a different rule.
pub(super) const fn wrong_sum(parts: &[(Derived, f64)]) -> Option<f64> {
    let mut index = 0;
    while index < parts.len() {
        if !is_weight(parts[index].1) {
            return None;
        }
        index += 1;
    }
    let sum = sum_in_order(parts, Term::Weight);
    if (sum - 1.0).abs() > WEIGHT_TOLERANCE {
        Some(sum)
    } else {
        None
    }
}

const fn tier(is_truth: bool) -> MetricTier {
    if is_truth {
        MetricTier::Truth
    } else {
        MetricTier::Proxy
    }
}

const fn highest_tier(parts: &[Derived]) -> MetricTier {
    match parts {
        [part, rest @ ..] if !part.is_truth() => highest_tier(rest),
        parts => tier(!parts.is_empty()),
    }
}

/// Combines the parts' ranges: takes the larger or smaller of their minima, and of their maxima. Returns `None` if a
/// part has no range.
const fn joined(parts: &[Derived], larger_min: bool, larger_max: bool) -> Option<ScoreRange> {
    let (part, rest) = match parts {
        [part, rest @ ..] => (part, rest),
        [] => return None,
    };
    match (part.range, joined(rest, larger_min, larger_max)) {
        (range, _) if rest.is_empty() => range,
        (Some(a), Some(b)) => Some(ScoreRange {
            min: pick(a.min, b.min, larger_min),
            max: pick(a.max, b.max, larger_max),
        }),
        _ => None,
    }
}

const fn pick(a: f64, b: f64, larger: bool) -> f64 {
    if (a < b) == larger { b } else { a }
}

#[derive(Clone, Copy)]
enum Term {
    Weight,
    Min,
    Max,
}

const fn term(part: &(Derived, f64), term: Term) -> f64 {
    match (term, part.0.range) {
        (Term::Min, Some(range)) => part.1 * range.min,
        (Term::Max, Some(range)) => part.1 * range.max,
        _ => part.1,
    }
}

/// Sums the terms from smallest to largest, so their order does not matter. A `const` function cannot sort, so this one
/// searches for the term with each rank, which is fast for the usual number of components.
const fn sum_in_order(parts: &[(Derived, f64)], of: Term) -> f64 {
    let mut sum = 0.0;
    let mut rank = 0;
    while rank < parts.len() {
        let mut index = 0;
        while index < parts.len() {
            if rank_of(parts, of, index) == rank {
                sum += term(&parts[index], of);
            }
            index += 1;
        }
        rank += 1;
    }
    sum
}

/// Returns the rank of the term at `at`, which is the number of terms that sort before it.
const fn rank_of(parts: &[(Derived, f64)], of: Term, at: usize) -> usize {
    let value = term(&parts[at], of);
    let mut count = 0;
    let mut index = 0;
    while index < parts.len() {
        let other = term(&parts[index], of);
        if other < value || (at > index && other <= value) {
            count += 1;
        }
        index += 1;
    }
    count
}

/// Returns the maximum expected cost of all components together, in millisatoshis.
pub const fn total_cost(components: &[MetricSpec<'_>]) -> u64 {
    match components {
        [component, rest @ ..] => component.cost_msats.saturating_add(total_cost(rest)),
        [] => 0,
    }
}

/// Returns the cost of the most expensive path, in millisatoshis.
///
/// `paths` lists the components of each path, and `costs` contains the costs of all components.
pub const fn dearest(costs: &[u64], paths: &[&[usize]]) -> u64 {
    let (mut dearest, mut path) = (0, 0);
    while path < paths.len() {
        let (mut cost, mut step): (u64, usize) = (0, 0);
        while step < paths[path].len() {
            cost = cost.saturating_add(costs[paths[path][step]]);
            step += 1;
        }
        if cost > dearest {
            dearest = cost;
        }
        path += 1;
    }
    dearest
}

#[cfg(test)]
mod tests {
    use super::{Derived, Term, dearest, sum_in_order, total_cost, wrong_sum};
    use crate::spec::MetricSpec;

    fn part(min: f64, max: f64) -> Derived {
        Derived::of(&MetricSpec::new("part").with_range(min, max))
    }

    #[test]
    fn sums_do_not_depend_on_the_order_of_parts() {
        let weights = [0.1, 0.2, 0.3, 0.1, 0.1, 0.2];
        let parts = weights.map(|weight| (part(0.0, 1.0), weight));
        let mut reversed = parts;
        reversed.reverse();
        let sum = sum_in_order(&parts, Term::Weight);
        assert_eq!(
            sum.to_bits(),
            sum_in_order(&reversed, Term::Weight).to_bits()
        );
        assert_eq!(wrong_sum(&parts), None);
        assert_eq!(
            wrong_sum(&parts[..5]).map(|sum| (sum * 10.0).round()),
            Some(8.0)
        );
    }

    #[test]
    fn terms_are_added_from_the_smallest_to_the_largest() {
        // Summed from the largest, they give 1e16 + 4.
        for weights in [
            [1e16, 1.5, 1.0],
            [1.5, 1e16, 1.0],
            [1.0, 1.5, 1e16],
            [1.0, 1e16, 1.0],
        ] {
            let parts = weights.map(|weight| (part(0.0, 1.0), weight));
            assert_eq!(
                sum_in_order(&parts, Term::Weight),
                1e16 + 2.0,
                "{weights:?}"
            );
        }
    }

    #[test]
    fn costs_are_added_up_to_the_largest_number() {
        let costing = |cost| MetricSpec::new("it").with_cost_msats(cost);
        assert_eq!(total_cost(&[costing(20), costing(0), costing(1)]), 21);
        assert_eq!(total_cost(&[costing(1), costing(u64::MAX)]), u64::MAX);
        assert_eq!(total_cost(&[]), 0);
        assert_eq!(dearest(&[1, 20, 300], &[&[0], &[0, 1], &[0, 2], &[1]]), 301);
        assert_eq!(dearest(&[1, 20, 300], &[&[2, 1], &[0], &[0, 1]]), 320);
        assert_eq!(dearest(&[1, u64::MAX], &[&[0, 1], &[0]]), u64::MAX);
        assert_eq!(dearest(&[], &[&[]]), 0);
    }
}
