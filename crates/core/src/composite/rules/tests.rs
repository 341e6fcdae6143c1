//! The compile-time rules, called at run time: declarations that break a rule, and the rule's message.

use super::*;
use crate::composite::derived::{Derived, wrong_sum};
use crate::composite::shape::Reads;
use crate::sentence::Sentence;
use crate::spec::{Direction, MetricSpec, MetricTier, ParamSpec, ScoreKind, ScoreRange, Side};
use crate::value_type::TypeHelp;

pub(in crate::composite) fn stars() -> MetricSpec<'static> {
    MetricSpec::new("stars").with_range(1.0, 5.0)
}

fn correct() -> MetricSpec<'static> {
    MetricSpec::new("correct")
        .with_kind(ScoreKind::Bool)
        .with_range(0.0, 1.0)
}

fn truth() -> Derived {
    Derived::of(&correct().with_tier(MetricTier::Truth))
}

fn properties(spec: MetricSpec<'_>) -> Derived {
    Derived::of(&spec)
}

fn lower() -> Derived {
    properties(stars().with_direction(Direction::LowerIsBetter))
}

fn corpus() -> Derived {
    properties(MetricSpec::new("kappa").with_kind(ScoreKind::Corpus))
}

fn without_range() -> Derived {
    properties(MetricSpec::new("length"))
}

fn in_range(min: f64, max: f64) -> Derived {
    properties(MetricSpec::new("part").with_range(min, max))
}

fn range(derived: &Derived) -> Option<(f64, f64)> {
    derived.range.map(|ScoreRange { min, max }| (min, max))
}

#[track_caller]
fn assert_message(broken: Option<Sentence>, expected: &str) {
    assert_eq!(broken.as_ref().map_or("", Sentence::as_str), expected);
}

#[test]
fn a_component_scores_rows_and_is_higher_is_better() {
    assert_message(scores_rows("stars", &properties(stars())), "");
    assert_message(
        scores_rows("kappa", &corpus()),
        "`kappa` scores all rows together, not single rows; remove it from the composite and run it separately",
    );
    assert_message(points_up("stars", &properties(stars())), "");
    assert_message(
        points_up("errors", &lower()),
        "`errors` is lower-is-better, but a composite is higher-is-better; write `invert(errors)`",
    );
    assert_message(
        points_up("kappa", &corpus()),
        "`kappa` scores all rows together, not single rows; remove it from the composite and run it separately",
    );
}

#[test]
fn an_operand_of_all_has_a_verdict() {
    for derived in [
        properties(correct()),
        properties(stars().with_threshold(2.0)),
        corpus(),
        lower(),
    ] {
        assert_message(has_verdict("it", &derived), "");
    }
    assert_message(
        has_verdict("stars", &properties(stars())),
        "`stars` has a score but no verdict; write a pass threshold, such as `stars >= 3.0`",
    );
    assert_message(
        has_verdict("length", &without_range()),
        "`length` has a score but no verdict; write a pass threshold, such as `length >= 0.5`",
    );
}

#[test]
fn some_scores_reach_a_threshold_and_others_do_not() {
    for (bound, expected) in [
        (1.5, ""),
        (5.0, ""),
        (
            1.0,
            "the threshold 1.0 never fails: every score of it is in 1.0..=5.0; write a larger one",
        ),
        (
            0.5,
            "the threshold 0.5 is outside the range of it, 1.0..=5.0; write a threshold within it",
        ),
        (
            f64::NAN,
            "the threshold NaN is not finite; write a finite number",
        ),
    ] {
        assert_message(
            bound_fits("threshold", "of it", &properties(stars()), bound),
            expected,
        );
        assert_message(bound_fits("threshold", "of it", &lower(), bound), "");
    }
    let of_any = |bound| bound_fits("threshold", "of it", &without_range(), bound);
    assert_message(of_any(-7.0), "");
    assert_message(
        of_any(f64::INFINITY),
        "the threshold inf is not finite; write a finite number",
    );
}

#[test]
fn a_component_has_a_range() {
    assert_message(has_range("min", "stars", &properties(stars())), "");
    assert_message(has_range("min", "kappa", &corpus()), "");
    assert_message(
        has_range("min", "length", &without_range()),
        "`min` needs the range of `length`, which declares none; write `range = 0.0..=1.0` in its attribute",
    );
}

