//! Parses a reply into a judge's answer: reads each output of the JSON object that `json_object.rs` finds, and
//! validates it against its range and labels. `model_call.rs` makes the repair.
//!
//! The file is long because each type of output has its own rules and tests.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::Signature;
use super::json_object::{Flaw, in_brief, in_short, object, remove_ignored};
use super::output_spec::closed;
use super::steps::{Earlier, cited, without_numbers};
use crate::json::found;
use crate::spec::ScoreRange;

/// The outputs of a judge.
///
/// `#[judge]` implements this trait.
///
/// ```
/// use dsrs_metrics::judge::{JudgeOutput, Reply};
///
/// /// What `#[judge]` generates for the outputs `polite: bool` and `reason: Option<String>`.
/// struct PoliteOutput {
///     polite: bool,
///     reason: Option<String>,
/// }
///
/// impl JudgeOutput for PoliteOutput {
///     fn read(reply: &mut Reply<'_>) -> Option<Self> {
///         // Both are read before `?`, so a repair lists all errors.
///         let (polite, reason) = (reply.take("polite"), reply.take("reason"));
///         Some(Self { polite: polite?, reason: reason? })
///     }
/// }
/// ```
pub trait JudgeOutput: Sized + Send {
    /// Reads every output from the reply.
    ///
    /// Returns `None` if an output is missing or invalid, and records the reason in the reply.
    fn read(reply: &mut Reply<'_>) -> Option<Self>;
}

/// A model's reply that contains a judge's outputs.
///
/// ```
/// use std::sync::Arc;
/// use dsrs_metrics::judge::shipped::SemanticEquivalence;
/// use dsrs_metrics::lm::ScriptedLm;
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> dsrs_metrics::Result<()> {
/// let replies = [r#"{ "equivalent": "yes" }"#, r#"{ "reasoning": "", "equivalent": true }"#];
/// let lm = Arc::new(ScriptedLm::new().replies(replies));
/// let judge = SemanticEquivalence::builder().with_lm(lm.clone()).build();
/// judge.evaluate(&example! { "answer" => "5" }, &prediction! { "answer" => "five" }).await?;
/// // The second request has the first reply and what is wrong with it.
/// let repair = &lm.requests()[1].messages[3].content;
/// assert!(repair.starts_with("Your previous reply is not a valid answer: `reasoning` is missing; "));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Reply<'a> {
    signature: &'a Signature,
    fields: Map<String, Value>,
    /// What earlier steps returned. The steps' own checks have already read it.
    earlier: Option<&'a Earlier>,
    /// Fields with a known flaw.
    flawed: Vec<&'static str>,
    flaws: Vec<String>,
    /// Keys that belong to no output.
    ignored: Vec<String>,
}

impl<'a> Reply<'a> {
    /// Finds the JSON object in the text of a reply.
    ///
    /// # Errors
    /// Returns a description of what is wrong with the text.
    pub(super) fn find(signature: &'a Signature, text: &str) -> Result<Self, Flaw> {
        object(text).map(|fields| Self::of(signature, fields))
    }

    /// Creates a reply with these fields.
    pub(super) fn of(signature: &'a Signature, fields: Map<String, Value>) -> Self {
        let (flawed, flaws, ignored) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            signature,
            fields,
            earlier: None,
            flawed,
            flaws,
            ignored,
        }
    }

    /// Adds what earlier steps returned, if any, and checks this reply's lists against theirs.
    pub(super) fn after(mut self, earlier: impl Into<Option<&'a Earlier>>) -> Self {
        self.earlier = earlier.into();
        let Some(earlier) = self.earlier else {
            return self;
        };
        for output in &self.signature.outputs {
            let Some(value) = self.fields.get_mut(output.name) else {
                continue;
            };
            let (name, items) = (output.name, value.as_array().map_or(0, Vec::len));
            if let Some(limit) = output.max_items.filter(|limit| items > *limit) {
                self.flaws.push(format!(
                    "`{name}` must have at most {limit} items, found {items}"
                ));
                self.flawed.push(name);
            }
            let Some(each) = &output.each else { continue };
            let (list, count) = (each.list, earlier.items_of(each.list));
            let (value, schema) = (value.take(), &output.schema);
            let items = without_numbers((name, list), count, schema, value, &mut self.ignored);
            let items = items.and_then(|items| match output.cites {
                Some(list) => cited(name, (list, earlier.items_of(list)), items),
                None => Ok(items),
            });
            match items {
                Ok(items) => drop(self.fields.insert(name.to_owned(), items)),
                Err(flaw) => {
                    self.flaws.push(flaw);
                    self.flawed.push(name);
                }
            }
        }
        self
    }

