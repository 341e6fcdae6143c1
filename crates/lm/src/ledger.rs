//! Totals over a run's calls: the number of calls, tokens and msat, by purpose and overall.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{LmError, LmReply, LmRequest, Usage, lock};

/// Totals over one or more model calls.
///
/// ```
/// use dsrs_metrics::lm::{CallTotals, LmReply, Usage};
///
/// let reply = LmReply::new("Paris").with_usage(Usage::new(40, 2)).with_cost_msats(42);
/// let mut totals = CallTotals::of(&Ok(reply.clone()));
/// totals += CallTotals::of(&Ok(reply));
/// assert_eq!((totals.calls, totals.cost_msats), (2, 84));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallTotals {
    /// The number of calls, including calls answered from the store.
    ///
    /// [Probes](super::LanguageModel::probe) are included.
    pub calls: u64,
    /// The number of calls answered from the store or by an identical concurrent call.
    pub cached: u64,
    /// The original cost of the stored replies, in msat.
    #[serde(default)]
    pub stored_msats: u64,
    /// The number of calls without a reply, including cancelled calls.
    pub failed: u64,
    /// The number of calls not made because the budget did not cover them.
    ///
    /// Rejected calls are not included in [`calls`](Self::calls).
    #[serde(default)]
    pub refused: u64,
    /// The token usage of all calls that were made.
    ///
    /// Calls answered from the store are not included. Failed attempts are included if the provider reported their
    /// tokens.
    pub usage: Usage,
    /// The total known cost, in msat.
    pub cost_msats: u64,
    /// The number of attempts with unknown cost.
    ///
    /// If this number is not 0, `cost_msats` is a lower bound.
    pub unpriced: u64,
}

impl CallTotals {
    /// Returns the totals for one call.
    ///
    /// ```
    /// use std::time::Duration;
    /// use dsrs_metrics::lm::{CallTotals, LmError, LmErrorKind};
    ///
    /// let timeout = LmErrorKind::Timeout { limit: Duration::from_secs(60) };
    /// let totals = CallTotals::of(&Err(LmError::new("openai:gpt-6-luna", timeout)));
    /// assert_eq!((totals.calls, totals.failed, totals.unpriced), (1, 1, 1));
    /// // A call that the budget refused was not made.
    /// let refused = LmErrorKind::BudgetExceeded { needed_msats: 9, remaining_msats: 0, budget_msats: 5 };
    /// let totals = CallTotals::of(&Err(LmError::new("openai:gpt-6-luna", refused)));
    /// assert_eq!((totals.calls, totals.refused), (0, 1));
    /// ```
    pub fn of(result: &Result<LmReply, LmError>) -> Self {
        let one = Self {
            calls: 1,
            ..Self::default()
        };
        match result {
            Ok(reply) if reply.cached => Self {
                cached: 1,
                stored_msats: reply.cost_msats.unwrap_or(0),
                ..one
            },
            Ok(reply) => Self {
                usage: reply.usage,
                cost_msats: reply.cost_msats.unwrap_or(0),
                unpriced: u64::from(reply.is_unpriced()),
                ..one
            },
            Err(error) if error.is_refused() => Self {
                refused: 1,
                ..Self::default()
            },
            Err(error) => {
                let cost = error.cost_msats();
                Self {
                    failed: 1,
                    usage: error.usage(),
                    cost_msats: cost.unwrap_or(0),
                    unpriced: u64::from(cost.is_none()),
                    ..one
                }
            }
        }
    }
}

impl AddAssign for CallTotals {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.cached += other.cached;
        self.stored_msats = self.stored_msats.saturating_add(other.stored_msats);
        self.failed += other.failed;
        self.refused += other.refused;
        self.usage += other.usage;
        self.cost_msats = self.cost_msats.saturating_add(other.cost_msats);
        self.unpriced += other.unpriced;
    }
}

/// `12 calls (3 cached, 1 failed), 4500 prompt + 210 completion tokens, 640 msat (plus 2 attempts of
/// unknown cost)`
impl fmt::Display for CallTotals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |count: u64, noun: &str| match count {
            1 => format!("1 {noun}"),
            count => format!("{count} {noun}s"),
        };
        let Self { cached, failed, .. } = self;
        let refused = match self.refused {
            0 => String::new(),
            refused => format!("; {refused} more refused by the budget"),
        };
        let unpriced = match self.unpriced {
            0 => String::new(),
            unpriced => format!(" (plus {} of unknown cost)", counted(unpriced, "attempt")),
        };
        let calls = counted(self.calls, "call");
        let [prompt, completion] =
            [self.usage.prompt_tokens, self.usage.completion_tokens].map(Option::unwrap_or_default);
        let tokens = format_args!("{prompt} prompt + {completion} completion tokens");
        let calls = format_args!("{calls} ({cached} cached, {failed} failed{refused})");
        write!(f, "{calls}, {tokens}, {} msat{unpriced}", self.cost_msats)
    }
}

/// The totals over all calls in a run, recorded by [`Metered`](super::Metered).
///
/// Clones share the totals.
///
/// The ledger, the budget and the row outcomes all use [`LmReply::cost_msats`] and [`LmError::cost_msats`], so their
/// amounts match.
///
/// Two kinds of calls belong to no row: probes (with the purpose `probe`), and calls cancelled because their row
/// exceeded its time limit.
///
/// ```
/// use dsrs_metrics::lm::{Ledger, LmReply};
///
/// let ledger = Ledger::new();
/// ledger.record("judge politeness version 1", &Ok(LmReply::new("yes").with_cost_msats(12)));
/// assert_eq!(ledger.total().cost_msats, 12);
/// assert_eq!(ledger.by_purpose()["judge politeness version 1"].calls, 1);
/// ```
#[derive(Clone, Default)]
pub struct Ledger {
    totals: Arc<Mutex<BTreeMap<String, CallTotals>>>,
    observers: Arc<Mutex<Vec<Arc<Observer>>>>,
}

