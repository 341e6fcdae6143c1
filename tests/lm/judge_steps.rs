//! The budget of judges of several calls.

use dsrs_metrics::Outcome;
use dsrs_metrics::lm::{LmBudget, LmRequest, Price, Priced, Prices, ScriptedLm, Usage};
use dsrs_metrics::prelude::*;
use serde_json::json;

#[tokio::test]
async fn a_panel_with_steps_stays_within_its_budget() {
    let price = Price { input: 0.0, output: 1.0, cached_input: None };
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
        assert!(budget.spent_msats() <= limit, "{} of {limit}", budget.spent_msats());
        assert!(scored * 1200 <= budget.spent_msats(), "each reply of 200 tokens is paid");
        for error in outcomes.into_iter().filter_map(Result::err) {
            assert!(matches!(Outcome::from(error), Outcome::Skipped { .. }));
        }
    }
}

/// Judge which statements are true.
#[judge(score = share(verdicts, |it| it), range = 0.0..=1.0, reasoning = false, max_tokens = 300)]
struct Limited {
    #[input(pred)]
    answer: String,
    /// Write the statements that the answer makes.
    #[step(from(answer))]
    statements: Vec<String>,
    #[output(each = statements, empty = 1.0)]
    verdicts: Vec<bool>,
}
