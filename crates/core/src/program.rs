//! Programs: [`Module`], closures, their outputs and their errors.
//!
//! The file is long because the traits, including `Module`, are documented with runnable programs.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt;

use crate::lm::LmError;
use crate::messages::with_sources;
use crate::panic;
use crate::program_run::ProgramOutput;
use crate::rows::dynamic::inputs_of_row;
use crate::rows::{Example, Prediction};

/// A value of type `T`, or a `Result` that contains a `T`.
///
/// Programs can return these values, and row sources can yield them.
///
/// ```
/// use dsrs_metrics::runs::Fallible;
///
/// assert_eq!(Fallible::<u8>::into_result(7), Ok(7));
/// assert_eq!(Fallible::<u8>::into_result("x".parse::<u8>()), Err("invalid digit found in string".to_owned()));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither `{T}` nor a `Result` of it",
    label = "neither `{T}` nor `Result<{T}, E>`",
    note = "give a `{T}`, or a `Result<{T}, E>` whose error `E` implements `Display` and borrows nothing"
)]
pub trait Fallible<T> {
    /// Returns the value, or the error's message.
    ///
    /// The message includes all causes if the error is a [`ProgramError`](crate::ProgramError) or another `Box<dyn
    /// Error>`. It also includes them if the error's `{:#}` format shows them.
    ///
    /// For all other error types, the message contains only the `Display` output. To include the causes, return a
    /// [`ProgramError`](crate::ProgramError).
    ///
    /// ```
    /// # use dsrs_metrics::runs::{Fallible, ProgramError};
    /// let failed: Result<u8, ProgramError> = Err("no connection".into());
    /// assert_eq!(Fallible::<u8>::into_result(failed), Err("no connection".to_owned()));
    /// ```
    ///
    /// # Errors
    /// Returns the error's message.
    fn into_result(self) -> Result<T, String>;
}

impl<T> Fallible<T> for T {
    fn into_result(self) -> Result<T, String> {
        Ok(self)
    }
}

impl<T, E: fmt::Display + 'static> Fallible<T> for Result<T, E> {
    fn into_result(self) -> Result<T, String> {
        self.map_err(|error| ProgramRunError::of_any(&error).message)
    }
}

/// A type that a program can return.
///
/// The type is the prediction, a [`ProgramOutput`] with a trace, usage and latency, or a `Result` of either.
///
/// ```
/// use dsrs_metrics::runs::{ProgramOutput, ProgramReturn, ProgramRunError};
///
/// let output: ProgramOutput<i64> = Ok::<_, String>(42).into_output()?;
/// assert_eq!(output, ProgramOutput::new(42));
/// # Ok::<(), ProgramRunError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "expected a program that returns `{P}`, found one that returns `{Self}`",
    label = "neither `{P}`, `ProgramOutput<{P}>`, nor a `Result` of these",
    note = "return a `{P}`, a `ProgramOutput<{P}>`, or a `Result` of one whose error implements `Display` and borrows nothing;\nfor dynamic rows, write `prediction! {{ \"answer\" => answer }}`"
)]
pub trait ProgramReturn<P> {
    /// Converts a program's return value to a `ProgramOutput`.
    ///
    /// An error has the message that [`Fallible::into_result`] would return.
    ///
    /// # Errors
    /// Returns the program's error.
    fn into_output(self) -> Result<ProgramOutput<P>, ProgramRunError>;
}

impl<P> ProgramReturn<P> for P {
    fn into_output(self) -> Result<ProgramOutput<P>, ProgramRunError> {
        Ok(ProgramOutput::new(self))
    }
}

impl<P> ProgramReturn<P> for ProgramOutput<P> {
    fn into_output(self) -> Result<Self, ProgramRunError> {
        Ok(self)
    }
}

impl<P, E: fmt::Display + 'static> ProgramReturn<P> for Result<P, E> {
    fn into_output(self) -> Result<ProgramOutput<P>, ProgramRunError> {
        self.map(ProgramOutput::new)
            .map_err(|error| ProgramRunError::of_any(&error))
    }
}

impl<P, E: fmt::Display + 'static> ProgramReturn<P> for Result<ProgramOutput<P>, E> {
    fn into_output(self) -> Result<ProgramOutput<P>, ProgramRunError> {
        self.map_err(|error| ProgramRunError::of_any(&error))
    }
}

