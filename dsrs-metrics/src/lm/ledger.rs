//! What a run took: calls, tokens and msat, per purpose and together.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::charges::Charges;
use super::{LanguageModel, LmError, LmReply, LmRequest, PROBE, Usage};

/// A sum over calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Calls, all of them; [probes](LanguageModel::probe) too.
    pub calls: u64,
    /// Calls that were answered from the cache, or by an equal call under way.
    pub cached: u64,
    /// Calls without a reply, those that were dropped on their way included.
    pub failed: u64,
    /// Tokens of the calls that were paid for.
    pub usage: Usage,
    /// What was paid, in msat, as far as that is known.
    pub cost_msats: u64,
    /// Calls of which nothing says what they cost, or not all of it: if there are any, the cost is a lower bound.
    pub unpriced: u64,
}

impl Account {
    /// Of one call.
    #[must_use]
    pub fn of(result: &Result<LmReply, LmError>) -> Self {
        let one = Self { calls: 1, ..Self::default() };
        match result {
            Ok(reply) if reply.cached => Self { cached: 1, ..one },
            Ok(reply) => Self {
                usage: reply.usage,
                cost_msats: reply.cost_msats.unwrap_or(0),
                unpriced: u64::from(reply.is_unpriced()),
                ..one
            },
            Err(error) => {
                let cost = error.cost_msats();
                Self {
                    failed: 1,
                    cost_msats: cost.unwrap_or(0),
                    unpriced: u64::from(cost.is_none()),
                    ..one
                }
            }
        }
    }
}

impl AddAssign for Account {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.cached += other.cached;
        self.failed += other.failed;
        self.usage += other.usage;
        self.cost_msats = self.cost_msats.saturating_add(other.cost_msats);
        self.unpriced += other.unpriced;
    }
}

/// `12 calls (3 cached, 1 failed), 4500 + 210 tokens, 640 msat (and 2 calls of unknown cost)`
impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { calls, cached, failed, usage, cost_msats, unpriced } = self;
        let prompt = usage.prompt_tokens.unwrap_or(0);
        let completion = usage.completion_tokens.unwrap_or(0);
        write!(f, "{calls} calls ({cached} cached, {failed} failed), ")?;
        write!(f, "{prompt} + {completion} tokens, {cost_msats} msat")?;
        match unpriced {
            0 => Ok(()),
            _ => write!(f, " (and {unpriced} calls of unknown cost)"),
        }
    }
}

/// Sums over all calls of a run. Clones share it.
///
/// Its money is what the budget was charged, and what the rows' outcomes carry: each reply and each error says what it cost
/// ([`LmReply::cost_msats`], [`LmError::cost_msats`]), and all three take it from there. Two things are in no row: probes (under
/// the purpose `probe`), and calls that were dropped on their way because their row ran out of time.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    accounts: Arc<Mutex<BTreeMap<String, Account>>>,
}

impl Ledger {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// All calls together.
    #[must_use]
    pub fn total(&self) -> Account {
        let mut total = Account::default();
        for account in self.lock().values() {
            total += *account;
        }
        total
    }

    /// By [purpose](LmRequest::purpose), that is by judge and version.
    #[must_use]
    pub fn by_purpose(&self) -> BTreeMap<String, Account> {
        self.lock().clone()
    }

    /// Counts one call.
    pub fn record(&self, purpose: &str, result: &Result<LmReply, LmError>) {
        self.add(purpose, Account::of(result));
    }

    fn add(&self, purpose: &str, account: Account) {
        let mut accounts = self.lock();
        match accounts.get_mut(purpose) {
            Some(sum) => *sum += account,
            None => {
                accounts.insert(purpose.to_owned(), account);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Account>> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A model whose calls are counted in a [`Ledger`].
///
/// ```
/// use dsrs_metrics::lm::{LanguageModel, Ledger, LmError, LmRequest, Metered, ScriptedLm, Usage};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LmError> {
/// let ledger = Ledger::new();
/// let scripted = ScriptedLm::new().otherwise("yes").usage(Usage::new(40, 2)).cost(12);
/// let lm = Metered::new(scripted, ledger.clone());
/// lm.complete(&LmRequest::new("judge politeness version 1").user("?")).await?;
/// assert_eq!(ledger.total().to_string(), "1 calls (0 cached, 0 failed), 40 + 2 tokens, 12 msat");
/// assert_eq!(ledger.by_purpose()["judge politeness version 1"].cost_msats, 12);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Metered<L> {
    inner: L,
    ledger: Ledger,
}

impl<L> Metered<L> {
    /// Counts the calls of `inner` in `ledger`.
    pub fn new(inner: L, ledger: Ledger) -> Self {
        Self { inner, ledger }
    }
}

/// A call under way. Dropped before its end it is counted as failed, with what it was charged until then.
struct UnderWay<'a> {
    ledger: &'a Ledger,
    purpose: &'a str,
    charges: Arc<Charges>,
    has_ended: bool,
}

impl<'a> UnderWay<'a> {
    fn new(ledger: &'a Ledger, purpose: &'a str) -> Self {
        Self { ledger, purpose, charges: Arc::default(), has_ended: false }
    }

    async fn until_end<T>(mut self, call: impl Future<Output = T>) -> T {
        let result = self.charges.hear(call).await;
        self.has_ended = true;
        result
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        let (cost_msats, unpriced) = (self.charges.msats(), u64::from(self.charges.is_unknown()));
        let dropped = Account { calls: 1, failed: 1, cost_msats, unpriced, ..Account::default() };
        self.ledger.add(self.purpose, dropped);
    }
}

#[async_trait]
impl<L: LanguageModel> LanguageModel for Metered<L> {
    fn id(&self) -> &str {
        self.inner.id()
    }

    fn endpoint(&self) -> Option<&str> {
        self.inner.endpoint()
    }

    fn as_sent<'a>(&self, request: &'a LmRequest) -> Cow<'a, LmRequest> {
        self.inner.as_sent(request)
    }

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        let under_way = UnderWay::new(&self.ledger, &request.purpose);
        let result = under_way.until_end(self.inner.complete(request)).await;
        self.ledger.record(&request.purpose, &result);
        result
    }

    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        let probed = UnderWay::new(&self.ledger, PROBE).until_end(self.inner.probe()).await;
        if let Some(result) = probed.clone().transpose() {
            self.ledger.record(PROBE, &result);
        }
        probed
    }
}
