//! The budget of a scorer with judges: panels, repairs, models without prices, retries, at any concurrency.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dsrs_metrics::async_trait;
use dsrs_metrics::lm::{
    LanguageModel, LmError, LmErrorKind, LmReply, LmRequest, Retry, RetryPolicy,
};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Metric,
    rows::Pair,
    scoring::{RowScore, RowStatus, Scorer},
};
use proptest::prelude::*;

/// What one verdict costs at most.
const VERDICT: u64 = 90;

/// Say whether the answer is polite.
#[judge(cost = "90 msat")]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

/// How often `DrawnPolite` is asked.
const DRAWS: u64 = 4;

/// Say whether the answer is polite.
#[judge(cost = "360 msat", scoring(by = draws(4)))]
struct DrawnPolite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

fn polite(_: &LmRequest) -> (u64, &'static str) {
    (VERDICT, r#"{"reasoning":"", "polite":true}"#)
}

/// A model whose calls differ in outcome and cost, by row and call. It adds up its charges.
#[derive(Clone)]
pub(crate) struct Moody {
    seed: u64,
    /// Returns what a call costs at most, and a reply that is an answer.
    answers: fn(&LmRequest) -> (u64, &'static str),
    pub(crate) charged: Arc<AtomicU64>,
    calls: Arc<AtomicU64>,
}

impl Moody {
    pub(crate) fn new(seed: u64, answers: fn(&LmRequest) -> (u64, &'static str)) -> Self {
        Self {
            seed,
            answers,
            charged: Arc::default(),
            calls: Arc::default(),
        }
    }

    fn charge(&self, msats: u64) -> u64 {
        self.charged.fetch_add(msats, Ordering::Relaxed);
        msats
    }
}

#[async_trait]
impl LanguageModel for Moody {
    fn id(&self) -> &str {
        "test:moody"
    }

    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        Ok(None)
    }

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let text = request
            .messages
            .iter()
            .map(|message| message.content.len() as u64);
        let mut mood =
            (self.seed ^ (call << 20) ^ text.sum::<u64>()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mood ^= mood >> 31;
        tokio::time::sleep(Duration::from_micros(mood % 300)).await;
        let (most, answer) = (self.answers)(request);
        let reply = LmReply::new(answer);
        let busy = LmErrorKind::RateLimited {
            retry_after: None,
            message: String::new(),
        };
        match mood % 8 {
            // Not a verdict: the judge asks for a repair.
            0 | 1 => Ok(LmReply::new("hm").with_cost_msats(self.charge(mood % (most + 1)))),
            // Retried, and not charged.
            2 => Err(LmError::new(self.id(), busy)),
            // Without a price: the declared cost is charged.
            3 => {
                self.charge(most);
                Ok(reply)
            }
            // Interrupted, at a price that is known; not retried.
            4 => {
                let refused = LmErrorKind::Other("refused".to_owned());
                let cost = self.charge(mood % (most + 1));
                Err(LmError::new(self.id(), refused).with_cost_msats(Some(cost)))
            }
            _ => Ok(reply.with_cost_msats(self.charge(mood % (most + 1)))),
        }
    }
}

pub(crate) fn retried(model: Moody) -> Retry<Moody> {
    let (initial_delay, max_delay) = (Duration::from_micros(50), Duration::from_micros(200));
    Retry::new(
        model,
        RetryPolicy {
            initial_delay,
            max_delay,
            ..RetryPolicy::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The judges, the concurrency and the budget are arbitrary; the models charge at most the declared cost.
    #[test]
    fn a_scorer_never_overruns_its_budget(
        seed in any::<u64>(),
        judges in 1_usize..=10,
        concurrency in prop::sample::select(vec![1_usize, 2, 7, 32, 128, 512]),
        budget in 1_u64..20_000,
        quorum in any::<bool>(),
    ) {
        let model = Moody::new(seed, polite);
        let judge = PoliteJudge::builder().models((0..judges).map(|_| retried(model.clone())));
        let judge = if quorum { judge.quorum(1).build() } else { judge.build() };
        let worst = Metric::<Example, Prediction>::cost_estimate(&judge);
        prop_assert_eq!(worst, VERDICT * judges as u64 * 2);
        check_budget(judge, &model, 60, (concurrency, budget))?;
    }

    /// Each draw may be repaired, and each costs at most its share of the declared cost.
    #[test]
    fn draws_never_overrun_a_budget(
        seed in any::<u64>(),
        judges in 1_usize..=3,
        concurrency in 1_usize..=512,
        budget in 1_u64..40_000,
    ) {
        let model = Moody::new(seed, polite);
        let judge = DrawnPoliteJudge::builder();
        let judge = judge.models((0..judges).map(|_| retried(model.clone()))).build();
        let worst = Metric::<Example, Prediction>::cost_estimate(&judge);
        prop_assert_eq!(worst, VERDICT * DRAWS * judges as u64 * 2);
        check_budget(judge, &model, 60, (concurrency, budget))?;
    }
}

/// Checks that a run within a budget pays what the models charged, and skips no row that the rest of the budget covers.
pub(crate) fn check_budget(
    judge: impl Metric<Example, Prediction> + 'static,
    model: &Moody,
    rows: usize,
    (concurrency, budget): (usize, u64),
) -> Result<(), TestCaseError> {
    let worst = judge.cost_estimate();
    let scorer = Scorer::builder()
        .metric(judge)
        .budget_msats(budget)
        .build()
        .unwrap();
    let rows = (0..rows).map(|row| {
        Pair::new(
            row.to_string(),
            example! {},
            prediction! { "answer" => "x".repeat(row) },
        )
    });
    let rows: Vec<_> = rows.collect();
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_time().build().unwrap();
    let result = runtime
        .block_on(scorer.score_all(rows, concurrency))
        .unwrap();
    let report = scorer.budget();
    prop_assert_eq!((report.overrun, report.reserved), (0, 0));
    prop_assert!(report.spent <= budget);
    // The rows and the budget have the sum that the models charged.
    prop_assert_eq!(report.spent, model.charged.load(Ordering::Relaxed));
    prop_assert_eq!(report.spent, charged_by(&result.rows));
    // A row is skipped only if the rest of the budget does not cover its worst case.
    let skipped = |row: &RowScore| matches!(row.status, RowStatus::Skipped { .. });
    if result.rows.iter().any(skipped) {
        prop_assert!(budget - report.spent < worst);
    }
    Ok(())
}

pub(crate) fn charged_by(rows: &[RowScore]) -> u64 {
    rows.iter().map(|row| row.spending.spent_msats).sum()
}

#[test]
fn the_cost_of_a_judge_is_that_of_its_panel_with_repairs() {
    let model = Moody::new(0, polite);
    let cost = |judges: usize| {
        let judge = PoliteJudge::builder()
            .models((0..judges).map(|_| model.clone()))
            .build();
        assert_eq!(
            judge.cost_estimate(),
            Metric::<Example, Prediction>::cost_estimate(&judge)
        );
        judge.cost_estimate()
    };
    assert_eq!([1, 3, 10].map(cost), [180, 540, 1800]);
    let pair = dsrs_metrics::judge::shipped::PairwisePreference::builder()
        .models(["a:b", "a:c"])
        .build();
    // The declared 200 msat are the cost of both orders.
    assert_eq!(pair.cost_estimate(), 800);
}