/// `limit` names no field. `field` names gold field 0 and prediction field 1, and `other` names prediction field 0.
pub(in crate::composite) const PARAMS: [ParamSpec<'static>; 3] = {
    let param = ParamSpec {
        name: "limit",
        ty: "u32",
        help: TypeHelp::NONE,
        default: None,
        doc: "",
        names: &[],
    };
    [
        param,
        ParamSpec {
            name: "field",
            names: &[(Side::Gold, 0), (Side::Pred, 1)],
            ..param
        },
        ParamSpec {
            name: "other",
            names: &[(Side::Pred, 0)],
            ..param
        },
    ]
};

#[test]
fn a_parameter_that_names_a_field_is_known_to_the_compiler() {
    let spec = stars().with_params(&PARAMS);
    assert_message(field_is_known("stars", &spec, "limit"), "");
    assert_message(field_is_known("stars", &spec, "unknown"), "");
    assert_message(field_is_known("stars", &stars(), "field"), "");
    for param in ["field", "other"] {
        let expected = format!(
            "`{param}` names the field that `stars` reads; expected a string literal, because the compiler checks the field"
        );
        assert_message(field_is_known("stars", &spec, param), &expected);
    }
}

#[test]
fn an_argument_of_a_judge_is_a_parameter() {
    let judge = [
        ParamSpec {
            name: "max_concurrent_judges",
            ..PARAMS[0]
        },
        PARAMS[0],
    ];
    let (judge, other) = (stars().with_params(&judge), stars().with_params(&PARAMS));
    assert_message(is_param(&judge, "limit"), "");
    assert_message(is_param(&judge, "max_concurrent_judges"), "");
    assert_message(is_param(&other, "threshold"), "");
    assert_message(is_param(&stars(), "threshold"), "");
    assert_message(
        is_param(&judge, "threshold"),
        "a component of `#[metric]` keeps the threshold from its declaration; write `stars >= 0.5` for another one",
    );
    assert_message(
        is_param(&judge, "cost"),
        "a component of `#[metric]` keeps the cost from its declaration; write it in `Composite::builder` for another one",
    );
}

#[test]
fn proxies_of_a_gate_are_proxies_and_truths_are_truths() {
    assert_message(is_proxy("stars", &properties(stars())), "");
    assert_message(
        is_proxy("correct", &truth()),
        "`correct` is a truth metric, but is among the gate's proxies; write it in `truth(..)`",
    );
    assert_message(is_truth("correct", &truth()), "");
    assert_message(
        is_truth("stars", &properties(stars())),
        "`stars` is a proxy metric, but is among the gate's truths; write it in `proxy(..)`, or outside the gate",
    );
    assert_message(tier_is_high_enough(MetricTier::Truth, &truth()), "");
    assert_message(
        tier_is_high_enough(MetricTier::Truth, &properties(stars())),
        "",
    );
    assert_message(
        tier_is_high_enough(MetricTier::Proxy, &properties(stars())),
        "",
    );
    assert_message(
        tier_is_high_enough(MetricTier::Proxy, &truth()),
        "the composite is declared as `proxy`, but has a truth metric among its components; write `tier = truth`, or remove `tier`",
    );
}

#[test]
fn a_node_is_true_or_false_and_its_branches_are_its_answers() {
    assert_message(is_yes_or_no("correct", &properties(correct())), "");
    assert_message(is_yes_or_no("kappa", &corpus()), "");
    for (derived, half) in [(properties(stars()), "3.0"), (without_range(), "0.5")] {
        let expected = format!(
            "`node` returns a number, but `yes` and `no` are branches of a `bool`; write the variants of the enum that a judge answers with, or a composite such as `#[metric(all(node >= {half}))] struct Good;` and `good` as the node"
        );
        assert_message(is_yes_or_no("node", &derived), &expected);
    }
    let reads = Reads::Bool;
    assert_message(is_answer("node", "yes", &reads), "");
    assert_message(is_answer("node", "no", &reads), "");
    assert_message(
        is_answer("node", "maybe", &reads),
        "`maybe` is not an answer of `node`; write one of `yes`, `no`",
    );
    assert_message(branches_are_complete("node", &["no", "yes"], &reads), "");
    // The branch breaks another rule, and may be the missing one.
    assert_message(branches_are_complete("node", &["yes", "nope"], &reads), "");
    assert_message(
        branches_are_complete("node", &["yes"], &reads),
        "missing branches for `node`: `no`; write `no => 0.0`",
    );
    assert_message(
        branches_are_complete("node", &[], &reads),
        "missing branches for `node`: `yes`, `no`; write `yes => 0.0`",
    );
}