    /// Reads the reply with `read`. Returns the result, the values of the reply's outputs without ignored keys, and the
    /// number of ignored keys at any depth.
    ///
    /// # Errors
    /// Fails if `read` returns `None` or finds flaws.
    pub(super) fn read<T>(
        mut self,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Result<(T, Map<String, Value>, usize), Flaw> {
        let mut values = std::mem::take(&mut self.fields);
        values.retain(|name, value| {
            let mut of_call = self.signature.outputs.iter();
            let output = match self.earlier {
                Some(_) => of_call.find(|output| output.name == name),
                // An offline stand-in also returns the values of the steps.
                None => self.signature.output_spec(name),
            };
            match output {
                Some(it) => remove_ignored(value, &it.schema, &it.schema, &mut self.ignored),
                None => self.ignored.push(name.clone()),
            }
            output.is_some()
        });
        self.fields.clone_from(&values);
        let ignored = self.ignored.len();
        let output = read(&mut self);
        self.end(output.map(|output| (output, values, ignored)))
    }

    /// Returns what was read, unless the reply has a flaw. A misspelt key is both missing and unexpected.
    fn end<T>(mut self, read: Option<T>) -> Result<T, Flaw> {
        if let Some(read) = read.filter(|_| self.flaws.is_empty()) {
            return Ok(read);
        }
        // Sorted, because the order of a map's keys depends on the features of `serde_json`.
        self.ignored.sort();
        let ignored = self.ignored.iter().take(3).map(|key| in_brief(key, 40));
        let ignored: Vec<String> = ignored.collect();
        if !ignored.is_empty() {
            let ignored = ignored.join("`, `");
            self.flaws.push(format!("unexpected `{ignored}`"));
        }
        Err(self.flaws.join("; ").into())
    }

    /// Reads one output from the reply.
    ///
    /// Returns `None` if the output is missing or invalid, and records the reason in the reply.
    ///
    /// ```
    /// use dsrs_metrics::judge::{Answer, Reply};
    /// use dsrs_metrics::lm::ScriptedLm;
    /// use dsrs_metrics::prelude::*;
    /// use serde_json::{Value, json};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> dsrs_metrics::Result<()> {
    /// #[derive(Debug, Clone, PartialEq)]
    /// struct Percent(f64);
    ///
    /// impl Answer for Percent {
    ///     fn schema() -> Value {
    ///         json!({ "type": "number", "minimum": 0, "maximum": 100 })
    ///     }
    ///
    ///     fn take(reply: &mut Reply<'_>, name: &str) -> Option<Self> {
    ///         reply.take(name).map(Self)
    ///     }
    /// }
    ///
    /// /// Estimate how much of the reply is polite.
    /// #[judge(score = polite.0 / 100.0, reasoning = false)]
    /// struct PoliteShare {
    ///     #[input(pred)]
    ///     reply: String,
    ///     #[output]
    ///     polite: Percent,
    /// }
    ///
    /// let judge = PoliteShareJudge::default().with_lm(ScriptedLm::new().otherwise(r#"{ "polite": 75 }"#));
    /// let score = judge.evaluate(&example! {}, &prediction! { "reply" => "With pleasure!" }).await?;
    /// assert_eq!(score.value, 0.75);
    /// # Ok(())
    /// # }
    /// ```
    pub fn take<T: Answer>(&mut self, name: &str) -> Option<T> {
        T::take(self, name)
    }

    fn flaw<T>(&mut self, flaw: String) -> Option<T> {
        self.flaws.push(flaw);
        None
    }

    /// Converts 5.0 to an integer. JSON Schema, and therefore models, consider it one, but serde does not.
    fn as_integer(&self, name: &str, value: Value) -> Value {
        let spec = self.signature.output_spec(name);
        let is_integer = spec.is_some_and(|spec| spec.schema["type"] == "integer");
        let number = value
            .as_f64()
            .filter(|number| is_integer && value.is_f64() && exact(*number));
        // An integer below 2^53.
        number.map_or(value, |number| Value::from(number as i64))
    }

    /// Returns why a value of the right type is invalid, or `None` if the value is valid.
    fn violation(&self, name: &str, value: &Value) -> Option<String> {
        let spec = self.signature.output_spec(name)?;
        if let (Some(range), Some(number)) = (spec.range, value.as_f64())
            && !range.contains(number)
        {
            let ScoreRange { min, max } = range;
            return Some(format!(
                "expected `{name}` between {min} and {max}, found {value}"
            ));
        }
        let is_label = |text: &str| spec.labels.contains(&text);
        if !spec.labels.is_empty() && !value.is_null() && !value.as_str().is_some_and(is_label) {
            let labels = spec.labels.join("`, `");
            return Some(format!(
                "`{name}` must be one of `{labels}`, found {}",
                found(value)
            ));
        }
        None
    }
}

/// A type that a judge's output can have.
///
/// This trait is implemented for every type that implements `serde::Deserialize` and `JsonSchema`.
///
/// ```
/// use dsrs_metrics::judge::Answer;
/// use serde_json::json;
///
/// assert_eq!(bool::schema(), json!({ "type": "boolean" }));
/// assert_eq!(Vec::<String>::schema(), json!({ "type": "array", "items": { "type": "string" } }));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a judge's output",
    label = "not an output type",
    note = "an output is `bool`, a number, `String`, `Vec<_>`, an `Option` of these, or your own type: write `#[judge_output]`\nabove it, or derive `serde::Deserialize` and `schemars::JsonSchema`"
)]
pub trait Answer: Sized {
    /// Returns the type's JSON schema.
    fn schema() -> Value;

