//! The errors for a failed call, and the part of a provider's message that may be shown.

use std::error::Error;
use std::io;
use std::time::{Duration, SystemTime};

use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER};
use secrecy::ExposeSecret;
use serde_json::Value;

use super::super::{LmError, LmErrorKind};
use super::target::{Target, redact_url};

/// The maximum number of characters shown from a provider's message.
const MAX_MESSAGE_CHARS: usize = 300;

/// Returns the error that a gateway reports inside a response with a success status.
pub(super) fn error_in_body(body: &Value, target: &Target) -> Option<LmError> {
    let error = [body.get("error"), body.pointer("/choices/0/error")];
    let error = error.into_iter().flatten().find(|error| !error.is_null())?;
    let code = error.get("code").and_then(Value::as_u64);
    let code = code.and_then(|code| u16::try_from(code).ok());
    let status = code.filter(|code| (400..600).contains(code)).unwrap_or(502);
    let body = serde_json::json!({ "error": error }).to_string();
    Some(status_error(status, &body, &HeaderMap::new(), target))
}

/// Returns the error for a successful response that is not JSON, even if its headers say so.
pub(super) fn unreadable(
    headers: &HeaderMap,
    body: &[u8],
    error: &serde_json::Error,
    target: &Target,
) -> LmError {
    let header = |name| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default()
    };
    let (encoding, content_type) = (header(CONTENT_ENCODING), header(CONTENT_TYPE));
    let reason = if !matches!(encoding, "" | "identity") {
        let found = sanitize(encoding, target);
        format!("expected JSON, found the content encoding `{found}`, which was not requested")
    } else if error.is_eof() {
        let reason = format!("invalid JSON ({})", sanitize(&error.to_string(), target));
        return LmError::new(&*target.id, LmErrorKind::TruncatedReply(reason));
    } else if content_type.to_ascii_lowercase().contains("json") {
        // Media types are case-insensitive.
        format!("invalid JSON ({})", sanitize(&error.to_string(), target))
    } else {
        let found = match sanitize(content_type, target) {
            found if found.is_empty() => "no content type".to_owned(),
            found => format!("`{found}`"),
        };
        let body = &body[..body.len().min(4 * MAX_MESSAGE_CHARS)];
        let body = sanitize(&String::from_utf8_lossy(body), target);
        format!("expected JSON, found {found}: {body}")
    };
    LmError::new(&*target.id, LmErrorKind::InvalidReply(reason))
}

/// Returns `true` if a body arrived but cannot be decoded (decompressed, or divided into chunks).
fn is_corrupt(error: &reqwest::Error) -> bool {
    let mut io_errors = sources(error).filter_map(|error| error.downcast_ref::<io::Error>());
    let corrupt = [io::ErrorKind::InvalidInput, io::ErrorKind::InvalidData];
    io_errors.any(|error| corrupt.contains(&error.kind()))
}

/// Returns the causes of an error.
fn sources(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |&error| error.source())
}

/// Returns the error for a call that did not get its whole response. `of_body` is `true` once the body is read.
pub(super) fn convert_transport(
    error: reqwest::Error,
    of_body: bool,
    target: &Target,
    timeout: Duration,
) -> LmError {
    let reason = sanitize(&causes(&error), target);
    let kind = match () {
        () if error.is_connect() => LmErrorKind::Unreachable {
            address: target.address().to_owned(),
            reason,
        },
        () if error.is_timeout() => LmErrorKind::Timeout { limit: timeout },
        () if of_body && is_corrupt(&error) => {
            LmErrorKind::InvalidReply(format!("cannot decode it ({reason})"))
        }
        () if of_body => LmErrorKind::TruncatedReply(format!("connection lost ({reason})")),
        () if error.is_builder() => LmErrorKind::Other(reason),
        () => LmErrorKind::Disconnected(reason),
    };
    // The URL may contain a key.
    LmError::new(&*target.id, kind).with_source(error.without_url())
}

