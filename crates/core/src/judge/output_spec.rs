//! One output of a judge: its JSON schema, its limits, and its description in the prompt.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::Each;
use super::steps::number_items;
use crate::spec::ScoreRange;

/// One output of a judge.
///
/// ```
/// use dsrs_metrics::judge::{Judge, shipped::SemanticF1};
///
/// let schema = SemanticF1::signature().schema();
/// let recall = &schema["properties"]["recall"];
/// assert_eq!((&recall["minimum"], &recall["maximum"]), (&0.0.into(), &1.0.into()));
/// ```
#[derive(Debug, Clone, Default)]
pub struct OutputSpec {
    pub(super) name: &'static str,
    pub(super) desc: &'static str,
    pub(super) schema: Value,
    pub(super) range: Option<ScoreRange>,
    pub(super) labels: &'static [&'static str],
    /// The list that determines how many items the output has.
    pub(super) each: Option<Each>,
    /// The list that this output's items cite by number, in the field with the list's name.
    pub(super) cites: Option<&'static str>,
    /// The maximum number of items in a list.
    pub(super) max_items: Option<usize>,
}

impl OutputSpec {
    /// Creates an output with the given JSON schema.
    #[doc(hidden)]
    pub fn new(name: &'static str, desc: &'static str, schema: Value) -> Self {
        Self {
            name,
            desc,
            schema,
            ..Self::default()
        }
    }

    setters! {
        /// Sets the range of the output's values.
        #[doc(hidden)]
        pub fn in_range(min: f64, max: f64) => range = Some(ScoreRange { min, max });

        /// Sets the values that the output can have.
        #[doc(hidden)]
        pub fn labelled(labels: &'static [&'static str]) => labels = labels;

        /// Sets the list that determines how many items the output has.
        ///
        /// The output has one item for each item in that list.
        #[doc(hidden)]
        pub fn each(each: Each) => each = Some(each);

        /// Sets the list that this output cites.
        ///
        /// The output refers to the items of the list by number.
        #[doc(hidden)]
        pub fn cites(list: &'static str) => cites = Some(list);

        /// Sets the maximum number of items in a list.
        #[doc(hidden)]
        pub fn max_items(items: usize) => max_items = Some(items);
    }

    /// Returns the JSON schema, including the range and labels.
    pub(super) fn full_schema(&self) -> Value {
        let mut schema = self.schema.clone();
        if self.each.is_some() {
            number_items(&mut schema);
        }
        if let Value::Object(schema) = &mut schema {
            if let Some(range) = self.range {
                schema.insert("minimum".to_owned(), json!(range.min));
                schema.insert("maximum".to_owned(), json!(range.max));
            }
            if !self.labels.is_empty() {
                schema.insert("enum".to_owned(), json!(self.labels));
            }
            if !self.desc.is_empty() {
                schema.insert("description".to_owned(), json!(self.desc));
            }
        }
        schema
    }

    /// Describes the value's format for the prompt.
    pub(super) fn format(&self) -> String {
        if let Some(limit) = self.max_items {
            return format!("{}, at most {limit} items", self.format_of(&self.schema));
        }
        if let Some(each) = &self.each {
            let schema = &self.full_schema();
            let cited = self.cites.map(|list| {
                format!(" and the numbers of items of `{list}`, counted from 1, as `{list}`")
            });
            return format!(
                "{}, exactly one item for each item of `{}`, in the same order, with its number as `item`{}",
                self.format_of(schema),
                each.list,
                cited.unwrap_or_default()
            );
        }
        if let Some(ScoreRange { min, max }) = self.range {
            let is_integer = self.schema["type"] == "integer";
            let what = if is_integer { "integer" } else { "number" };
            return format!("{what} from {min} to {max}");
        }
        if !self.labels.is_empty() {
            let quoted = |label: &&str| json!(label).to_string();
            let labels: Vec<String> = self.labels.iter().map(quoted).collect();
            return format!("one of {}", labels.join(", "));
        }
        self.format_of(&self.schema)
    }

    fn format_of(&self, schema: &Value) -> String {
        match schema["type"].as_str() {
            Some("number") => "number".to_owned(),
            Some("integer") => "integer".to_owned(),
            Some("boolean") => "true or false".to_owned(),
            Some("string") if schema.get("enum").is_none() => "string".to_owned(),
            _ => format!("JSON matching the schema {schema}"),
        }
    }
}

/// Adapts a schema for providers, which require `additionalProperties: false` and reject number formats.
pub(super) fn closed(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if matches!(fields.get("type"), Some(kind) if kind == "number" || kind == "integer") {
                fields.remove("format");
            }
            if fields.contains_key("properties") {
                fields
                    .entry("additionalProperties")
                    .or_insert(Value::Bool(false));
            }
            fields.values_mut().for_each(closed);
        }
        Value::Array(items) => items.iter_mut().for_each(closed),
        _ => {}
    }
}

/// The offline stand-in for a judge.
///
/// To set a stand-in, write `#[judge(offline = path)]`.
#[derive(Clone)]
#[doc(hidden)]
pub struct Offline(Arc<OfflineFn>);

type OfflineFn = dyn Fn(&[Option<&str>]) -> Map<String, Value> + Send + Sync;

impl Offline {
    pub(super) fn answer(&self, inputs: &[Option<&str>]) -> Map<String, Value> {
        (self.0)(inputs)
    }
}

debug_fields!(Offline: |_offline|);

/// A function that replaces a judge's model in offline runs.
///
/// A run is offline if you call `.offline()` or pass `--offline`.
///
/// The arguments are the inputs as strings, in the order of the signature. An argument is `None` if the row lacks the
/// input.
///
/// The function returns the outputs by name. You can leave out `reasoning`.
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
    message = "`offline` must name a function that maps the judge's inputs to its outputs",
    label = "not a function that maps the inputs to the outputs",
    note = "write `fn name(inputs: &[Option<&str>]) -> serde_json::Map<String, serde_json::Value>`: the inputs as strings, in\nthe order of the struct, and the outputs by name"
)]
pub trait AnswersOffline {
    /// Converts a function into an offline stand-in.
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
