//! The event of each outcome.

use std::collections::BTreeMap;
use std::time::Duration;

use dsrs_metrics::contract::{MetricErrorKind, ScoreRange};
use dsrs_metrics::metrics::MacroF1;
use dsrs_metrics::prelude::*;
use dsrs_metrics::runs::otel::{OtelEvents, OtelEventsBuilder};
use dsrs_metrics::{Evaluate, MetricError, rows::Pair};
use serde_json::{Value, json};

use crate::receiver::{Receiver, Record, Reply};

/// Returns what the prediction orders.
struct Obeys;

#[async_trait]
impl Metric for Obeys {
    fn name(&self) -> &str {
        "obeys"
    }

    fn spec(&self) -> MetricSpec<'_> {
        let mut spec = MetricSpec::new("obeys");
        spec.range = Some(ScoreRange { min: 0.0, max: 5.0 });
        spec
    }

    async fn evaluate(&self, _: &Example, pred: &Prediction) -> Result<MetricScore, MetricError> {
        let order = pred
            .get("answer")
            .and_then(|answer| answer.as_str())
            .unwrap_or_default();
        let failed = |kind| Err(MetricError::new("obeys", kind));
        match order {
            "abstain" => failed(MetricErrorKind::Abstained),
            "gate" => failed(MetricErrorKind::Gated {
                by: "format".to_owned(),
            }),
            "skip" => failed(MetricErrorKind::OverBudget { budget_msats: 10 }),
            "time out" => failed(MetricErrorKind::TimedOut { seconds: 1.5 }),
            "panic" => panic!("ordered"),
            "secret" => Err(MetricError::failed("obeys", "secret\n\u{1b}[31m\u{202e}")),
            number => {
                let value = number
                    .parse()
                    .map_err(|error| MetricError::failed("obeys", error))?;
                let details = Some(format!("because {number}"));
                Ok(MetricScore {
                    details,
                    cost_msats: 7,
                    ..MetricScore::new(value)
                })
            }
        }
    }
}

#[metric(lower_is_better, threshold = 0.5)]
fn gap(#[pred] answer: &str) -> Option<f64> {
    answer.parse().ok()
}

/// Scores a row for each answer, and returns what the collector received.
async fn received(
    answers: &[&str],
    configure: fn(OtelEventsBuilder) -> OtelEventsBuilder,
) -> Receiver {
    let receiver = Receiver::start(Reply::Accept);
    let events = configure(OtelEvents::builder())
        .endpoint(&receiver.url)
        .build()
        .unwrap();
    let evaluate = Evaluate::builder()
        .metric(Obeys)
        .metric(Gap)
        .observer(events.clone());
    let evaluate = evaluate.label("v2").build().unwrap();
    let pair = |answer: &&str| Pair::new(*answer, example! {}, prediction! { "answer" => *answer });
    let _ = evaluate
        .score(answers.iter().map(pair).collect::<Vec<_>>())
        .await
        .unwrap();
    let delivery = events.finish();
    assert!(delivery.is_complete(), "{delivery}");
    assert_eq!(delivery.delivered_events, receiver.records().len() as u64);
    receiver
}

fn attribute<'a>(record: &'a Record, name: &str) -> Option<&'a Value> {
    record.attributes.get(name)
}

const VALUE: &str = "gen_ai.evaluation.score.value";
const LABEL: &str = "gen_ai.evaluation.score.label";
const EXPLANATION: &str = "gen_ai.evaluation.explanation";

#[tokio::test]
async fn a_score_is_an_event_with_its_value_and_its_identity() {
    let receiver = received(&["2.5"], |it| it).await;
    let records = receiver.of_row("2.5");
    let (obeys, gap) = (&records["obeys"], &records["gap"]);
    let expected = json!({
        "gen_ai.evaluation.name": "obeys",
        "gen_ai.evaluation.score.value": 2.5,
        "gen_ai.evaluation.evaluator.source": r#"{"arguments":null,"name":"obeys"}"#,
        "gen_ai.evaluation.evaluator.version": "1",
        "gen_ai.evaluation.target": "v2",
        "dsrs.run.label": "v2",
        "dsrs.row.id": "2.5",
        "dsrs.score.direction": "higher_is_better",
        "dsrs.score.min": 0.0,
        "dsrs.score.max": 5.0,
        "dsrs.cost_msats": 7,
    });
    let mut attributes = json!(obeys.attributes);
    let source = &mut attributes["gen_ai.evaluation.evaluator.source"];
    let parsed: Value = serde_json::from_str(source.as_str().unwrap()).unwrap();
    assert_eq!(parsed, json!({"name": "obeys", "arguments": null}));
    *source = expected["gen_ai.evaluation.evaluator.source"].clone();
    assert_eq!(attributes, expected);
    assert_eq!(
        (&*obeys.event_name, &obeys.body),
        ("gen_ai.evaluation.result", &json!("evaluation: obeys=2.5"))
    );
    assert_eq!(
        (obeys.severity, &*obeys.trace_id, &*obeys.span_id),
        (0, "", "")
    );
    assert_eq!(
        (&obeys.service, &*obeys.scope),
        (&json!("dsrs-metrics"), "dsrs-metrics")
    );
    assert!(obeys.time > 1_700_000_000_000_000_000 && obeys.observed >= obeys.time);
    assert_eq!(
        attribute(gap, LABEL),
        Some(&json!("fail")),
        "2.5 is above the threshold"
    );
    assert_eq!(
        attribute(gap, "dsrs.score.direction"),
        Some(&json!("lower_is_better"))
    );
    assert_eq!(attribute(gap, "dsrs.score.min"), None, "it has no range");
}

