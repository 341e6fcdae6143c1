//! What a failed call means: which error it is, and what may be shown of it.

use std::error::Error;
use std::time::{Duration, SystemTime};

use genai::webc;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use secrecy::ExposeSecret;
use serde_json::Value;

use super::super::LmError;
use super::provider::Target;

/// The most characters that are shown of what a provider says.
const SAID: usize = 300;

/// Which error of ours `genai`'s is.
pub(super) fn failure(error: &genai::Error, target: &Target, timeout: Duration) -> LmError {
    let lm = target.id.clone();
    match error {
        genai::Error::WebModelCall { webc_error, .. }
        | genai::Error::WebAdapterCall { webc_error, .. } => web(webc_error, target, timeout),
        genai::Error::HttpError { status, body, headers, .. } => {
            status_error(status.as_u16(), body, Some(headers), target)
        }
        // Its own text quotes the whole request.
        genai::Error::ChatResponseGeneration { cause, response_body, .. } => {
            reported(response_body, target).unwrap_or_else(|| {
                let reason = format!("JSON of another form ({})", clean(cause, target));
                LmError::BadReply { lm, reason, cost_msats: None }
            })
        }
        other => LmError::Other { lm, reason: clean(&other.to_string(), target) },
    }
}

/// The client itself could not be made.
pub(super) fn setup(target: &Target, error: &genai::Error) -> LmError {
    LmError::Other { lm: target.id.clone(), reason: clean(&error.to_string(), target) }
}

/// An error that a gateway reports inside of a response with a status of success.
pub(super) fn reported(body: &Value, target: &Target) -> Option<LmError> {
    let error = [body.get("error"), body.pointer("/choices/0/error")];
    let error = error.into_iter().flatten().find(|error| !error.is_null())?;
    let code = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    let status = code.filter(|code| (400..600).contains(code)).unwrap_or(502);
    Some(status_error(status, &serde_json::json!({ "error": error }).to_string(), None, target))
}

fn web(error: &webc::Error, target: &Target, timeout: Duration) -> LmError {
    let lm = target.id.clone();
    let bad = |reason: String| LmError::BadReply { lm: lm.clone(), reason, cost_msats: None };
    match error {
        webc::Error::ResponseFailedStatus { status, body, headers } => {
            status_error(status.as_u16(), body, Some(headers), target)
        }
        webc::Error::ResponseFailedNotJson { content_type, body } => {
            bad(format!("`{content_type}` instead of JSON: {}", clean(body, target)))
        }
        webc::Error::ResponseFailedInvalidJson { cause, .. } => {
            bad(format!("broken JSON ({})", clean(cause, target)))
        }
        webc::Error::JsonValueExt(error) => {
            bad(format!("JSON of another form ({})", clean(&error.to_string(), target)))
        }
        webc::Error::Reqwest(error) => transport(error, target, timeout),
    }
}

fn transport(error: &reqwest::Error, target: &Target, timeout: Duration) -> LmError {
    let lm = target.id.clone();
    let reason = clean(&causes(error), target);
    if error.is_connect() {
        return LmError::Unreachable { lm, address: target.address(), reason };
    }
    if error.is_timeout() {
        return LmError::Timeout { lm, seconds: timeout.as_secs_f64(), cost_msats: None };
    }
    if error.is_builder() {
        return LmError::Other { lm, reason };
    }
    LmError::Disconnected { lm, reason, cost_msats: None }
}

/// An error's causes, innermost last; reqwest's outermost text quotes the address, which may hold a key.
pub(super) fn causes(error: &reqwest::Error) -> String {
    let mut texts = Vec::new();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if texts.last() != Some(&text) {
            texts.push(text);
        }
        cause = error.source();
    }
    match texts.is_empty() {
        true => "no further reason".to_owned(),
        false => texts.join(": "),
    }
}

/// Words by which providers say, under status 400 to 422, which of our errors it is.
const CONTEXT: [&str; 9] = [
    "context_length_exceeded",
    "context length",
    "context window",
    "contextwindowexceeded",
    "prompt is too long",
    "input is too long",
    "maximum context",
    "exceeds the maximum number of tokens",
    "too many tokens",
];
const SCHEMA: [&str; 7] = [
    "response_format",
    "json_schema",
    "responsejsonschema",
    "response_schema",
    "output_config",
    "output_format",
    "structured output",
];
const MODEL: [&str; 5] =
    ["model_not_found", "invalid model", "does not exist", "not_found_error", "unknown model"];
/// Under status 400: Gemini's words, and what a LiteLLM proxy without a database says of a wrong key.
const KEY: [&str; 2] = ["api key not valid", "no_db_connection"];
const QUOTA: [&str; 3] = ["insufficient_quota", "credit balance", "billing_hard_limit"];

