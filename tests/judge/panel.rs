//! Several judges, and both orders of a pair.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dsrs_metrics::composite::{Composite, OnMissing, component, weighted};
use dsrs_metrics::contract::MetricErrorKind;
use dsrs_metrics::judge::{Aggregation, Preference, Prompt};
use dsrs_metrics::lm::{LanguageModel, LmError, LmErrorKind, LmReply, LmRequest, ScriptedLm};
use dsrs_metrics::prelude::*;
use dsrs_metrics::rows::Pair;
use dsrs_metrics::scoring::Scorer;
use serde_json::json;

use super::setup::{BetterOfTwoJudge, Grade5Judge, PoliteJudge, grade, polite, rows, user};

fn named(id: &str, reply: serde_json::Value) -> ScriptedLm {
    ScriptedLm::new().named(id).cost(7).otherwise(reply)
}

fn down() -> ScriptedLm {
    let timeout = LmErrorKind::Timeout {
        limit: std::time::Duration::from_secs(1),
    };
    ScriptedLm::new()
        .named("a:down")
        .otherwise(LmError::new("a:down", timeout))
}

#[tokio::test]
async fn several_models_vote() {
    let (gold, pred) = rows();
    let models = [
        named("a:1", polite(true)),
        named("a:2", polite(false)),
        named("a:3", polite(true)),
    ];
    let judge = PoliteJudge::builder().models(models).build();
    assert_eq!(judge.num_judges(), 3);
    let scored = judge.answer(MetricCall::new(&gold, &pred)).await.unwrap();
    assert_eq!((scored.score.value, scored.passed), (1.0, Some(true)));
    assert_eq!(
        scored.score.confidence,
        2.0 / 3.0,
        "the share of judges that agree"
    );
    assert_eq!(scored.score.cost_msats, 21);
    let details = scored.score.details.as_deref().unwrap();
    assert_eq!(
        details,
        "a:1 (1): because\na:2 (0): because\na:3 (1): because"
    );
}

#[tokio::test]
async fn grades_are_aggregated_by_median_average_or_majority() {
    let (gold, pred) = rows();
    for (aggregation, value, confidence) in [
        (None, 4.5, 1.0 - 1.25 / 4.0),
        (Some(Aggregation::Average), 3.75, 1.0 - 1.375 / 4.0),
        (Some(Aggregation::Majority), 5.0, 1.0 - 1.25 / 4.0),
    ] {
        let models = [5, 1, 4, 5].map(|score| named("a:b", grade(score)));
        let judge = Grade5Judge::builder().models(models);
        let judge = match aggregation {
            Some(aggregation) => judge.aggregation(aggregation).build(),
            None => judge.build(),
        };
        let score = judge.evaluate(&gold, &pred).await.unwrap();
        assert_eq!(
            (score.value, score.confidence),
            (value, confidence),
            "{aggregation:?}"
        );
    }
}

/// 3 and -2 lie outside 0..=1, and their mean does not.
#[tokio::test]
async fn a_judge_out_of_range_is_not_hidden_by_another() {
    /// Say how much better it got.
    #[judge(score = gain, range = 0.0..=1.0, panel(aggregation = average), reasoning = false)]
    struct Gain {
        #[input(pred)]
        answer: String,
        #[output]
        gain: f64,
    }
    let (gold, pred) = rows();
    let judge = |gains: [f64; 2]| {
        let models = gains.map(|gain| named("a:b", json!({ "gain": gain })));
        GainJudge::builder().models(models).build()
    };
    assert_eq!(
        judge([0.0, 1.0])
            .evaluate(&gold, &pred)
            .await
            .unwrap()
            .value,
        0.5
    );
    let error = judge([3.0, -2.0])
        .evaluate(&gold, &pred)
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "metric `gain`: expected verdicts from at least 2 of 2 judges, found 0; first error: a:b: expected a score in 0.0..=1.0 from the answer, found 3"
    );
}

#[tokio::test]
async fn one_model_listed_three_times_draws_three_times() {
    /// Say whether the answer is short.
    #[judge(panel(models = [default; 3], aggregation = majority, max_concurrent = 1))]
    struct Short {
        #[input(pred)]
        answer: String,
        #[output]
        short: bool,
    }
    let (gold, pred) = rows();
    let replies = [true, false, true].map(|short| json!({ "reasoning": "", "short": short }));
    let lm = Arc::new(ScriptedLm::new().replies(replies));
    let judge = ShortJudge::default().with_lm(Arc::clone(&lm));
    assert_eq!(judge.num_judges(), 3);
    assert_eq!(judge.evaluate(&gold, &pred).await.unwrap().value, 1.0);
    let requests = lm.requests();
    let draws: Vec<_> = requests
        .iter()
        .map(|request| (request.draw, request.sampling.seed))
        .collect();
    assert_eq!(draws, [(0, Some(42)), (1, Some(43)), (2, Some(44))]);
    assert_eq!(requests[0].messages, requests[2].messages);
}

