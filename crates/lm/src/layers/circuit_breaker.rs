//! The layer that stops calling a provider that keeps failing.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use super::super::model::layer_over_inner;
use super::super::{LanguageModel, LmError, LmErrorKind, LmReply, LmRequest};
use crate::lock;

/// A policy that determines when a [`Circuit`] opens, and for how long.
///
/// ```
/// use std::time::Duration;
/// use dsrs_metrics::lm::CircuitPolicy;
///
/// let patient = CircuitPolicy { failing_for: Duration::from_secs(60), ..CircuitPolicy::default() };
/// assert_eq!((patient.failure_threshold, patient.open_for), (20, Duration::from_secs(30)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CircuitPolicy {
    /// How many calls must fail in a row before the circuit opens.
    ///
    /// Failures of concurrent calls count together. The default is 20.
    pub failure_threshold: u32,
    /// How long calls must keep failing before the circuit opens.
    ///
    /// This prevents a short burst of failures from opening the circuit. The default is 10 s.
    pub failing_for: Duration,
    /// How long the circuit stays open before one trial call is made.
    ///
    /// If the trial call succeeds, the circuit closes. The default is 30 s.
    pub open_for: Duration,
}

impl Default for CircuitPolicy {
    fn default() -> Self {
        Self {
            failure_threshold: 20,
            failing_for: Duration::from_secs(10),
            open_for: Duration::from_secs(30),
        }
    }
}

/// A model that pauses its calls while its provider keeps failing.
///
/// During the pause, calls fail immediately with [`LmErrorKind::CircuitOpen`] instead of waiting for a timeout.
///
/// Lost connections, timeouts, 5xx statuses and responses that are not replies count as failures. A rate limit (429) is
/// not a failure, because the provider is available.
///
/// ```
/// use std::time::Duration;
/// use dsrs_metrics::lm::{
///     CircuitBreaker, CircuitPolicy, LanguageModel, LmError, LmErrorKind, LmRequest, ScriptedLm,
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let lost = LmErrorKind::Disconnected("reset".into());
/// let down = ScriptedLm::new().otherwise(LmError::new("scripted:lm", lost));
/// let policy = CircuitPolicy {
///     failure_threshold: 2,
///     failing_for: Duration::ZERO,
///     open_for: Duration::from_secs(30),
/// };
/// let lm = CircuitBreaker::new(&down, policy);
/// for _ in 0..10 {
///     lm.complete(&LmRequest::new("example").user("?")).await.unwrap_err();
/// }
/// assert_eq!(down.calls(), 2);
/// # }
/// ```
#[derive(Debug)]
pub struct CircuitBreaker<L> {
    inner: L,
    circuit: Circuit,
}

