//! Layers: language models around another one. Each file has the logic of one layer, and the state
//! that its clones share.

#[cfg(feature = "lm")]
mod budget;
#[cfg(feature = "lm")]
mod circuit_breaker;
#[cfg(feature = "lm")]
mod estimated;
mod metered;
#[cfg(feature = "lm")]
#[doc(hidden)]
pub mod panel_reservation;
#[cfg(feature = "lm")]
mod priced;
#[cfg(feature = "lm")]
mod rate_limit;
#[cfg(feature = "lm")]
mod retry;
#[cfg(feature = "store")]
mod single_flight;
#[cfg(feature = "store")]
mod stored;

use std::borrow::Cow;

use async_trait::async_trait;

#[cfg(feature = "lm")]
pub(crate) use self::estimated::Estimated;
pub use self::metered::Metered;
#[cfg(feature = "lm")]
pub(super) use self::priced::DEFAULT_MAX_TOKENS;
#[cfg(feature = "lm")]
pub(crate) use self::single_flight::Flight;
#[cfg(feature = "store")]
pub(crate) use self::single_flight::SingleFlight;
#[cfg(feature = "store")]
pub use self::stored::Stored;
#[cfg(feature = "lm")]
pub(crate) use self::stored::find;
#[cfg(feature = "lm")]
pub use self::{
    budget::{BudgetOverrun, LmBudget},
    circuit_breaker::{Circuit, CircuitBreaker, CircuitPolicy},
    priced::Priced,
    rate_limit::{RateLimit, RateLimiter},
    retry::{Retry, RetryPolicy},
};
use super::{LanguageModel, LmError, LmReply, LmRequest};

/// A language model around another one. It has the id and the endpoint of the inner model, and
/// passes on requests and probes, except for what a layer overrides.
trait Layer: Send + Sync {
    /// The inner model.
    fn inner(&self) -> &dyn LanguageModel;

    /// See [`LanguageModel::keeps_replies`].
    fn keeps_replies(&self) -> bool {
        self.inner().keeps_replies()
    }

    /// See [`LanguageModel::effective_request`].
    fn effective_request<'a>(&self, request: &'a LmRequest) -> Cow<'a, LmRequest> {
        self.inner().effective_request(request)
    }

    /// See [`LanguageModel::complete`].
    fn complete(
        &self,
        request: &LmRequest,
    ) -> impl Future<Output = Result<LmReply, LmError>> + Send;

    /// See [`LanguageModel::quote`].
    #[cfg(feature = "lm")]
    fn quote(&self, request: &LmRequest) -> Option<panel_reservation::Quote> {
        self.inner().quote(request)
    }

    /// See [`LanguageModel::probe`].
    fn probe(&self) -> impl Future<Output = Result<Option<LmReply>, LmError>> + Send {
        self.inner().probe()
    }
}

/// Implements [`LanguageModel`] for layers. A blanket implementation would overlap with the ones for
/// references and boxes.
macro_rules! impl_language_model {
    ($($layer:ident),*) => {$(
        #[async_trait]
        impl<L: LanguageModel> LanguageModel for $layer<L> {
            fn id(&self) -> &str {
                self.inner().id()
            }

            fn endpoint(&self) -> Option<&str> {
                self.inner().endpoint()
            }

            fn is_remote(&self) -> bool {
                self.inner().is_remote()
            }

            fn keeps_replies(&self) -> bool {
                Layer::keeps_replies(self)
            }

            fn effective_request<'a>(&self, request: &'a LmRequest) -> Cow<'a, LmRequest> {
                Layer::effective_request(self, request)
            }

            async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
                Layer::complete(self, request).await
            }

            #[cfg(feature = "lm")]
            fn quote(&self, request: &LmRequest) -> Option<panel_reservation::Quote> {
                Layer::quote(self, request)
            }

            async fn probe(&self) -> Result<Option<LmReply>, LmError> {
                Layer::probe(self).await
            }
        }
    )*};
}
impl_language_model!(Metered);
#[cfg(feature = "lm")]
impl_language_model!(CircuitBreaker, Estimated, Priced, RateLimit, Retry);
#[cfg(feature = "store")]
impl_language_model!(Stored);