/// Returns the messages of an error's causes, outermost first. The error's own message is left out because it quotes
/// the URL, which may contain a key.
pub(super) fn causes(error: &reqwest::Error) -> String {
    let mut messages: Vec<String> = sources(error).map(ToString::to_string).collect();
    messages.dedup();
    if messages.is_empty() {
        messages.push("no further details".to_owned());
    }
    messages.join(": ")
}

/// Phrases in responses with status 400 to 422, separated by `|` and grouped by the kind of error they mean.
const CONTEXT: &str = "context_length_exceeded|context length|context window|contextwindowexceeded|prompt is too long|\
                       input is too long|maximum context|exceeds the maximum number of tokens|too many tokens";
const SCHEMA: &str = "response_format|json_schema|responsejsonschema|response_schema|output_config|output_format|\
                      structured output";
const MODEL: &str = "model_not_found|invalid model|does not exist|not_found_error|unknown model";
/// With status 400: Gemini, and a LiteLLM proxy without a database.
const KEY: &str = "api key not valid|no_db_connection";
const QUOTA: &str = "insufficient_quota|credit balance|billing_hard_limit";
/// Phrases about a sampling parameter that a provider rejects.
const UNSUPPORTED: &str = "unsupported|not supported|does not support|deprecated";

/// Returns `true` if a string contains one of these phrases.
fn mentions(lowercase: &str, phrases: &str) -> bool {
    phrases.split('|').any(|phrase| lowercase.contains(phrase))
}

pub(super) fn status_error(
    status: u16,
    body: &str,
    headers: &HeaderMap,
    target: &Target,
) -> LmError {
    let message = message(body, target);
    let retry_after = retry_after(headers);
    let lowercase = body.to_lowercase();
    let mentions = |phrases| mentions(&lowercase, phrases);
    let is_about_request = matches!(status, 400 | 404 | 413 | 415 | 422);
    let kind = match status {
        300..=399 => {
            let location = headers.get(LOCATION).and_then(|it| it.to_str().ok());
            let location = location.map(|url| sanitize(&redact_url(url), target));
            let location = location.unwrap_or_else(|| "no address".to_owned());
            let reason = format!(
                "status {status} redirects to {location}, and redirects are not followed; set the base URL to the address of the API"
            );
            LmErrorKind::Other(reason)
        }
        402 => LmErrorKind::QuotaExhausted(message),
        400 | 403 | 429 if mentions(QUOTA) => LmErrorKind::QuotaExhausted(message),
        401 | 403 => rejected_key(status, message, target),
        400 if mentions(KEY) => rejected_key(status, message, target),
        429 => LmErrorKind::RateLimited {
            retry_after,
            message,
        },
        _ if is_about_request && mentions(CONTEXT) => LmErrorKind::ContextLengthExceeded(message),
        _ if is_about_request && mentions(SCHEMA) => LmErrorKind::SchemaUnsupported(message),
        400 | 422 if parameter(&lowercase).is_some() => {
            let parameter = parameter(&lowercase).unwrap_or_default().to_owned();
            LmErrorKind::ParameterUnsupported { parameter, message }
        }
        404 => LmErrorKind::ModelNotFound(message),
        _ if is_about_request && mentions(MODEL) => LmErrorKind::ModelNotFound(message),
        _ => LmErrorKind::Status {
            status,
            retry_after,
            message,
        },
    };
    LmError::new(&*target.id, kind)
}

/// Returns the sampling parameter that a provider rejects: OpenAI's reasoning models accept no temperature.
fn parameter(lowercase: &str) -> Option<&'static str> {
    const NAMES: &str =
        "temperature top_p seed max_completion_tokens max_tokens top_logprobs logprobs";
    let named = |name: &&str| {
        // A LiteLLM proxy: "gpt-6-luna doesn't support temperature=0.0".
        let forms = [("'", "'"), ("`", "`"), ("\"", "\""), (" ", "=")];
        let form = |(start, end)| format!("{start}{name}{end}");
        forms.map(form).iter().any(|form| lowercase.contains(form))
    };
    let is_unsupported = mentions(lowercase, UNSUPPORTED);
    NAMES.split(' ').find(named).filter(|_| is_unsupported)
}