/// The state of a [`CircuitBreaker`].
///
/// Clones share the state, so all models that use a clone pause together.
///
/// ```
/// use std::time::Duration;
/// use dsrs_metrics::lm::{
///     Circuit, CircuitBreaker, CircuitPolicy, LanguageModel, LmError, LmErrorKind, LmRequest,
///     ScriptedLm,
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let policy = CircuitPolicy {
///     failure_threshold: 1,
///     failing_for: Duration::ZERO,
///     ..CircuitPolicy::default()
/// };
/// let circuit = Circuit::new(policy);
/// let lost = LmErrorKind::Disconnected("connection reset".into());
/// let one = ScriptedLm::new().otherwise(LmError::new("scripted:lm", lost));
/// let other = ScriptedLm::new().otherwise("yes");
/// let request = LmRequest::new("example").user("?");
/// CircuitBreaker::with_circuit(&one, circuit.clone()).complete(&request).await.unwrap_err();
/// CircuitBreaker::with_circuit(&other, circuit).complete(&request).await.unwrap_err();
/// assert_eq!((one.calls(), other.calls()), (1, 0));
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Circuit {
    policy: CircuitPolicy,
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
    last: LmError,
}

impl<L> CircuitBreaker<L> {
    /// Wraps `inner` with a new circuit.
    ///
    /// ```
    /// use std::time::Duration;
    /// use dsrs_metrics::lm::{
    ///     CircuitBreaker, CircuitPolicy, LanguageModel, LmError, LmErrorKind, LmRequest,
    ///     ScriptedLm,
    /// };
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let policy = CircuitPolicy {
    ///     failure_threshold: 1,
    ///     failing_for: Duration::ZERO,
    ///     ..CircuitPolicy::default()
    /// };
    /// let limited = LmErrorKind::RateLimited { retry_after: None, message: "slow down".into() };
    /// let scripted = ScriptedLm::new().otherwise(LmError::new("scripted:lm", limited));
    /// let lm = CircuitBreaker::new(&scripted, policy);
    /// for _ in 0..3 {
    ///     lm.complete(&LmRequest::new("example").user("?")).await.unwrap_err();
    /// }
    /// assert_eq!(scripted.calls(), 3, "a rate limit does not open the circuit");
    /// # }
    /// ```
    pub fn new(inner: L, policy: CircuitPolicy) -> Self {
        Self::with_circuit(inner, Circuit::new(policy))
    }

    /// Wraps `inner` with a circuit that other models can share.
    ///
    /// ```
    /// use std::error::Error;
    /// use std::time::Duration;
    /// use dsrs_metrics::lm::{CircuitBreaker, LanguageModel, LmError, LmRequest, ScriptedLm};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # let policy = dsrs_metrics::lm::CircuitPolicy { failure_threshold: 1, failing_for: Duration::ZERO, ..dsrs_metrics::lm::CircuitPolicy::default() };
    /// # let circuit = dsrs_metrics::lm::Circuit::new(policy);
    /// # let lost = dsrs_metrics::lm::LmErrorKind::Disconnected("connection reset".into());
    /// let lost = LmError::new("openai:one", lost);
    /// let one = CircuitBreaker::with_circuit(ScriptedLm::new().otherwise(lost.clone()), circuit.clone());
    /// let other = CircuitBreaker::with_circuit(ScriptedLm::new().named("openai:other"), circuit);
    /// one.complete(&LmRequest::new("example").user("?")).await.unwrap_err();
    /// let error = other.complete(&LmRequest::new("example").user("?")).await.unwrap_err();
    /// assert_eq!(error.model(), Some("openai:other"));
    /// assert_eq!(error.source().map(ToString::to_string), Some(lost.to_string()));
    /// # }
    /// ```
    pub fn with_circuit(inner: L, circuit: Circuit) -> Self {
        Self { inner, circuit }
    }
}

impl Circuit {
    /// Creates a closed circuit.
    ///
    /// A closed circuit lets calls through.
    ///
    /// ```
    /// use dsrs_metrics::lm::{
    ///     Circuit, CircuitBreaker, CircuitPolicy, LanguageModel, LmError, LmRequest, ScriptedLm,
    /// };
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), LmError> {
    /// let circuit = Circuit::new(CircuitPolicy::default());
    /// let lm = CircuitBreaker::with_circuit(ScriptedLm::new().otherwise("yes"), circuit);
    /// assert_eq!(lm.complete(&LmRequest::new("example").user("?")).await?.text, "yes");
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(policy: CircuitPolicy) -> Self {
        Self {
            policy,
            state: Arc::default(),
        }
    }

    /// Returns the circuit for an address with this policy, shared by all models in this process.
    pub(crate) fn of_address(address: String, policy: CircuitPolicy) -> Self {
        static CIRCUITS: LazyLock<Mutex<HashMap<(String, CircuitPolicy), Circuit>>> =
            LazyLock::new(Mutex::default);
        let mut circuits = lock(&CIRCUITS);
        let circuit = circuits.entry((address, policy.clone()));
        circuit.or_insert_with(|| Self::new(policy)).clone()
    }

    /// Admits or rejects a call. Each pause is followed by one trial call.
    fn admit(&self, model: &str) -> Result<(), LmError> {
        let mut state = lock(&self.state);
        let Some(open) = &mut state.open else {
            return Ok(());
        };
        let now = Instant::now();
        if now < open.until {
            let retry_in = open.until - now;
            let last = Box::new(open.last.clone());
            let kind = LmErrorKind::CircuitOpen { retry_in, last };
            return Err(LmError::new(model, kind));
        }
        open.until = now + self.policy.open_for;
        Ok(())
    }

    /// Records the result of a call.
    fn record(&self, result: &Result<LmReply, LmError>) {
        let mut state = lock(&self.state);
        let Some(error) = result.as_ref().err().filter(|error| is_failure(error)) else {
            *state = State::default();
            return;
        };
        let (now, last) = (Instant::now(), error.clone());
        let first = *state.first_failure.get_or_insert(now);
        state.failures += 1;
        let is_down = state.failures >= self.policy.failure_threshold
            && now.saturating_duration_since(first) >= self.policy.failing_for;
        match &mut state.open {
            Some(open) => open.last = last,
            None if is_down => {
                let until = now + self.policy.open_for;
                state.open = Some(Open { until, last });
            }
            None => {}
        }
    }
}

/// Returns `true` if an error indicates that the provider is down.
fn is_failure(error: &LmError) -> bool {
    match error.kind() {
        LmErrorKind::InvalidReply(_) => true,
        LmErrorKind::RateLimited { .. } => false,
        LmErrorKind::Status {
            status: 408 | 409, ..
        } => false,
        _ => error.is_transient(),
    }
}

#[async_trait]
impl<L: LanguageModel> LanguageModel for CircuitBreaker<L> {
    layer_over_inner!();

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        self.circuit.admit(self.inner.id())?;
        let result = self.inner.complete(request).await;
        self.circuit.record(&result);
        result
    }
}