/// A program that an evaluation can run.
///
/// A program is a [`Module`], or an async function or closure that takes a gold row. The function returns a prediction,
/// a [`ProgramOutput`] or a `Result` of either; see [`ProgramReturn`].
///
/// If a gold row is an [`Example`], the program receives only the row's inputs, so it never sees the expected answer.
/// This also applies to an `Example` in an `Arc` or a `Box`.
///
/// The inputs are the fields set by [`with_inputs`](Example::with_inputs), `EvaluateBuilder::inputs` or
/// `ScorerBuilder::inputs`. If a row lacks an input, the row fails and the program is not run.
///
/// A gold row of any other type is passed **whole**, because its type does not distinguish inputs from labels. To leave
/// out the labels, wrap the program in a closure:
///
/// ```
/// use dsrs_metrics::Evaluate;
/// use dsrs_metrics::prelude::*;
///
/// #[derive(Clone)]
/// struct Sum {
///     terms: [i64; 2],
///     answer: i64,
/// }
///
/// async fn add([a, b]: [i64; 2]) -> i64 {
///     a + b
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let right = typed_metric_fn("right", |gold: &Sum, pred: &i64| gold.answer == *pred);
/// let devset = [Sum { terms: [1, 2], answer: 3 }];
/// let evaluate = Evaluate::typed().devset(devset).metric(right).build()?;
/// let result = evaluate.run(|row: Sum| add(row.terms)).await?;
/// assert_eq!(result.score, Some(1.0));
/// # Ok(())
/// # }
/// ```
///
/// `Kind` distinguishes functions from modules; the compiler infers it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a program from `{G}` to `{P}`",
    label = "not a program from `{G}` to `{P}`",
    note = "pass a closure `|row: {G}| async move {{ .. }}`, the name (without `()`) of an `async fn program(row: {G}) -> {P}`, or a type that implements `Module`"
)]
pub trait Program<G, P, Kind>: IsProgram<G, Kind> + Send + Sync {
    /// Runs the program on one row's inputs.
    ///
    /// Returns the prediction together with what the program reports about its run.
    ///
    /// `inputs_of_run` names the inputs of rows that do not declare their own.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::runs::{Program, ProgramRunError};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), ProgramRunError> {
    /// let echo = |inputs: Example| async move { prediction! { "fields" => inputs.data.len() } };
    /// let row = example! { "question" => "Why?", "answer" => "Because." }.with_inputs(["question"]);
    /// let output = echo.output(&row, None).await?;
    /// assert_eq!(output.prediction, prediction! { "fields" => 1 }); // without the answer
    /// # Ok(())
    /// # }
    /// ```
    fn output(
        &self,
        gold: &G,
        inputs_of_run: Option<&[String]>,
    ) -> impl Future<Output = Result<ProgramOutput<P>, ProgramRunError>> + Send;
}

/// A function or [`Module`] that might be a [`Program`].
///
/// This separate trait lets the compiler explain why a function is not a program. For example, the function's future
/// might not be `Send`.
#[doc(hidden)]
pub trait IsProgram<G, Kind> {}

#[diagnostic::do_not_recommend]
impl<G, F, Fut: Future> IsProgram<G, (ByCall, Fut)> for F where F: FnOnce(G) -> Fut {}

#[diagnostic::do_not_recommend]
impl<M: Module> IsProgram<Example, ByForward> for M {}

/// Marks a [`Program`] that is a function.
#[derive(Debug)]
pub enum ByCall {}

/// Marks a [`Program`] that is a [`Module`].
#[derive(Debug)]
pub enum ByForward {}

impl<G, P, F, Fut> Program<G, P, (ByCall, Fut)> for F
where
    G: Clone + Sync + 'static,
    F: Fn(G) -> Fut + Send + Sync,
    Fut: Future + Send,
    Fut::Output: ProgramReturn<P>,
{
    fn output(
        &self,
        gold: &G,
        inputs_of_run: Option<&[String]>,
    ) -> impl Future<Output = Result<ProgramOutput<P>, ProgramRunError>> + Send {
        let answer = inputs_of_row(gold, inputs_of_run).map(self);
        async move {
            answer
                .map_err(|error| ProgramRunError::of(&error))?
                .await
                .into_output()
        }
    }
}