fn status_error(status: u16, body: &str, headers: Option<&HeaderMap>, target: &Target) -> LmError {
    let lm = target.id.clone();
    let said = said(body, target);
    let retry_after = headers.and_then(retry_after);
    let words = body.to_lowercase();
    let says = |list: &[&str]| list.iter().any(|word| words.contains(word));
    let about_request = matches!(status, 400 | 404 | 413 | 415 | 422);
    match status {
        402 => LmError::QuotaExhausted { lm, said },
        _ if matches!(status, 400 | 403 | 429) && says(&QUOTA) => {
            LmError::QuotaExhausted { lm, said }
        }
        401 | 403 => refused_key(status, said, target),
        400 if says(&KEY) => refused_key(status, said, target),
        429 => LmError::RateLimited { lm, retry_after, said },
        _ if about_request && says(&CONTEXT) => LmError::ContextTooLong { lm, said },
        _ if about_request && says(&SCHEMA) => LmError::SchemaUnsupported { lm, said },
        400 | 422 if parameter(body).is_some() => {
            let parameter = parameter(body).unwrap_or_default().to_owned();
            LmError::ParameterUnsupported { lm, parameter, said }
        }
        404 => LmError::ModelNotFound { lm, said },
        _ if about_request && says(&MODEL) => LmError::ModelNotFound { lm, said },
        _ => LmError::Status { lm, status, retry_after, said },
    }
}

/// The sampling parameter that a provider does not take: OpenAI's reasoning models know no temperature.
fn parameter(body: &str) -> Option<&'static str> {
    const NAMES: [&str; 5] =
        ["temperature", "top_p", "seed", "max_completion_tokens", "max_tokens"];
    let words = body.to_lowercase();
    let unsupported = ["unsupported", "not supported", "does not support", "deprecated"];
    let named = |name: &&str| {
        let is_quoted = ["'", "`", "\""].iter().any(|q| words.contains(&format!("{q}{name}{q}")));
        // A LiteLLM proxy: "gpt-5-mini doesn't support temperature=0.0".
        is_quoted || words.contains(&format!(" {name}="))
    };
    unsupported.iter().any(|word| words.contains(word)).then(|| NAMES.into_iter().find(named))?
}

fn refused_key(status: u16, said: String, target: &Target) -> LmError {
    let lm = target.id.clone();
    let variable = target.key_variable.clone();
    match target.key {
        None => LmError::NoKey { lm, variable },
        Some(_) => LmError::KeyRefused { lm, status, variable, said },
    }
}

/// `Retry-After` in seconds or as a date, its finer non-standard sibling, or what a LiteLLM proxy passes on.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let millis = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok());
    if let Some(millis) = millis {
        return Duration::try_from_secs_f64(millis / 1000.0).ok();
    }
    let text = text(RETRY_AFTER.as_str()).or_else(|| text("llm_provider-retry-after"))?;
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}

/// What the provider says, in one line: the message within its JSON, or the text.
fn said(body: &str, target: &Target) -> String {
    let message = serde_json::from_str::<Value>(body).ok().and_then(|value| {
        let places = ["/error/message", "/message", "/error", "/detail", "/0/error/message"];
        let mut texts = places.iter().filter_map(|place| value.pointer(place)?.as_str());
        texts.next().map(str::to_owned)
    });
    match clean(message.as_deref().unwrap_or(body), target) {
        text if text.is_empty() => "nothing".to_owned(),
        text => text,
    }
}

/// One line of at most [`SAID`] characters, without anything that may be a key.
fn clean(text: &str, target: &Target) -> String {
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // What is shorter is no secret, but `none` or `EMPTY` for a server that wants anything at all.
    let is_secret = |key: &&str| key.len() >= 6;
    if let Some(key) = target.key.as_ref().map(ExposeSecret::expose_secret).filter(is_secret) {
        text = text.replace(key, "***");
    }
    let edge = |c: char| c.is_whitespace() || "\"'`,;:()[]{}<>=".contains(c);
    let mut shown = String::with_capacity(text.len());
    for piece in text.split_inclusive(edge) {
        let word = piece.trim_end_matches(edge);
        match looks_secret(word, target) {
            true => {
                shown.push_str("***");
                shown.push_str(&piece[word.len()..]);
            }
            false => shown.push_str(piece),
        }
    }
    match shown.char_indices().nth(SAID) {
        Some((at, _)) => format!("{}...", &shown[..at]),
        None => shown,
    }
}

/// A word that is, or was made from, a key: by its first letters, masked by the provider, a hash, or a
/// piece of ours.
fn looks_secret(word: &str, target: &Target) -> bool {
    const PREFIXES: [&str; 8] = ["sk-", "sk_", "pk-", "AIza", "gsk_", "xai-", "hf_", "key-"];
    let ours = || {
        let key = target.key.as_ref().map_or("", ExposeSecret::expose_secret);
        word.len() >= 6 && key.contains(word.trim_matches('.'))
    };
    let hash = || word.len() >= 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let prefixed = || word.len() > 6 && PREFIXES.iter().any(|prefix| word.starts_with(prefix));
    word.contains("**") || hash() || prefixed() || ours()
}
