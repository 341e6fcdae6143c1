//! The trait that all language models implement, the model that you set on a judge, and the request that probes a
//! model.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;

use super::{LmError, LmReply, LmRequest, Logprobs, ReplySchema, Sampling};

/// A language model that replies to a conversation.
///
/// Provider clients implement this trait, and so does [`ScriptedLm`](super::ScriptedLm), the model for tests. The
/// layers around a client also implement it: retries, rate limits, prices and the store.
///
/// Your own implementation needs two methods:
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
    note = "implement `LanguageModel` for it, or use a `ScriptedLm`; with the `lm` feature, `Lm::from_env()` returns a provider's model"
)]
pub trait LanguageModel: Send + Sync {
    /// Returns the model's name, as `provider:model`.
    ///
    /// The name is part of the key of every stored reply, and appears in errors and reports.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LanguageModel, ScriptedLm};
    ///
    /// assert_eq!(ScriptedLm::new().named("openai:gpt-6-luna").id(), "openai:gpt-6-luna");
    /// ```
    fn id(&self) -> &str;

    /// Returns the model that this layer wraps, if any.
    ///
    /// Methods that a layer does not override are forwarded to the inner model.
    #[doc(hidden)]
    fn inner(&self) -> Option<&dyn LanguageModel> {
        None
    }

    /// Returns the base URL of the API, or `None` for the provider's default.
    ///
    /// The URL is part of the key of every stored reply, because two servers may use the same name for different
    /// models.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LanguageModel, ScriptedLm};
    ///
    /// assert_eq!(ScriptedLm::new().endpoint(), None);
    /// ```
    fn endpoint(&self) -> Option<&str> {
        self.inner()?.endpoint()
    }

    /// Returns `true` if calls go to a provider's server.
    ///
    /// A test must declare the calls it makes to a server.
    #[doc(hidden)]
    fn is_remote(&self) -> bool {
        self.inner().is_some_and(LanguageModel::is_remote)
    }

    /// Returns `true` if a run must not store this model's replies.
    ///
    /// This is the case if the model stores its replies itself, or if you disabled the store.
    #[doc(hidden)]
    fn keeps_replies(&self) -> bool {
        self.inner().is_some_and(LanguageModel::keeps_replies)
    }

    /// Returns the request with the parameters that the model's layers add.
    ///
    /// Override this method in a layer that adds parameters to the request, such as a temperature.
    ///
    /// The key of a stored reply is computed from the returned request.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LanguageModel, LmRequest, ScriptedLm};
    ///
    /// let request = LmRequest::new("example").user("?");
    /// assert_eq!(*ScriptedLm::new().effective_request(&request), request, "the default");
    /// ```
    fn effective_request<'a>(&self, request: &'a LmRequest) -> Cow<'a, LmRequest> {
        match self.inner() {
            Some(inner) => inner.effective_request(request),
            None => Cow::Borrowed(request),
        }
    }

    /// Sends one request and returns the reply.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LanguageModel, LmError, LmReply, LmRequest, ScriptedLm, StopReason};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), LmError> {
    /// let refusal = StopReason::Refusal("I cannot judge this.".into());
    /// let lm = ScriptedLm::new().otherwise(LmReply::new("").with_stop_reason(refusal.clone()));
    /// let reply = lm.complete(&LmRequest::new("example").user("?")).await?;
    /// assert_eq!(reply.stop_reason, refusal, "a refusal is not an error");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns [`LmError`] if there is no reply. A refusal or a truncated reply is not an error; see
    /// [`stop_reason`](LmReply::stop_reason).
    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError>;

    /// Returns the amount to reserve from the budget before a call.
    ///
    /// Returns `None` if there is no budget, or if a stored reply answers the request.
    #[cfg(feature = "lm")]
    #[doc(hidden)]
    fn quote(&self, request: &LmRequest) -> Option<super::Quote> {
        self.inner()?.quote(request)
    }

    /// Checks that the model answers.
    ///
    /// A run calls this method before its first row, to detect a wrong API key, host or model name.
    ///
    /// The default implementation sends a minimal request, without using the store or retrying. The request has the
    /// [purpose](LmRequest::purpose) `probe`, and its cost counts like that of any other call.
    ///
    /// Returns the reply, or `None` if no call was needed.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LanguageModel, LmError, ScriptedLm};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), LmError> {
    /// assert_eq!(ScriptedLm::new().probe().await?, None, "a scripted model needs no call");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an [`LmError`] whose message names the setting to change.
    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        match self.inner() {
            Some(inner) => inner.probe().await,
            None => self.complete(&probe_request()).await.map(Some),
        }
    }
}

