//! What a judge asks, apart from any row: instruction, inputs, outputs, and how it is asked unless its
//! user says otherwise. `#[judge]` writes one; the prompt is made in `prompt.rs`.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value, json};

use super::models::JudgeModel;
use super::offline::Offline;
use super::panel::Aggregation;
use super::prompt::system;
use super::untrusted::Content;
use crate::core::spec::{MetricSpec, ScoreRange};
use crate::lm::{ReplySchema, Sampling};

/// The seed of every request unless a judge is repeated: at temperature 0 and with a seed, equal questions
/// get equal answers as far as the provider can keep that promise.
const SEED: u64 = 42;

/// What a judge asks.
#[derive(Debug, Clone)]
pub struct Signature {
    pub(super) purpose: String,
    pub(super) instruction: String,
    pub(super) inputs: Vec<(&'static str, &'static str)>,
    pub(super) outputs: Vec<OutputSpec>,
    pub(super) temperature: f64,
    pub(super) max_tokens: Option<u32>,
    pub(super) pairwise: Option<(usize, usize)>,
    pub(super) models: Vec<JudgeModel>,
    pub(super) aggregation: Option<Aggregation>,
    pub(super) max_concurrent: Option<usize>,
    pub(super) quorum: Option<usize>,
    pub(super) offline: Option<Offline>,
    name: String,
    reply: OnceLock<Arc<ReplySchema>>,
    plain_system: OnceLock<String>,
}

/// One output of a judge.
#[derive(Debug, Clone)]
pub struct OutputSpec {
    pub(super) name: &'static str,
    pub(super) desc: &'static str,
    pub(super) schema: Value,
    pub(super) range: Option<ScoreRange>,
    pub(super) labels: &'static [&'static str],
}

impl OutputSpec {
    /// An output of the form `schema`.
    #[doc(hidden)]
    #[must_use]
    pub fn new(name: &'static str, desc: &'static str, schema: Value) -> Self {
        Self { name, desc, schema, range: None, labels: &[] }
    }

    /// Every value lies in this interval.
    #[doc(hidden)]
    #[must_use]
    pub fn in_range(mut self, min: f64, max: f64) -> Self {
        self.range = Some(ScoreRange { min, max });
        self
    }

    /// Every value is one of these.
    #[doc(hidden)]
    #[must_use]
    pub fn labelled(mut self, labels: &'static [&'static str]) -> Self {
        self.labels = labels;
        self
    }

    /// The JSON schema with range and labels.
    fn whole_schema(&self) -> Value {
        let mut schema = self.schema.clone();
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

    /// The form of the value in words.
    pub(super) fn form(&self) -> String {
        if let Some(ScoreRange { min, max }) = self.range {
            let what = if self.schema["type"] == "integer" { "whole number" } else { "number" };
            return format!("{what} from {min} to {max}");
        }
        if !self.labels.is_empty() {
            let labels: Vec<String> =
                self.labels.iter().map(|label| json!(label).to_string()).collect();
            return format!("one of {}", labels.join(", "));
        }
        match self.schema["type"].as_str() {
            Some("number") => "number".to_owned(),
            Some("integer") => "whole number".to_owned(),
            Some("boolean") => "true or false".to_owned(),
            Some("string") if self.schema.get("enum").is_none() => "text".to_owned(),
            _ => format!("JSON of the schema {}", self.schema),
        }
    }
}

