//! What a reply of a [`ScriptedLm`](super::ScriptedLm) can be.

use serde_json::Value;

use super::{LmError, LmReply, LmRequest};

/// A scripted reply as a function of the request.
///
/// ```
/// use dsrs_metrics::lm::{IntoReply, LmRequest, ScriptedReply};
///
/// let reply: ScriptedReply = "yes".into_reply();
/// assert_eq!(reply(&LmRequest::new("example").user("?"))?.text, "yes");
/// # Ok::<(), dsrs_metrics::lm::LmError>(())
/// ```
pub type ScriptedReply = Box<dyn Fn(&LmRequest) -> Result<LmReply, LmError> + Send + Sync>;

/// A reply of a [`ScriptedLm`](super::ScriptedLm): a string, a JSON value (its text), an [`LmReply`], an [`LmError`],
/// a `Result` of these, or a closure from the request to one of these.
///
/// `Kind` separates closures from values; the compiler infers it.
///
/// ```
/// use dsrs_metrics::lm::{IntoReply, LmError, LmReply, LmRequest};
/// use serde_json::json;
///
/// let request = LmRequest::new("example").user("?");
/// assert_eq!(json!({ "polite": true }).into_reply()(&request)?.text, r#"{"polite":true}"#);
/// let reply: Result<LmReply, LmError> = Ok(LmReply::new("yes"));
/// assert_eq!(reply.into_reply()(&request)?.text, "yes");
/// # Ok::<(), LmError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a reply of a `ScriptedLm`",
    label = "not a scripted reply",
    note = "pass a `&str`, `String`, `serde_json::Value`, `LmReply`, `LmError`, a `Result` of these, or a closure `|request: &LmRequest| ..` that returns one"
)]
pub trait IntoReply<Kind = ByValue> {
    /// Returns the reply as a function of the request.
    fn into_reply(self) -> ScriptedReply;
}

/// The `Kind` of an [`IntoReply`] that is a value.
///
/// ```
/// use dsrs_metrics::lm::{ByValue, IntoReply, LmError, LmRequest};
///
/// fn text_of(reply: impl IntoReply<ByValue>) -> Result<String, LmError> {
///     reply.into_reply()(&LmRequest::new("example")).map(|reply| reply.text)
/// }
/// assert_eq!(text_of("yes")?, "yes");
/// # Ok::<(), LmError>(())
/// ```
#[derive(Debug)]
pub enum ByValue {}

/// The `Kind` of an [`IntoReply`] that is a closure.
///
/// ```
/// use dsrs_metrics::lm::{ByClosure, IntoReply, LmError, LmRequest};
///
/// fn text_of(reply: impl IntoReply<ByClosure>) -> Result<String, LmError> {
///     reply.into_reply()(&LmRequest::new("example")).map(|reply| reply.text)
/// }
/// assert_eq!(text_of(|request: &LmRequest| request.purpose.clone())?, "example");
/// # Ok::<(), LmError>(())
/// ```
#[derive(Debug)]
pub enum ByClosure {}

macro_rules! reply_by_value {
    ($($type:ty: |$reply:ident| $result:expr;)*) => {$(
        impl IntoReply for $type {
            fn into_reply(self) -> ScriptedReply {
                let $reply = self;
                let result: Result<LmReply, LmError> = $result;
                Box::new(move |_| result.clone())
            }
        }
    )*};
}
reply_by_value! {
    &str: |text| Ok(LmReply::new(text));
    String: |text| Ok(LmReply::new(text));
    Value: |value| Ok(LmReply::new(value.to_string()));
    LmReply: |reply| Ok(reply);
    LmError: |error| Err(error);
}

impl<R: IntoReply> IntoReply for Result<R, LmError> {
    fn into_reply(self) -> ScriptedReply {
        match self {
            Ok(reply) => reply.into_reply(),
            Err(error) => error.into_reply(),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<F, R> IntoReply<ByClosure> for F
where
    F: Fn(&LmRequest) -> R + Send + Sync + 'static,
    R: IntoReply,
{
    fn into_reply(self) -> ScriptedReply {
        Box::new(move |request| self(request).into_reply()(request))
    }
}
