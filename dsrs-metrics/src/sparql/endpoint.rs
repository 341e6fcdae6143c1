//! An endpoint of the SPARQL 1.1 protocol over HTTP.

use std::error::Error;
use std::fmt;

use oxigraph::io::{RdfFormat, RdfParser};
use oxigraph::sparql::results::{
    QueryResultsFormat, QueryResultsParser, SliceQueryResultsParserOutput,
};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, Response, StatusCode, Url, redirect};

use super::ask::{Answer, AskError, Bounds};
use super::query::{QueryError, with_query};
use super::store::StoreError;
use super::survey::uses_service;

const ACCEPTED: &str = "application/sparql-results+json, application/sparql-results+xml;q=0.9, \
                        application/n-triples;q=0.8, text/turtle;q=0.7";

/// How much of an answer is read, in bytes.
const MAX_ANSWER_BYTES: usize = 16 << 20;

/// How much of a refusal is told, in characters.
const TOLD: usize = 500;

pub(super) struct Endpoint {
    address: Url,
    client: Client,
}

impl Endpoint {
    pub(super) fn new(address: &str) -> Result<Self, StoreError> {
        let bad = |reason: String| StoreError::BadEndpoint(format!("{address}: {reason}"));
        let address = Url::parse(address).map_err(|error| bad(error.to_string()))?;
        let client = Client::builder().redirect(redirect::Policy::none()).build();
        Ok(Self { address, client: client.map_err(|error| bad(causes(&error)))? })
    }

    /// Asks a query; its size was checked.
    pub(super) async fn ask(&self, query: &str, bounds: Bounds) -> Result<Answer, AskError> {
        if reaches_out(query)? {
            return Err(AskError::Refused(
                "SERVICE is refused: a predicted query reaches no network".to_owned(),
            ));
        }
        // The time is for the whole answer.
        match tokio::time::timeout(bounds.time, self.exchange(query, bounds)).await {
            Ok(answer) => answer,
            Err(_) => Err(self.broken(format!("no answer within {} s", bounds.time.as_secs_f64()))),
        }
    }

    fn broken(&self, reason: impl fmt::Display) -> AskError {
        AskError::Broken(format!("the endpoint {}: {reason}", shown(&self.address)))
    }

    async fn exchange(&self, query: &str, bounds: Bounds) -> Result<Answer, AskError> {
        let mut form = self.address.clone();
        form.query_pairs_mut().clear().append_pair("query", query);
        let sent = self
            .client
            .post(self.address.clone())
            .header(ACCEPT, ACCEPTED)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form.query().unwrap_or_default().to_owned())
            .send();
        let response = sent.await.map_err(|error| self.broken(causes(&error)))?;
        let status = response.status();
        let kind = media_type(&response);
        let (body, whole) = self.body(response).await?;
        match status {
            StatusCode::OK => {
                read(&body, &kind, whole, bounds).map_err(|reason| self.broken(reason))
            }
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => {
                Err(AskError::Failed(format!("status {}: {}", status.as_u16(), told(&body))))
            }
            _ => Err(self.broken(format!("status {status}: {}", told(&body)))),
        }
    }

    /// What was answered, up to the bound, and whether that is all.
    async fn body(&self, mut response: Response) -> Result<(Vec<u8>, bool), AskError> {
        let mut body = Vec::new();
        while let Some(chunk) =
            response.chunk().await.map_err(|error| self.broken(causes(&error)))?
        {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_ANSWER_BYTES {
                return Ok((body, false));
            }
        }
        Ok((body, true))
    }
}

/// Whether a query would make the endpoint ask others. One that our parser cannot read may be of the endpoint's own dialect, or use
/// prefixes that it knows; there the word decides, and so does an escape, which may hide it.
fn reaches_out(query: &str) -> Result<bool, AskError> {
    match with_query(query, |query| uses_service(&query)) {
        Ok(service) => Ok(service),
        Err(error @ QueryError::NoThread(_)) => Err(error.into()),
        Err(_) => {
            let query = query.to_ascii_lowercase();
            Ok(query.contains("service") || query.contains("\\u"))
        }
    }
}

fn read(body: &[u8], kind: &str, whole: bool, bounds: Bounds) -> Result<Answer, String> {
    let (most, unreadable) =
        (bounds.results, |error: String| format!("an answer that cannot be read: {error}"));
    if let Some(format) = QueryResultsFormat::from_media_type(kind) {
        let parsed = QueryResultsParser::from_format(format).for_slice(body);
        return match parsed.map_err(|error| unreadable(error.to_string()))? {
            SliceQueryResultsParserOutput::Boolean(value) => Ok(Answer::Boolean(value)),
            SliceQueryResultsParserOutput::Solutions(solutions) => {
                counted(solutions, most, whole).map(Answer::Solutions).map_err(unreadable)
            }
        };
    }
    let format = RdfFormat::from_media_type(kind)
        .ok_or_else(|| unreadable(format!("its content type is `{kind}`")))?;
    let triples = RdfParser::from_format(format).for_slice(body);
    counted(triples, most, whole).map(Answer::Triples).map_err(unreadable)
}

/// Counts up to `most`; an answer that was cut off may end in the middle of an item.
fn counted<T, E: fmt::Display>(
    items: impl Iterator<Item = Result<T, E>>,
    most: usize,
    whole: bool,
) -> Result<usize, String> {
    let mut read = 0;
    for item in items.take(most) {
        match item {
            Ok(_) => read += 1,
            Err(_) if !whole && read > 0 => break,
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(read)
}

fn media_type(response: &Response) -> String {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.unwrap_or_default().to_owned()
}

fn told(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    match text.trim() {
        "" => "no reason given".to_owned(),
        text => text.chars().take(TOLD).collect(),
    }
}

/// An error's causes without the outermost text, which quotes the address with what secrets it holds.
fn causes(error: &reqwest::Error) -> String {
    let causes = std::iter::successors(error.source(), |&error| error.source());
    let mut texts: Vec<String> = causes.map(ToString::to_string).collect();
    texts.dedup();
    match texts.is_empty() {
        true => "no further reason".to_owned(),
        false => texts.join(": "),
    }
}

/// An address without user, password and query.
fn shown(address: &Url) -> String {
    format!("{}{}", address.origin().ascii_serialization(), address.path())
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.address))
    }
}