#[tokio::test]
async fn a_failure_has_a_type_and_never_a_value() {
    let receiver = received(&["time out", "panic", "secret", "0"], |it| it).await;
    for (row, kind) in [
        ("time out", "timed_out"),
        ("panic", "panicked"),
        ("secret", "failed"),
    ] {
        let record = &receiver.of_row(row)["obeys"];
        assert_eq!(attribute(record, "error.type"), Some(&json!(kind)));
        assert_eq!(
            (attribute(record, VALUE), attribute(record, LABEL)),
            (None, None)
        );
        assert_eq!(
            (record.severity, &record.body),
            (13, &json!("evaluation: obeys failed"))
        );
    }
    let zero = &receiver.of_row("0")["obeys"];
    assert_eq!(
        (attribute(zero, VALUE), attribute(zero, "error.type")),
        (Some(&json!(0.0)), None)
    );
}

#[tokio::test]
async fn a_failed_program_fails_each_metric() {
    let receiver = Receiver::start(Reply::Accept);
    let events = OtelEvents::builder()
        .endpoint(&receiver.url)
        .build()
        .unwrap();
    let evaluate = Evaluate::builder().metric(Obeys).observer(events.clone());
    let devset = [example! { "question" => "?" }];
    let evaluate = evaluate
        .devset(devset)
        .inputs(["question"])
        .build()
        .unwrap();
    let program = async |_: Example| Err::<Prediction, _>("no model".to_owned());
    let _ = evaluate.run(program).await.unwrap();
    assert!(events.finish().is_complete());
    let record = &receiver.of_row("0")["obeys"];
    assert_eq!(
        attribute(record, "error.type"),
        Some(&json!("program_failed"))
    );
    assert_eq!(attribute(record, VALUE), None);
}

#[tokio::test]
async fn rows_without_a_score_have_an_event_only_if_asked() {
    let orders = ["abstain", "gate", "skip"];
    let receiver = received(&orders, |it| it).await;
    assert_eq!(receiver.records(), []);
    let receiver = received(&orders, |it| it.unscored(true)).await;
    for (row, label) in [
        ("abstain", "abstained"),
        ("gate", "gated"),
        ("skip", "skipped"),
    ] {
        let records = receiver.of_row(row);
        let record = &records["obeys"];
        assert_eq!(attribute(record, LABEL), Some(&json!(label)));
        assert_eq!(
            (attribute(record, VALUE), attribute(record, "error.type")),
            (None, None)
        );
        assert_eq!(
            (record.severity, &record.body),
            (0, &json!(format!("evaluation: obeys: {label}")))
        );
        assert_eq!(attribute(&records["gap"], LABEL), Some(&json!("abstained")));
    }
}

#[tokio::test]
async fn a_row_that_is_counted_for_a_score_of_all_rows_has_no_event() {
    let receiver = Receiver::start(Reply::Accept);
    let events = OtelEvents::builder()
        .endpoint(&receiver.url)
        .unscored(true)
        .build()
        .unwrap();
    let evaluate = Evaluate::builder().metric(MacroF1::default()).metric(Gap);
    let evaluate = evaluate.observer(events.clone()).build().unwrap();
    let row = Pair::new(
        "q",
        example! { "answer" => "1" },
        prediction! { "answer" => "1" },
    );
    let result = evaluate.score([row]).await.unwrap();
    assert_eq!(result.score, Some(1.0));
    assert!(events.finish().is_complete());
    assert_eq!(receiver.of_row("q").keys().collect::<Vec<_>>(), ["gap"]);
}

#[tokio::test]
async fn texts_are_sent_only_if_asked() {
    let answers = ["1", "secret"];
    let receiver = received(&answers, |it| it).await;
    let sent = format!("{:?}", receiver.records());
    assert!(!sent.contains("because") && !sent.contains("31m"), "{sent}");
    assert!(
        receiver
            .records()
            .iter()
            .all(|it| attribute(it, EXPLANATION).is_none())
    );

    let receiver = received(&answers, |it| it.texts(true)).await;
    let explanation = |row: &str| attribute(&receiver.of_row(row)["obeys"], EXPLANATION).cloned();
    assert_eq!(explanation("1"), Some(json!("because 1")));
    // A text arrives as it is: a viewer escapes it.
    let message = "metric `obeys`: secret\n\u{1b}[31m\u{202e}";
    assert_eq!(explanation("secret"), Some(json!(message)));
    let body = &receiver.of_row("secret")["obeys"].body;
    assert_eq!(*body, json!(format!("evaluation: obeys failed: {message}")));
}

