//! From a reply to a judge's answer: finding the JSON, reading each output, holding it against its range
//! and labels. Whoever asks again is in `ask.rs`.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::signature::Signature;
use crate::json::describe::found;
use crate::json::unique_keys::UniqueKeys;

/// What a judge answers; written by `#[judge]`.
pub trait JudgeOutput: Sized + Send {
    /// Reads every output; `None` if one is missing or wrong, and the reply knows why.
    fn read(reply: &mut Reply<'_>) -> Option<Self>;
}

/// A reply while its outputs are read.
#[derive(Debug)]
pub struct Reply<'a> {
    signature: &'a Signature,
    fields: Map<String, Value>,
    flaws: Vec<String>,
}

impl<'a> Reply<'a> {
    /// Finds the answer in the text of a reply.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the text.
    pub(super) fn find(signature: &'a Signature, text: &str) -> Result<Self, Flaw> {
        Ok(Self { signature, fields: object(text)?, flaws: Vec::new() })
    }

    /// Reads the whole answer, and what it said, field by field.
    pub(super) fn read<O: JudgeOutput>(mut self) -> Result<(O, Map<String, Value>), Flaw> {
        let said = self.fields.clone();
        let output = O::read(&mut self);
        // Every output was taken. What is left was not asked for, and may well be another verdict.
        let others: Vec<String> = self.fields.keys().take(3).map(|key| in_brief(key, 40)).collect();
        if !others.is_empty() {
            self.flaws.push(format!("`{}` was not asked for", others.join("`, `")));
        }
        match output {
            Some(output) if self.flaws.is_empty() => Ok((output, said)),
            _ => Err(Flaw { said: self.flaws.join("; "), is_cut: false }),
        }
    }

    /// Reads one output.
    pub fn take<T: Answer>(&mut self, name: &str) -> Option<T> {
        T::take(self, name)
    }

    fn flaw<T>(&mut self, flaw: String) -> Option<T> {
        self.flaws.push(flaw);
        None
    }

    /// 5.0 is a whole number, for JSON Schema and so for models, but not for serde.
    fn as_whole(&self, name: &str, value: Value) -> Value {
        let spec = self.signature.output_spec(name);
        let is_whole = spec.is_some_and(|spec| spec.schema["type"] == "integer");
        let number = value.as_f64().filter(|number| is_whole && value.is_f64() && exact(*number));
        #[expect(clippy::cast_possible_truncation, reason = "it is a whole number below 2^53")]
        number.map_or(value, |number| Value::from(number as i64))
    }

    /// What is wrong with a value that has the right type.
    fn misfit(&self, name: &str, value: &Value) -> Option<String> {
        let spec = self.signature.output_spec(name)?;
        if let (Some(range), Some(number)) = (spec.range, value.as_f64())
            && !range.contains(number)
        {
            return Some(format!("`{name}` is {value}, which lies outside {range}"));
        }
        let is_label = |text: &str| spec.labels.contains(&text);
        if !spec.labels.is_empty() && !value.is_null() && !value.as_str().is_some_and(is_label) {
            let labels = spec.labels.join("`, `");
            return Some(format!("`{name}` is {}, and should be one of `{labels}`", found(value)));
        }
        None
    }
}

/// Types that a judge can answer with: all that implement `serde::Deserialize` and `JsonSchema`.
#[diagnostic::on_unimplemented(
    message = "a judge cannot answer with `{Self}`",
    label = "not an answer",
    note = "an output is `bool`, a number, `String`, `Vec<_>`, an `Option` of these, or a type of yours: write `#[judge_output]`\nabove it, or derive `serde::Deserialize` and `schemars::JsonSchema`"
)]
pub trait Answer: Sized {
    /// The JSON schema.
    fn schema() -> Value;

    /// Reads the output `name`.
    fn take(reply: &mut Reply<'_>, name: &str) -> Option<Self>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> Answer for T {
    fn schema() -> Value {
        let mut settings = SchemaSettings::draft2020_12();
        settings.inline_subschemas = true;
        let mut generator = settings.into_generator();
        // Not as a root: there a type that holds itself is `#`, and that is the whole answer.
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
        let Some(value) = reply.fields.remove(name) else {
            // Only what may be absent can be read from `null`.
            return match T::deserialize(Value::Null) {
                Ok(absent) => Some(absent),
                Err(_) => reply.flaw(format!("`{name}` is missing")),
            };
        };
        let value = reply.as_whole(name, value);
        if let Some(misfit) = reply.misfit(name, &value) {
            return reply.flaw(misfit);
        }
        match T::deserialize(&value) {
            Ok(answer) => Some(answer),
            Err(error) => {
                reply.flaw(format!("`{name}` is {}: {}", found(&value), in_short(&error)))
            }
        }
    }
}

/// Whether a number is a whole one that a double holds exactly.
fn exact(number: f64) -> bool {
    number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0
}

/// Providers want every object closed, and know no formats of numbers.
fn closed(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if matches!(fields.get("type"), Some(kind) if kind == "number" || kind == "integer") {
                fields.remove("format");
            }
            if fields.contains_key("properties") {
                fields.entry("additionalProperties").or_insert(Value::Bool(false));
            }
            fields.values_mut().for_each(closed);
        }
        Value::Array(items) => items.iter_mut().for_each(closed),
        _ => {}
    }
}

/// What is wrong with a reply, as the model is told.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Flaw {
    pub(super) said: String,
    /// Whether the reply ends in the middle.
    pub(super) is_cut: bool,
}

/// The one JSON object of a reply: the whole text, or the whole of its only code block. An object amid prose is
/// no verdict, since it may be quoted from the data, or stand there to be contradicted.
fn object(text: &str) -> Result<Map<String, Value>, Flaw> {
    let text = after_thoughts(text.trim());
    let flaw = |said: &str| Flaw { said: said.to_owned(), is_cut: false };
    if text.is_empty() {
        return Err(flaw("the reply is empty"));
    }
    let inside = if text.starts_with('{') { text } else { code_block(text).map_err(flaw)? };
    let read =
        serde_json::from_str::<UniqueKeys>(inside).and_then(|_| serde_json::from_str(inside));
    read.map_err(|error| Flaw {
        said: format!("the reply is no JSON object: {}", in_short(&error)),
        is_cut: error.is_eof(),
    })
}

/// What follows the thoughts that open models write before their reply. Thoughts that quote their own end
/// leave more than one object, which is no verdict.
fn after_thoughts(text: &str) -> &str {
    let thoughts =
        text.strip_prefix("<think>").and_then(|thoughts| thoughts.split_once("</think>"));
    thoughts.map_or(text, |(_, reply)| reply.trim_start())
}

/// What stands between the first and the last fence of Markdown; the end, if there is only one.
fn code_block(text: &str) -> Result<&str, &'static str> {
    let Some(after) = text.strip_prefix("```") else {
        return Err(match text.contains('{') {
            true => "the JSON object stands amid other text",
            false => "the reply is no JSON object",
        });
    };
    let block = match after.rsplit_once("```") {
        Some((block, "")) => block,
        Some(_) => return Err("the JSON object stands amid other text"),
        None => after,
    };
    let unnamed = block.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    Ok(unnamed.trim())
}

/// An error in one line of at most 160 characters: it may quote the reply, and the reply the row.
fn in_short(error: &serde_json::Error) -> String {
    in_brief(&error.to_string(), 160)
}

/// The beginning of a text, in one line.
fn in_brief(text: &str, length: usize) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.char_indices().nth(length) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}
