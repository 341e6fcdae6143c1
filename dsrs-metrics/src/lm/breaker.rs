//! Leaving a dead provider alone.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use super::{LanguageModel, LmError, LmReply, LmRequest};

/// When a provider counts as dead, and for how long it is then left alone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BreakerPolicy {
    /// Failures in a row, over all workers; default 20.
    pub failures: u32,
    /// For how long there must have been nothing but failures; default 10 s. A burst alone is no death.
    pub over: Duration,
    /// For how long nobody calls then; default 30 s. After that one call tries, and if it succeeds all do.
    pub pause: Duration,
}

impl Default for BreakerPolicy {
    fn default() -> Self {
        Self { failures: 20, over: Duration::from_secs(10), pause: Duration::from_secs(30) }
    }
}

/// A model that is left alone for a while once its provider is dead: calls then fail at once with
/// [`LmError::CircuitOpen`] instead of each waiting for its own timeouts.
///
/// Broken connections, timeouts, statuses 5xx and what is no reply count; a limit on the rate
/// (429) does not, since a provider that says so lives.
#[derive(Debug)]
pub struct Breaker<L> {
    inner: L,
    circuit: Circuit,
}

/// What is known of whether a provider lives. Clones share it: give the same one to all models at one address, so that
/// one model finds out for all that nobody answers there.
#[derive(Debug, Clone)]
pub struct Circuit {
    policy: BreakerPolicy,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    first_failure: Option<Instant>,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    until: Instant,
    last: String,
    /// One call is out to see whether the provider lives again.
    trying: bool,
}

impl<L> Breaker<L> {
    /// Watches the calls of `inner` alone.
    pub fn new(inner: L, policy: BreakerPolicy) -> Self {
        Self::sharing(inner, Circuit::new(policy))
    }

    /// Watches the calls of `inner` together with those of others that share the circuit.
    pub fn sharing(inner: L, circuit: Circuit) -> Self {
        Self { inner, circuit }
    }
}

impl Circuit {
    /// A provider that is not known to be dead.
    #[must_use]
    pub fn new(policy: BreakerPolicy) -> Self {
        Self { policy, state: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a call may be made; if it is the one that tries, says so.
    fn enter(&self, lm: &str) -> Result<bool, LmError> {
        let mut state = self.lock();
        let Some(open) = &mut state.open else { return Ok(false) };
        let now = Instant::now();
        if now < open.until || open.trying {
            let retry_in = open.until.saturating_duration_since(now);
            let (lm, last) = (lm.to_owned(), open.last.clone());
            return Err(LmError::CircuitOpen { lm, retry_in, last });
        }
        open.trying = true;
        Ok(true)
    }

    fn leave(&self, result: &Result<LmReply, LmError>, trying: bool) {
        let mut state = self.lock();
        let Some(error) = result.as_ref().err().filter(|error| counts(error)) else {
            *state = State::default();
            return;
        };
        let now = Instant::now();
        let first = *state.first_failure.get_or_insert(now);
        state.failures += 1;
        let dead = state.failures >= self.policy.failures
            && now.saturating_duration_since(first) >= self.policy.over;
        if trying || (dead && state.open.is_none()) {
            let until = now + self.policy.pause;
            state.open = Some(Open { until, last: error.to_string(), trying: false });
        }
    }
}

/// Whether a failure speaks for a dead provider.
fn counts(error: &LmError) -> bool {
    let busy =
        matches!(error, LmError::RateLimited { .. } | LmError::Status { status: 408 | 409, .. });
    error.is_transient() && !busy
}

/// If the call that tries is dropped before its end, another one may try.
struct Trying<'a>(Option<&'a Circuit>);

impl Drop for Trying<'_> {
    fn drop(&mut self) {
        let Some(circuit) = self.0 else { return };
        let mut state = circuit.lock();
        if let Some(open) = &mut state.open {
            open.trying = false;
        }
    }
}

#[async_trait]
impl<L: LanguageModel> LanguageModel for Breaker<L> {
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
        let trying = self.circuit.enter(self.inner.id())?;
        let _trying = Trying(trying.then_some(&self.circuit));
        let result = self.inner.complete(request).await;
        self.circuit.leave(&result, trying);
        result
    }

    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        self.inner.probe().await
    }
}
