//! Which fields of an example a program receives.

use std::any::Any;
use std::sync::Arc;

use super::Example;
use crate::messages::{escape, suggest};

dsrs_metrics_values::message_errors! {
    /// The error returned when a program cannot run on an example.
    ///
    /// The program's inputs are unknown or missing.
    ///
    /// ```
    /// use dsrs_metrics::{example, rows::InputError};
    ///
    /// let row = example! { "question" => "Why?", "answer" => "Because." }.with_inputs(["context"]);
    /// let error: InputError = row.inputs().unwrap_err();
    /// assert_eq!(error.to_string(), "no input `context`; the row has `question`, `answer`");
    /// ```
    pub struct InputError;
}

impl Example {
    /// Returns the program's inputs.
    ///
    /// The inputs are the fields set by [`with_inputs`](Self::with_inputs), in row order. The labels are left out, so
    /// the program never sees the expected answer.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    ///
    /// let example = example! { "question" => "Why?", "answer" => "Because." };
    /// let error = example.inputs().unwrap_err().to_string();
    /// assert!(error.starts_with("the inputs are not declared"));
    ///
    /// let inputs = example.with_inputs(["question"]).inputs().unwrap();
    /// assert_eq!(inputs.keys().collect::<Vec<_>>(), ["question"]);
    /// ```
    ///
    /// # Errors
    /// Returns [`InputError`] if the example lacks an input. Also returns this error if the example has fields but
    /// `with_inputs` was not called.
    pub fn inputs(&self) -> Result<Self, InputError> {
        self.inputs_in(None)
    }

    /// Returns the names of the program's inputs.
    ///
    /// An example without declared inputs uses the inputs that the run declares.
    ///
    /// # Errors
    /// Returns [`InputError`] if neither the example nor the run declares inputs.
    #[doc(hidden)]
    pub fn input_names<'a>(
        &'a self,
        of_run: Option<&'a [String]>,
    ) -> Result<&'a [String], InputError> {
        match self.input_keys().or(of_run) {
            Some(names) => Ok(names),
            None if self.data.is_empty() => Ok(&[]),
            None => Err(InputError::from(format!(
                "the inputs are not declared, so the program would receive the labels too; write \
                 `.with_inputs([..])` on each row, or `.inputs([..])` once for the run, with the fields \
                 that the program may read (the row has {})",
                escape::names(self.keys())
            ))),
        }
    }

    /// Does the same as [`inputs`](Self::inputs). A run may declare the inputs of examples that do not.
    pub(crate) fn inputs_in(&self, of_run: Option<&[String]>) -> Result<Self, InputError> {
        let names = self.input_names(of_run)?;
        if let Some(name) = names.iter().find(|name| !self.data.contains_key(name)) {
            let hint = suggest::known_fields("the row", name, self.keys());
            return Err(InputError::from(format!(
                "no input `{}`{hint}",
                escape::name(name)
            )));
        }
        Ok(self
            .data
            .only(|name| names.iter().any(|input| input == name))
            .into())
    }
}

/// Returns the row as an [`Example`], if it is one.
///
/// Other row types do not distinguish inputs from labels.
pub fn as_example<G: 'static>(gold: &G) -> Option<&Example> {
    let gold: &dyn Any = gold;
    gold.downcast_ref()
        .or_else(|| gold.downcast_ref::<Arc<Example>>().map(|gold| &**gold))
        .or_else(|| gold.downcast_ref::<Box<Example>>().map(|gold| &**gold))
}

/// Returns the inputs of a row.
///
/// Returns `None` if no inputs are declared or one is missing.
pub fn inputs_of(example: &Example, of_run: Option<&[String]>) -> Option<Example> {
    example.inputs_in(of_run).ok()
}

/// Returns what a program receives from a row: the inputs of an [`Example`], or the whole row of any other type.
pub(crate) fn of_row<G: Clone + 'static>(
    gold: &G,
    of_run: Option<&[String]>,
) -> Result<G, InputError> {
    let Some(example) = as_example(gold) else {
        return Ok(gold.clone());
    };
    let mut inputs = Some(example.inputs_in(of_run)?);
    // `G` is one of these types; the cast through `Any` proves it to the compiler.
    let of_type = cast(&mut inputs)
        .or_else(|| cast(&mut inputs.clone().map(Arc::new)))
        .or_else(|| cast(&mut inputs.map(Box::new)));
    Ok(of_type.unwrap_or_else(|| gold.clone()))
}

fn cast<T: 'static, G: 'static>(value: &mut Option<T>) -> Option<G> {
    let value: &mut dyn Any = value;
    value.downcast_mut::<Option<G>>().and_then(Option::take)
}