#[diagnostic::do_not_recommend]
impl<M: Module> Program<Example, Prediction, ByForward> for M {
    async fn output(
        &self,
        gold: &Example,
        inputs_of_run: Option<&[String]>,
    ) -> Result<ProgramOutput, ProgramRunError> {
        let inputs = gold
            .inputs_in(inputs_of_run)
            .map_err(|error| ProgramRunError::of(&error))?;
        let output = self.forward_traced(inputs).await;
        output.map_err(|error| ProgramRunError::of(&*error))
    }
}

/// Any error that a program can return.
///
/// The `?` operator converts every error type into this type.
///
/// ```
/// use dsrs_metrics::{prelude::*, runs::ProgramError};
///
/// async fn parsed(inputs: Example) -> Result<Prediction, ProgramError> {
///     let text = inputs.get("text").and_then(|text| text.as_str()).ok_or("missing field `text`")?;
///     Ok(prediction! { "number" => text.parse::<i64>()? })
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let error = |inputs: Example| async { parsed(inputs).await.unwrap_err().to_string() };
/// assert_eq!(error(example! {}).await, "missing field `text`");
/// assert_eq!(error(example! { "text" => "six" }).await, "invalid digit found in string");
/// # }
/// ```
pub type ProgramError = Box<dyn Error + Send + Sync>;

/// A program built on language models.
///
/// A module maps an example's inputs to a prediction.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::runs::{Module, ProgramError};
///
/// struct Shout;
///
/// #[async_trait]
/// impl Module for Shout {
///     async fn forward(&self, inputs: Example) -> Result<Prediction, ProgramError> {
///         let question = inputs.get("question").and_then(|text| text.as_str());
///         let question = question.ok_or("missing field `question`")?;
///         Ok(prediction! { "answer" => question.to_uppercase() })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let pred = Shout.forward(example! { "question" => "why?" }).await.unwrap();
/// assert_eq!(pred.get("answer").unwrap(), "WHY?");
/// # }
/// ```
#[async_trait]
pub trait Module: Send + Sync {
    /// Runs the program once.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// # use dsrs_metrics::runs::{Module, ProgramError};
    /// struct Adder;
    ///
    /// #[async_trait]
    /// impl Module for Adder {
    ///     async fn forward(&self, inputs: Example) -> Result<Prediction, ProgramError> {
    ///         let number = |name| inputs.get(name).and_then(|it| it.as_i64()).ok_or("expected two integers");
    ///         Ok(prediction! { "sum" => number("a")? + number("b")? })
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), ProgramError> {
    /// assert_eq!(Adder.forward(example! { "a" => 1, "b" => 2 }).await?, prediction! { "sum" => 3 });
    /// let error = Adder.forward(example! { "a" => 1 }).await.unwrap_err();
    /// assert_eq!(error.to_string(), "expected two integers");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns any error from the program. An evaluation counts the row as failed and continues.
    async fn forward(&self, inputs: Example) -> Result<Prediction, ProgramError>;

    /// Runs the program once and returns its prediction with the trace, usage and latency.
    ///
    /// `Evaluate` calls this method and passes the returned values to the metrics.
    ///
    /// By default, this method calls [`forward`](Self::forward) and returns only the prediction.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::{rows::TraceStep, runs::{Module, ProgramError, ProgramOutput}};
    ///
    /// struct Shout;
    ///
    /// #[async_trait]
    /// impl Module for Shout {
    ///     async fn forward(&self, inputs: Example) -> Result<Prediction, ProgramError> {
    ///         Ok(self.forward_traced(inputs).await?.prediction)
    ///     }
    ///
    ///     async fn forward_traced(&self, inputs: Example) -> Result<ProgramOutput, ProgramError> {
    ///         let question = inputs.get("question").and_then(|text| text.as_str());
    ///         let answer = question.ok_or("missing field `question`")?.to_uppercase();
    ///         let outputs = prediction! { "answer" => answer };
    ///         let step = TraceStep { predictor: "upper".to_owned(), inputs, outputs: outputs.clone() };
    ///         Ok(ProgramOutput::new(outputs).with_trace(Trace { steps: vec![step] }))
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let output = Shout.forward_traced(example! { "question" => "why?" }).await.unwrap();
    /// assert_eq!(output.trace.unwrap().steps[0].predictor, "upper");
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`forward`](Self::forward).
    async fn forward_traced(&self, inputs: Example) -> Result<ProgramOutput, ProgramError> {
        self.forward(inputs).await.map(ProgramOutput::new)
    }

    /// Runs the program on each example, like DSPy's `batch`.
    ///
    /// Up to `concurrency` examples run at a time, and 0 counts as 1. Returns one result for each example, in order.
    ///
    /// The program receives each example's declared [inputs](Example::inputs).
    ///
    /// An error or panic in one run does not affect the others.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// # use dsrs_metrics::runs::{Module, ProgramError};
    /// # struct Shout;
    /// # #[async_trait]
    /// # impl Module for Shout {
    /// #     async fn forward(&self, inputs: Example) -> Result<Prediction, ProgramError> {
    /// #         let question = inputs.get("question").and_then(|text| text.as_str());
    /// #         let question = question.ok_or("missing field `question`")?;
    /// #         Ok(prediction! { "answer" => question.to_uppercase() })
    /// #     }
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let examples = [example! { "question" => "why?" }, example! { "note" => "no question" }];
    /// let examples = examples.map(|example| example.with_inputs(["question"]));
    /// let answers = Shout.batch(examples.into(), 8).await;
    /// assert_eq!(answers[0].as_ref().unwrap().get("answer").unwrap(), "WHY?");
    /// assert_eq!(answers[1].as_ref().unwrap_err().to_string(), "no input `question`; the row has `note`");
    /// # }
    /// ```
    async fn batch(
        &self,
        examples: Vec<Example>,
        concurrency: usize,
    ) -> Vec<Result<Prediction, ProgramError>> {
        let running = examples.iter().map(|example| forwarded(self, example));
        let running = futures_util::stream::iter(running.collect::<Vec<_>>());
        running.buffered(concurrency.max(1)).collect().await
    }
}

