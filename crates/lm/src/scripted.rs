//! A language model for tests that replies from a script.
//!
//! The file is long because each way to script a reply is documented with an example.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use super::{LanguageModel, LmError, LmReply, LmRequest, Usage, lock};

/// A language model for tests that returns scripted replies.
///
/// The replies come from a list, a substring match on the prompt, or a closure. The model can wait before each reply,
/// and it records its requests.
///
/// A reply can be an error. The model first tries the patterns from [`when`], in the order they were added. It then
/// returns the next reply from [`replies`], and finally calls [`otherwise`]. If none of these applies, the call fails.
///
/// Clones share the list of replies, the number of calls and the recorded requests.
///
/// ```
/// use std::time::Duration;
/// use dsrs_metrics::lm::{LanguageModel, LmError, LmErrorKind, LmRequest, ScriptedLm};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LmError> {
/// let timeout = LmErrorKind::Timeout { limit: Duration::from_secs(1) };
/// let lm = ScriptedLm::new()
///     .when("capital of France", json!({ "score": 1.0 }))
///     .when("slow", LmError::new("scripted:lm", timeout))
///     .replies(["first", "second"])
///     .otherwise(|request: &LmRequest| format!("{} messages", request.messages.len()))
///     .latency(Duration::from_millis(1));
///
/// let ask = |text: &str| LmRequest::new("example").user(text);
/// assert_eq!(lm.complete(&ask("The capital of France?")).await?.text, r#"{"score":1.0}"#);
/// assert!(lm.complete(&ask("Are you slow?")).await.unwrap_err().is_transient());
/// assert_eq!(lm.complete(&ask("a")).await?.text, "first");
/// assert_eq!(lm.complete(&ask("b")).await?.text, "second");
/// assert_eq!(lm.complete(&ask("c")).await?.text, "1 messages");
///
/// let clone = lm.clone();
/// assert_eq!(clone.calls(), 5);
/// assert_eq!(&*clone.requests()[2].messages[0].content, "a");
/// # Ok(())
/// # }
/// ```
///
/// [`when`]: Self::when
/// [`replies`]: Self::replies
/// [`otherwise`]: Self::otherwise
#[derive(Clone)]
pub struct ScriptedLm {
    id: String,
    rules: Vec<(String, Arc<ScriptedReply>)>,
    queue: Arc<Mutex<VecDeque<ScriptedReply>>>,
    otherwise: Option<Arc<ScriptedReply>>,
    latency: Duration,
    usage: Usage,
    cost_msats: Option<u64>,
    remember: usize,
    calls: Arc<AtomicU64>,
    requests: Arc<Mutex<VecDeque<LmRequest>>>,
}

impl ScriptedLm {
    /// Creates a model named `scripted:lm` without replies.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LanguageModel, LmRequest, ScriptedLm};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let request = LmRequest::new("example").user("The capital of France?");
    /// let error = ScriptedLm::new().complete(&request).await.unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "scripted:lm: no scripted reply for the prompt `The capital of France?`; \
    ///      add one with `when` or `otherwise`"
    /// );
    /// # }
    /// ```
    pub fn new() -> Self {
        Self {
            id: "scripted:lm".to_owned(),
            rules: Vec::new(),
            queue: Arc::default(),
            otherwise: None,
            latency: Duration::ZERO,
            usage: Usage::default(),
            cost_msats: None,
            remember: usize::MAX,
            calls: Arc::default(),
            requests: Arc::default(),
        }
    }

    /// Sets the reply to any request that has a message containing `pattern`.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LanguageModel, LmError, LmRequest, ScriptedLm};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), LmError> {
    /// let lm = ScriptedLm::new().when("France", "Paris").when("capital", "unknown");
    /// let ask = |text: &str| LmRequest::new("example").user(text);
    /// assert_eq!(lm.complete(&ask("The capital of France?")).await?.text, "Paris", "the first match");
    /// assert_eq!(lm.complete(&ask("The capital of Peru?")).await?.text, "unknown");
    /// # Ok(())
    /// # }
    /// ```
    pub fn when<Kind>(mut self, pattern: impl Into<String>, reply: impl IntoReply<Kind>) -> Self {
        let reply = Arc::new(reply.into_reply());
        self.rules.push((pattern.into(), reply));
        self
    }

