//! The offline stand-in of a judge: a function of the judge's inputs, which answers in place of a model only on
//! request. It is called in `row.rs`; the functions of the shipped judges are in `shipped/lexical.rs`.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

/// The offline stand-in of a judge, set by `#[judge(offline = path)]`.
#[derive(Clone)]
#[doc(hidden)]
pub struct Offline(Arc<OfflineFn>);

type OfflineFn = dyn Fn(&[Option<&str>]) -> Map<String, Value> + Send + Sync;

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

/// Functions that can replace a judge's model with `.offline()` or `--offline`: from the inputs as strings, in the order of
/// the signature, to the outputs by name. `None` is an input that the row does not have; `reasoning` may be omitted.
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
/// let judge = BriefJudge::builder().offline().build();
/// let score = judge.evaluate(&example! {}, &prediction! { "answer" => "Paris" }).await?;
/// assert_eq!(score.details.as_deref(), Some("judge: offline-lexical."));
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`offline` must name a function from the inputs to the outputs of the judge",
    label = "not a function from the inputs to the outputs",
    note = "write `fn name(inputs: &[Option<&str>]) -> serde_json::Map<String, serde_json::Value>`: the inputs as strings, in\nthe order of the struct, and the outputs by name"
)]
pub trait AnswersOffline {
    /// Converts the function.
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