/// Runs a module once on an example's inputs, and turns a panic into an error.
async fn forwarded<M: Module + ?Sized>(
    module: &M,
    example: &Example,
) -> Result<Prediction, ProgramError> {
    let inputs = example.inputs()?;
    // The call is inside the async block because it may panic before its first await.
    let call = panic::catch_async(false, async { module.forward(inputs).await });
    call.await
        .unwrap_or_else(|panic| Err(format!("the program panicked: {}", panic.message).into()))
}

macro_rules! forward_module {
    ($($pointer:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        #[async_trait]
        impl<M: Module + ?Sized> Module for $pointer {
            async fn forward(&self, inputs: Example) -> Result<Prediction, ProgramError> {
                (**self).forward(inputs).await
            }
            async fn forward_traced(&self, inputs: Example) -> Result<ProgramOutput, ProgramError> {
                (**self).forward_traced(inputs).await
            }
            async fn batch(
                &self,
                examples: Vec<Example>,
                concurrency: usize,
            ) -> Vec<Result<Prediction, ProgramError>> {
                (**self).batch(examples, concurrency).await
            }
        }
    )*};
}
forward_module!(&M, Box<M>, Arc<M>);

/// The error returned when a program returns no prediction.
///
/// The error contains a message and, if the budget did not cover a model call, the budget.
///
/// If the budget caused the error, a run counts the row as skipped instead of failed. This works only if your program
/// returns the original error or keeps it as a source.
///
/// The original error is an [`LmError`](crate::lm::LmError), a [`ProgramError`] that contains one, or this type.
///
/// ```
/// use dsrs_metrics::lm::{LmError, LmErrorKind};
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::runs::{ProgramError, ProgramReturn};
///
/// let spent = LmErrorKind::BudgetExceeded { budget_msats: 50, remaining_msats: 2, needed_msats: 3 };
/// let returned: Result<Prediction, ProgramError> = Err(LmError::new("openai:gpt-6-luna", spent).into());
/// let error = ProgramReturn::<Prediction>::into_output(returned).unwrap_err();
/// assert_eq!(error.budget_msats, Some(50));
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ProgramRunError {
    /// The error's message, with all known causes.
    pub message: String,
    /// The budget that a call exceeded, in millisatoshis.
    ///
    /// `None` if no budget was exceeded.
    pub budget_msats: Option<u64>,
}

dsrs_metrics_values::debug_as_display!(ProgramRunError);

conversions! {
    /// Creates an error without a budget.
    String => ProgramRunError: |message| Self { message, budget_msats: None };
}

