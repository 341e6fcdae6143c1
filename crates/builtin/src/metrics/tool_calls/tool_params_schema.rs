//! Validates a tool call's parameters against the tool's JSON Schema.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::contract::{Check, TypeHelp, Unscored, ValueType};
use crate::json::{TooDeep, is_too_deep};
use crate::messages::escape;
use crate::syntax::schema_pattern_size;
use crate::{metric, within_deadline};

/// The maximum number of backtracking steps when matching a pattern against one string. Look-around and backreferences
/// need backtracking; this limit stops a catastrophic pattern in well under a second.
const BACKTRACK_LIMIT: usize = 1_000_000;

/// The maximum number of errors in the feedback.
const MAX_ERRORS: usize = 10;

/// The maximum length of one message in the feedback, in bytes. A message can quote a value of any length.
const MAX_MESSAGE_BYTES: usize = 400;

/// The maximum time for a validation that follows references. A validator follows a `$ref` each time it meets one and
/// cannot be interrupted. If each definition refers to the next one twice, each definition doubles the work.
const MAX_TIME: Duration = Duration::from_secs(5);

/// The maximum number of references in a schema. The validator recurses for each reference, at each level of a value.
const MAX_REFERENCES: usize = 1_000;

/// The maximum size of all patterns in the schemas, with repetitions written out. At this size, they compile in half a
/// second.
const MAX_PATTERNS: u64 = 2_000_000;

/// Passes if the parameters of the tool call match the tool's JSON Schema.
///
/// The result is pass or fail. The feedback lists up to ten errors, each with its JSON pointer.
///
/// The metric reads `pred.tool` and `pred.params`. The schemas come from the `schemas` parameter, or from
/// `gold.schemas` if a row has its own tools.
///
/// The call fails if `tool` is missing or has no schema.
///
/// Models often write the parameters as a string. If the string contains JSON, it is parsed.
///
/// A schema can select its draft with `$schema`: 4, 6, 7, 2019-09 or 2020-12, which is the default. The `format`
/// keyword is not checked, as in Python's `jsonschema`.
///
/// The metric does not fetch schemas, so a `$ref` must resolve within the schema.
///
/// If a schema in the configuration is invalid, the run fails before the first row. If a schema in a row is invalid, or
/// a pattern takes too long, only that row fails with an error.
///
/// A schema is also invalid if it is too expensive to check. It can have at most 1,000 references. All patterns
/// together can have at most 2 million characters, with repetitions written out.
///
/// If the validation takes more than 5 seconds, the call fails. Each message in the feedback quotes at most 400 bytes.
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
    /// The JSON Schemas of the tools, as a JSON object from tool name to schema.
    #[param(default)]
    schemas: &ToolSchemas,
) -> Result<Check, Unscored> {
    let own = own.map(ToolSchemas::from_json).transpose();
    let own = own.map_err(Unscored::because)?;
    let schemas = own.as_ref().unwrap_or(schemas);
    if schemas.0.is_empty() {
        let reason = "no schemas; set `schemas`, or add `gold.schemas` to the row";
        return Err(Unscored::because(reason));
    }
    let Some(found) = schemas.0.get(tool) else {
        let tools: Vec<&str> = schemas.0.keys().map(String::as_str).collect();
        let (tool, tools) = (bounded(tool), bounded(tools.join("`, `")));
        let message = format!("unknown tool `{tool}`; expected one of `{tools}`");
        return Ok(Check::fail(message));
    };
    let params = parsed(params.unwrap_or(&Value::Null));
    if is_too_deep(&params) {
        let reason = format!("field `pred.params` contains {TooDeep}");
        return Err(Unscored::Because(reason));
    }
    if !found.has_references {
        return validate(&found.validator, &params);
    }
    let (schemas, tool, params) = (schemas.clone(), tool.to_owned(), params.into_owned());
    let validation = move || validate(&schemas.0[&tool].validator, &params);
    match within_deadline(MAX_TIME, validation) {
        Ok(Some(result)) => result,
        Ok(None) => Ok(Check::fail(format!(
            "validation took longer than {} s",
            MAX_TIME.as_secs()
        ))),
        Err(error) => Err(Unscored::because(error)),
    }
}

/// Returns the parameters, parsed if they are a string that contains JSON.
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
                "a pattern in the schema takes too long: {}",
                bounded(error)
            )));
        }
        match at {
            MAX_ERRORS => messages.push("more".to_owned()),
            at if at < MAX_ERRORS => messages.push(describe(&error)),
            _ => break,
        }
    }
    let failure = (!messages.is_empty()).then(|| messages.join("; "));
    Ok(Check::unless(failure))
}

fn describe(error: &ValidationError<'_>) -> String {
    let location = match error.instance_path().as_str() {
        "" => "the parameters",
        pointer => pointer,
    };
    bounded(format_args!("{location}: {error}"))
}

