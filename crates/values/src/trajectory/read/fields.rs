//! Reads values of the expected kind and JSON in strings, and describes unexpected values.

use serde_json::{Map, Value};

use crate::json::read::UniqueKeys;
use crate::json::{MAX_VALUES, found, is_too_large};
use crate::messages::escape::escaped;
use crate::trajectory::{Role, TokenUsage};

/// Parses JSON that may come from a row, and rejects duplicate keys.
pub(super) fn parsed(json: &str) -> Result<Value, String> {
    if is_too_large(json, MAX_VALUES) {
        return Err(format!("it has more than {MAX_VALUES} values"));
    }
    match serde_json::from_str(json) {
        Ok(UniqueKeys(value)) => Ok(value),
        Err(error) => Err(escaped(&error.to_string()).into_owned()),
    }
}

/// Returns the message for a key whose value has the wrong kind.
pub(super) fn unexpected(key: &str, expected: &str, value: &Value) -> String {
    format!("`{key}`: expected {expected}, found {}", found(value))
}

/// Returns an item of a list as an object.
pub(super) fn object(value: Value) -> Result<Map<String, Value>, String> {
    match value {
        Value::Object(object) => Ok(object),
        other => Err(format!("expected an object, found {}", found(&other))),
    }
}

/// Returns a list that may be missing.
pub(super) fn list(key: &str, value: Option<Value>) -> Result<Vec<Value>, String> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => Ok(items),
        Some(other) => Err(unexpected(key, "a list", &other)),
    }
}

/// Returns a string that must be present.
pub(super) fn required<'v>(object: &'v Map<String, Value>, key: &str) -> Result<&'v str, String> {
    let value = object.get(key).unwrap_or(&Value::Null);
    let text = value.as_str();
    text.ok_or_else(|| unexpected(key, "a string", value))
}

/// Removes a string that may be missing.
pub(super) fn string(object: &mut Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match object.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(unexpected(key, "a string", &other)),
    }
}

/// Reads the items in a list. If an item is invalid, the error gives its number.
pub(super) fn each<T>(
    noun: &str,
    items: Vec<Value>,
    mut read: impl FnMut(Value) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let numbered =
        |(number, item)| read(item).map_err(|reason| format!("{noun} {number}: {reason}"));
    (1_usize..).zip(items).map(numbered).collect()
}

/// A part of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Name,
    Args,
    Result,
    /// An object with the other parts, or a string with the name.
    Inner,
    /// The reason why the model's arguments could not be read.
    ArgsError,
    /// A known key that does not hold a part of the call. Some of these keys say that the call failed.
    Ignored,
}

/// The keys for a call's id, in order of precedence.
pub(super) const IDS: &str = "call_id tool_call_id tool_use_id tool_id id";

/// The keys for each part. If a call has several ids, results refer to the first one in this order.
const KEYS: [(Part, &str); 7] = [
    (Part::Name, "name function_name tool tool_name action"),
    (
        Part::Args,
        "args arguments input input_parameters parameters params kwargs payload tool_args tool_arguments tool_input tool_kwargs \
         tool_parameters action_input function_args function_arguments",
    ),
    (
        Part::Result,
        "result output response observation tool_output",
    ),
    (
        Part::Inner,
        "function custom function_call tool_call tool_use tool_invocation",
    ),
    (Part::ArgsError, "parse_error"),
    (Part::Ignored, IDS),
    (
        Part::Ignored,
        "type kind part_kind block_type tool_call_type index step description reasoning thought log message_log title view \
         metadata extra extra_content provider_metadata provider_options call_provider_metadata result_provider_metadata \
         provider_executed cache_control caller thought_signature signature parsed_arguments internal dynamic invalid preliminary \
         server_name server_label namespace approval_request_id timestamp created_at started_at completed_at start_time end_time \
         duration duration_ms latency status state error error_text is_error failed success",
    ),
];

/// What a block of a message contains.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    Text,
    Call,
    Result,
    /// Images, files, reasoning and sources.
    Other,
}