type Observer = dyn Fn(&ObservedCall<'_>) + Send + Sync;

debug_fields!(Ledger: |ledger| "totals" => ledger.totals);

impl Ledger {
    /// Creates an empty ledger.
    ///
    /// ```
    /// use dsrs_metrics::lm::{Ledger, LmReply};
    ///
    /// let ledger = Ledger::new();
    /// ledger.clone().record("judge brief version 1", &Ok(LmReply::new("yes")));
    /// assert_eq!(ledger.total().calls, 1, "clones share the totals");
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the totals over all calls.
    ///
    /// ```
    /// use dsrs_metrics::lm::{Ledger, LmReply, Usage};
    ///
    /// let ledger = Ledger::new();
    /// let reply = LmReply::new("yes").with_usage(Usage::new(40, 2)).with_cost_msats(12);
    /// ledger.record("judge brief version 1", &Ok(reply.clone()));
    /// ledger.record("judge polite version 1", &Ok(reply));
    /// assert_eq!(
    ///     ledger.total().to_string(),
    ///     "2 calls (0 cached, 0 failed), 80 prompt + 4 completion tokens, 24 msat"
    /// );
    /// ```
    pub fn total(&self) -> CallTotals {
        let mut total = CallTotals::default();
        for totals in lock(&self.totals).values() {
            total += *totals;
        }
        total
    }

    /// Returns the totals by [purpose](super::LmRequest::purpose).
    ///
    /// A purpose names a judge and its version.
    ///
    /// ```
    /// use dsrs_metrics::lm::{Ledger, LmReply};
    ///
    /// let ledger = Ledger::new();
    /// for purpose in ["judge brief version 1", "judge brief version 2", "judge brief version 2"] {
    ///     ledger.record(purpose, &Ok(LmReply::new("yes")));
    /// }
    /// let calls: Vec<_> = ledger.by_purpose().values().map(|totals| totals.calls).collect();
    /// assert_eq!(calls, [1, 2]);
    /// ```
    pub fn by_purpose(&self) -> BTreeMap<String, CallTotals> {
        lock(&self.totals).clone()
    }

    /// Adds one call to the totals.
    ///
    /// ```
    /// use dsrs_metrics::lm::{Ledger, LmError, LmErrorKind, LmReply};
    ///
    /// let ledger = Ledger::new();
    /// let lost = LmErrorKind::Unreachable { address: "localhost".into(), reason: "refused".into() };
    /// ledger.record("judge brief version 1", &Err(LmError::new("ollama:qwen3", lost)));
    /// ledger.record("judge brief version 1", &Ok(LmReply::new("yes")));
    /// assert_eq!((ledger.total().calls, ledger.total().failed), (2, 1));
    /// ```
    pub fn record(&self, purpose: &str, result: &Result<LmReply, LmError>) {
        self.add(purpose, CallTotals::of(result));
    }

    /// Adds an observer to the ledger.
    ///
    /// The observer is notified of each call to a [`Metered`](super::Metered) model with this ledger.
    ///
    /// ```
    /// use dsrs_metrics::lm::{Ledger, ObservedCall};
    ///
    /// Ledger::new().observe(|call: &ObservedCall<'_>| {
    ///     if call.duration.as_secs() > 60 {
    ///         println!("{} took {:?}", call.model, call.duration);
    ///     }
    /// });
    /// ```
    pub fn observe(&self, observer: impl Fn(&ObservedCall<'_>) + Send + Sync + 'static) {
        lock(&self.observers).push(Arc::new(observer));
    }

    /// Calls the observers.
    pub(super) fn notify(&self, call: &ObservedCall<'_>) {
        // An observer may add another one.
        let observers = lock(&self.observers).clone();
        for observer in observers {
            // It may run while a cancelled call is dropped, where a panic would abort the process.
            let _ = panic::catch_unwind(AssertUnwindSafe(|| observer(call)));
        }
    }

    pub(super) fn add(&self, purpose: &str, call: CallTotals) {
        let mut totals = lock(&self.totals);
        *totals.entry(purpose.to_owned()).or_default() += call;
    }
}

/// A call that has ended.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ObservedCall<'a> {
    /// The model, as `provider:model`.
    pub model: &'a str,
    /// The base URL of the API, or `None` for the provider's default.
    pub endpoint: Option<&'a str>,
    /// The request, or `None` for a [probe](super::LanguageModel::probe).
    ///
    /// The request does not contain the parameters that the model's layers add.
    pub request: Option<&'a LmRequest>,
    /// The reply or the error, or `None` if the call was cancelled.
    pub result: Option<&'a Result<LmReply, LmError>>,
    /// The duration of the call.
    ///
    /// The duration includes retries and waiting for rate limits.
    pub duration: Duration,
}

impl<'a> ObservedCall<'a> {
    /// Returns the reply, if there is one.
    ///
    /// ```
    /// # use dsrs_metrics::lm::{LmReply, ObservedCall};
    /// fn cost_msats(call: &ObservedCall<'_>) -> u64 {
    ///     call.reply().and_then(|reply| reply.cost_msats).unwrap_or(0)
    /// }
    /// ```
    pub fn reply(&self) -> Option<&'a LmReply> {
        self.result?.as_ref().ok()
    }
}
