//! The SPARQL metrics over HTTP, with a server of this process.

use std::time::{Duration, Instant};

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use dsrs_metrics::metrics::{SparqlExecutes, SparqlReturnsResults};
use dsrs_metrics::prelude::*;
use dsrs_metrics::sparql::SparqlStore;

const JSON: &str = "application/sparql-results+json";
const FOUND: &str =
    r#"{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"literal","value":"1"}}]}}"#;
const NOTHING: &str = r#"{"head":{"vars":["x"]},"results":{"bindings":[]}}"#;

/// Answers by a word of the query.
async fn answer(body: String) -> Response {
    let typed = |kind: &'static str, body: String| ([(CONTENT_TYPE, kind)], body).into_response();
    let says = |word: &str| body.contains(word);
    match () {
        () if !body.starts_with("query=") => StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response(),
        () if says("bad") => (StatusCode::BAD_REQUEST, "line 1: bad query").into_response(),
        () if says("broken") => (StatusCode::SERVICE_UNAVAILABLE, "try later").into_response(),
        () if says("locked") => StatusCode::UNAUTHORIZED.into_response(),
        () if says("elsewhere") => {
            (StatusCode::FOUND, [("location", "http://127.0.0.1:9/")]).into_response()
        }
        () if says("html") => typed("text/html", "<p>Hello</p>".to_owned()),
        () if says("garbled") => typed(JSON, FOUND[..40].to_owned()),
        () if says("huge") => {
            let row = r#"{"x":{"type":"literal","value":"1"}},"#.repeat(600_000);
            typed(JSON, format!(r#"{{"head":{{"vars":["x"]}},"results":{{"bindings":[{row}"#))
        }
        () if says("slow") => {
            tokio::time::sleep(Duration::from_secs(60)).await;
            StatusCode::OK.into_response()
        }
        () if says("ASK") => typed(JSON, r#"{"head":{},"boolean":false}"#.to_owned()),
        () if says("CONSTRUCT") => {
            typed("application/n-triples", "<a:s> <a:p> <a:o> .\n".to_owned())
        }
        () if says("nothing") => typed(JSON, NOTHING.to_owned()),
        // As the form says it: `%3F` is `?`, `+` a space.
        () if says("SELECT+%3Fx") => {
            typed("application/sparql-results+json; charset=utf-8", FOUND.to_owned())
        }
        () => StatusCode::IM_A_TEAPOT.into_response(),
    }
}

async fn serve() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let app = Router::new().route("/query", post(answer));
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("http://{address}/query")
}

type Said = Result<(f64, String), String>;

/// What both metrics say: whether it executes, whether it returns results.
async fn said(address: &str, query: &str) -> (Said, Said) {
    let (gold, pred) = (example! {}, prediction! { "sparql_query" => query });
    let store = SparqlStore::at(address).unwrap();
    let executes = SparqlExecutes::builder().data(store.clone()).timeout_secs(1).build();
    let returns = SparqlReturnsResults::builder().data(store).timeout_secs(1).build();
    let call = dsrs_metrics::MetricCall::new(&gold, &pred);
    let told = |scored: dsrs_metrics::Scored| {
        (scored.score.value, scored.feedback().unwrap_or_default().into_owned())
    };
    let executes = executes.answer(call).await.map(told).map_err(|error| error.to_string());
    (executes, returns.answer(call).await.map(told).map_err(|error| error.to_string()))
}

#[tokio::test]
async fn answers_are_read_in_each_form() {
    let address = serve().await;
    let good = || Ok((1.0, String::new()));
    assert_eq!(said(&address, "SELECT ?x { ?x ?p ?o }").await, (good(), good()));
    let nothing = Ok((0.0, "the query returns nothing".to_owned()));
    assert_eq!(said(&address, "SELECT ?x { ?x ?p 'nothing' }").await, (good(), nothing));
    assert_eq!(said(&address, "ASK { ?s ?p ?o }").await, (good(), good()));
    assert_eq!(said(&address, "CONSTRUCT WHERE { ?s ?p ?o }").await, (good(), good()));
    // Of an answer without end the beginning is read.
    assert_eq!(said(&address, "SELECT ?x { ?x ?p 'huge' }").await, (good(), good()));
}

#[tokio::test]
async fn a_query_that_the_endpoint_refuses_fails() {
    let address = serve().await;
    let refused = || Ok((0.0, "status 400: line 1: bad query".to_owned()));
    assert_eq!(said(&address, "SELECT ?x { ?x ?p 'bad' }").await, (refused(), refused()));
    // It is the endpoint that judges the grammar: it may know prefixes, or more than SPARQL 1.1.
    assert_eq!(said(&address, "SELECT ?x { ?x wdt:P31 ?y }").await.0, Ok((1.0, String::new())));
    let empty = Ok((0.0, "there is no query".to_owned()));
    assert_eq!(said(&address, " ").await.0, empty);
}

#[tokio::test]
async fn trap_14_a_failure_of_the_endpoint_is_no_score() {
    let address = serve().await;
    for (word, told) in [
        ("broken", "status 503 Service Unavailable: try later"),
        ("locked", "status 401 Unauthorized: no reason given"),
        ("elsewhere", "status 302 Found"),
        ("html", "an answer that cannot be read: its content type is `text/html`"),
        ("garbled", "an answer that cannot be read"),
    ] {
        let (executes, returns) = said(&address, &format!("SELECT ?x {{ ?x ?p '{word}' }}")).await;
        for error in [executes.unwrap_err(), returns.unwrap_err()] {
            assert!(error.contains(&format!("the endpoint {address}: ")), "{word}: {error}");
            assert!(error.contains(told), "{word}: {error}");
        }
    }
    let started = Instant::now();
    let slow = said(&address, "SELECT ?x { ?x ?p 'slow' }").await.0.unwrap_err();
    assert!(slow.ends_with("no answer within 1 s"), "{slow}");
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    let nobody = said("http://127.0.0.1:9/query", "SELECT ?x { ?x ?p ?o }").await.0.unwrap_err();
    assert!(nobody.contains("the endpoint http://127.0.0.1:9/query: "), "{nobody}");
    assert!(nobody.contains("refused"), "{nobody}");
}

#[tokio::test]
async fn a_query_that_reaches_out_is_not_sent() {
    let address = serve().await;
    let refused = Ok((0.0, "SERVICE is refused: a predicted query reaches no network".to_owned()));
    for query in [
        "SELECT ?x { SERVICE <http://127.0.0.1:9/> { ?x ?p ?o } }",
        "SELECT ?x { SERVICE wikibase:label { ?x ?p ?o } }",
        "SELECT ?x { \\u0053ERVICE <http://127.0.0.1:9/> { ?x wdt:p ?o } }",
    ] {
        assert_eq!(said(&address, query).await.0, refused, "{query}");
    }
    assert_eq!(said(&address, "SELECT ?x { ?x ?p 'SERVICE' }").await.0, Ok((1.0, String::new())));
}

#[test]
fn an_address_that_is_none_is_said_and_secrets_are_not() {
    let error = SparqlStore::at("http://").unwrap_err().to_string();
    assert!(error.starts_with("http://: "), "{error}");
    let store = SparqlStore::at("http://me:secret@127.0.0.1:9/query?key=secret").unwrap();
    assert_eq!(format!("{store:?}"), "SparqlStore(http://127.0.0.1:9/query)");
}
