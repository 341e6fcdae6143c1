//! Properties of composites, on random scores.

use dsrs_metrics::composite::{Composite, all, any, component, gate, max, min, weighted};
use dsrs_metrics::prelude::*;
use proptest::prelude::*;

use super::{FormatOk, Length, Overlap, score};

fn unit() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0]
}

/// A synchronous truth metric.
#[metric(tier = truth, range = 0.0..=1.0)]
fn verified(#[pred] verified: f64) -> f64 {
    verified
}

fn pred(format: bool, overlap: f64, length: f64, verified: f64) -> Prediction {
    prediction! { "format" => format, "overlap" => overlap, "length" => length, "verified" => verified }
}

fn build(whole: dsrs_metrics::composite::Expression) -> Composite {
    Composite::builder("c", whole).build().unwrap()
}

proptest! {
    #[test]
    fn the_value_stays_in_its_range(
        format: bool,
        (overlap, length) in (unit(), unit()),
        weights in (1_u32..1000, 1_u32..1000, 1_u32..1000),
    ) {
        let total = f64::from(weights.0 + weights.1 + weights.2);
        let share = |weight: u32| f64::from(weight) / total;
        let composite = build(weighted([
            (component(FormatOk), share(weights.0)),
            (component(Overlap), share(weights.1)),
            (component(Length), share(weights.2)),
        ]));
        let range = composite.spec().range.unwrap();
        let value = score(&composite, &pred(format, overlap, length, 0.0)).unwrap().score.value;
        prop_assert!(range.contains(value), "{value} {range}");
    }

    #[test]
    fn the_order_of_components_never_matters(
        format: bool,
        (overlap, length) in (unit(), unit()),
        order in Just([0_usize, 1, 2]).prop_shuffle(),
    ) {
        let components = || [(component(FormatOk), 0.2), (component(Overlap), 0.3), (component(Length), 0.5)];
        let shuffled = || {
            let parts = components();
            order.map(|position| parts[position].clone())
        };
        let pred = pred(format, overlap, length, 0.0);
        let bits = |composite: &Composite| {
            let scored = score(composite, &pred).unwrap();
            (scored.score.value.to_bits(), scored.passed)
        };
        prop_assert_eq!(bits(&build(weighted(components()))), bits(&build(weighted(shuffled()))));
        let parts = |of: [(dsrs_metrics::composite::Expression, f64); 3]| of.map(|(part, _)| part.at_least(0.5));
        prop_assert_eq!(bits(&build(all(parts(components())))), bits(&build(all(parts(shuffled())))));
        prop_assert_eq!(bits(&build(any(parts(components())))), bits(&build(any(parts(shuffled())))));
        let numbers = |of: [(dsrs_metrics::composite::Expression, f64); 3]| of.map(|(part, _)| part);
        prop_assert_eq!(bits(&build(min(numbers(components())))), bits(&build(min(numbers(shuffled())))));
        prop_assert_eq!(bits(&build(max(numbers(components())))), bits(&build(max(numbers(shuffled())))));
    }

    #[test]
    fn no_gated_row_outranks_a_row_that_passed(
        rows in proptest::collection::vec((proptest::bool::ANY, unit(), unit()), 1..40),
        at_least in 0.05..=1.0,
    ) {
        let composite = build(gate([component(FormatOk), component(Length)], at_least, [component(Verified)]));
        for (format, length, verified) in rows {
            let outcome = Outcome::from(score(&composite, &pred(format, 0.0, length, verified)));
            let proxies = (f64::from(u8::from(format)) + length) / 2.0;
            // A gated row has no value, so it cannot outrank a row with a score.
            match outcome.value() {
                Some(value) => {
                    prop_assert!(proxies >= at_least);
                    prop_assert_eq!(value, verified);
                }
                None => {
                    prop_assert!(proxies < at_least);
                    let by = "format_ok, length".to_owned();
                    prop_assert_eq!(outcome, Outcome::Gated { by });
                }
            }
        }
    }
}
