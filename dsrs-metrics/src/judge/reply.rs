//! From a reply to a judge's answer: finding the JSON, reading each output, holding it against its range
//! and labels. Whoever asks again is in `ask.rs`.

use std::fmt;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::signature::Signature;
use crate::record::found;

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
        match O::read(&mut self) {
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
    note = "an output is `bool`, a number, `String`, `Vec<_>`, an `Option` of these, or any type that derives\n`serde::Deserialize` and `schemars::JsonSchema` (there is a `schemars` in `dsrs_metrics::judge`)"
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
        let schema = settings.into_generator().into_root_schema_for::<T>();
        let mut schema = Value::from(schema);
        if let Value::Object(schema) = &mut schema {
            schema.remove("$schema");
            schema.remove("title");
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
        if let Some(misfit) = reply.misfit(name, &value) {
            return reply.flaw(misfit);
        }
        match T::deserialize(&value) {
            Ok(answer) => Some(answer),
            Err(error) => reply.flaw(format!("`{name}` is {}: {error}", found(&value))),
        }
    }
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

/// The one JSON object of a reply: the whole text, or the whole of its only code block.
fn object(text: &str) -> Result<Map<String, Value>, Flaw> {
    let text = text.trim();
    let flaw = |said: &str| Flaw { said: said.to_owned(), is_cut: false };
    if text.is_empty() {
        return Err(flaw("the reply is empty"));
    }
    let inside = if text.starts_with('{') { text } else { code_block(text).map_err(flaw)? };
    serde_json::from_str::<Unique>(inside).map(|object| object.0).map_err(|error| Flaw {
        said: format!("the reply is no JSON object: {error}"),
        is_cut: error.is_eof(),
    })
}

/// What stands between the first and the last fence of Markdown; the end, if there is only one.
fn code_block(text: &str) -> Result<&str, &'static str> {
    let (_, after) = text.split_once("```").ok_or("the reply is no JSON object")?;
    let block = after.rsplit_once("```").map_or(after, |(block, _)| block);
    let unnamed = block.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    Ok(unnamed.trim())
}

/// An object none of whose keys stands twice: of two verdicts neither is one.
struct Unique(Map<String, Value>);

impl<'de> serde::Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(UniqueVisitor).map(Self)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Map::new();
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            if fields.contains_key(&key) {
                return Err(serde::de::Error::custom(format!("`{key}` stands twice")));
            }
            fields.insert(key, value);
        }
        Ok(fields)
    }
}
