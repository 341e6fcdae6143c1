//! A client for the SPARQL 1.1 protocol over HTTP.

use std::error::Error;
use std::fmt;

use oxigraph::io::{RdfFormat, RdfParser};
use oxigraph::sparql::results::{
    QueryResultsFormat, QueryResultsParser, SliceQueryResultsParserOutput,
};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, Response, StatusCode, Url, redirect};

use super::analysis::{SERVICE_REJECTED, uses_service};
use super::query::{QueryLimits, QueryResults, SparqlError, with_parsed};

const ACCEPTED: &str = "application/sparql-results+json, application/sparql-results+xml;q=0.9, \
                        application/n-triples;q=0.8, text/turtle;q=0.7";

/// The maximum number of bytes to read from a response body.
const MAX_RESPONSE_BYTES: usize = 16 << 20;

/// The maximum number of characters that a message quotes from an error body.
const MAX_ERROR_CHARS: usize = 500;

pub(super) struct Endpoint {
    url: Url,
    client: Client,
}

impl Endpoint {
    pub(super) fn new(url: &str) -> Result<Self, SparqlError> {
        let invalid = |reason: String| SparqlError::new(format_args!("{url}: {reason}"));
        let url = Url::parse(url).map_err(|error| invalid(error.to_string()))?;
        let client = Client::builder().redirect(redirect::Policy::none()).build();
        Ok(Self {
            url,
            client: client.map_err(|error| invalid(causes(&error)))?,
        })
    }

    /// Executes a query whose size has already been checked.
    pub(super) async fn execute(
        &self,
        query: &str,
        limits: QueryLimits,
    ) -> Result<QueryResults, SparqlError> {
        if may_use_service(query)? {
            return Err(SparqlError::of_query(SERVICE_REJECTED));
        }
        // The timeout covers the whole response.
        match tokio::time::timeout(limits.timeout, self.send(query, limits.max_results)).await {
            Ok(results) => results,
            Err(_) => {
                let seconds = limits.timeout.as_secs_f64();
                Err(self.unavailable(format!("no response within {seconds} s")))
            }
        }
    }

    fn unavailable(&self, reason: impl fmt::Display) -> SparqlError {
        SparqlError::new(format_args!(
            "endpoint {}: {reason}",
            without_secrets(&self.url)
        ))
    }

    async fn send(&self, query: &str, max_results: usize) -> Result<QueryResults, SparqlError> {
        let mut form = self.url.clone();
        form.query_pairs_mut().clear().append_pair("query", query);
        let sent = self
            .client
            .post(self.url.clone())
            .header(ACCEPT, ACCEPTED)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form.query().unwrap_or_default().to_owned())
            .send();
        let response = sent
            .await
            .map_err(|error| self.unavailable(causes(&error)))?;
        let status = response.status();
        let media_type = media_type(&response);
        let body = self.read_body(response).await?;
        match status {
            StatusCode::OK => count_results(&body, &media_type, max_results)
                .map_err(|reason| self.unavailable(format!("invalid response: {reason}"))),
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => {
                let reason = error_message(&body);
                Err(SparqlError::of_query(format_args!(
                    "status {}: {reason}",
                    status.as_u16()
                )))
            }
            _ => Err(self.unavailable(format!("status {status}: {}", error_message(&body)))),
        }
    }

    /// Reads a response body. The result is incomplete if the body is longer than [`MAX_RESPONSE_BYTES`].
    async fn read_body(&self, mut response: Response) -> Result<Vec<u8>, SparqlError> {
        let mut body = Vec::new();
        let failed = |error: reqwest::Error| self.unavailable(causes(&error));
        while body.len() <= MAX_RESPONSE_BYTES
            && let Some(chunk) = response.chunk().await.map_err(failed)?
        {
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

/// Returns `true` if a query could make the endpoint call other endpoints. An endpoint may accept queries that our
/// parser rejects, because it has extensions and predefined prefixes. Such a query is rejected if it contains the word
/// `service`, or a Unicode escape, which could hide that word.
fn may_use_service(query: &str) -> Result<bool, SparqlError> {
    match with_parsed(query, uses_service) {
        Ok(uses_service) => Ok(uses_service),
        Err(error) if !error.is_query_error() => Err(error),
        Err(_) => {
            let query = query.to_ascii_lowercase();
            Ok(query.contains("service") || query.contains("\\u"))
        }
    }
}

fn count_results(
    body: &[u8],
    media_type: &str,
    max_results: usize,
) -> Result<QueryResults, String> {
    let is_complete = body.len() <= MAX_RESPONSE_BYTES;
    if let Some(format) = QueryResultsFormat::from_media_type(media_type) {
        let parsed = QueryResultsParser::from_format(format).for_slice(body);
        return match parsed.map_err(|error| error.to_string())? {
            SliceQueryResultsParserOutput::Boolean(value) => Ok(QueryResults::Boolean(value)),
            SliceQueryResultsParserOutput::Solutions(solutions) => {
                count(solutions, max_results, is_complete).map(QueryResults::Solutions)
            }
        };
    }
    let format = RdfFormat::from_media_type(media_type)
        .ok_or_else(|| format!("unsupported content type `{media_type}`"))?;
    let triples = RdfParser::from_format(format).for_slice(body);
    count(triples, max_results, is_complete).map(QueryResults::Triples)
}

/// Counts up to `max` items. An incomplete body can end in the middle of an item, which then isn't counted.
fn count<T, E: fmt::Display>(
    items: impl Iterator<Item = Result<T, E>>,
    max: usize,
    is_complete: bool,
) -> Result<usize, String> {
    let mut count = 0;
    for item in items.take(max) {
        match item {
            Ok(_) => count += 1,
            Err(_) if !is_complete && count > 0 => break,
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(count)
}

fn error_message(body: &[u8]) -> String {
    let message = String::from_utf8_lossy(body);
    match message.trim() {
        "" => "no reason given".to_owned(),
        message => message.chars().take(MAX_ERROR_CHARS).collect(),
    }
}

fn media_type(response: &Response) -> String {
    let header = response.headers().get(CONTENT_TYPE);
    header
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
        .to_owned()
}

/// Returns the causes of an error without the error's own message, which contains the URL with its user, password and
/// query.
fn causes(error: &reqwest::Error) -> String {
    let sources = std::iter::successors(error.source(), |&error| error.source());
    let mut messages: Vec<String> = sources.map(ToString::to_string).collect();
    messages.dedup();
    match messages.is_empty() {
        true => "unknown cause".to_owned(),
        false => messages.join(": "),
    }
}

/// Returns a URL without its user, password and query.
fn without_secrets(url: &Url) -> String {
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_secrets(&self.url))
    }
}
