//! [`Module`], a program with a state and a trace, and the error of programs.

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use crate::panic;
use crate::program_run::ProgramOutput;
use crate::rows::dynamic::{Example, Prediction};

/// Any error of a program; `?` converts every error type into it.
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

/// A program built on language models, from the inputs of an example to a prediction.
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
    /// Any error of the program; an evaluation counts the row as failed and continues.
    async fn forward(&self, inputs: Example) -> Result<Prediction, ProgramError>;

    /// Runs the program once and returns its prediction with its trace, usage and latency. `Evaluate`
    /// calls it and hands them to the metrics; the default calls [`forward`](Self::forward) and returns none of them.
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
    /// As [`forward`](Self::forward).
    async fn forward_traced(&self, inputs: Example) -> Result<ProgramOutput, ProgramError> {
        self.forward(inputs).await.map(ProgramOutput::new)
    }

    /// Runs the program on each example, `concurrency` at a time (0 counts as 1), and returns one result for each, in
    /// the same order: DSPy's `batch`. The program receives the [inputs](Example::inputs) of an example, which each
    /// example declares. An error or a panic of one run does not affect the others.
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
        let mut results = Vec::with_capacity(examples.len());
        let mut running = FuturesUnordered::new();
        for (position, example) in examples.iter().enumerate() {
            if running.len() == concurrency.max(1) {
                results.extend(running.next().await);
            }
            running.push(async move { (position, forwarded(self, example).await) });
        }
        while let Some(result) = running.next().await {
            results.push(result);
        }
        results.sort_unstable_by_key(|(position, _)| *position);
        results.into_iter().map(|(_, result)| result).collect()
    }
}

/// Runs a module once, on the inputs of an example; a panic is an error.
async fn forwarded<M: Module + ?Sized>(
    module: &M,
    example: &Example,
) -> Result<Prediction, ProgramError> {
    let inputs = example.inputs()?;
    // The call is made in an async block because it may panic before its first await.
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
