//! The SPARQL metrics over HTTP, with a server in this process.

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

/// Responds according to a word in the query.
async fn respond(body: String) -> Response {
    let typed = |kind: &'static str, body: String| ([(CONTENT_TYPE, kind)], body).into_response();
    let contains = |word: &str| body.contains(word);
    match () {
        () if !body.starts_with("query=") => StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response(),
        () if contains("bad") => (StatusCode::BAD_REQUEST, "line 1: bad query").into_response(),
        () if contains("broken") => (StatusCode::SERVICE_UNAVAILABLE, "try later").into_response(),
        () if contains("locked") => StatusCode::UNAUTHORIZED.into_response(),
        () if contains("elsewhere") => {
            (StatusCode::FOUND, [("location", "http://127.0.0.1:9/")]).into_response()
        }
        () if contains("html") => typed("text/html", "<p>Hello</p>".to_owned()),
        () if contains("garbled") => typed(JSON, FOUND[..40].to_owned()),
        () if contains("huge") => {
            let row = r#"{"x":{"type":"literal","value":"1"}},"#.repeat(600_000);
            typed(
                JSON,
                format!(r#"{{"head":{{"vars":["x"]}},"results":{{"bindings":[{row}"#),
            )
        }
        () if contains("slow") => {
            tokio::time::sleep(Duration::from_secs(60)).await;
            StatusCode::OK.into_response()
        }
        () if contains("ASK") => typed(JSON, r#"{"head":{},"boolean":false}"#.to_owned()),
        () if contains("CONSTRUCT") => {
            typed("application/n-triples", "<a:s> <a:p> <a:o> .\n".to_owned())
        }
        () if contains("nothing") => typed(JSON, NOTHING.to_owned()),
        // In form encoding, `%3F` is `?` and `+` is a space.
        () if contains("SELECT+%3Fx") => typed(
            "application/sparql-results+json; charset=utf-8",
            FOUND.to_owned(),
        ),
        () => StatusCode::IM_A_TEAPOT.into_response(),
    }
}

async fn serve() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let app = Router::new().route("/query", post(respond));
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("http://{address}/query")
}

/// The score and feedback, or the error.
type Evaluated = Result<(f64, String), String>;

/// Evaluates `sparql_executes` and `sparql_returns_results`.
async fn evaluate(url: &str, query: &str) -> (Evaluated, Evaluated) {
    let (gold, pred) = (example! {}, prediction! { "sparql_query" => query });
    let store = SparqlStore::from_endpoint(url).unwrap();
    let executes = SparqlExecutes::builder()
        .data(store.clone())
        .timeout_secs(1)
        .build();
    let returns = SparqlReturnsResults::builder()
        .data(store)
        .timeout_secs(1)
        .build();
    let call = dsrs_metrics::contract::MetricCall::new(&gold, &pred);
    let value_and_feedback = |scored: dsrs_metrics::Scored| {
        (
            scored.score.value,
            scored.feedback().unwrap_or_default().into_owned(),
        )
    };
    let executes = executes
        .answer(call)
        .await
        .map(value_and_feedback)
        .map_err(|error| error.to_string());
    (
        executes,
        returns
            .answer(call)
            .await
            .map(value_and_feedback)
            .map_err(|error| error.to_string()),
    )
}

/// The score and feedback of a query that runs.
fn runs() -> Result<(f64, String), String> {
    Ok((1.0, "the query runs without an error".to_owned()))
}

#[tokio::test]
async fn results_are_parsed_in_each_format() {
    let address = serve().await;
    let (good, found) = (runs, || Ok((1.0, "the query returns results".to_owned())));
    assert_eq!(
        evaluate(&address, "SELECT ?x { ?x ?p ?o }").await,
        (good(), found())
    );
    let nothing = Ok((0.0, "the query returns no results".to_owned()));
    assert_eq!(
        evaluate(&address, "SELECT ?x { ?x ?p 'nothing' }").await,
        (good(), nothing)
    );
    assert_eq!(
        evaluate(&address, "ASK { ?s ?p ?o }").await,
        (good(), found())
    );
    assert_eq!(
        evaluate(&address, "CONSTRUCT WHERE { ?s ?p ?o }").await,
        (good(), found())
    );
    // Only the start of a very long response is read.
    assert_eq!(
        evaluate(&address, "SELECT ?x { ?x ?p 'huge' }").await,
        (good(), found())
    );
}

#[tokio::test]
async fn a_query_that_the_endpoint_rejects_fails() {
    let address = serve().await;
    let rejected = || Ok((0.0, "status 400: line 1: bad query".to_owned()));
    assert_eq!(
        evaluate(&address, "SELECT ?x { ?x ?p 'bad' }").await,
        (rejected(), rejected())
    );
    // The endpoint validates the syntax: it may have predefined prefixes and extensions of SPARQL
    // 1.1.
    assert_eq!(
        evaluate(&address, "SELECT ?x { ?x wdt:P31 ?y }").await.0,
        runs()
    );
    let empty = Ok((0.0, "the query is empty".to_owned()));
    assert_eq!(evaluate(&address, " ").await.0, empty);
}

#[tokio::test]
async fn a_failure_of_the_endpoint_is_not_a_score() {
    let address = serve().await;
    for (word, reason) in [
        ("broken", "status 503 Service Unavailable: try later"),
        ("locked", "status 401 Unauthorized: no reason given"),
        ("elsewhere", "status 302 Found"),
        (
            "html",
            "invalid response: unsupported content type `text/html`",
        ),
        ("garbled", "invalid response: "),
    ] {
        let (executes, returns) =
            evaluate(&address, &format!("SELECT ?x {{ ?x ?p '{word}' }}")).await;
        for error in [executes.unwrap_err(), returns.unwrap_err()] {
            assert!(
                error.contains(&format!("endpoint {address}: ")),
                "{word}: {error}"
            );
            assert!(error.contains(reason), "{word}: {error}");
        }
    }
    let started = Instant::now();
    let slow = evaluate(&address, "SELECT ?x { ?x ?p 'slow' }")
        .await
        .0
        .unwrap_err();
    assert!(slow.ends_with("no response within 1 s"), "{slow}");
    assert!(
        started.elapsed() < Duration::from_secs(10),
        "{:?}",
        started.elapsed()
    );
    let unreachable = evaluate("http://127.0.0.1:9/query", "SELECT ?x { ?x ?p ?o }")
        .await
        .0
        .unwrap_err();
    assert!(
        unreachable.contains("endpoint http://127.0.0.1:9/query: "),
        "{unreachable}"
    );
    assert!(unreachable.contains("refused"), "{unreachable}");
}

#[tokio::test]
async fn a_query_with_service_is_not_sent() {
    let address = serve().await;
    let reason = "SERVICE is not allowed: a predicted query must not access the network";
    let rejected = Ok((0.0, reason.to_owned()));
    for query in [
        "SELECT ?x { SERVICE <http://127.0.0.1:9/> { ?x ?p ?o } }",
        "SELECT ?x { SERVICE wikibase:label { ?x ?p ?o } }",
        "SELECT ?x { \\u0053ERVICE <http://127.0.0.1:9/> { ?x wdt:p ?o } }",
    ] {
        assert_eq!(evaluate(&address, query).await.0, rejected, "{query}");
    }
    assert_eq!(
        evaluate(&address, "SELECT ?x { ?x ?p 'SERVICE' }").await.0,
        runs()
    );
}

#[test]
fn an_invalid_url_is_an_error_and_secrets_are_not_shown() {
    let error = SparqlStore::from_endpoint("http://")
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("http://: "), "{error}");
    let store =
        SparqlStore::from_endpoint("http://me:secret@127.0.0.1:9/query?key=secret").unwrap();
    assert_eq!(
        format!("{store:?}"),
        "SparqlStore(http://127.0.0.1:9/query)"
    );
}
