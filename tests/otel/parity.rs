//! The events of the library and those of pydantic-evals for the same rows, side by side.

use std::collections::BTreeMap;

use dsrs_metrics::metrics::Check;
use dsrs_metrics::prelude::*;
use dsrs_metrics::runs::otel::OtelEvents;
use dsrs_metrics::{Evaluate, rows::Pair};
use dsrs_metrics_tests::vectors;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::receiver::{Receiver, Reply};

const VECTORS: &[u8] = include_bytes!("../parity/otel_vectors.jsonl.gz");

#[metric]
fn same(#[gold] expected: &str, #[pred] output: &str) -> bool {
    expected == output
}

#[metric]
fn cited(#[pred] output: &str) -> Check {
    Check::unless((!output.contains('a')).then(|| format!("no `a` in `{output}`")))
}

#[metric(version = 3)]
fn share(#[pred] output: &str, #[param(default = 8.0)] most: f64) -> Result<f64, String> {
    match output.chars().count() {
        0 => Err("the output is empty".to_owned()),
        count => Ok(count as f64 / most),
    }
}

#[derive(Deserialize)]
struct Vector {
    row: Row,
    events: Vec<Event>,
}

#[derive(Deserialize)]
struct Row {
    id: String,
    expected: String,
    output: String,
    trace_id: Option<String>,
    span_id: Option<String>,
}

#[derive(Deserialize, Debug)]
struct Event {
    event_name: String,
    body: String,
    severity: i32,
    trace_id: String,
    span_id: String,
    attributes: BTreeMap<String, Value>,
}

/// The events of the peer as the library writes them. These are all differences.
fn as_ours(mut event: Event) -> Event {
    let attributes = &mut event.attributes;
    let name = attributes["gen_ai.evaluation.name"]
        .as_str()
        .unwrap()
        .to_owned();
    if let Some(kind) = attributes.get_mut("error.type") {
        // The class of a Python exception, and the kind of an error.
        assert_eq!(*kind, "ValueError");
        *kind = json!("failed");
        // An error message names the metric.
        let message = "metric `share`: the output is empty";
        attributes.insert("gen_ai.evaluation.explanation".to_owned(), json!(message));
        event.body = format!("evaluation: share failed: {message}");
    }
    // A verdict in the body is written as its score, and a score with all its digits.
    if let Some(value) = attributes.get("gen_ai.evaluation.score.value") {
        event.body = format!("evaluation: {name}={}", value.as_f64().unwrap());
    }
    // A parameter has the name of the metric's type, and its value is text.
    let source = match &*name {
        "share" => json!({"name": "share", "arguments": {"Share.most": "16.0"}}),
        name => json!({"name": name, "arguments": null}),
    };
    let peer = &attributes["gen_ai.evaluation.evaluator.source"];
    let peer: Value = serde_json::from_str(peer.as_str().unwrap()).unwrap();
    assert_eq!(peer["name"], source["name"]);
    assert_eq!(peer["arguments"].is_null(), source["arguments"].is_null());
    attributes.insert("gen_ai.evaluation.evaluator.source".to_owned(), source);
    // Every metric has a version.
    let version = if name == "share" { "3" } else { "1" };
    let peer = attributes.insert(
        "gen_ai.evaluation.evaluator.version".to_owned(),
        json!(version),
    );
    assert_eq!(peer, (name == "share").then(|| json!("3")));
    event
}

#[tokio::test]
async fn events_are_those_of_pydantic_evals_apart_from_the_listed_differences() {
    let receiver = Receiver::start(Reply::Accept);
    let events = OtelEvents::builder()
        .endpoint(&receiver.url)
        .texts(true)
        .build()
        .unwrap();
    let evaluate = Evaluate::builder()
        .metric(Same)
        .metric(Cited)
        .metric(Share::builder().most(16.0).build())
        .observer(events.clone())
        .label("capitals")
        .build()
        .unwrap();
    let vectors: Vec<Vector> = vectors(VECTORS).collect();
    let rows = vectors.iter().map(|Vector { row, .. }| {
        let mut pair = Pair::new(
            &row.id,
            example! { "expected" => &*row.expected },
            prediction! { "output" => &*row.output },
        );
        let ids = [("trace_id", &row.trace_id), ("span_id", &row.span_id)];
        for (name, id) in ids
            .into_iter()
            .filter_map(|(name, id)| Some((name, id.as_ref()?)))
        {
            pair.attributes.insert(name, json!(id));
        }
        pair
    });
    let _ = evaluate.score(rows.collect::<Vec<_>>()).await.unwrap();
    assert!(events.finish().is_complete());
    assert_eq!(receiver.records().len(), 3 * vectors.len());

    let (mut failures, mut in_traces) = (0, 0);
    for Vector { row, events } in vectors {
        let ours = receiver.of_row(&row.id);
        assert_eq!(ours.len(), events.len());
        for peer in events.into_iter().map(as_ours) {
            let name = peer.attributes["gen_ai.evaluation.name"].as_str().unwrap();
            let ours = &ours[name];
            let attributes = ours
                .attributes
                .iter()
                .filter(|(name, _)| !name.starts_with("dsrs."));
            let mut attributes: BTreeMap<_, _> = attributes
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            // An object in a string has no fixed order of keys.
            let source = attributes
                .get_mut("gen_ai.evaluation.evaluator.source")
                .unwrap();
            *source = serde_json::from_str(source.as_str().unwrap()).unwrap();
            assert_eq!(attributes, peer.attributes, "{}", row.id);
            assert_eq!(ours.event_name, peer.event_name);
            assert_eq!(ours.body, peer.body);
            assert_eq!(ours.severity, peer.severity);
            assert_eq!(
                (&ours.trace_id, &ours.span_id),
                (&peer.trace_id, &peer.span_id)
            );
            failures += usize::from(ours.severity > 0);
            in_traces += usize::from(!ours.trace_id.is_empty());
        }
    }
    assert_eq!(
        (failures > 0, in_traces),
        (true, 120),
        "both are in the vectors"
    );
}