#[tokio::test]
async fn an_event_belongs_to_the_span_or_the_response_that_the_row_names() {
    let receiver = Receiver::start(Reply::Accept);
    let events = OtelEvents::builder()
        .endpoint(&receiver.url)
        .build()
        .unwrap();
    let evaluate = Evaluate::builder()
        .metric(Gap)
        .observer(events.clone())
        .build()
        .unwrap();
    let (trace, span) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
    let rows = [
        ("both", vec![("trace_id", trace), ("span_id", span)]),
        (
            "upper",
            vec![
                ("trace_id", "4BF92F3577B34DA6A3CE929D0E0E4736"),
                ("span_id", span),
            ],
        ),
        ("response", vec![("response_id", "chatcmpl-1")]),
        ("no trace", vec![("span_id", span)]),
        (
            "invalid",
            vec![("trace_id", "not hexadecimal"), ("span_id", span)],
        ),
        (
            "zero",
            vec![
                ("trace_id", "00000000000000000000000000000000"),
                ("span_id", span),
            ],
        ),
    ];
    let rows = rows.map(|(id, attributes)| {
        let mut pair = Pair::new(id, example! {}, prediction! { "answer" => "1" });
        for (name, value) in attributes {
            pair.attributes.insert(name, json!(value));
        }
        pair
    });
    let _ = evaluate.score(rows).await.unwrap();
    assert!(events.finish().is_complete());
    let parent = |row: &str| {
        let record = receiver.of_row(row).remove("gap").unwrap();
        (record.trace_id, record.span_id)
    };
    for row in ["both", "upper"] {
        assert_eq!(parent(row), (trace.to_owned(), span.to_owned()));
    }
    for row in ["response", "no trace", "invalid", "zero"] {
        assert_eq!(parent(row), (String::new(), String::new()), "{row}");
    }
    let response = attribute(&receiver.of_row("response")["gap"], "gen_ai.response.id").cloned();
    assert_eq!(response, Some(json!("chatcmpl-1")));
}

#[tokio::test]
async fn a_row_that_is_repeated_has_one_event_with_its_mean() {
    let receiver = Receiver::start(Reply::Accept);
    let events = OtelEvents::builder()
        .endpoint(&receiver.url)
        .build()
        .unwrap();
    let evaluate = Evaluate::builder()
        .metric(Gap)
        .repeats(3)
        .observer(events.clone());
    let row = Pair::new("q", example! {}, prediction! { "answer" => "0.25" });
    let _ = evaluate.build().unwrap().score([row]).await.unwrap();
    assert!(events.finish().is_complete());
    let records = receiver.records();
    assert_eq!(records.len(), 1);
    let found = [VALUE, LABEL, "dsrs.repeats"].map(|name| attribute(&records[0], name).cloned());
    assert_eq!(
        found,
        [Some(json!(0.25)), None, Some(json!(3))],
        "a mean has no verdict"
    );
}

#[tokio::test]
async fn ten_thousand_rows_arrive_once() {
    let receiver = Receiver::start(Reply::Accept);
    let events = OtelEvents::builder()
        .endpoint(&receiver.url)
        .build()
        .unwrap();
    let evaluate = Evaluate::builder()
        .metric(Gap)
        .observer(events.clone())
        .build()
        .unwrap();
    let pair = |row: u32| {
        let answer = f64::from(row) / 7.0;
        Pair::new(
            row.to_string(),
            example! {},
            prediction! { "answer" => answer.to_string() },
        )
    };
    let _ = evaluate
        .score((0..10_000).map(pair).collect::<Vec<_>>())
        .await
        .unwrap();
    let delivery = events.finish_within(Duration::from_secs(60));
    assert_eq!(
        (delivery.events, delivery.delivered_events),
        (10_000, 10_000),
        "{delivery}"
    );
    let records = receiver.records();
    assert_eq!(records.len(), 10_000);
    let values: BTreeMap<u32, f64> = records
        .iter()
        .map(|it| {
            let row = it.attributes["dsrs.row.id"]
                .as_str()
                .unwrap()
                .parse()
                .unwrap();
            (row, it.attributes[VALUE].as_f64().unwrap())
        })
        .collect();
    assert_eq!(
        values,
        (0..10_000).map(|row| (row, f64::from(row) / 7.0)).collect()
    );
    assert!(receiver.headers().len() < 100, "they are sent in batches");
}
