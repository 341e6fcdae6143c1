//! Whether the parameters of a tool call are what the tool's JSON Schema asks for.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::json::depth::{self, TooDeep};
use crate::metric;
use crate::metrics::check::{Check, Unscored};

/// How many steps back a pattern may take on one text. Patterns may look around and refer back, so they are matched by
/// trial; one that explodes is stopped here, in well under a second.
const BACKTRACK_LIMIT: usize = 1_000_000;

/// How many errors the feedback tells.
const TOLD: usize = 10;

/// Whether the parameters of the tool call are valid by the tool's JSON Schema.
///
/// Passes or fails; the feedback names the JSON pointer of every error (up to ten). Reads `pred.tool`, `pred.params`, and the
/// schemas by tool from the parameter `schemas`, or from `gold.schemas` where a row has tools of its own. A tool without
/// schema fails: it is not among the tools. Parameters that are text are read as JSON if they are JSON (models
/// write them so). A schema's draft is that of its `$schema`: 4, 6, 7, 2019-09 or 2020-12, which is also the default;
/// `format` is an annotation, as in Python's `jsonschema`, and nothing is fetched: a `$ref` must be found in the schema.
/// An invalid schema in the configuration is an error before the first row, one in a row fails that row, and so does a
/// pattern that takes too long.
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
#[metric]
pub fn tool_params_schema(
    #[pred] tool: &str,
    #[pred] params: Option<&Value>,
    #[gold("schemas")] own: Option<&Value>,
    /// The tools' schemas: a JSON object from the tool's name to its schema.
    #[param(default)]
    schemas: &ToolSchemas,
) -> Result<Check, Unscored> {
    let own = own.map(ToolSchemas::read).transpose().map_err(Unscored::because)?;
    let schemas = own.as_ref().unwrap_or(schemas);
    if schemas.0.is_empty() {
        return Err(Unscored::because("no schemas: set `schemas`, or give the row `gold.schemas`"));
    }
    let Some(Tool { validator, .. }) = schemas.0.get(tool) else {
        let tools: Vec<&str> = schemas.0.keys().map(String::as_str).collect();
        let message = format!("there is no tool `{tool}`; there is `{}`", tools.join("`, `"));
        return Ok(Check::fail(message));
    };
    let params = given(params.unwrap_or(&Value::Null));
    match depth::is_too_deep(&params) {
        true => Err(Unscored::Because(format!("field `pred.params` holds {TooDeep}"))),
        false => judge(validator, &params),
    }
}

/// The parameters, which may be JSON written as text.
fn given(params: &Value) -> Cow<'_, Value> {
    let Value::String(text) = params else {
        return Cow::Borrowed(params);
    };
    serde_json::from_str(text).map_or(Cow::Borrowed(params), Cow::Owned)
}

fn judge(validator: &Validator, params: &Value) -> Result<Check, Unscored> {
    let mut told = Vec::new();
    for (at, error) in validator.iter_errors(params).enumerate() {
        if let ValidationErrorKind::BacktrackLimitExceeded { .. } = error.kind() {
            return Err(Unscored::Because(format!(
                "a pattern of the schema takes too long: {error}"
            )));
        }
        match at {
            TOLD => told.push("more".to_owned()),
            at if at < TOLD => told.push(tell(&error)),
            _ => break,
        }
    }
    Ok(Check::unless((!told.is_empty()).then(|| told.join("; "))))
}

fn tell(error: &ValidationError<'_>) -> String {
    let pointer = error.instance_path().as_str();
    let place = if pointer.is_empty() { "the parameters" } else { pointer };
    format!("{place}: {error}")
}

/// The schemas of tools, ready for use.
#[derive(Clone, Default)]
pub struct ToolSchemas(Arc<IndexMap<String, Tool>>);

/// A tool's schema, as it was given and ready for use.
struct Tool {
    schema: Value,
    validator: Validator,
}

/// A tool's schema that is no JSON Schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schema of tool `{tool}` is invalid: {reason}")]
pub struct InvalidSchema {
    /// The tool.
    pub tool: String,
    /// What is wrong, with the JSON pointer into the schema.
    pub reason: String,
}

impl ToolSchemas {
    /// Prepares the schemas, from pairs of a tool's name and its schema.
    ///
    /// # Errors
    /// [`InvalidSchema`] for the first that breaks its draft's rules or refers to what it has not.
    pub fn new<'s, N: Into<String>>(
        schemas: impl IntoIterator<Item = (N, &'s Value)>,
    ) -> Result<Self, InvalidSchema> {
        let prepared = schemas.into_iter().map(|(tool, schema)| prepare(tool.into(), schema));
        Ok(Self(Arc::new(prepared.collect::<Result<_, _>>()?)))
    }

    fn read(schemas: &Value) -> Result<Self, String> {
        match schemas {
            deep if depth::is_too_deep(deep) => Err(format!("the schemas are {TooDeep}")),
            Value::Object(schemas) => Self::new(schemas).map_err(|error| error.to_string()),
            _ => Err("schemas are a JSON object from a tool's name to its schema".to_owned()),
        }
    }
}

fn prepare(tool: String, schema: &Value) -> Result<(String, Tool), InvalidSchema> {
    if depth::is_too_deep(schema) {
        return Err(InvalidSchema { tool, reason: TooDeep.to_string() });
    }
    let patterns = PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT);
    let options =
        jsonschema::options().should_validate_formats(false).with_pattern_options(patterns);
    match options.build(schema) {
        Ok(validator) => Ok((tool, Tool { schema: schema.clone(), validator })),
        Err(error) => {
            let pointer = error.instance_path().as_str();
            let place = if pointer.is_empty() { String::new() } else { format!("{pointer}: ") };
            Err(InvalidSchema { tool, reason: format!("{place}{error}") })
        }
    }
}

impl fmt::Debug for ToolSchemas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolSchemas").field(&self.0.keys().collect::<Vec<_>>()).finish()
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
        Self::read(&schemas).map_err(serde::de::Error::custom)
    }
}
