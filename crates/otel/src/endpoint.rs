//! The collector's URL, the exporters' environment variables, and the errors they can cause.

use std::time::Duration;
use std::{env, fmt};

use dsrs_metrics_values::messages::escape;
use reqwest::Url;

/// The environment variable that contains the collector's base URL.
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// The environment variable that contains the time limit for an export, in milliseconds.
const TIMEOUT: &str = "OTEL_EXPORTER_OTLP_TIMEOUT";

/// The address of a collector on the same machine.
const DEFAULT_ENDPOINT: &str = "http://localhost:4318";

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// The error returned when [`OtelEvents`](crate::OtelEvents) cannot be created.
#[derive(thiserror::Error)]
#[error("{message}")]
pub struct OtelError {
    message: String,
    is_url: bool,
}

debug_as_display!(OtelError);

impl OtelError {
    fn new(message: String) -> Self {
        Self {
            message,
            is_url: false,
        }
    }

    fn url(url: &str, reason: &str) -> Self {
        let url = escape::escaped(url);
        Self {
            message: format!("invalid collector URL `{url}`: {reason}"),
            is_url: true,
        }
    }

    pub(crate) fn exporter(reason: impl fmt::Display) -> Self {
        Self::new(format!("cannot create the OTLP exporter: {reason}"))
    }

    /// Returns `true` if the error is about the collector's URL.
    #[doc(hidden)]
    pub fn is_url(&self) -> bool {
        self.is_url
    }
}

/// Returns the collector's base URL without a trailing slash: `url` if given, otherwise the one in the environment,
/// otherwise this machine's.
pub(crate) fn base_url(url: Option<&str>) -> Result<String, OtelError> {
    let url = match url {
        Some(url) => url.to_owned(),
        None => variable(ENDPOINT).unwrap_or_else(|| DEFAULT_ENDPOINT.to_owned()),
    };
    parse(url.trim())
}

fn parse(text: &str) -> Result<String, OtelError> {
    let mut url = Url::parse(text).map_err(|error| {
        OtelError::url(text, &format!("{error}; use a URL like {DEFAULT_ENDPOINT}"))
    })?;
    if !url.username().is_empty() || url.password().is_some() {
        // The user name can also be a key. Both calls fail only for URLs without a host.
        let _ = url.set_password(None);
        let _ = url.set_username("");
        return Err(OtelError::url(
            url.as_str(),
            "it contains a user name or a password; set OTEL_EXPORTER_OTLP_HEADERS=authorization=.. instead",
        ));
    }
    let base = url.as_str().trim_end_matches('/');
    let has_signal = base.ends_with("/v1/logs") || base.ends_with("/v1/traces");
    let reason = match url.scheme() {
        "http" | "https" if url.query().is_some() || url.fragment().is_some() => {
            "it has a query or a fragment; remove it".to_owned()
        }
        "http" | "https" if has_signal => {
            "expected the base URL; remove /v1/logs or /v1/traces".to_owned()
        }
        "http" | "https" => return Ok(base.to_owned()),
        other => {
            format!("expected http or https, found {other}; use a URL like {DEFAULT_ENDPOINT}")
        }
    };
    Err(OtelError::url(text, &reason))
}

/// Returns the time limit set in the environment.
pub(crate) fn timeout() -> Result<Duration, OtelError> {
    let Some(found) = variable(TIMEOUT) else {
        return Ok(DEFAULT_TIMEOUT);
    };
    match found.trim().parse() {
        Ok(milliseconds) => Ok(Duration::from_millis(milliseconds)),
        Err(_) => {
            let found = escape::escaped(&found);
            let expected = "expected a number of milliseconds, as in 10000";
            let reason = format!("invalid {TIMEOUT} `{found}`: {expected}");
            Err(OtelError::new(reason))
        }
    }
}

/// Returns the value of an environment variable. An empty variable counts as unset.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn an_endpoint_is_a_base_url() {
        assert_eq!(
            parse("https://otel.example:4318/team/").unwrap(),
            "https://otel.example:4318/team"
        );
        assert_eq!(
            parse("http://localhost:4318").unwrap(),
            "http://localhost:4318"
        );
    }

    #[test]
    fn an_invalid_endpoint_is_an_error_without_its_password() {
        let message = |url| parse(url).unwrap_err().to_string();
        assert_eq!(
            message("localhost:4318"),
            "invalid collector URL `localhost:4318`: expected http or https, found localhost; use a URL like http://localhost:4318"
        );
        assert_eq!(
            message("collector"),
            "invalid collector URL `collector`: relative URL without a base; use a URL like http://localhost:4318"
        );
        assert_eq!(
            message("http://key:secret@host/"),
            "invalid collector URL `http://host/`: it contains a user name or a password; set OTEL_EXPORTER_OTLP_HEADERS=authorization=.. instead"
        );
        assert_eq!(
            message("http://host/v1/logs"),
            "invalid collector URL `http://host/v1/logs`: expected the base URL; remove /v1/logs or /v1/traces"
        );
        assert!(message("http://host/?key=1").ends_with("it has a query or a fragment; remove it"));
    }
}
