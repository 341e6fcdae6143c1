//! The programs under evaluation: [`Module`]s, and any async function from a row to a prediction.

use std::fmt;

use crate::module::Module;
use crate::program_run::ProgramOutput;
use crate::program_run_error::ProgramRunError;
use crate::rows::dynamic::{Example, Prediction};
use crate::rows::inputs;

/// A `T`, or a `Result` of one, as programs return and row sources yield.
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
    /// Returns the value, or the message of the error. The message includes all causes if the error is a
    /// [`ProgramError`](crate::ProgramError) (or another `Box<dyn Error>`), or if its `{:#}` format shows them. Other error
    /// types are only known to implement `Display`; to include their causes, return a
    /// [`ProgramError`](crate::ProgramError).
    ///
    /// ```
    /// # use dsrs_metrics::runs::{Fallible, ProgramError};
    /// let failed: Result<u8, ProgramError> = Err("no connection".into());
    /// assert_eq!(Fallible::<u8>::into_result(failed), Err("no connection".to_owned()));
    /// ```
    ///
    /// # Errors
    /// The message of the error.
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

/// The return types of a program: the prediction, a [`ProgramOutput`] with its trace, usage and latency, or a `Result` of
/// either.
///
/// ```
/// use dsrs_metrics::runs::{ProgramOutput, ProgramReturn, ProgramRunError};
///
/// let output: ProgramOutput<i64> = Ok::<_, String>(42).into_output()?;
/// assert_eq!(output, ProgramOutput::new(42));
/// # Ok::<(), ProgramRunError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what a program returns for the prediction `{P}`",
    label = "neither `{P}`, `ProgramOutput<{P}>`, nor a `Result` of these",
    note = "return a `{P}`, a `ProgramOutput<{P}>`, or a `Result` of one whose error implements `Display` and borrows nothing"
)]
pub trait ProgramReturn<P> {
    /// Returns the output, or the error with its message as [`Fallible::into_result`] returns it.
    ///
    /// # Errors
    /// The error of the program.
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

/// A program that an evaluation can run: an async function or closure from a gold row to a prediction, to a
/// [`ProgramOutput`] or to a `Result` of either ([`ProgramReturn`]), or a [`Module`].
///
/// A gold row of type [`Example`], also in an `Arc` or a `Box`, is passed with its inputs only, so that no program sees
/// the expected answer: the fields that [`with_inputs`](Example::with_inputs) names, or else the
/// fields of `EvaluateBuilder::inputs` or `ScorerBuilder::inputs`. The program is not called on a row that lacks one of
/// them: the row fails.
///
/// A gold row of any other type is passed **whole**, since its type does not distinguish inputs from labels. The closure
/// of the run is the place to leave out the labels:
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
    note = "write `|row: {G}| async move {{ .. }}` or `async fn program(row: {G}) -> {P}`, returning `{P}`, `ProgramOutput<{P}>` or a `Result` of one with `E: Display`,\nor implement `Module`; the future must be `Send`"
)]
pub trait Program<G, P, Kind>: Send + Sync {
    /// Runs the program on the inputs of one row, and returns the prediction with what the program returns about its
    /// run. A run may name the inputs of the rows that do not declare their own.
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

/// Marks a [`Program`] that is a function.
#[derive(Debug)]
pub enum ByCall {}

/// Marks a [`Program`] that is a [`Module`].
#[derive(Debug)]
pub enum ByForward {}

#[diagnostic::do_not_recommend]
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
        let answer = inputs::of_row(gold, inputs_of_run).map(self);
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

#[cfg(test)]
mod tests {
    use std::error::Error;
    use std::fmt;

    use super::{Module, Program};
    use crate::module::ProgramError;
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
}
