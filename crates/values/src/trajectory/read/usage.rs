//! Numbers of tokens under the names of OpenAI, Anthropic and ATIF.

use serde_json::Value;

use super::fields::unexpected;
use crate::trajectory::message::TokenUsage;

/// The keys of the tokens of prompts. Of Anthropic, the last two count besides the first.
const INPUT: [&str; 4] = [
    "prompt_tokens",
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
];

/// The keys of the tokens of replies.
const OUTPUT: [&str; 2] = ["completion_tokens", "output_tokens"];

/// Reads an object `usage` or `metrics`; `None` if it has no tokens.
pub(super) fn read(usage: &Value) -> Result<Option<TokenUsage>, String> {
    sum(usage, &INPUT, &OUTPUT)
}

/// Reads the object `final_metrics` of ATIF.
pub(super) fn read_total(metrics: &Value) -> Result<Option<TokenUsage>, String> {
    sum(
        metrics,
        &["total_prompt_tokens"],
        &["total_completion_tokens"],
    )
}

fn sum(usage: &Value, input: &[&str], output: &[&str]) -> Result<Option<TokenUsage>, String> {
    match (tokens(usage, input)?, tokens(usage, output)?) {
        (None, None) => Ok(None),
        (input, output) => Ok(Some(TokenUsage {
            input_tokens: input.unwrap_or(0),
            output_tokens: output.unwrap_or(0),
        })),
    }
}

/// Returns the sum of the numbers under these keys; `None` if there is none.
fn tokens(usage: &Value, keys: &[&str]) -> Result<Option<u64>, String> {
    let mut sum = None::<u64>;
    for key in keys {
        let number = match usage.get(*key) {
            None | Some(Value::Null) => continue,
            Some(number) => number,
        };
        let Some(tokens) = number.as_u64() else {
            return Err(unexpected(key, "a number of tokens", number));
        };
        sum = Some(sum.unwrap_or(0).saturating_add(tokens));
    }
    Ok(sum)
}
