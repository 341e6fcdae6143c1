//! The budget of judges of several calls.

use dsrs_metrics::lm::{LmBudget, LmRequest, Price, Priced, Prices, ScriptedLm, Usage};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{Metric, Outcome};
use proptest::prelude::*;
use serde_json::json;

use crate::judge_budget::{Moody, check_budget, retried};

#[tokio::test]
async fn a_panel_with_steps_stays_within_its_budget() {
    let price = Price {
        input: 0.0,
        output: 1.0,
        cached_input: None,
    };
    let (gold, pred) = (example! {}, prediction! { "answer" => "Paris." });
    for limit in (0..=3000).step_by(250) {
        let budget = LmBudget::msats(limit);
        let models = [0, 1, 2].map(|_| {
            let lm = ScriptedLm::new().usage(Usage::new(10, 200));
            let lm = lm.otherwise(|request: &LmRequest| {
                match request.messages[0].content.starts_with("Write") {
                    true => json!({ "statements": ["It is Paris."] }),
                    false => json!({ "verdicts": [{ "item": 1, "value": true }] }),
                }
            });
            let prices = Prices::empty().with("scripted:lm", price);
            Priced::new(lm, prices).budget(budget.clone())
        });
        let judge = LimitedJudge::builder().models(models).build();
        let outcomes =
            futures_util::future::join_all((0..8).map(|_| judge.evaluate(&gold, &pred))).await;
        let scored = outcomes.iter().filter(|outcome| outcome.is_ok()).count() as u64;
        assert!(
            budget.spent_msats() <= limit,
            "{} of {limit}",
            budget.spent_msats()
        );
        assert!(
            scored * 1200 <= budget.spent_msats(),
            "each reply of 200 tokens is paid"
        );
        for error in outcomes.into_iter().filter_map(Result::err) {
            assert!(matches!(Outcome::from(error), Outcome::Skipped { .. }));
        }
    }
}

/// Judge which statements are true.
#[judge(score = share(verdicts, |it| it), range = 0.0..=1.0, reasoning = false, scoring(max_tokens = 300))]
struct Limited {
    #[input(pred)]
    answer: String,
    /// Write the statements that the answer makes.
    #[step(from(answer))]
    statements: Vec<String>,
    #[output(each = statements, empty = 1.0)]
    verdicts: Vec<bool>,
}

/// What the three calls of a verdict cost at most: the steps as declared, and the last call the rest.
const COSTS: [u64; 3] = [40, 25, 60];

/// Judge which statements are true.
#[judge(score = share(verdicts, |it| it), range = 0.0..=1.0, cost = "125 msat", reasoning = false)]
struct InThreeCalls {
    #[input(pred)]
    answer: String,
    /// Write the statements that the answer makes.
    #[step(from(answer), cost = "40 msat")]
    statements: Vec<String>,
    /// Write the topic of each statement.
    #[step(from(statements), each = statements, empty = 1.0, cost = "25 msat")]
    topics: Vec<String>,
    #[output(each = statements, empty = 1.0)]
    verdicts: Vec<bool>,
}

fn in_three_calls(request: &LmRequest) -> (u64, &'static str) {
    let is_step = |name: &str| request.purpose.ends_with(&format!(", step {name}"));
    match (is_step("statements"), is_step("topics")) {
        (true, _) => (COSTS[0], r#"{"statements": ["It is true."]}"#),
        (_, true) => (COSTS[1], r#"{"topics": [{"item": 1, "value": "truth"}]}"#),
        _ => (COSTS[2], r#"{"verdicts": [{"item": 1, "value": true}]}"#),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Calls fail, are retried and repaired; none costs more than declared.
    #[test]
    fn judges_of_three_calls_never_overrun_their_budget(
        seed in any::<u64>(),
        concurrency in 1_usize..=512,
        rows in 1_usize..=80,
        budget in 1_u64..40_000,
        quorum in prop::option::of(1_usize..=3),
    ) {
        let model = Moody::new(seed, in_three_calls);
        let judge = InThreeCallsJudge::builder().models((0..3).map(|_| retried(model.clone())));
        let judge = match quorum {
            Some(quorum) => judge.quorum(quorum).build(),
            None => judge.build(),
        };
        let worst = Metric::<Example, Prediction>::cost_estimate(&judge);
        prop_assert_eq!(worst, COSTS.iter().sum::<u64>() * 3 * 2);
        check_budget(judge, &model, rows, (concurrency, budget))?;
    }
}