impl ProgramRunError {
    /// Creates the error from a program's own error and its causes.
    pub(crate) fn of(error: &(dyn Error + 'static)) -> Self {
        Self {
            message: with_sources(error),
            budget_msats: budget(error),
        }
    }

    /// Does the same as [`of`](Self::of) for any error type. If the error is not boxed, the only known causes are those
    /// that its `Display` shows.
    pub(crate) fn of_any<E: fmt::Display + 'static>(error: &E) -> Self {
        match shown(error) {
            Some(error) => Self::of(error),
            None => format!("{error:#}").into(),
        }
    }
}

/// Returns the budget that a call exceeded, if such a call caused the error.
fn budget(error: &(dyn Error + 'static)) -> Option<u64> {
    let mut causes = std::iter::successors(Some(error), |error| (*error).source());
    causes.find_map(|error| match error.downcast_ref::<ProgramRunError>() {
        Some(of_run) => of_run.budget_msats,
        None => error.downcast_ref::<LmError>()?.budget_msats(),
    })
}

/// Returns the error if it is boxed or has a known type. Its `Display` would not show its causes. `Box<dyn Error>` does
/// not implement `Error`, so errors and boxes cannot have separate impls.
fn shown<E: 'static>(error: &E) -> Option<&(dyn Error + 'static)> {
    let error: &dyn Any = error;
    if let Some(error) = error.downcast_ref::<ProgramError>() {
        return Some(&**error);
    }
    if let Some(error) = error.downcast_ref::<Box<dyn Error + Send>>() {
        return Some(&**error);
    }
    if let Some(error) = error.downcast_ref::<Box<dyn Error>>() {
        return Some(&**error);
    }
    let of_run = || Some(error.downcast_ref::<ProgramRunError>()? as _);
    error
        .downcast_ref::<LmError>()
        .map(|it| it as _)
        .or_else(of_run)
}

#[cfg(test)]
mod tests {
    use std::error::Error;
    use std::fmt;

    use super::*;
    use crate::lm::LmErrorKind;
    use crate::program::ProgramError;
    use crate::rows::dynamic::{Example, Prediction};

    #[derive(Debug, thiserror::Error)]
    #[error("no answer")]
    struct Outer(#[source] fmt::Error);

    fn outer() -> Outer {
        Outer(fmt::Error)
    }

    struct Failing;

    #[async_trait::async_trait]
    impl Module for Failing {
        async fn forward(&self, _: Example) -> Result<Prediction, ProgramError> {
            Err(outer().into())
        }
    }

    fn error_message<Kind>(program: &impl Program<Example, Prediction, Kind>) -> String {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime
            .block_on(program.output(&Example::default(), None))
            .unwrap_err()
            .message
    }

    #[test]
    fn boxed_errors_show_their_causes_for_functions_and_modules() {
        let all = format!("no answer: {}", fmt::Error);
        assert_eq!(error_message(&Failing), all);
        let function = |_: Example| async { Err::<Prediction, ProgramError>(outer().into()) };
        assert_eq!(error_message(&function), all);
        let function =
            |_: Example| async { Err::<Prediction, Box<dyn Error + Send>>(Box::new(outer())) };
        assert_eq!(error_message(&function), all);
        let unboxed = |_: Example| async { Err::<Prediction, Outer>(outer()) };
        assert_eq!(
            error_message(&unboxed),
            "no answer",
            "its causes are unknown"
        );
    }

    #[derive(Debug, thiserror::Error)]
    #[error("turn 3")]
    struct Turn(#[source] LmError);

    fn spent() -> LmError {
        let kind = LmErrorKind::BudgetExceeded {
            budget_msats: 7,
            remaining_msats: 1,
            needed_msats: 2,
        };
        LmError::new("test:lm", kind)
    }

    #[test]
    fn the_budget_is_found_in_errors_in_boxes_and_in_their_sources() {
        let boxed: ProgramError = Turn(spent()).into();
        let found = ProgramRunError::of_any(&boxed);
        assert_eq!(found.message, format!("turn 3: {}", spent()));
        assert_eq!(found.budget_msats, Some(7));
        assert_eq!(ProgramRunError::of_any(&found), found);
        assert_eq!(ProgramRunError::of_any(&spent()).budget_msats, Some(7));
        let unscripted = LmErrorKind::Other(String::new());
        let other = LmError::new("test:lm", unscripted);
        assert_eq!(ProgramRunError::of_any(&other).budget_msats, None);
        assert_eq!(ProgramRunError::of_any(&"no answer").message, "no answer");
    }
}
