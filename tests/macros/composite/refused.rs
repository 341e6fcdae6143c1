//! The builder's error for every rule that composites must follow.

use dsrs_metrics::composite::{
    Composite, Expression, all, any, component, gate, invert, max, min, weighted,
};
use dsrs_metrics::prelude::*;

use super::{ErrorRate, FormatOk, Judged, Length, Overlap, Words};

fn refusal(whole: Expression) -> String {
    refusal_of(Composite::builder("c", whole))
}

fn refusal_of(builder: dsrs_metrics::composite::CompositeBuilder) -> String {
    let error = builder
        .build()
        .map(|composite| composite.name().to_owned())
        .unwrap_err();
    error.to_string()
}

#[test]
fn weights_must_sum_to_one_and_the_message_says_the_sum() {
    let parts = [
        (component(Overlap), 0.1),
        (component(Length), 0.2),
        (component(FormatOk), 0.65),
    ];
    let expected = "composite `c`: the weights sum to 0.95; they must sum to 1: add 0.05";
    assert_eq!(refusal(weighted(parts)), expected);
    let tenths = (0..10).map(|_| (component(Overlap), 0.1));
    assert!(
        Composite::builder("c", weighted(tenths)).build().is_ok(),
        "rounding is no mistake"
    );
}

#[test]
fn a_weight_that_is_no_number_is_refused() {
    for (weight, shown) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (-0.5, "-0.5")] {
        let whole = weighted([(component(Overlap), weight), (component(Length), 1.0)]);
        let expected =
            format!("composite `c`: the weight {shown} of `overlap` is negative or not finite");
        assert_eq!(refusal(whole), expected);
    }
}

#[test]
fn a_name_can_stand_on_a_command_line() {
    for name in ["", "Bad Name!", "1st", "größe"] {
        let expected = format!(
            "composite `{name}`: expected a metric name in ASCII snake case that starts with a letter"
        );
        assert_eq!(
            refusal_of(Composite::builder(name, component(Overlap))),
            expected
        );
    }
}

#[test]
fn nothing_is_made_of_nothing() {
    assert_eq!(
        refusal(weighted([])),
        "composite `c`: `weighted` has no components; add at least one"
    );
    assert_eq!(
        refusal(all([])),
        "composite `c`: `all` has no components; add at least one"
    );
    let truths: [Expression; 0] = [];
    let whole = gate([component(FormatOk)], 0.5, truths);
    assert_eq!(
        refusal(whole),
        "composite `c`: `truth` has no components; add at least one"
    );
}

#[test]
fn a_component_stands_once_in_a_combination() {
    let twice = component(Length);
    let whole = all([twice.clone(), component(FormatOk), twice.at_least(0.9)]);
    assert_eq!(
        refusal(whole),
        "composite `c`: duplicate component `length` in `all`; use it once"
    );
}

#[test]
fn proxies_and_truths_have_their_places() {
    let whole = gate(
        [component(FormatOk), component(Judged)],
        0.5,
        [component(Judged)],
    );
    assert_eq!(
        refusal(whole),
        "composite `c`: `judged` is a truth metric, but is among the gate's proxies; move it to the truths"
    );
    let whole = gate(
        [component(FormatOk)],
        0.5,
        [component(Judged), component(Length)],
    );
    assert_eq!(
        refusal(whole),
        "composite `c`: `length` is a proxy metric, but is among the gate's truths; move it to the proxies"
    );
}

#[test]
fn a_tier_is_not_declared_below_the_components() {
    let whole = min([component(Overlap), component(Judged)]);
    let builder = Composite::builder("c", whole).tier(MetricTier::Proxy);
    assert_eq!(
        refusal_of(builder),
        "composite `c`: the composite is declared as Proxy, but a component is Truth; declare Truth, or omit the tier"
    );
}

#[test]
fn costs_above_the_budget_are_said_with_both_numbers() {
    let whole = max([component(Judged), component(Overlap)]);
    let builder = Composite::builder("c", whole.clone()).budget_msats(99);
    assert_eq!(
        refusal_of(builder),
        "composite `c`: the components cost up to 100 msat per row, but the budget is 99 msat; raise the budget or remove a component"
    );
    let fits = Composite::builder("c", whole)
        .budget_msats(100)
        .build()
        .unwrap();
    assert_eq!(
        (fits.spec().cost_msats, fits.spec().tier),
        (100, MetricTier::Truth)
    );
    assert!(fits.spec().is_async);
}