/// Cuts a message at [`MAX_MESSAGE_BYTES`].
fn bounded(message: impl fmt::Display) -> String {
    let mut text = message.to_string();
    if text.len() > MAX_MESSAGE_BYTES {
        let mut ends = (0..=MAX_MESSAGE_BYTES).rev();
        let end = ends.find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or(0));
        text.push_str(" ..");
    }
    text
}

/// The compiled JSON Schemas of tools, by tool name.
#[derive(Clone, Default)]
pub struct ToolSchemas(Arc<IndexMap<String, Tool>>);

/// A schema and its compiled form.
struct Tool {
    schema: Value,
    validator: Validator,
    has_references: bool,
}

/// The error returned when a tool's schema is not a valid JSON Schema.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schema of tool `{tool}` is invalid: {reason}")]
pub struct InvalidSchema {
    /// The name of the tool.
    pub tool: String,
    /// The reason the schema is invalid, with a JSON pointer to the error.
    pub reason: String,
}

dsrs_metrics_values::debug_as_display!(InvalidSchema);

impl ToolSchemas {
    /// Compiles schemas from `(tool name, schema)` pairs.
    ///
    /// # Errors
    /// Returns [`InvalidSchema`] for the first invalid schema. A schema is invalid if it violates its draft, has an
    /// unresolvable `$ref`, or is too expensive to check.
    pub fn new<'s, N: Into<String>>(
        schemas: impl IntoIterator<Item = (N, &'s Value)>,
    ) -> Result<Self, InvalidSchema> {
        let mut patterns = 0;
        let mut tools = IndexMap::new();
        for (tool, schema) in schemas {
            let tool = tool.into();
            match compiled(schema, &mut patterns) {
                Ok(compiled) => tools.insert(tool, compiled),
                Err(reason) => return Err(InvalidSchema { tool, reason }),
            };
        }
        Ok(Self(Arc::new(tools)))
    }

    fn from_json(schemas: &Value) -> Result<Self, String> {
        match schemas {
            deep if is_too_deep(deep) => Err(format!("the schemas are {TooDeep}")),
            Value::Object(schemas) => Self::new(schemas).map_err(|error| error.to_string()),
            _ => Err("expected a JSON object that maps tool names to schemas".to_owned()),
        }
    }
}

/// Compiles a schema, and adds the size of its patterns to the size for the earlier schemas.
fn compiled(schema: &Value, patterns: &mut u64) -> Result<Tool, String> {
    if is_too_deep(schema) {
        return Err(TooDeep.to_string());
    }
    let (size, references) = measure(schema);
    *patterns = patterns.saturating_add(size);
    if *patterns > MAX_PATTERNS {
        return Err(format!(
            "its patterns expand to more than {MAX_PATTERNS} characters; use smaller repetition counts"
        ));
    }
    if references > MAX_REFERENCES {
        return Err(format!("it has more than {MAX_REFERENCES} references"));
    }
    let schema = schema.clone();
    let build = move || {
        let patterns = PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT);
        let options = jsonschema::options()
            .should_validate_formats(false)
            .with_pattern_options(patterns);
        let validator = options.build(&schema);
        let validator = validator.map_err(|error| match error.instance_path().as_str() {
            "" => bounded(error),
            pointer => bounded(format_args!("{pointer}: {error}")),
        })?;
        Ok(Tool {
            schema,
            validator,
            has_references: references > 0,
        })
    };
    within_deadline(MAX_TIME, build)
        .map_err(|error| error.to_string())?
        .ok_or_else(|| format!("it takes more than {} s to compile", MAX_TIME.as_secs()))?
}

/// Returns the total size of a schema's patterns, and the number of its references.
fn measure(schema: &Value) -> (u64, usize) {
    let (mut patterns, mut references) = (0_u64, 0);
    let mut pattern =
        |pattern: &str| patterns = patterns.saturating_add(schema_pattern_size(pattern));
    let mut rest = vec![schema];
    while let Some(schema) = rest.pop() {
        rest.extend(schema.as_array().into_iter().flatten());
        for (key, member) in schema.as_object().into_iter().flatten() {
            match (key.as_str(), member) {
                ("pattern", Value::String(text)) => pattern(text),
                ("patternProperties", Value::Object(all)) => all.keys().for_each(|it| pattern(it)),
                ("$ref" | "$dynamicRef" | "$recursiveRef", _) => references += 1,
                _ => {}
            }
            rest.push(member);
        }
    }
    (patterns, references)
}

impl fmt::Debug for ToolSchemas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: Vec<_> = self.0.keys().collect();
        f.debug_tuple("ToolSchemas").field(&tools).finish()
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
    const HELP: TypeHelp = TypeHelp::new("a JSON object that maps tools to schemas");
}
