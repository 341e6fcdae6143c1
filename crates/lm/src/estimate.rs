//! Estimates a run: the calls it would make and the most they can cost.
//!
//! The layer `Estimated` counts calls instead of making them. A judge then asks its next question using the [longest
//! reply](longest_reply).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde::Serialize;

use super::layers::{DEFAULT_MAX_TOKENS, find, limited, max_cost};
use super::model::{layer_over_inner, probe_request};
use super::price::Prices;
use super::record::Key;
use super::store::Store;
use super::{LanguageModel, LmError, LmErrorKind, LmReply, LmRequest, lock};

tokio::task_local! {
    /// The observed metric's latest estimated call.
    static ESTIMATED: RefCell<Option<LmError>>;
}

/// `true` once this process has estimated calls. Only then are metrics observed.
static IS_ACTIVE: AtomicBool = AtomicBool::new(false);

pub fn is_active() -> bool {
    IS_ACTIVE.load(Ordering::Relaxed)
}

/// Awaits a future and returns its output.
///
/// If the future makes a call that is only estimated, the function also returns that call's error.
pub async fn observe<F: Future>(future: F) -> (F::Output, Option<LmError>) {
    let observed = async {
        let output = future.await;
        (output, ESTIMATED.with(RefCell::take))
    };
    let (output, estimated) = ESTIMATED.scope(RefCell::default(), observed).await;
    if let Some(error) = &estimated {
        set_estimated(error);
    }
    (output, estimated)
}

/// Records an estimated call for the observed metric and for the metric that contains it.
fn set_estimated(error: &LmError) {
    // This fails for a call outside of a metric.
    let _ = ESTIMATED.try_with(|estimated| estimated.replace(Some(error.clone())));
}

/// Returns the error for an estimated call.
pub(super) fn error(model: &str) -> LmError {
    let error = LmError::new(model, LmErrorKind::Estimated);
    set_estimated(&error);
    error
}

/// Returns text at least as long as any reply that `max_tokens` allows.
///
/// A call that quotes this text costs at least as much as a call that quotes a real reply.
///
/// Each byte counts as a token. The text has more tokens than any reply, to leave room for the numbers if a later call
/// quotes a list with numbered items.
pub fn longest_reply(max_tokens: Option<u32>) -> String {
    /// A judge does not read longer replies.
    const MAX_BYTES: usize = 1 << 20;
    let tokens = max_tokens.unwrap_or(DEFAULT_MAX_TOKENS) as usize;
    "x".repeat(tokens.saturating_mul(4).min(MAX_BYTES))
}

/// A count of the model calls that a run would make, with their maximum cost.
///
/// Clones share the counts.
///
/// A model built with [`LmBuilder::estimate`](super::LmBuilder::estimate) makes no calls. If the store contains a
/// reply, the model returns it. Otherwise, the estimate counts the call, and the call fails with
/// [`LmErrorKind::Estimated`](super::LmErrorKind::Estimated).
///
/// Judges, panels and composites then make every call that could follow, no matter what the reply would be. The counts
/// do not depend on the order of calls.
///
/// The estimate adds up the maximum cost of each call. It covers every step, panel and repeat of judges and composites.
/// It does not cover repairs of invalid replies or failed attempts.
///
/// If your own function calls a model several times, only its first call without a stored reply is counted.
///
/// For a `Scorer`, the second tier is counted only for rows that are known to pass the first tier.
///
/// ```
/// use dsrs_metrics::judge::Models;
/// use dsrs_metrics::judge::shipped::SemanticEquivalence;
/// use dsrs_metrics::lm::{Lm, LmEstimate};
/// use dsrs_metrics::rows::Pair;
/// use dsrs_metrics::{Evaluate, contract::Settings, prelude::*};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let estimate = LmEstimate::new();
/// let lm = Lm::builder("openai:gpt-6-luna").estimate(estimate.clone());
/// let lm = lm.no_store().build()?;
/// let rows = ["five km", "6 km"].map(|answer| {
///     Pair::new(answer, example! { "answer" => "5 km" }, prediction! { "answer" => answer })
/// });
/// let evaluate = Evaluate::builder().metric(SemanticEquivalence::default()).build()?;
/// let run = async { evaluate.score(rows).await };
/// Settings::new().with(Models::new(lm)).scope(run).await?;
/// let total = estimate.total();
/// assert_eq!((total.calls, total.cached_calls), (3, 0), "two rows, and the probe of the model");
/// assert!(total.replies_msats > 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct LmEstimate {
    /// Keyed by purpose and model.
    calls: Arc<Mutex<BTreeMap<(String, String), CallEstimate>>>,
}

/// The number of estimated calls and their maximum cost, in millisatoshis.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CallEstimate {
    /// The number of calls whose reply is not in the store.
    ///
    /// Probes are included, but not repairs and retries.
    pub calls: u64,
    /// The number of calls whose reply is in the store.
    pub cached_calls: u64,
    /// The number of `calls` to models without a price.
    ///
    /// `replies_msats` does not include the cost of these calls.
    pub unpriced_calls: u64,
    /// The maximum cost of `calls`, in millisatoshis.
    ///
    /// The estimate assumes that the first attempt of every call returns a valid reply.
    pub replies_msats: u64,
}