impl Signature {
    /// A judge that is shown nothing and answers nothing yet.
    #[doc(hidden)]
    #[must_use]
    pub fn new(spec: &MetricSpec<'_>, instruction: &str) -> Self {
        Self {
            purpose: format!("judge {} version {}", spec.name, spec.version),
            instruction: instruction.to_owned(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            temperature: 0.0,
            max_tokens: None,
            pairwise: None,
            models: Vec::new(),
            aggregation: None,
            max_concurrent: None,
            quorum: None,
            offline: None,
            name: spec.name.to_owned(),
            reply: OnceLock::new(),
            plain_system: OnceLock::new(),
        }
    }

    /// The instruction.
    #[must_use]
    pub fn instruction(&self) -> &str {
        &self.instruction
    }

    /// The JSON schema of the answer.
    #[must_use]
    pub fn schema(&self) -> Value {
        let mut properties = Map::new();
        let mut definitions = Map::new();
        for output in &self.outputs {
            let mut schema = output.whole_schema();
            if let Some(Value::Object(own)) = schema.as_object_mut().and_then(|s| s.remove("$defs"))
            {
                add_definitions(&mut definitions, own, &mut schema);
            }
            properties.insert(output.name.to_owned(), schema);
        }
        let names: Vec<&str> = self.outputs.iter().map(|output| output.name).collect();
        let mut schema = json!({
            "type": "object",
            "properties": properties,
            "required": names,
            "additionalProperties": false,
        });
        if !definitions.is_empty() {
            schema["$defs"] = Value::Object(definitions);
        }
        schema
    }

    /// The schema as it stands in a request, put together once.
    pub(super) fn reply_schema(&self) -> Arc<ReplySchema> {
        let schema = || Arc::new(ReplySchema::new(self.name.clone(), self.schema()));
        Arc::clone(self.reply.get_or_init(schema))
    }

    /// The system message, put together once for a judge without configuration.
    pub(super) fn system(&self, configured: &[(&'static str, Content)]) -> String {
        if configured.is_empty() {
            return self.plain_system.get_or_init(|| system(self, configured)).clone();
        }
        system(self, configured)
    }

    /// A judge that is asked again is asked with another seed, or it would only repeat itself.
    pub(super) fn sampling_of(&self, draw: u32) -> Sampling {
        Sampling {
            temperature: Some(self.temperature),
            max_tokens: self.max_tokens,
            seed: Some(SEED + u64::from(draw)),
            ..Sampling::default()
        }
    }

    pub(super) fn output_spec(&self, name: &str) -> Option<&OutputSpec> {
        self.outputs.iter().find(|output| output.name == name)
    }
}

/// Adds the definitions of one output. Types of other outputs may have their names and be others: then they are
/// called otherwise, here and wherever `schema` refers to them.
fn add_definitions(
    definitions: &mut Map<String, Value>,
    own: Map<String, Value>,
    schema: &mut Value,
) {
    let is_known = |(name, value): (&String, &Value)| definitions.get(name) == Some(value);
    if own.iter().all(is_known) {
        return;
    }
    let mut renamed: Vec<(String, String)> = Vec::new();
    for name in own.keys().filter(|name| definitions.contains_key(*name)) {
        let is_taken = |new: &String| definitions.contains_key(new) || own.contains_key(new);
        let new = (2_u32..).map(|number| format!("{name}{number}")).find(|new| !is_taken(new));
        renamed.push((name.clone(), new.unwrap_or_default()));
    }
    refer(schema, &renamed);
    for (name, mut value) in own {
        refer(&mut value, &renamed);
        let new = renamed.iter().find(|(old, _)| *old == name).map(|(_, new)| new.clone());
        definitions.insert(new.unwrap_or(name), value);
    }
}

/// Calls the definitions by their new names.
fn refer(schema: &mut Value, renamed: &[(String, String)]) {
    const DEFINITIONS: &str = "#/$defs/";
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                let reference = value.as_str().filter(|_| key == "$ref");
                let name = reference.and_then(|reference| reference.strip_prefix(DEFINITIONS));
                match renamed.iter().find(|(old, _)| Some(&**old) == name) {
                    Some((_, new)) => *value = json!(format!("{DEFINITIONS}{new}")),
                    None => refer(value, renamed),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| refer(item, renamed)),
        _ => {}
    }
}

/// What `#[judge]` writes.
#[doc(hidden)]
impl Signature {
    #[must_use]
    pub fn input(mut self, name: &'static str, desc: &'static str) -> Self {
        self.inputs.push((name, desc));
        self
    }

    #[must_use]
    pub fn reasoning(self) -> Self {
        let desc = "think step by step before you answer, in a few sentences";
        self.output(OutputSpec::new("reasoning", desc, json!({ "type": "string" })))
    }

    #[must_use]
    pub fn output(mut self, output: OutputSpec) -> Self {
        self.outputs.push(output);
        self
    }

    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = temperature;
        self
    }

    #[must_use]
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    #[must_use]
    pub fn pairwise(mut self, first: usize, second: usize) -> Self {
        self.pairwise = Some((first, second));
        self
    }

    #[must_use]
    pub fn model(mut self, model: JudgeModel) -> Self {
        self.models.push(model);
        self
    }

    #[must_use]
    pub fn repeated(mut self, model: JudgeModel, times: usize) -> Self {
        self.models.extend(std::iter::repeat_n(model, times));
        self
    }

    #[must_use]
    pub fn aggregation(mut self, aggregation: Aggregation) -> Self {
        self.aggregation = Some(aggregation);
        self
    }

    #[must_use]
    pub fn max_concurrent_judges(mut self, limit: usize) -> Self {
        self.max_concurrent = Some(limit);
        self
    }

    #[must_use]
    pub fn quorum(mut self, quorum: usize) -> Self {
        self.quorum = Some(quorum);
        self
    }

    #[must_use]
    pub fn offline(mut self, function: Offline) -> Self {
        self.offline = Some(function);
        self
    }
}