#[tokio::test]
async fn a_failed_judge_is_counted_and_lowers_the_confidence() {
    let (gold, pred) = rows();
    let judge = PoliteJudge::builder()
        .models([
            named("a:1", polite(true)),
            named("a:2", polite(true)),
            down(),
        ])
        .build();
    let scored = judge.answer(MetricCall::new(&gold, &pred)).await.unwrap();
    assert_eq!(
        (scored.score.value, scored.score.confidence),
        (1.0, 2.0 / 3.0)
    );
    let failed = &scored.metadata().unwrap()["failed"];
    assert_eq!(
        failed,
        &json!([{ "judge": "a:down", "error": "a:down: no reply within 1 s" }])
    );
}

/// On a scale whose ends are -1 and 1 the other order is the other sign.
#[tokio::test]
async fn a_margin_is_mirrored_on_its_own_scale() {
    /// Say by how much the first is better.
    #[judge(pairwise(ours, theirs), score = margin, reasoning = false)]
    struct Margin {
        #[input(gold)]
        ours: String,
        #[input(pred)]
        theirs: String,
        #[output(range = -1.0..=1.0)]
        margin: f64,
    }
    let (gold, pred) = (example! { "ours" => "A" }, prediction! { "theirs" => "B" });
    for (straight, swapped, value, confidence) in [
        (1.0, -1.0, 1.0, 1.0),
        (0.75, -0.25, 0.5, 0.875),
        (1.0, 1.0, 0.0, 0.5),
    ] {
        let replies = [straight, swapped].map(|margin| json!({ "margin": margin }));
        let judge = MarginJudge::default().with_lm(ScriptedLm::new().replies(replies));
        let score = judge.evaluate(&gold, &pred).await.unwrap();
        assert_eq!(
            (score.value, score.confidence),
            (value, confidence),
            "{straight} {swapped}"
        );
    }
}

/// Contradicting orders halve the confidence, also among judges that agree.
#[tokio::test]
async fn position_bias_lowers_the_confidence_of_the_panel() {
    let torn = || named("a:torn", json!({ "better": "first" }));
    let judge = BetterOfTwoJudge::builder()
        .models([torn(), torn(), down()])
        .build();
    let (gold, pred) = (example! { "ours" => "A" }, prediction! { "theirs" => "B" });
    let score = judge.evaluate(&gold, &pred).await.unwrap();
    assert_eq!((score.value, score.confidence), (0.5, 0.5 * (2.0 / 3.0)));
    assert_eq!(score.cost_msats, 4 * 7, "both orders of each that answered");
}

/// A tie is neither a yes nor a no.
#[tokio::test]
async fn a_tied_vote_is_not_a_verdict() {
    let (gold, pred) = rows();
    let votes = |votes: &[bool]| {
        votes
            .iter()
            .map(|vote| named("a:b", polite(*vote)))
            .collect::<Vec<_>>()
    };
    let judged = |models: Vec<ScriptedLm>| {
        let judge = PoliteJudge::builder().models(models).build();
        async move {
            judge
                .evaluate(&example! {}, &prediction! { "answer" => "" })
                .await
        }
    };
    let error = judged(votes(&[true, false, true, false]))
        .await
        .unwrap_err();
    assert_eq!(error.cost_msats(), 28, "it was paid for");
    assert_eq!(
        error.to_string(),
        "metric `polite`: the votes of 4 judges are tied, 2 yes and 2 no; use an odd number of judges"
    );
    let mut one_lost = votes(&[true, false]);
    one_lost.push(down());
    assert_eq!(
        judged(one_lost).await.unwrap_err().to_string(),
        "metric `polite`: the votes of 3 judges are tied, 1 yes and 1 no; use an odd number of judges (one returned no verdict)"
    );
    assert_eq!(
        judged(votes(&[false, false, true, false]))
            .await
            .unwrap()
            .value,
        0.0
    );
    let judge = PoliteJudge::builder().models(votes(&[true, false])).build();
    let trace = Trace::default();
    assert!(
        judge.accepts(&gold, &pred, &trace).await.is_err(),
        "nothing is accepted"
    );
}

