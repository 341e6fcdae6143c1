//! Validation of a tool call's parameters against the tool's JSON Schema.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use indexmap::IndexMap;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::schema_work::{PatternBudget, SchemaWork};
use crate::core::score::check::{Check, Unscored};
use crate::core::value_type::{TypeHelp, ValueType};
use crate::json::depth::{self, TooDeep};
use crate::messages::escape;
use crate::metric;

/// The maximum number of backtracking steps of a pattern on one string. Patterns may have
/// look-around and backreferences, which need backtracking; catastrophic backtracking is stopped by
/// this limit, in well under a second.
const BACKTRACK_LIMIT: usize = 1_000_000;

/// The maximum number of errors in the feedback.
const MAX_ERRORS: usize = 10;

/// The maximum length of one message in the feedback, in bytes. A message may quote a value of any
/// length.
const MAX_MESSAGE_BYTES: usize = 400;

/// Whether the parameters of the tool call are valid against the tool's JSON Schema.
///
/// A pass or a failure; the feedback has the JSON pointer of every error, up to ten. Reads
/// `pred.tool`, `pred.params`, and the schemas by tool from the parameter `schemas`, or from
/// `gold.schemas` if a row has its own tools. A tool without a schema is unknown and fails; so does a
/// missing `tool`.
/// Parameters that are a string are parsed as JSON if possible, since models often write them so.
/// The `$schema` of a schema selects its draft: 4, 6, 7, 2019-09 or 2020-12, which is the
/// default. `format` is an annotation, as in Python's `jsonschema`. Nothing is fetched: a `$ref`
/// must resolve within the schema. An invalid schema in the configuration is an error before the
/// first row. An invalid schema in a row, or a pattern that takes too long, is an error of that
/// row.
///
/// A schema is also invalid if it would take too much work: references that lead to more than
/// 10,000 evaluations of one value, or patterns of more than 2 million characters with repetitions
/// written out. Parameters that would need more than a million evaluations, or 100 for each value
/// in them, fail; only a recursive schema can get there. Each message quotes at most 400 bytes.
///
/// ```
/// use dsrs_metrics::metrics::{ToolParamsSchema, ToolSchemas};
/// use dsrs_metrics::prelude::*;
/// use serde_json::json;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let read = json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] });
/// let metric = ToolParamsSchema::builder().schemas(ToolSchemas::new([("read", &read)])?).build();
/// let score = |params| metric.score(&example! {}, &prediction! { "tool" => "read", "params" => params });
/// assert_eq!(score(json!({ "path": "a.rs" }))?.value, 1.0);
/// assert_eq!(score(json!({ "path": 5 }))?.value, 0.0);
/// # Ok(())
/// # }
/// ```
#[metric(explain = |tool, _, _, _, score| {
    format!("Tool: {}, Params valid: {}", escape::name(tool), score == 1.0)
})]
pub fn tool_params_schema(
    #[pred(missing)] tool: &str,
    #[pred] params: Option<&Value>,
    #[gold("schemas")] own: Option<&Value>,
    /// The schemas: a JSON object from the name of a tool to its schema.
    #[param(default)]
    schemas: &ToolSchemas,
) -> Result<Check, Unscored> {
    let own = own
        .map(ToolSchemas::from_json)
        .transpose()
        .map_err(Unscored::because)?;
    let schemas = own.as_ref().unwrap_or(schemas);
    if schemas.0.is_empty() {
        return Err(Unscored::because(
            "no schemas; set `schemas`, or add `gold.schemas` to the row",
        ));
    }
    let Some(Tool {
        validator, work, ..
    }) = schemas.0.get(tool)
    else {
        let tools: Vec<&str> = schemas.0.keys().map(String::as_str).collect();
        let tools = bounded(tools.join("`, `"));
        let message = format!(
            "unknown tool `{}`; expected one of `{tools}`",
            bounded(tool)
        );
        return Ok(Check::fail(message));
    };
    let params = parsed(params.unwrap_or(&Value::Null));
    if depth::is_too_deep(&params) {
        return Err(Unscored::Because(format!(
            "field `pred.params` contains {TooDeep}"
        )));
    }
    match work.check(&params) {
        Ok(()) => validate(validator, &params),
        Err(too_much) => Ok(Check::fail(too_much)),
    }
}

/// The parameters, parsed if they are a string that contains JSON.
fn parsed(params: &Value) -> Cow<'_, Value> {
    let Value::String(json) = params else {
        return Cow::Borrowed(params);
    };
    serde_json::from_str(json).map_or(Cow::Borrowed(params), Cow::Owned)
}

