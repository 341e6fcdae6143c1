//! [`CallObserver`]: a callback after each call that a [`Ledger`](super::Ledger) counts.

use std::time::Duration;

use super::{LmError, LmReply, LmRequest};

/// Observes the calls of language models, see [`Ledger::observe`](super::Ledger::observe).
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use dsrs_metrics::lm::{
///     CallObserver, LanguageModel, Ledger, LmError, LmRequest, Metered, ObservedCall, ScriptedLm, Usage,
/// };
///
/// #[derive(Default)]
/// struct Tokens(Mutex<Vec<u64>>);
///
/// impl CallObserver for Tokens {
///     fn on_call(&self, call: &ObservedCall<'_>) {
///         let tokens = call.reply().map_or(0, |reply| reply.usage.total());
///         self.0.lock().unwrap().push(tokens);
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LmError> {
/// let (ledger, tokens) = (Ledger::new(), Arc::new(Tokens::default()));
/// ledger.observe(Arc::clone(&tokens) as _);
/// let scripted = ScriptedLm::new().otherwise("yes").usage(Usage::new(40, 2));
/// Metered::new(scripted, ledger).complete(&LmRequest::new("example").user("?")).await?;
/// assert_eq!(*tokens.0.lock().unwrap(), [42]);
/// # Ok(())
/// # }
/// ```
pub trait CallObserver: Send + Sync {
    /// Called after each call, also after one that failed, was cancelled, or was answered from the store. Calls are made
    /// concurrently, so it should return quickly. A panic is ignored.
    fn on_call(&self, call: &ObservedCall<'_>);
}

/// A call that has ended.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ObservedCall<'a> {
    /// The model, as `provider:model`.
    pub model: &'a str,
    /// The base URL of the API, unless it is the provider's default.
    pub endpoint: Option<&'a str>,
    /// The request, without the parameters that layers of the model add. `None` for a
    /// [probe](super::LanguageModel::probe).
    pub request: Option<&'a LmRequest>,
    /// The reply or the error; `None` if the call was cancelled.
    pub result: Option<&'a Result<LmReply, LmError>>,
    /// The time that the call took, with its retries and the time that it waited for rate limits.
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