#[tokio::test]
async fn without_a_quorum_there_is_no_score() {
    let (gold, pred) = rows();
    let models = || [named("a:1", polite(true)), down(), down()];
    let judge = PoliteJudge::builder().models(models()).build();
    let error = judge.evaluate(&gold, &pred).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "metric `polite`: expected verdicts from at least 2 of 3 judges, found 1; first error: a:down: no reply within 1 s"
    );
    let one_is_enough = PoliteJudge::builder().models(models()).quorum(1).build();
    assert_eq!(
        one_is_enough.evaluate(&gold, &pred).await.unwrap().value,
        1.0
    );
    let all = [
        named("a:1", polite(true)),
        named("a:2", polite(true)),
        down(),
    ];
    let all_must = PoliteJudge::builder().models(all).quorum(3).build();
    assert!(all_must.evaluate(&gold, &pred).await.is_err_and(|error| {
        error
            .to_string()
            .contains("at least 3 of 3 judges, found 2")
    }));
}

#[tokio::test]
async fn a_scorer_counts_the_rows_that_a_part_of_the_panel_judged() {
    let models = [
        named("a:1", polite(true)),
        named("a:2", polite(true)),
        down(),
    ];
    let judge = PoliteJudge::builder().models(models).build();
    let scorer = Scorer::builder().metric(judge).build().unwrap();
    let rows = ["0", "1"].map(|id| {
        let (gold, pred) = rows();
        Pair::new(id, gold, pred)
    });
    let result = scorer.score_all(rows, 1).await.unwrap();
    assert_eq!(
        (result.summary.scored, result.summary.judged_in_part),
        (2, 2)
    );
    assert!(
        result
            .rows
            .iter()
            .all(|row| row.is_judged_in_part() && !row.is_judged_offline())
    );
    let printed = result.to_string();
    assert!(
        printed.contains("(mean of 2/2, 0 failed, 2 judged by part of the panel)"),
        "{printed}"
    );
}

#[tokio::test]
async fn an_invalid_panel_is_rejected_before_any_call() {
    let (gold, pred) = rows();
    let lm = Arc::new(named("a:1", polite(true)));
    let judge = || PoliteJudge::builder().models([Arc::clone(&lm), Arc::clone(&lm)]);
    for (judge, message) in [
        (
            judge().quorum(3).build(),
            "expected `quorum` between 1 and 2 for 2 judges, found 3",
        ),
        (
            judge().quorum(0).build(),
            "expected `quorum` between 1 and 2 for 2 judges, found 0",
        ),
        (
            judge().aggregation(Aggregation::Average).build(),
            "expected the aggregation `majority` for yes-or-no verdicts, found `average`",
        ),
    ] {
        let error = judge.evaluate(&gold, &pred).await.unwrap_err().to_string();
        assert_eq!(error, format!("metric `polite`: {message}"));
    }
    assert_eq!(lm.calls(), 0);
    let alone = PoliteJudge::builder()
        .quorum(3)
        .with_lm(Arc::clone(&lm))
        .build();
    assert_eq!(
        alone.evaluate(&gold, &pred).await.unwrap_err().to_string(),
        "metric `polite`: expected `quorum` of 1 for one judge, found 3; set it to 1, or add judges"
    );
}

struct Counting {
    now: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

#[async_trait]
impl LanguageModel for Counting {
    fn id(&self) -> &str {
        "local:counting"
    }

    async fn complete(&self, _: &LmRequest) -> Result<LmReply, LmError> {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(5)).await;
        self.now.fetch_sub(1, Ordering::SeqCst);
        Ok(LmReply::new(polite(true).to_string()))
    }
}

#[tokio::test(start_paused = true)]
async fn the_concurrency_limit_is_reached_and_not_exceeded() {
    let (gold, pred) = rows();
    for (limit, expected) in [(Some(2), 2), (Some(1), 1), (None, 6)] {
        let (now, most) = (Arc::default(), Arc::new(AtomicUsize::new(0)));
        let lm = || Counting {
            now: Arc::clone(&now),
            most: Arc::clone(&most),
        };
        let judge = PoliteJudge::builder().models((0..6).map(|_| lm()));
        let judge = match limit {
            Some(limit) => judge.max_concurrent_judges(limit).build(),
            None => judge.build(),
        };
        judge.evaluate(&gold, &pred).await.unwrap();
        assert_eq!(most.load(Ordering::SeqCst), expected);
    }
}

/// Which answer is better?
#[judge(pairwise(candidate, reference), cost = "10 msat")]
struct Better {
    #[input(gold)]
    question: String,
    #[input(pred = "response")]
    candidate: String,
    #[input(gold = "response")]
    reference: String,
    #[output]
    preferred: Preference,
}

fn first_input(request: &LmRequest) -> String {
    let inputs = Prompt::parse(user(request)).unwrap();
    let candidate = inputs
        .iter()
        .find(|input| input.name == "candidate")
        .unwrap();
    candidate.content.unwrap().to_owned()
}