    /// Adds replies that are returned once each, in the given order.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LanguageModel, LmRequest, ScriptedLm};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let lm = ScriptedLm::new().replies(["yes", "no"]);
    /// let request = LmRequest::new("example").user("?");
    /// assert_eq!(lm.complete(&request).await.map(|reply| reply.text), Ok("yes".to_owned()));
    /// assert_eq!(lm.complete(&request).await.map(|reply| reply.text), Ok("no".to_owned()));
    /// assert!(lm.complete(&request).await.is_err(), "each reply is returned once");
    /// # }
    /// ```
    pub fn replies<Kind, R: IntoReply<Kind>>(self, replies: impl IntoIterator<Item = R>) -> Self {
        lock(&self.queue).extend(replies.into_iter().map(IntoReply::into_reply));
        self
    }

    /// Sets the reply to requests that no other rule matches.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LanguageModel, LmError, LmRequest, ScriptedLm};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), LmError> {
    /// let lm = ScriptedLm::new().otherwise(|request: &LmRequest| request.purpose.to_uppercase());
    /// assert_eq!(lm.complete(&LmRequest::new("example").user("?")).await?.text, "EXAMPLE");
    /// # Ok(())
    /// # }
    /// ```
    pub fn otherwise<Kind>(mut self, reply: impl IntoReply<Kind>) -> Self {
        self.otherwise = Some(Arc::new(reply.into_reply()));
        self
    }

    setters! {
        /// Sets the model's name, written as `provider:model`.
        ///
        /// ```
        /// use dsrs_metrics::lm::{LanguageModel, LmError, LmRequest, ScriptedLm};
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), LmError> {
        /// let lm = ScriptedLm::new().named("openai:gpt-6-luna").otherwise("yes");
        /// let reply = lm.complete(&LmRequest::new("example").user("?")).await?;
        /// assert_eq!((lm.id(), reply.model.as_str()), ("openai:gpt-6-luna", "gpt-6-luna"));
        /// # Ok(())
        /// # }
        /// ```
        pub fn named(id: impl Into<String>) => id = id.into();

        /// Sets the delay before each reply.
        ///
        /// ```
        /// use std::time::{Duration, Instant};
        /// use dsrs_metrics::lm::{LanguageModel, LmError, LmRequest, ScriptedLm};
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), LmError> {
        /// let lm = ScriptedLm::new().otherwise("late").latency(Duration::from_millis(5));
        /// let start = Instant::now();
        /// lm.complete(&LmRequest::new("example").user("?")).await?;
        /// assert!(start.elapsed() >= Duration::from_millis(5));
        /// # Ok(())
        /// # }
        /// ```
        pub fn latency(latency: Duration) => latency = latency;

        /// Sets the default token usage of a reply.
        ///
        /// ```
        /// use dsrs_metrics::lm::{LanguageModel, LmError, LmReply, LmRequest, ScriptedLm, Usage};
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), LmError> {
        /// let own = LmReply::new("Paris").with_usage(Usage::new(7, 1));
        /// let lm = ScriptedLm::new().when("France", own).otherwise("unknown").usage(Usage::new(40, 2));
        /// let ask = |text: &str| LmRequest::new("example").user(text);
        /// assert_eq!(lm.complete(&ask("Peru?")).await?.usage.total(), 42);
        /// assert_eq!(lm.complete(&ask("France?")).await?.usage.total(), 8);
        /// # Ok(())
        /// # }
        /// ```
        pub fn usage(usage: Usage) => usage = usage;

        /// Sets the default cost of a reply, in msat.
        ///
        /// ```
        /// use dsrs_metrics::lm::{LanguageModel, LmError, LmRequest, ScriptedLm};
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), LmError> {
        /// let lm = ScriptedLm::new().otherwise("yes").cost(12);
        /// assert_eq!(lm.complete(&LmRequest::new("example").user("?")).await?.cost_msats, Some(12));
        /// # Ok(())
        /// # }
        /// ```
        pub fn cost(msats: u64) => cost_msats = Some(msats);

        /// Sets how many of the latest requests to keep.
        ///
        /// By default, all requests are kept.
        ///
        /// ```
        /// use dsrs_metrics::lm::{LanguageModel, LmError, LmRequest, ScriptedLm};
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), LmError> {
        /// let lm = ScriptedLm::new().otherwise("yes").remember(1);
        /// for row in ["first", "second"] {
        ///     lm.complete(&LmRequest::new("example").user(row)).await?;
        /// }
        /// assert_eq!((lm.calls(), lm.requests().len()), (2, 1));
        /// assert_eq!(&*lm.requests()[0].messages[0].content, "second");
        /// # Ok(())
        /// # }
        /// ```
        pub fn remember(last: usize) => remember = last;
    }

