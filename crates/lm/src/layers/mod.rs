//! Layers: language models around another one. Each file holds the logic of one layer, and what its
//! clones share.

#[cfg(feature = "client")]
mod budget;
#[cfg(feature = "client")]
mod cached;
#[cfg(feature = "client")]
mod circuit_breaker;
mod cost_scope;
mod metered;
#[cfg(feature = "client")]
pub mod panel_reservation;
#[cfg(feature = "client")]
mod priced;
#[cfg(feature = "client")]
mod rate_limit;
#[cfg(feature = "client")]
mod retry;
#[cfg(feature = "client")]
mod single_flight;

use std::borrow::Cow;

use async_trait::async_trait;

pub use self::metered::Metered;
#[cfg(feature = "client")]
pub use self::{
    budget::{Excess, LmBudget},
    cached::Cached,
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
    #[cfg(feature = "client")]
    fn quote(&self, request: &LmRequest) -> Option<panel_reservation::Quote> {
        self.inner().quote(request)
    }

    /// See [`LanguageModel::probe`].
    fn probe(&self) -> impl Future<Output = Result<Option<LmReply>, LmError>> + Send {
        self.inner().probe()
    }
}

/// Implements [`LanguageModel`] for layers. A blanket implementation would overlap with those for
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

            fn effective_request<'a>(&self, request: &'a LmRequest) -> Cow<'a, LmRequest> {
                Layer::effective_request(self, request)
            }

            async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
                Layer::complete(self, request).await
            }

            #[cfg(feature = "client")]
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
#[cfg(feature = "client")]
impl_language_model!(Cached, CircuitBreaker, Priced, RateLimit, Retry);
