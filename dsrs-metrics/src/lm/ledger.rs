//! What a run took: calls, tokens and msat, per purpose and together.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{LanguageModel, LmError, LmReply, LmRequest, Usage};

/// A sum over calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Calls, all of them.
    pub calls: u64,
    /// Calls that were answered from the cache, or by an equal call under way.
    pub cached: u64,
    /// Calls without a reply.
    pub failed: u64,
    /// Tokens of the calls that were paid for.
    pub usage: Usage,
    /// What is known to have been paid, in msat.
    pub cost_msats: u64,
    /// Replies that were not cached and whose cost is not known: if there are any, the cost is a lower bound.
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
                unpriced: u64::from(reply.cost_msats.is_none()),
                ..one
            },
            Err(error) => Self { failed: 1, cost_msats: error.cost_msats().unwrap_or(0), ..one },
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

/// `12 calls (3 cached, 1 failed), 4500 + 210 tokens, 640 msat (2 calls without a price)`
impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { calls, cached, failed, usage, cost_msats, unpriced } = self;
        let prompt = usage.prompt_tokens.unwrap_or(0);
        let completion = usage.completion_tokens.unwrap_or(0);
        write!(f, "{calls} calls ({cached} cached, {failed} failed), ")?;
        write!(f, "{prompt} + {completion} tokens, {cost_msats} msat")?;
        match unpriced {
            0 => Ok(()),
            _ => write!(f, " ({unpriced} calls without a price)"),
        }
    }
}

/// Sums over all calls of a run. Clones share it.
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
        let mut accounts = self.lock();
        let account = Account::of(result);
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

#[async_trait]
impl<L: LanguageModel> LanguageModel for Metered<L> {
    fn id(&self) -> &str {
        self.inner.id()
    }

    fn endpoint(&self) -> Option<&str> {
        self.inner.endpoint()
    }

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        let result = self.inner.complete(request).await;
        self.ledger.record(&request.purpose, &result);
        result
    }

    async fn probe(&self) -> Result<(), LmError> {
        self.inner.probe().await
    }
}
