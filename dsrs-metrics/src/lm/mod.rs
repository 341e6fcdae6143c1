//! Language models: the one trait that judges call, what goes in, what comes out, what goes wrong.
//!
//! [`LanguageModel`], its request, reply and error, the [`ScriptedLm`] for tests and the [`Ledger`] are always there. With
//! feature `lm` there is `Lm`, a real model of any common provider, and the layers that it is made of, each a
//! `LanguageModel` around another one: `Retry`, `Breaker`, `Limited`, `Priced`, `Cached`.
//!
//! What a judge asks and how it reads the answer is not here.

#[cfg(feature = "lm")]
mod breaker;
#[cfg(feature = "lm")]
mod cache;
mod charges;
#[cfg(feature = "lm")]
mod client;
mod error;
mod ledger;
#[cfg(feature = "lm")]
mod limit;
#[cfg(feature = "lm")]
mod price;
#[cfg(feature = "lm")]
mod priced;
mod request;
#[cfg(feature = "lm")]
mod retry;
mod scripted;
#[cfg(feature = "lm")]
mod shared;
#[cfg(feature = "lm")]
mod stack;

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;

#[cfg(feature = "lm")]
pub use self::breaker::{Breaker, BreakerPolicy, Circuit};
#[cfg(feature = "lm")]
pub use self::cache::{CacheMode, Cached, ReplyCache};
pub use self::error::LmError;
pub use self::ledger::{Account, Ledger, Metered};
#[cfg(feature = "lm")]
pub use self::limit::{Limited, Limiter};
#[cfg(feature = "lm")]
pub use self::price::{MSATS_PER_USD, Price, Prices};
#[cfg(feature = "lm")]
pub use self::priced::{LmBudget, Priced};
pub use self::request::{
    LmReply, LmRequest, Message, ReplySchema, Role, Sampling, StopReason, Usage,
};
#[cfg(feature = "lm")]
pub use self::retry::{Retry, RetryPolicy};
pub use self::scripted::{ByClosure, ByValue, IntoReply, ScriptedLm, ScriptedReply};
#[cfg(feature = "lm")]
pub use self::stack::{Lm, LmBuilder};

/// A language model: takes a conversation, gives a reply.
///
/// Everything between a judge and the network is a `LanguageModel` around another one: retries,
/// limits, prices, the cache. So is [`ScriptedLm`], which serves tests. An implementation of your own
/// is as short as this:
///
/// ```
/// use dsrs_metrics::async_trait;
/// use dsrs_metrics::lm::{LanguageModel, LmError, LmReply, LmRequest};
///
/// struct Echo;
///
/// #[async_trait]
/// impl LanguageModel for Echo {
///     fn id(&self) -> &str {
///         "local:echo"
///     }
///
///     async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
///         let last = request.messages.last().map_or("", |message| &message.content);
///         Ok(LmReply::new(last))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LmError> {
/// let reply = Echo.complete(&LmRequest::new("example").user("hello")).await?;
/// assert_eq!(reply.text, "hello");
/// # Ok(())
/// # }
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a language model",
    label = "not a `LanguageModel`",
    note = "implement `LanguageModel` for it, or take `ScriptedLm`; with feature `lm`, `Lm::from_env()` gives a real one"
)]
pub trait LanguageModel: Send + Sync {
    /// `provider:model`. Part of every cache key, error and report.
    fn id(&self) -> &str;

    /// The address that answers, if it is not the provider's own. Part of every cache key, since two
    /// servers may mean different models by one name.
    fn endpoint(&self) -> Option<&str> {
        None
    }

    /// The request as it is sent, where that is not the one that is given: a layer that fills in what a request
    /// leaves open says so here, and layers around others pass it on. The key of a cached reply is made of it, so that it
    /// stands for what the model was asked.
    fn as_sent<'a>(&self, request: &'a LmRequest) -> Cow<'a, LmRequest> {
        Cow::Borrowed(request)
    }

    /// Asks once.
    ///
    /// # Errors
    /// [`LmError`], if there is no reply. A refusal or a reply cut short is a reply; its
    /// [`stop`](LmReply::stop) says so.
    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError>;

    /// Finds out, before any row is paid for, whether the model answers at all: whether there is a key, a
    /// host, a model of this name. The question is as small as can be; caches and retries are passed by, and what it
    /// costs is counted like any other call's, under the purpose `probe`. Gives the reply, if it took a call to find out.
    ///
    /// # Errors
    /// [`LmError`], which says what to set.
    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        self.complete(&probe_request()).await.map(Some)
    }
}

/// The purpose of probes.
pub(crate) const PROBE: &str = "probe";

/// Enough for the answer; the smallest limit that every provider takes is 16.
const PROBE_TOKENS: u32 = 32;

fn probe_request() -> LmRequest {
    let schema = json!({
        "type": "object",
        "properties": { "ok": { "type": "boolean" } },
        "required": ["ok"],
        "additionalProperties": false,
    });
    LmRequest::new(PROBE)
        .user("Reply with the JSON object {\"ok\": true}.")
        .with_schema(ReplySchema::new("probe", schema))
        .with_sampling(Sampling { max_tokens: Some(PROBE_TOKENS), ..Sampling::default() })
}

macro_rules! forward_language_model {
    ($($pointer:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        #[async_trait]
        impl<L: LanguageModel + ?Sized> LanguageModel for $pointer {
            fn id(&self) -> &str {
                (**self).id()
            }

            fn endpoint(&self) -> Option<&str> {
                (**self).endpoint()
            }

            fn as_sent<'a>(&self, request: &'a LmRequest) -> Cow<'a, LmRequest> {
                (**self).as_sent(request)
            }

            async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
                (**self).complete(request).await
            }

            async fn probe(&self) -> Result<Option<LmReply>, LmError> {
                (**self).probe().await
            }
        }
    )*};
}
forward_language_model!(&L, Box<L>, Arc<L>);