    /// Reads the output named `name` from the reply.
    fn take(reply: &mut Reply<'_>, name: &str) -> Option<Self>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> Answer for T {
    fn schema() -> Value {
        let mut settings = SchemaSettings::draft2020_12();
        settings.inline_subschemas = true;
        let mut generator = settings.into_generator();
        // Not the root schema: there, a recursive type refers to itself as `#`, which would mean the whole answer.
        let mut schema = Value::from(generator.subschema_for::<T>());
        let definitions = generator.take_definitions(true);
        if let Value::Object(schema) = &mut schema {
            schema.remove("title");
            if !definitions.is_empty() {
                schema.insert("$defs".to_owned(), Value::Object(definitions));
            }
        }
        closed(&mut schema);
        schema
    }

    fn take(reply: &mut Reply<'_>, name: &str) -> Option<Self> {
        let in_step = |earlier: &Earlier| earlier.values.get(name).cloned();
        if let Some(value) = reply.earlier.and_then(in_step) {
            return T::deserialize(value).ok();
        }
        if reply.flawed.contains(&name) {
            reply.fields.remove(name);
            return None;
        }
        let Some(value) = reply.fields.remove(name) else {
            // Only an optional type can be read from `null`.
            return match T::deserialize(Value::Null) {
                Ok(absent) => Some(absent),
                Err(_) => reply.flaw(format!("`{name}` is missing")),
            };
        };
        let value = reply.as_integer(name, value);
        if let Some(violation) = reply.violation(name, &value) {
            return reply.flaw(violation);
        }
        // Reads the original value, because the type may read more names than its schema has.
        match T::deserialize(&value) {
            Ok(answer) => Some(answer),
            Err(error) => reply.flaw(format!(
                "`{name}` is {}: {}",
                found(&value),
                in_short(&error)
            )),
        }
    }
}

/// A type that the code generated by `#[judge]` accepts as an output.
///
/// The trait has two impls, so the compiler cannot choose one for a type that is not an [`Answer`]. As a result, the
/// only compile error says that the type is not an output type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a judge's output",
    label = "not an output type",
    note = "an output is `bool`, a number, `String`, `Vec<_>`, an `Option` of these, or your own type: write `#[judge_output]`\nabove it, or derive `serde::Deserialize` and `schemars::JsonSchema`"
)]
#[doc(hidden)]
pub trait OutputType<Kind>: Sized {
    /// The implementing type itself.
    ///
    /// The compiler can determine this type only if it is a valid output type.
    type Itself;

    /// Returns a reference to the value as [`Itself`](Self::Itself).
    fn by_ref(&self) -> &Self::Itself;

    /// Returns the value as [`Itself`](Self::Itself).
    fn into_itself(self) -> Self::Itself;

    /// Converts the value back to the original type.
    fn from_itself(value: Self::Itself) -> Self;

    /// Returns the type's JSON schema, as [`Answer::schema`] does.
    fn schema() -> Value;

    /// Reads one output from the reply, as [`Answer::take`] does.
    fn take(reply: &mut Reply<'_>, name: &str) -> Option<Self>;
}

macro_rules! output_type {
    ($kind:ty, $bound:ident) => {
        #[diagnostic::do_not_recommend]
        impl<T: $bound> OutputType<$kind> for T {
            type Itself = T;

            fn by_ref(&self) -> &T {
                self
            }

            fn into_itself(self) -> T {
                self
            }

            fn from_itself(value: T) -> T {
                value
            }

            fn schema() -> Value {
                <T as Answer>::schema()
            }

            fn take(reply: &mut Reply<'_>, name: &str) -> Option<T> {
                <T as Answer>::take(reply, name)
            }
        }
    };
}
output_type!(Known, Answer);
output_type!(Unknown, Unmet);

/// Marks an output type that implements [`Answer`].
#[derive(Debug)]
pub enum Known {}

/// Marks an output type that `#[judge]` cannot read.
#[derive(Debug)]
pub enum Unknown {}

/// A trait that no type implements.
pub trait Unmet: Answer {}

/// Returns `true` if a number is an integer that a double represents exactly.
fn exact(number: f64) -> bool {
    number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0
}

#[cfg(test)]
mod tests;