fn validate(validator: &Validator, params: &Value) -> Result<Check, Unscored> {
    let mut messages = Vec::new();
    for (at, error) in validator.iter_errors(params).enumerate() {
        if let ValidationErrorKind::BacktrackLimitExceeded { .. } = error.kind() {
            return Err(Unscored::Because(format!(
                "a pattern of the schema takes too long: {}",
                bounded(error)
            )));
        }
        match at {
            MAX_ERRORS => messages.push("more".to_owned()),
            at if at < MAX_ERRORS => messages.push(describe(&error)),
            _ => break,
        }
    }
    Ok(Check::unless(
        (!messages.is_empty()).then(|| messages.join("; ")),
    ))
}

fn describe(error: &ValidationError<'_>) -> String {
    let pointer = error.instance_path().as_str();
    let location = if pointer.is_empty() {
        "the parameters"
    } else {
        pointer
    };
    bounded(format_args!("{location}: {error}"))
}

/// A message, cut at [`MAX_MESSAGE_BYTES`]. What follows is not even written.
fn bounded(message: impl fmt::Display) -> String {
    struct Bounded(String);

    impl fmt::Write for Bounded {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            let left = part.len().min(MAX_MESSAGE_BYTES - self.0.len());
            let end = (0..=left)
                .rev()
                .find(|&at| part.is_char_boundary(at))
                .unwrap_or(0);
            self.0.push_str(&part[..end]);
            if end < part.len() {
                Err(fmt::Error)
            } else {
                Ok(())
            }
        }
    }

    let mut text = Bounded(String::new());
    if write!(text, "{message}").is_err() {
        text.0.push_str(" ..");
    }
    text.0
}

/// The compiled JSON Schemas of tools, by name.
#[derive(Clone, Default)]
pub struct ToolSchemas(Arc<IndexMap<String, Tool>>);

/// A schema and its compiled form.
struct Tool {
    schema: Value,
    validator: Validator,
    work: SchemaWork,
}

/// The schema of a tool is not a valid JSON Schema.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schema of tool `{tool}` is invalid: {reason}")]
pub struct InvalidSchema {
    /// The tool.
    pub tool: String,
    /// The error, with its JSON pointer in the schema.
    pub reason: String,
}

dsrs_metrics_values::debug_as_display!(InvalidSchema);

impl ToolSchemas {
    /// Compiles schemas, given as pairs of a tool's name and its schema.
    ///
    /// # Errors
    /// [`InvalidSchema`] for the first schema that violates its draft, has an unresolvable `$ref`,
    /// or would take too much work.
    pub fn new<'s, N: Into<String>>(
        schemas: impl IntoIterator<Item = (N, &'s Value)>,
    ) -> Result<Self, InvalidSchema> {
        let mut patterns = PatternBudget::default();
        let compiled = schemas
            .into_iter()
            .map(|(tool, schema)| compile(tool.into(), schema, &mut patterns));
        Ok(Self(Arc::new(compiled.collect::<Result<_, _>>()?)))
    }

    fn from_json(schemas: &Value) -> Result<Self, String> {
        match schemas {
            deep if depth::is_too_deep(deep) => Err(format!("the schemas are {TooDeep}")),
            Value::Object(schemas) => Self::new(schemas).map_err(|error| error.to_string()),
            _ => Err("expected a JSON object from the name of a tool to its schema".to_owned()),
        }
    }
}

fn compile(
    tool: String,
    schema: &Value,
    patterns: &mut PatternBudget,
) -> Result<(String, Tool), InvalidSchema> {
    match compiled(schema, patterns) {
        Ok(compiled) => Ok((tool, compiled)),
        Err(reason) => Err(InvalidSchema { tool, reason }),
    }
}

fn compiled(schema: &Value, budget: &mut PatternBudget) -> Result<Tool, String> {
    if depth::is_too_deep(schema) {
        return Err(TooDeep.to_string());
    }
    budget.take(schema)?;
    let work = SchemaWork::of(schema)?;
    let patterns = PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT);
    let options = jsonschema::options()
        .should_validate_formats(false)
        .with_pattern_options(patterns);
    match options.build(schema) {
        Ok(validator) => Ok(Tool {
            schema: schema.clone(),
            validator,
            work,
        }),
        Err(error) => {
            let pointer = error.instance_path().as_str();
            let location = if pointer.is_empty() {
                String::new()
            } else {
                format!("{pointer}: ")
            };
            Err(bounded(format_args!("{location}{error}")))
        }
    }
}

impl fmt::Debug for ToolSchemas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolSchemas")
            .field(&self.0.keys().collect::<Vec<_>>())
            .finish()
    }
}

impl Serialize for ToolSchemas {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, tool)| (name, &tool.schema)))
    }
}

impl<'de> Deserialize<'de> for ToolSchemas {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let schemas = Value::deserialize(deserializer)?;
        Self::from_json(&schemas).map_err(serde::de::Error::custom)
    }
}

impl ValueType for ToolSchemas {
    const HELP: TypeHelp = TypeHelp::new("a JSON object from tool to schema");
}