#[test]
fn scores_of_a_tree_are_finite_and_differ() {
    assert_message(score_is_finite("yes", 0.5), "");
    assert_message(
        score_is_finite("yes", f64::NEG_INFINITY),
        "the score -inf of the branch `yes` is not a finite number; write a number such as `0.5`",
    );
    assert_message(scores_differ(&properties(stars())), "");
    assert_message(scores_differ(&without_range()), "");
    assert_message(scores_differ(&Derived::constant(f64::INFINITY)), "");
    assert_message(
        scores_differ(&Derived::constant(0.25)),
        "the score is 0.25 on every path; write different scores, or remove the tree",
    );
}

#[test]
fn weights_are_finite_and_sum_to_one() {
    for weight in [0.0, 0.5, 7.0] {
        assert_message(weight_counts("stars", weight), "");
    }
    assert_message(
        weight_counts("stars", -0.5),
        "the weight -0.5 of `stars` is negative or not finite",
    );
    assert_message(
        weight_counts("stars", f64::INFINITY),
        "the weight inf of `stars` is negative or not finite",
    );
    let weights = |weights: [f64; 2]| weights.map(|weight| (properties(stars()), weight));
    assert_message(weights_sum_to_one(&weights([0.25, 0.75])), "");
    // Invalid weights break another rule.
    assert_message(weights_sum_to_one(&weights([-1.0, 0.75])), "");
    assert_message(
        weights_sum_to_one(&weights([0.25, 0.5])),
        "the weights sum to 0.75; they must sum to 1: add 0.25",
    );
    assert_message(
        weights_sum_to_one(&weights([0.75, 0.5])),
        "the weights sum to 1.25; they must sum to 1: remove 0.25",
    );
    assert_eq!(wrong_sum(&weights([0.5, 0.5 + 0.5e-9])), None);
    assert_eq!(
        wrong_sum(&weights([0.5, 0.5 + 2e-9])),
        Some(0.5 + (0.5 + 2e-9))
    );
    assert_eq!(wrong_sum(&weights([1.0, 0.0])), None);
    assert_eq!(wrong_sum(&[]), Some(0.0));
}

#[test]
fn operands_have_different_names() {
    assert_message(differ("a", &stars(), "b", &correct()), "");
    assert_message(
        differ("a", &stars(), "b", &stars()),
        "`a` and `b` are both named `stars` in results; use each metric once, or give one of the two another `name = \"..\"`",
    );
}

#[test]
fn a_budget_is_as_large_as_the_cost() {
    assert_message(is_within_budget(20, 20), "");
    assert_message(
        is_within_budget(20, 21),
        "the components cost up to 21 msat per row, but the budget is 20 msat; write `budget = \"21 msat\"`, or remove a component",
    );
}

#[test]
fn a_threshold_is_for_a_number_and_strict_for_a_threshold() {
    assert_message(takes_threshold("strict", &properties(stars())), "");
    assert_message(
        takes_threshold("strict", &properties(correct())),
        "`strict` is not supported for a composite that is true or false; remove it",
    );
    assert_message(has_threshold(&properties(correct())), "");
    assert_message(has_threshold(&properties(stars().with_threshold(2.0))), "");
    assert_message(
        has_threshold(&properties(stars())),
        "`strict` requires a threshold; add `threshold = 0.5`",
    );
}

#[test]
fn a_single_metric_is_described_by_its_spec() {
    let derived = properties(stars().with_threshold(2.0));
    assert_eq!(
        (range(&derived), derived.threshold),
        (Some((1.0, 5.0)), Some(2.0))
    );
    let strict = properties(stars().with_threshold(2.0).with_strict());
    assert_eq!(
        (range(&strict), strict.threshold),
        (Some((0.0, 1.0)), Some(1.0))
    );
    let derived = properties(
        stars()
            .with_threshold(2.0)
            .with_direction(Direction::LowerIsBetter),
    );
    assert_eq!((derived.threshold, derived.higher_is_better), (None, false));
}