fn rejected_key(status: u16, message: String, target: &Target) -> LmErrorKind {
    let variable = target.key_variable.clone();
    match target.key {
        None => LmErrorKind::MissingApiKey(variable),
        Some(_) => LmErrorKind::ApiKeyRejected {
            status,
            variable,
            message,
        },
    }
}

/// The maximum delay. Longer delays are shortened to it.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(365 * 24 * 3600);

/// Returns the delay in `Retry-After` (seconds or a date), in the non-standard `retry-after-ms`, or in the header of a
/// LiteLLM proxy, clamped to 0..=[`MAX_RETRY_AFTER`].
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |text: Option<&str>| text?.parse::<f64>().ok();
    let header = text(RETRY_AFTER.as_str()).or_else(|| text("llm_provider-retry-after"));
    let millis = number(text("retry-after-ms")).map(|millis| millis / 1000.0);
    if let Some(seconds) = millis.or_else(|| number(header)) {
        // NaN is ignored.
        let bounded = seconds.clamp(0.0, MAX_RETRY_AFTER.as_secs_f64());
        return Duration::try_from_secs_f64(bounded).ok();
    }
    let date = httpdate::parse_http_date(header?).ok()?;
    let delay = date.duration_since(SystemTime::now());
    Some(delay.unwrap_or_default().min(MAX_RETRY_AFTER))
}

/// Returns the provider's message as one line: the message within its JSON, or the whole body.
fn message(body: &str, target: &Target) -> String {
    let json: Value = serde_json::from_str(body).unwrap_or_default();
    let places = "/error/message /message /error /detail /0/error/message".split(' ');
    let mut texts = places.filter_map(|place| json.pointer(place)?.as_str());
    match sanitize(texts.next().unwrap_or(body), target) {
        text if text.is_empty() => "(empty)".to_owned(),
        text => text,
    }
}

/// Shorter keys are not replaced. Servers that need no key take a short word such as `ollama`, which a reply may well
/// mention.
const MIN_KEY_BYTES: usize = 16;

/// Returns a string from a reply with the configured key replaced by `***`.
pub(super) fn without_key(text: String, target: &Target) -> String {
    match target.key.as_ref().map(ExposeSecret::expose_secret) {
        Some(key) if key.len() >= MIN_KEY_BYTES && text.contains(key) => text.replace(key, "***"),
        _ => text,
    }
}

/// Returns `text` as one line of at most [`MAX_MESSAGE_CHARS`] characters, with `***` for anything that may be a key.
pub(super) fn sanitize(text: &str, target: &Target) -> String {
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // A shorter key is a word such as `none` or `EMPTY`, for servers that only require some value.
    let key = target.key.as_ref().map(ExposeSecret::expose_secret);
    if let Some(key) = key.filter(|key| key.len() >= 6) {
        text = text.replace(key, "***");
    }
    let is_delimiter = |c: char| c.is_whitespace() || "\"'`,;:()[]{}<>=".contains(c);
    let mut shown = String::with_capacity(text.len());
    for piece in text.split_inclusive(is_delimiter) {
        let word = piece.trim_end_matches(is_delimiter);
        let is_secret = looks_secret(word, target);
        shown.push_str(if is_secret { "***" } else { word });
        shown.push_str(&piece[word.len()..]);
    }
    match shown.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((at, _)) => format!("{}...", &shown[..at]),
        None => shown,
    }
}

/// Returns `true` if a word may be a key or derived from one: it has a known prefix, looks like a hash, was masked by
/// the provider, or is part of the configured key.
fn looks_secret(word: &str, target: &Target) -> bool {
    const PREFIXES: [&str; 8] = ["sk-", "sk_", "pk-", "AIza", "gsk_", "xai-", "hf_", "key-"];
    let is_part_of_key = || {
        let key = target.key.as_ref().map_or("", ExposeSecret::expose_secret);
        word.len() >= 6 && key.contains(word.trim_matches('.'))
    };
    let is_hash = || word.len() >= 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let has_prefix = || word.len() > 6 && PREFIXES.iter().any(|prefix| word.starts_with(prefix));
    word.contains("**") || is_hash() || has_prefix() || is_part_of_key()
}