    /// Returns the number of calls.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LanguageModel, LmRequest, ScriptedLm};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let lm = ScriptedLm::new();
    /// lm.complete(&LmRequest::new("example").user("?")).await.unwrap_err();
    /// assert_eq!(lm.calls(), 1, "a call without a reply is counted as well");
    /// # }
    /// ```
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    /// Returns the recorded requests, in the order the calls began.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LanguageModel, LmError, LmRequest, ScriptedLm};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), LmError> {
    /// let lm = ScriptedLm::new().otherwise("yes");
    /// let request = LmRequest::new("example").user("Is it polite?");
    /// lm.complete(&request).await?;
    /// assert_eq!(lm.requests(), [request]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn requests(&self) -> Vec<LmRequest> {
        lock(&self.requests).iter().cloned().collect()
    }

    fn record(&self, request: &LmRequest) {
        self.calls.fetch_add(1, Ordering::SeqCst);
        if self.remember == 0 {
            return;
        }
        let mut requests = lock(&self.requests);
        if requests.len() >= self.remember {
            requests.pop_front();
        }
        requests.push_back(request.clone());
    }

    fn answer(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        let contains = |pattern: &str| request.messages.iter().any(|m| m.content.contains(pattern));
        if let Some((_, reply)) = self.rules.iter().find(|(pattern, _)| contains(pattern)) {
            return reply(request);
        }
        let next = lock(&self.queue).pop_front();
        match next.as_ref().or(self.otherwise.as_deref()) {
            Some(reply) => reply(request),
            None => Err(LmError::unscripted(&self.id, &end_of(request))),
        }
    }
}

impl Default for ScriptedLm {
    fn default() -> Self {
        Self::new()
    }
}

debug_fields!(ScriptedLm: |lm| "id" => lm.id, "calls" => lm.calls());

#[async_trait]
impl LanguageModel for ScriptedLm {
    fn id(&self) -> &str {
        &self.id
    }

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        self.record(request);
        // Chosen before the delay, so a list is used in the order the calls begin.
        let answer = self.answer(request);
        if !self.latency.is_zero() {
            tokio::time::sleep(self.latency).await;
        }
        let mut reply = answer?;
        if reply.usage == Usage::default() {
            reply.usage = self.usage;
        }
        if reply.model.is_empty() {
            let (_, model) = self.id.split_once(':').unwrap_or(("", &self.id));
            model.clone_into(&mut reply.model);
        }
        reply.cost_msats = reply.cost_msats.or(self.cost_msats);
        Ok(reply)
    }

    /// Succeeds without using the script.
    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        Ok(None)
    }
}

/// Returns the last 80 characters of the last message.
fn end_of(request: &LmRequest) -> String {
    let last = request.messages.last();
    let text = last.map_or("", |message| &*message.content);
    match text.char_indices().rev().nth(79) {
        Some((at, _)) if at > 0 => format!("...{}", &text[at..]),
        _ => text.to_owned(),
    }
}

/// A function that returns a scripted reply to a request.
///
/// ```
/// use dsrs_metrics::lm::{IntoReply, LmRequest, ScriptedReply};
///
/// let reply: ScriptedReply = "yes".into_reply();
/// assert_eq!(reply(&LmRequest::new("example").user("?"))?.text, "yes");
/// # Ok::<(), dsrs_metrics::lm::LmError>(())
/// ```
pub type ScriptedReply = Box<dyn Fn(&LmRequest) -> Result<LmReply, LmError> + Send + Sync>;

/// A type that can be converted into a reply from [`ScriptedLm`](super::ScriptedLm).
///
/// A reply can be a string, a JSON value (as text), an [`LmReply`], an [`LmError`], or a `Result` of these. It can also
/// be a closure that takes the request and returns one of these types.
///
/// `Kind` distinguishes closures from values. The compiler infers it.
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
    /// Converts the value into a function that returns a reply.
    fn into_reply(self) -> ScriptedReply;
}

/// Marks a type that is itself a reply.
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

/// Marks a closure that returns a reply.
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
