//! The formula of outcome-coupled scores: laws, and equality with the document's code.

use dsrs_metrics::outcome_coupled::{OutcomeCoupledScorer, OutcomeWeights, ToolResultRecord};
use proptest::prelude::*;

fn step(
    step_utility: f64,
    was_repeated: bool,
    verification_delta: i64,
    params_valid: bool,
) -> ToolResultRecord {
    ToolResultRecord {
        step_utility,
        was_repeated,
        verification_delta,
        params_valid,
    }
}

/// The document's code, in double precision.
fn as_in_the_document(step: &ToolResultRecord) -> f64 {
    let utility_score = (step.step_utility + 1.0) / 2.0;
    let repetition_score = if step.was_repeated { 0.0 } else { 1.0 };
    let verification_score = match step.verification_delta {
        d if d > 0 => 1.0,
        0 => 0.5,
        _ => 0.0,
    };
    let schema_score = if step.params_valid { 1.0 } else { 0.0 };
    0.4 * utility_score + 0.3 * repetition_score + 0.2 * verification_score + 0.1 * schema_score
}

fn any_step() -> impl Strategy<Value = ToolResultRecord> {
    let delta = prop_oneof![Just(0), -3..=3_i64, any::<i64>()];
    (-1.0..=1.0, any::<bool>(), delta, any::<bool>())
        .prop_map(|(utility, repeated, delta, valid)| step(utility, repeated, delta, valid))
}

fn any_weights() -> impl Strategy<Value = OutcomeWeights> {
    [0_u32..100, 0..100, 0..100, 1..100].prop_map(|weights| {
        let sum = f64::from(weights.iter().sum::<u32>());
        let [step_utility, repetition, verification, schema] =
            weights.map(|weight| f64::from(weight) / sum);
        OutcomeWeights {
            step_utility,
            repetition,
            verification,
            schema,
        }
    })
}

proptest! {
    #[test]
    fn scores_equal_those_of_the_documents_formula(step in any_step()) {
        let score = OutcomeCoupledScorer::default().score(&step).unwrap();
        prop_assert!((score - as_in_the_document(&step)).abs() < 1e-12);
    }

    #[test]
    fn scores_are_in_range_for_all_weights(step in any_step(), weights in any_weights()) {
        let score = OutcomeCoupledScorer::new(weights).unwrap().score(&step).unwrap();
        prop_assert!((0.0..=1.0).contains(&score), "{score}");
    }

    #[test]
    fn the_score_is_monotone_in_each_component(
        step in any_step(),
        better in any_step(),
        weights in any_weights(),
        full in 1_u32..10,
    ) {
        let scorer = OutcomeCoupledScorer::new(weights).unwrap();
        let scorer = scorer.with_full_delta(full.try_into().unwrap());
        let better = ToolResultRecord {
            step_utility: step.step_utility.max(better.step_utility),
            was_repeated: step.was_repeated && better.was_repeated,
            verification_delta: step.verification_delta.max(better.verification_delta),
            params_valid: step.params_valid || better.params_valid,
        };
        prop_assert!(scorer.score(&step).unwrap() <= scorer.score(&better).unwrap());
    }
}