#[test]
fn ranges_follow_from_the_parts() {
    let (unit, stars, open) = (in_range(0.0, 1.0), properties(stars()), without_range());
    let weighted = |parts: &[_]| range(&Derived::weighted(parts));
    assert_eq!(weighted(&[(unit, 0.5), (stars, 0.5)]), Some((0.5, 3.0)));
    assert_eq!(weighted(&[(stars, 1.0), (unit, 0.0)]), Some((1.0, 5.0)));
    assert_eq!(weighted(&[(open, 0.5), (unit, 0.5)]), None);
    assert_eq!(weighted(&[(unit, 0.5), (open, 0.5)]), None);
    for (parts, smallest, largest, mean) in [
        (
            &[unit, stars][..],
            Some((0.0, 1.0)),
            Some((1.0, 5.0)),
            Some((0.5, 3.0)),
        ),
        (
            &[stars, unit],
            Some((0.0, 1.0)),
            Some((1.0, 5.0)),
            Some((0.5, 3.0)),
        ),
        (
            &[in_range(0.0, 4.0), in_range(2.0, 8.0)],
            Some((0.0, 4.0)),
            Some((2.0, 8.0)),
            Some((1.0, 6.0)),
        ),
        (
            &[stars],
            Some((1.0, 5.0)),
            Some((1.0, 5.0)),
            Some((1.0, 5.0)),
        ),
        (&[unit, open], None, None, None),
        (&[open, unit], None, None, None),
        (&[], None, None, None),
    ] {
        assert_eq!(range(&Derived::min(parts)), smallest);
        assert_eq!(range(&Derived::max(parts)), largest);
        assert_eq!(range(&Derived::mean(parts)), mean);
    }
    assert_eq!(range(&stars.invert()), Some((1.0, 5.0)));
    assert_eq!(
        range(&Derived::mean(&[stars, unit]).or_fewer(&[stars, unit])),
        Some((0.0, 5.0))
    );
    assert_eq!(range(&unit.or_fewer(&[open])), None);
    let branches = [in_range(2.0, 3.0), in_range(0.0, 1.0), in_range(4.0, 7.0)];
    assert_eq!(
        range(&Derived::decision(&unit, &branches)),
        Some((0.0, 7.0))
    );
    assert_eq!(range(&Derived::decision(&unit, &[])), None);
}

#[test]
fn a_combination_with_a_truth_is_a_truth() {
    let (proxy, truth) = (in_range(0.0, 1.0), truth());
    let tier = |derived: Derived| derived.tier;
    for (parts, expected) in [
        ([proxy, proxy], MetricTier::Proxy),
        ([proxy, truth], MetricTier::Truth),
        ([truth, proxy], MetricTier::Truth),
    ] {
        assert_eq!(
            tier(Derived::weighted(&parts.map(|part| (part, 0.5)))),
            expected
        );
        assert_eq!(tier(Derived::verdict(&parts)), expected);
        assert_eq!(tier(Derived::min(&parts)), expected);
        assert_eq!(tier(Derived::mean(&parts)), expected);
        assert_eq!(tier(Derived::decision(&proxy, &parts)), expected);
        assert_eq!(tier(Derived::decision(&parts[0], &[parts[1]])), expected);
    }
}

#[test]
fn the_spec_of_a_composite_has_its_declarations_and_the_properties_of_its_parts() {
    let parts = [
        correct().with_cost_msats(2),
        stars().with_cost_msats(3).with_async(),
    ];
    let derived = Derived::min(&[properties(parts[0]), properties(parts[1])]).at_least(0.5);
    let spec = derived.spec("both", &parts, None, None, false);
    assert_eq!(
        (spec.name, spec.tier, spec.kind),
        ("both", MetricTier::Proxy, ScoreKind::Number)
    );
    assert_eq!(
        (spec.cost_msats, spec.threshold, spec.strict),
        (5, Some(0.5), false)
    );
    assert_eq!((spec.is_async, spec.range), (true, derived.range));
    let tier = Some(MetricTier::Truth);
    let spec = derived.spec("both", &parts[..1], tier, Some(0.75), true);
    assert_eq!(
        (spec.tier, spec.threshold, spec.strict),
        (MetricTier::Truth, Some(0.75), true)
    );
    assert_eq!((spec.cost_msats, spec.is_async), (2, false));
    assert_eq!(Derived::verdict(&[]).kind, ScoreKind::Bool);
    assert_eq!(properties(correct()).at_least(0.5).kind, ScoreKind::Number);
}