fn prefers(choose: impl Fn(&str) -> &'static str + Send + Sync + 'static) -> ScriptedLm {
    ScriptedLm::new().cost(7).otherwise(move |request: &LmRequest| {
        json!({ "reasoning": "because", "preferred": choose(&first_input(request)) })
    })
}

#[tokio::test]
async fn a_pairwise_judge_sees_both_orders() {
    let (gold, pred) = rows();
    let lm = Arc::new(prefers(
        |first| if first == "Paris" { "first" } else { "second" },
    ));
    let judge = BetterJudge::default().with_lm(Arc::clone(&lm));
    let score = judge.evaluate(&gold, &pred).await.unwrap();
    assert_eq!(
        (score.value, score.confidence, score.cost_msats),
        (1.0, 1.0, 14)
    );
    let requests = lm.requests();
    let orders: Vec<_> = requests.iter().map(first_input).collect();
    assert_eq!(orders, ["Paris", "Paris, on the Seine"]);
    assert_eq!(
        BetterJudge::SPEC.range,
        Some(dsrs_metrics::contract::ScoreRange::UNIT)
    );
}

#[tokio::test]
async fn position_bias_is_a_tie() {
    let (gold, pred) = rows();
    for place in ["first", "second"] {
        let judge = BetterJudge::default().with_lm(prefers(move |_| place));
        let score = judge.evaluate(&gold, &pred).await.unwrap();
        assert_eq!((score.value, score.confidence), (0.5, 0.5), "{place}");
    }
    let tie = BetterJudge::default().with_lm(prefers(|_| "tie"));
    let score = tie.evaluate(&gold, &pred).await.unwrap();
    assert_eq!((score.value, score.confidence), (0.5, 1.0));
    let half =
        BetterJudge::default().with_lm(prefers(
            |first| if first == "Paris" { "first" } else { "tie" },
        ));
    let score = half.evaluate(&gold, &pred).await.unwrap();
    assert_eq!((score.value, score.confidence), (0.75, 0.75));
}

#[tokio::test]
async fn a_pair_fails_if_one_order_fails() {
    let (gold, pred) = rows();
    let replies = [
        r#"{ "reasoning": "", "preferred": "first" }"#,
        "what?",
        "what?",
    ];
    let judge = BetterJudge::default().with_lm(ScriptedLm::new().replies(replies));
    let error = judge.evaluate(&gold, &pred).await.unwrap_err().to_string();
    assert!(error.contains("returned no verdict"), "{error}");
}

/// The other judges would decide alone, on the rows that the budget happens not to cover.
#[tokio::test]
async fn a_judge_over_budget_skips_the_row_whatever_the_quorum() {
    let (gold, pred) = rows();
    let exceeded = LmErrorKind::BudgetExceeded {
        needed_msats: 90,
        remaining_msats: 10,
        budget_msats: 100,
    };
    let over = || {
        ScriptedLm::new()
            .named("a:over")
            .otherwise(LmError::new("a:over", exceeded.clone()))
    };
    for quorum in [None, Some(1), Some(2)] {
        let models = [
            named("a:1", polite(true)),
            over(),
            named("a:2", polite(true)),
        ];
        let judge = PoliteJudge::builder().models(models);
        let judge = match quorum {
            Some(quorum) => judge.quorum(quorum).build(),
            None => judge.build(),
        };
        let error = judge.evaluate(&gold, &pred).await.unwrap_err();
        let kind = MetricErrorKind::OverBudget { budget_msats: 100 };
        assert_eq!(
            (error.kind(), error.cost_msats()),
            (&kind, 14),
            "the others are paid for"
        );
    }
}

/// Nor does a composite go on without it.
#[tokio::test]
async fn a_component_over_budget_skips_the_row_whatever_is_missing() {
    let (gold, pred) = rows();
    let exceeded = LmErrorKind::BudgetExceeded {
        needed_msats: 90,
        remaining_msats: 10,
        budget_msats: 100,
    };
    for on_missing in [OnMissing::Fail, OnMissing::Skip, OnMissing::Zero] {
        let over = ScriptedLm::new().otherwise(LmError::new("a:over", exceeded.clone()));
        let judges = PoliteJudge::default().with_lm(over);
        let other = metric_fn("other", |_: &Example, _: &Prediction| 1.0).with_range(0.0, 1.0);
        let parts = weighted([(component(judges), 0.5), (component(other), 0.5)]);
        let composite = Composite::builder("both", parts)
            .on_missing(on_missing)
            .build()
            .unwrap();
        let error = composite.evaluate(&gold, &pred).await.unwrap_err();
        let kind = MetricErrorKind::OverBudget { budget_msats: 100 };
        assert_eq!(error.kind(), &kind, "{on_missing:?}");
    }
}