#[test]
fn a_lower_is_better_component_needs_invert() {
    let expected = "composite `c`: `error_rate` is lower-is-better, but a composite is higher-is-better; write `invert(error_rate)`";
    assert_eq!(
        refusal(min([component(ErrorRate), component(Overlap)])),
        expected
    );
    assert_eq!(refusal(component(ErrorRate)), expected);
    let whole = min([invert(component(ErrorRate)), component(Overlap)]);
    let spec = Composite::builder("c", whole).build().unwrap();
    assert!(spec.spec().higher_is_better());
    assert_eq!(
        spec.spec().range.map(|range| (range.min, range.max)),
        Some((0.0, 1.0))
    );
}

#[test]
fn thresholds_lie_inside_ranges() {
    let whole = || weighted([(component(Overlap), 0.5), (component(Length), 0.5)]);
    let builder = Composite::builder("c", whole()).threshold(80.0);
    assert_eq!(
        refusal_of(builder),
        "composite `c`: the threshold 80.0 is outside the range of the composite, 0.0..=1.0; write a threshold within it"
    );
    let builder = Composite::builder("c", whole()).threshold(f64::NAN);
    assert_eq!(
        refusal_of(builder),
        "composite `c`: the threshold NaN is not finite; write a finite number"
    );
    let expected = "composite `c`: the threshold 1.5 is outside the range of `overlap`, 0.0..=1.0; write a threshold within it";
    assert_eq!(refusal(any([component(Overlap).at_least(1.5)])), expected);
    let expected = "composite `c`: the threshold 2.0 is outside the range of the proxies, 0.0..=1.0; write a threshold within it";
    assert_eq!(
        refusal(gate([component(FormatOk)], 2.0, [component(Judged)])),
        expected
    );
}

#[test]
fn a_threshold_that_nothing_misses_is_none() {
    let builder = Composite::builder("c", component(Overlap)).threshold(0.0);
    assert_eq!(
        refusal_of(builder),
        "composite `c`: the threshold 0.0 never fails: every score of the composite is in 0.0..=1.0; write a larger one"
    );
    let expected = "composite `c`: the threshold 0.0 never fails: every score of `overlap` is in 0.0..=1.0; write a larger one";
    assert_eq!(refusal(any([component(Overlap).at_least(0.0)])), expected);
}

#[test]
fn a_bound_where_only_the_number_counts_is_a_mistake() {
    let expected = "composite `c`: thresholds are not supported in `min`, which uses the score of `overlap`; remove `at_least`";
    assert_eq!(refusal(min([component(Overlap).at_least(0.5)])), expected);
    let expected = "composite `c`: thresholds are not supported in `the composite`, which uses the score of `overlap`; remove `at_least`";
    assert_eq!(refusal(component(Overlap).at_least(0.5)), expected);
}

#[test]
fn verdicts_need_verdicts() {
    assert_eq!(
        refusal(all([component(FormatOk), component(Overlap)])),
        "composite `c`: `overlap` has a score but no verdict; set a pass threshold with `at_least`"
    );
    let builder = Composite::builder("c", all([component(FormatOk)])).threshold(0.5);
    assert_eq!(
        refusal_of(builder),
        "composite `c`: `threshold` is not supported for a composite that is true or false; remove it"
    );
    let builder = Composite::builder("c", component(Overlap)).strict();
    assert_eq!(
        refusal_of(builder),
        "composite `c`: `strict` requires a threshold; set one"
    );
}

#[test]
fn every_combination_needs_the_range_of_its_components() {
    let expected = |within: &str| {
        format!(
            "composite `c`: `{within}` needs the range of `words`, which declares none; declare one with `#[metric(range = 0.0..=1.0)]` or `.with_range(0.0, 1.0)`"
        )
    };
    let half = [(component(Overlap), 0.5), (component(Words), 0.5)];
    assert_eq!(refusal(weighted(half)), expected("weighted"));
    assert_eq!(
        refusal(all([component(Words).at_least(3.0), component(FormatOk)])),
        expected("all")
    );
    assert_eq!(
        refusal(any([component(FormatOk), component(Words).at_least(3.0)])),
        expected("any")
    );
    assert_eq!(
        refusal(min([component(Overlap), component(Words)])),
        expected("min")
    );
    assert_eq!(refusal(max([component(Words)])), expected("max"));
    assert_eq!(refusal(invert(component(Words))), expected("invert"));
    assert_eq!(
        refusal(gate([component(Words)], 3.0, [component(Judged)])),
        expected("proxy")
    );
    let nested = weighted([(min([component(Words)]), 1.0)]);
    assert_eq!(refusal(nested), expected("min"));
    let closure = dsrs_metrics::metric_fn("words", |_, _| 125.0);
    assert_eq!(
        refusal(weighted([(component(closure), 1.0)])),
        expected("weighted")
    );
}
