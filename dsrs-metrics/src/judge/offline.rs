//! What answers for a judge where no model is configured: a function from what the judge is shown. When it is
//! asked is decided in `row.rs`; those of the shipped judges are in `shipped/lexical.rs`.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

/// What answers for a judge, named by `#[judge(offline = path)]`.
#[derive(Clone)]
pub struct Offline(Arc<Answering>);

type Answering = dyn Fn(&[Option<&str>]) -> Map<String, Value> + Send + Sync;

impl Offline {
    pub(super) fn answer(&self, inputs: &[Option<&str>]) -> Map<String, Value> {
        (self.0)(inputs)
    }
}

impl fmt::Debug for Offline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Offline(..)")
    }
}

/// Functions that can answer for a judge: from the inputs as text, in the order of the signature, to the outputs by
/// name. `None` is an input that the row does not have; `reasoning` may be left out.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use serde_json::{Map, Value, json};
///
/// fn by_length(inputs: &[Option<&str>]) -> Map<String, Value> {
///     let words = inputs[0].unwrap_or_default().split_whitespace().count();
///     Map::from_iter([("brief".to_owned(), json!(words < 20))])
/// }
///
/// /// Say whether the answer is brief.
/// #[judge(offline = by_length)]
/// struct Brief {
///     #[input(pred)]
///     answer: String,
///     #[output]
///     brief: bool,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> dsrs_metrics::Result<()> {
/// # use dsrs_metrics::{Settings, judge::Models};
/// # Settings::new().with(Models::default()).scope(async {
/// let score = BriefJudge::default().evaluate(&example! {}, &prediction! { "answer" => "Paris" }).await?;
/// assert_eq!(score.details.as_deref(), Some("judge: offline-lexical."));
/// # Ok(()) }).await
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`offline` names something that cannot answer for a judge",
    label = "not a function from the inputs to the outputs",
    note = "write `fn name(inputs: &[Option<&str>]) -> serde_json::Map<String, serde_json::Value>`: the inputs as text, in\nthe order of the struct, and the outputs by name"
)]
pub trait AnswersOffline {
    /// The function.
    #[doc(hidden)]
    fn offline(self) -> Offline;
}

#[diagnostic::do_not_recommend]
impl<F> AnswersOffline for F
where
    F: Fn(&[Option<&str>]) -> Map<String, Value> + Send + Sync + 'static,
{
    fn offline(self) -> Offline {
        Offline(Arc::new(self))
    }
}