/// The [purpose](LmRequest::purpose) of probe requests.
#[doc(hidden)]
pub const PROBE_PURPOSE: &str = "probe";

/// Enough tokens for the reply to a probe. The lowest limit that every provider accepts is 16.
const PROBE_MAX_TOKENS: u32 = 32;

pub(super) fn probe_request() -> LmRequest {
    let schema = json!({
        "type": "object",
        "properties": { "ok": { "type": "boolean" } },
        "required": ["ok"],
        "additionalProperties": false,
    });
    LmRequest::new(PROBE_PURPOSE)
        .user("Reply with the JSON object {\"ok\": true}.")
        .with_schema(ReplySchema::new("probe", schema))
        .with_sampling(Sampling {
            max_tokens: Some(PROBE_MAX_TOKENS),
            ..Sampling::default()
        })
}

/// Returns a request that checks whether a model returns log probabilities.
#[doc(hidden)]
pub fn logprobs_probe() -> LmRequest {
    probe_request().with_logprobs(Logprobs::of("ok"))
}

/// Generates the methods of a layer that wraps the model in its field `inner`.
macro_rules! layer_over_inner {
    () => {
        fn id(&self) -> &str {
            self.inner.id()
        }

        fn inner(&self) -> Option<&dyn LanguageModel> {
            Some(&self.inner)
        }
    };
}
pub(super) use layer_over_inner;

impl fmt::Debug for dyn LanguageModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// Implements [`LanguageModel`] for pointers.
macro_rules! forward_language_model {
    ($($type:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        #[async_trait]
        impl<L: LanguageModel + ?Sized> LanguageModel for $type {
            forward_methods! {
                |this| (**this);
                fn id(&self) -> &str;
                fn endpoint(&self) -> Option<&str>;
                fn is_remote(&self) -> bool;
                fn keeps_replies(&self) -> bool;
                #[cfg(feature = "lm")]
                fn quote(&self, request: &LmRequest) -> Option<super::Quote>;
            }

            fn effective_request<'a>(&self, request: &'a LmRequest) -> Cow<'a, LmRequest> {
                (**self).effective_request(request)
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

/// The model that a judge calls.
///
/// ```
/// use dsrs_metrics::lm::{IntoModel, JudgeModel, ScriptedLm};
///
/// assert_eq!("openai:gpt-6-luna".into_model(), JudgeModel::Named("openai:gpt-6-luna".into()));
/// // Models passed as values are equal if they are the same value.
/// let (one, other) = (ScriptedLm::new().into_model(), ScriptedLm::new().into_model());
/// assert_eq!((one == one.clone(), one == other), (true, false));
/// ```
#[derive(Debug, Clone)]
pub enum JudgeModel {
    /// The model configured in the scope or the environment.
    Configured,
    /// The model with this name, as `provider:model`.
    Named(String),
    /// A model passed as a value.
    Value(Arc<dyn LanguageModel>),
    /// No model is called, and the judge uses its offline stand-in.
    Offline,
}

impl PartialEq for JudgeModel {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Configured, Self::Configured) | (Self::Offline, Self::Offline) => true,
            (Self::Named(one), Self::Named(other)) => one == other,
            (Self::Value(one), Self::Value(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

/// A type that can be converted into a judge's model.
///
/// ```
/// use dsrs_metrics::lm::{IntoModel, JudgeModel};
///
/// assert_eq!("default".into_model(), JudgeModel::Configured);
/// assert_eq!(
///     String::from("openai:gpt-6-luna").into_model(),
///     JudgeModel::Named("openai:gpt-6-luna".into())
/// );
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a language model",
    label = "expected a language model",
    note = "pass a name such as `\"openai:gpt-6-luna\"`, or a value that implements `LanguageModel`, optionally in an `Arc`"
)]
pub trait IntoModel {
    /// Converts the value into a model.
    fn into_model(self) -> JudgeModel;
}

impl IntoModel for JudgeModel {
    fn into_model(self) -> JudgeModel {
        self
    }
}

impl IntoModel for &str {
    fn into_model(self) -> JudgeModel {
        if self == "default" {
            JudgeModel::Configured
        } else {
            JudgeModel::Named(self.to_owned())
        }
    }
}

impl IntoModel for String {
    fn into_model(self) -> JudgeModel {
        self.as_str().into_model()
    }
}

#[diagnostic::do_not_recommend]
impl<L: LanguageModel + 'static> IntoModel for L {
    fn into_model(self) -> JudgeModel {
        JudgeModel::Value(Arc::new(self))
    }
}