const BLOCKS: [(Block, &str); 4] = [
    (Block::Text, "text input_text output_text"),
    (
        Block::Call,
        "tool_use tool_call function_call custom_tool_call tool_invocation dynamic_tool invalid_tool_call",
    ),
    (
        Block::Result,
        "tool_result tool_call_response tool_error function_response function_call_output custom_tool_call_output",
    ),
    (
        Block::Other,
        "image image_url input_image audio input_audio output_audio video video_url file input_file document media data blob uri \
         thinking redacted_thinking reasoning reasoning_content refusal search_result container_upload source source_url \
         source_document step_start cache_point guard_content inline_data file_data executable_code code_execution_result \
         tool_approval_request tool_approval_response",
    ),
];

/// Returns the part of a call that a key names.
pub(super) fn part_of(key: &str) -> Option<Part> {
    let is_known = |(_, keys): &&(Part, &str)| position(keys, key).is_some();
    KEYS.iter().find(is_known).map(|(part, _)| *part)
}

/// Returns what a block of this type contains. Tools that the provider runs have types such as `server_tool_use` and
/// `web_search_tool_result`.
pub(super) fn block_of(kind: &str) -> Option<Block> {
    let is_known = |(_, kinds): &&(Block, &str)| position(kinds, kind).is_some();
    let known = BLOCKS.iter().find(is_known);
    known.map(|(block, _)| *block).or_else(|| match kind {
        kind if kind.ends_with("_tool_use") => Some(Block::Call),
        kind if kind.ends_with("_tool_result") => Some(Block::Result),
        _ => None,
    })
}

/// The keys of a message's lists of calls. The last list has the calls whose arguments are not JSON.
pub(super) const LISTS: &str = "tool_calls tool_invocations tools_called invalid_tool_calls";

/// The roles, and the names for each of them.
const ROLES: [(Role, &str); 4] = [
    (Role::System, "system developer"),
    (Role::User, "user human"),
    (Role::Assistant, "assistant ai agent model bot gpt chatgpt"),
    (
        Role::Tool,
        "tool function ipython observation tool_response function_response",
    ),
];

/// Returns the role that a name stands for.
pub(super) fn role_of(name: &str) -> Option<Role> {
    let mut roles = ROLES.iter();
    let role = roles.find(|(_, names)| position(names, name).is_some());
    role.map(|(role, _)| *role)
}

/// Returns the position of a key in a space-separated list.
pub(super) fn position(keys: &str, key: &str) -> Option<usize> {
    let key = plain(key);
    keys.split(' ').position(|known| {
        let letters = known.bytes().filter(|byte| *byte != b'_');
        letters.eq(key.bytes())
    })
}

/// Returns a key in lower case, without `_` and `-`.
pub(super) fn plain(key: &str) -> String {
    key.to_ascii_lowercase().replace(['_', '-'], "")
}

/// Returns `true` if a value is null or empty, and so says nothing.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The keys for prompt tokens. Anthropic reports cached tokens separately, so they are added. The last key is ATIF's.
const INPUT: &str = "prompt_tokens input_tokens cache_creation_input_tokens cache_read_input_tokens total_prompt_tokens";

/// The keys for reply tokens.
const OUTPUT: &str = "completion_tokens output_tokens total_completion_tokens";

/// Reads an object's `usage`, `metrics` or `final_metrics`. Returns `None` if there are no tokens.
pub(super) fn usage(object: &Map<String, Value>, key: &str) -> Result<Option<TokenUsage>, String> {
    let usage = object.get(key).unwrap_or(&Value::Null);
    let (input, output) = (tokens(usage, INPUT)?, tokens(usage, OUTPUT)?);
    Ok(input.or(output).map(|_| TokenUsage {
        input_tokens: input.unwrap_or(0),
        output_tokens: output.unwrap_or(0),
    }))
}

/// Returns the sum of the numbers under these keys, or `None` if there are none.
fn tokens(usage: &Value, keys: &str) -> Result<Option<u64>, String> {
    let mut sum = None::<u64>;
    for key in keys.split(' ') {
        let number = &usage[key];
        if !number.is_null() {
            let tokens = number.as_u64();
            let tokens = tokens.ok_or_else(|| unexpected(key, "a number of tokens", number))?;
            sum = Some(sum.unwrap_or(0).saturating_add(tokens));
        }
    }
    Ok(sum)
}
