//! The outcome-coupled score as a metric.

use std::num::NonZeroU32;

use crate::contract::{Side, Unscored};
use crate::metric;
use crate::metrics::breakdown::Breakdown;
use dsrs_metrics_values::outcome_coupled::{
    OutcomeCoupledScorer, OutcomeWeights, ToolResultRecord, check_delta,
};

/// Scores a tool call by its outcome.
///
/// The score is higher if the call advanced the goal, was not repeated, made more tests pass, and had valid parameters.
///
/// The score is `0.4 (step_utility + 1) / 2 + 0.3 (1 - was_repeated) + 0.2 verification + 0.1 params_valid`, in [0, 1].
///
/// `verification` is 1 if more tests pass than before, 0.5 if the same number of tests pass, and 0 if fewer tests pass.
///
/// By default, any change in the number of passing tests counts in full. If you set `full_delta` to 4, only a change of
/// 4 or more tests does. A smaller change counts proportionally.
///
/// The metric reads `pred.step_utility`, `pred.was_repeated`, `pred.params_valid` and `pred.verification_delta`. The
/// utility must be in [-1, 1].
///
/// Instead of `pred.verification_delta`, a row can contain the number of passing tests before and after the call, in
/// `pred.tests_before` and `pred.tests_after`. If a row has all three fields, they must agree.
///
/// If a field is missing or the utility is out of range, the row fails with an error.
///
/// Each component is also reported as a named score.
///
/// [`OutcomeCoupledScorer`] computes the same score in code. The
/// [`outcome_coupled`](mod@dsrs_metrics_values::outcome_coupled) module describes how the score differs from the
/// formula in the `dsrs` document.
///
/// ```
/// use dsrs_metrics::metrics::OutcomeCoupled;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let step = prediction! {
///     "step_utility" => 0.5, "was_repeated" => true, "tests_before" => 10, "tests_after" => 12, "params_valid" => true,
/// };
/// let score = OutcomeCoupled::default().score(&example! {}, &step)?;
/// assert!((score.value - (0.4 * 0.75 + 0.2 + 0.1)).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0)]
#[expect(
    clippy::too_many_arguments,
    reason = "six labels and a weight per component"
)]
pub fn outcome_coupled(
    #[pred] step_utility: f64,
    #[pred] was_repeated: bool,
    #[pred] params_valid: bool,
    #[pred] verification_delta: Option<i64>,
    #[pred] tests_before: Option<u32>,
    #[pred] tests_after: Option<u32>,
    /// The weight of the step's utility.
    #[param(default = 0.4)]
    step_utility_weight: f64,
    /// The weight of not repeating a call.
    #[param(default = 0.3)]
    repetition_weight: f64,
    /// The weight of the change in passing tests.
    #[param(default = 0.2)]
    verification_weight: f64,
    /// The weight of valid parameters.
    #[param(default = 0.1)]
    schema_weight: f64,
    /// The change in the number of passing tests that counts in full. A smaller change counts proportionally.
    #[param(default = 1)]
    full_delta: u32,
) -> Result<Breakdown, Unscored> {
    let weights = OutcomeWeights {
        step_utility: step_utility_weight,
        repetition: repetition_weight,
        verification: verification_weight,
        schema: schema_weight,
    };
    let scorer = scorer(weights, full_delta).map_err(Unscored::Because)?;
    let step = ToolResultRecord {
        step_utility,
        was_repeated,
        verification_delta: delta(verification_delta, tests_before.zip(tests_after))?,
        params_valid,
    };
    let components = scorer.components(&step).map_err(|_| {
        let found = format!("the number {step_utility}");
        Unscored::wrong_type(Side::Pred, "step_utility", "a number in -1..=1", found)
    })?;
    Ok(breakdown(&scorer, &step, components))
}

requires_valid! {
    OutcomeCoupled: |it| {
        let weights = OutcomeWeights {
            step_utility: it.step_utility_weight,
            repetition: it.repetition_weight,
            verification: it.verification_weight,
            schema: it.schema_weight,
        };
        scorer(weights, it.full_delta).map(|_| ())
    };
}

fn scorer(weights: OutcomeWeights, full_delta: u32) -> Result<OutcomeCoupledScorer, String> {
    let scorer = OutcomeCoupledScorer::new(weights).map_err(|error| error.to_string())?;
    let full_delta =
        NonZeroU32::new(full_delta).ok_or("expected `full_delta` to be at least 1, found 0")?;
    Ok(scorer.with_full_delta(full_delta))
}

/// Returns the change in the number of passing tests, either as stated or computed from the numbers of tests. If a row
/// has both, they must agree.
fn delta(stated: Option<i64>, tests: Option<(u32, u32)>) -> Result<i64, Unscored> {
    if let (Some(stated), Some((before, after))) = (stated, tests) {
        check_delta(stated, before, after).map_err(Unscored::because)?;
    }
    let computed = tests.map(|(before, after)| i64::from(after) - i64::from(before));
    let none =
        "expected `pred.verification_delta`, or both `pred.tests_before` and `pred.tests_after`";
    computed.or(stated).ok_or_else(|| Unscored::because(none))
}

fn breakdown(
    scorer: &OutcomeCoupledScorer,
    step: &ToolResultRecord,
    [utility, novelty, verification, params]: [f64; 4],
) -> Breakdown {
    let below_one = |value: f64, reason: String| (value, (value < 1.0).then_some(reason));
    let tests = match step.verification_delta {
        0 => "the number of passing tests is unchanged".to_owned(),
        delta @ ..0 => format!("{} fewer tests pass", delta.unsigned_abs()),
        delta => format!("only {delta} more tests pass"),
    };
    let reason = format!("the step's utility is {}", step.step_utility);
    let repeated = "the same call was made before".to_owned();
    let invalid = "the parameters violate the tool's schema".to_owned();
    Breakdown::new(
        scorer.weights(),
        [
            ("step_utility", below_one(utility, reason)),
            ("not_repeated", below_one(novelty, repeated)),
            ("verification", below_one(verification, tests)),
            ("params_valid", below_one(params, invalid)),
        ],
    )
}
