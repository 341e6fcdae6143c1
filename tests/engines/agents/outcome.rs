//! `outcome_coupled` over rows.

use dsrs_metrics::metrics::OutcomeCoupled;
use dsrs_metrics::outcome_coupled::{OutcomeCoupledScorer, ToolResultRecord};
use dsrs_metrics::prelude::*;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{components, configured, error, preflight_error, value};

fn step(with: &[(&str, Value)]) -> Prediction {
    let mut step = prediction! {
        "step_utility" => 1.0, "was_repeated" => false, "verification_delta" => 1, "params_valid" => true,
    };
    for (field, value) in with {
        step.data.insert(*field, value.clone());
    }
    step
}

#[test]
fn the_best_the_worst_and_a_middling_step() {
    let metric = OutcomeCoupled::default();
    assert_eq!(
        components(&metric, &step(&[])),
        (vec![1.0; 4], String::new())
    );
    assert_eq!(value(&metric, &step(&[])), 1.0);
    let worst = step(&[
        ("step_utility", json!(-1)),
        ("was_repeated", json!(true)),
        ("verification_delta", json!(-3)),
        ("params_valid", json!(false)),
    ]);
    let feedback = "the step's utility is -1; the same call was made before; 3 fewer tests pass; the parameters \
                    violate the tool's schema";
    assert_eq!(
        components(&metric, &worst),
        (vec![0.0; 4], feedback.to_owned())
    );
    assert_eq!(value(&metric, &worst), 0.0);
    let middling = step(&[("step_utility", json!(0)), ("verification_delta", json!(0))]);
    let feedback = "the step's utility is 0; the number of passing tests is unchanged".to_owned();
    assert_eq!(
        components(&metric, &middling),
        (vec![0.5, 1.0, 0.5, 1.0], feedback)
    );
    assert!((value(&metric, &middling) - 0.7).abs() < 1e-12);
}

#[test]
fn the_change_in_tests_is_stated_or_computed() {
    let metric = OutcomeCoupled::default();
    let tests = |before: u32, after: u32| {
        let mut step = step(&[
            ("tests_before", json!(before)),
            ("tests_after", json!(after)),
        ]);
        step.data.remove("verification_delta");
        step
    };
    assert_eq!(components(&metric, &tests(10, 12)).0[2], 1.0);
    assert_eq!(components(&metric, &tests(12, 12)).0[2], 0.5);
    assert_eq!(components(&metric, &tests(u32::MAX, 0)).0[2], 0.0);
    let mut both = tests(10, 12);
    both.data.insert("verification_delta", 2);
    assert_eq!(components(&metric, &both).0[2], 1.0);
    both.data.insert("verification_delta", 3);
    assert_eq!(
        error(&metric, &both),
        "metric `outcome_coupled`: `verification_delta` is 3, but `tests_after - tests_before` is 12 - 10"
    );
    let mut neither = tests(1, 2);
    neither.data.remove("tests_before");
    assert_eq!(
        error(&metric, &neither),
        "metric `outcome_coupled`: expected `pred.verification_delta`, or both `pred.tests_before` and `pred.tests_after`"
    );
}

#[test]
fn invalid_and_missing_fields_are_errors() {
    let metric = OutcomeCoupled::default();
    for (field, value, message) in [
        (
            "step_utility",
            json!(1.5),
            "field `pred.step_utility`: expected a number in -1..=1, found the number 1.5",
        ),
        (
            "step_utility",
            json!("high"),
            "field `pred.step_utility`: expected a number, found the string \"high\"",
        ),
        (
            "was_repeated",
            json!(0),
            "field `pred.was_repeated`: expected true or false, found the number 0",
        ),
        (
            "params_valid",
            Value::Null,
            "field `pred.params_valid`: expected true or false, found null",
        ),
        (
            "verification_delta",
            json!(0.5),
            "field `pred.verification_delta`: expected a whole number, found the number 0.5",
        ),
        (
            "tests_before",
            json!(-1),
            "field `pred.tests_before`: expected a whole number, 0 or more, found the number -1",
        ),
    ] {
        let row = step(&[(field, value)]);
        assert_eq!(
            error(&metric, &row),
            format!("metric `outcome_coupled`: {message}")
        );
    }
    let mut incomplete = step(&[]);
    incomplete.data.remove("was_repeated");
    assert_eq!(
        error(&metric, &incomplete),
        "metric `outcome_coupled`: no field `pred.was_repeated`; found `step_utility`, `verification_delta`, \
         `params_valid`"
    );
}

#[tokio::test]
async fn weights_are_configured_and_checked_before_the_first_row() {
    let repeated = step(&[("was_repeated", json!(true))]);
    let weights = [
        ("step_utility_weight", "0.5"),
        ("repetition_weight", "0.5"),
        ("verification_weight", "0"),
        ("schema_weight", "0"),
    ];
    assert_eq!(
        value(&configured::<OutcomeCoupled>(&weights), &repeated),
        0.5
    );
    let metric: OutcomeCoupled = configured(&weights[..1]);
    let message =
        "metric `outcome_coupled`: the weights 0.5, 0.3, 0.2, 0.1 sum to 1.1; they must sum to 1";
    assert_eq!(error(&metric, &repeated), message);
    assert_eq!(preflight_error(metric).await, message);
}

#[test]
fn with_full_delta_smaller_changes_count_proportionally() {
    let metric: OutcomeCoupled = configured(&[("full_delta", "4")]);
    let delta = |delta: i64| components(&metric, &step(&[("verification_delta", json!(delta))]));
    assert_eq!(
        delta(1),
        (
            vec![1.0, 1.0, 0.625, 1.0],
            "only 1 more tests pass".to_owned()
        )
    );
    assert_eq!(delta(-2).0[2], 0.25);
    assert_eq!(
        [delta(4).0[2], delta(i64::MAX).0[2], delta(i64::MIN).0[2]],
        [1.0, 1.0, 0.0]
    );
}

#[test]
fn the_spec_of_the_metric() {
    let spec = OutcomeCoupled::SPEC;
    assert_eq!(
        (spec.tier, spec.cost_msats, spec.threshold),
        (MetricTier::Proxy, 0, None)
    );
    let required: Vec<_> = spec.required_fields().collect();
    assert_eq!(
        required,
        [
            "pred.step_utility",
            "pred.was_repeated",
            "pred.params_valid"
        ]
    );
}

proptest! {
    #[test]
    fn the_metric_equals_the_scorer(
        step_utility in -1.0..=1.0,
        was_repeated: bool,
        verification_delta in -5_i64..=5,
        params_valid: bool,
    ) {
        let record = ToolResultRecord { step_utility, was_repeated, verification_delta, params_valid };
        let row = step(&[
            ("step_utility", json!(step_utility)),
            ("was_repeated", json!(was_repeated)),
            ("verification_delta", json!(verification_delta)),
            ("params_valid", json!(params_valid)),
        ]);
        let scored = OutcomeCoupledScorer::default().score(&record).unwrap();
        prop_assert_eq!(value(&OutcomeCoupled::default(), &row), scored);
    }
}