impl CallEstimate {
    fn add(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.cached_calls = self.cached_calls.saturating_add(other.cached_calls);
        self.unpriced_calls = self.unpriced_calls.saturating_add(other.unpriced_calls);
        self.replies_msats = self.replies_msats.saturating_add(other.replies_msats);
    }
}

impl LmEstimate {
    /// Creates an empty estimate.
    ///
    /// ```
    /// use dsrs_metrics::lm::{CallEstimate, LmEstimate};
    ///
    /// assert_eq!(LmEstimate::new().total(), CallEstimate::default());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts observing metrics.
    pub(super) fn activate(&self) {
        IS_ACTIVE.store(true, Ordering::Relaxed);
    }

    /// Returns the totals over all calls.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LanguageModel, Lm, LmError, LmEstimate, LmRequest};
    /// use dsrs_metrics::lm::{Price, Prices, Sampling};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), LmError> {
    /// let estimate = LmEstimate::new();
    /// let price = Price { input: 0.0, output: 1.0, cached_input: None }; // 1 msat for each token
    /// let lm = Lm::builder("openai:m").prices(Prices::empty().with("openai:m", price));
    /// let lm = lm.no_store().estimate(estimate.clone()).build()?;
    /// let limit = Sampling { max_tokens: Some(100), ..Sampling::default() };
    /// let request = LmRequest::new("example").user("?").with_sampling(limit);
    /// lm.complete(&request).await.unwrap_err();
    /// let total = estimate.total();
    /// assert_eq!((total.calls, total.replies_msats), (1, 100));
    /// # Ok(())
    /// # }
    /// ```
    pub fn total(&self) -> CallEstimate {
        let mut total = CallEstimate::default();
        for calls in lock(&self.calls).values() {
            total.add(calls);
        }
        total
    }

    /// Returns the counts by [purpose](super::LmRequest::purpose) and model.
    ///
    /// Probes have the purpose `probe`.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LanguageModel, Lm, LmError, LmEstimate, LmRequest};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), LmError> {
    /// let estimate = LmEstimate::new();
    /// let lm = Lm::builder("openai:gpt-6-luna").estimate(estimate.clone());
    /// let lm = lm.no_store().build()?;
    /// lm.complete(&LmRequest::new("example").user("?")).await.unwrap_err();
    /// let by_purpose = estimate.by_purpose();
    /// let key = ("example".to_owned(), "openai:gpt-6-luna".to_owned());
    /// assert_eq!((by_purpose.len(), by_purpose[&key].calls), (1, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn by_purpose(&self) -> BTreeMap<(String, String), CallEstimate> {
        lock(&self.calls).clone()
    }

    pub(super) fn add(&self, purpose: &str, model: &str, calls: &CallEstimate) {
        let key = (purpose.to_owned(), model.to_owned());
        lock(&self.calls).entry(key).or_default().add(calls);
    }
}

/// A model that returns replies from the store and counts all other calls.
pub(crate) struct Estimated<L> {
    pub(crate) inner: L,
    pub(crate) estimate: LmEstimate,
    pub(crate) prices: Prices,
    /// The replies that a run would find.
    pub(crate) store: Option<Store>,
}

impl<L: LanguageModel> Estimated<L> {
    /// Counts a call and the most it can cost. If the request does not limit the reply, the limit that a budget sets is
    /// used.
    fn count(&self, request: &LmRequest) {
        let price = self.prices.get(self.inner.id());
        let cost = price.and_then(|price| max_cost(&self.prices, &price, &limited(request)));
        let call = CallEstimate {
            calls: 1,
            unpriced_calls: u64::from(cost.is_none()),
            replies_msats: cost.unwrap_or(0),
            ..CallEstimate::default()
        };
        self.estimate.add(&request.purpose, self.inner.id(), &call);
    }
}

#[async_trait]
impl<L: LanguageModel> LanguageModel for Estimated<L> {
    layer_over_inner!();

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        let (id, purpose) = (self.inner.id(), &request.purpose);
        let effective = self.inner.effective_request(request);
        let key = Key::new(&self.inner, &effective);
        let stored = self.store.as_ref().map(|store| find(store, &key, 0));
        if let Some(reply) = stored.transpose()?.flatten() {
            let cached = CallEstimate {
                cached_calls: 1,
                ..CallEstimate::default()
            };
            self.estimate.add(purpose, id, &cached);
            return Ok(reply.into_cached());
        }
        self.count(request);
        Err(error(id))
    }

    /// Counts the probe, once. It returns a reply, as a real probe does, because a second probe may follow.
    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        self.count(&probe_request());
        Ok(Some(LmReply::new("")))
    }
}
