//! Collectors that hang, fail, are down, or come up late: the run does not wait, its result is the same, and what was not
//! delivered is counted.

use std::time::{Duration, Instant};

use dsrs_metrics::prelude::*;
use dsrs_metrics::runs::otel::{Delivery, OtelEvents, OtelEventsBuilder};
use dsrs_metrics::{Evaluate, rows::Pair};

use crate::receiver::{Receiver, Reply, free_address};

#[metric]
fn right(#[gold] answer: i64, #[pred("answer")] guess: i64) -> bool {
    answer == guess
}

fn rows(count: i64) -> Vec<Pair> {
    let pair = |row: i64| {
        let guess = row - row % 3;
        Pair::new(
            row.to_string(),
            example! { "answer" => row },
            prediction! { "answer" => guess },
        )
    };
    (0..count).map(pair).collect()
}

fn events(url: &str) -> OtelEventsBuilder {
    OtelEvents::builder()
        .endpoint(url)
        .timeout(Duration::from_millis(300))
}

async fn run(events: &OtelEvents) {
    let evaluate = Evaluate::builder()
        .metric(Right)
        .observer(events.clone())
        .build()
        .unwrap();
    let result = evaluate.score(rows(100)).await.unwrap();
    assert_eq!((result.rows, result.score), (100, Some(0.34)));
}

/// A run with 100 events, and how long its end waited.
async fn delivered(url: &str) -> (Delivery, Duration) {
    let events = events(url).build().unwrap();
    let started = Instant::now();
    run(&events).await;
    assert!(
        started.elapsed() < Duration::from_secs(1),
        "the run does not wait"
    );
    let started = Instant::now();
    let delivery = events.finish();
    (delivery, started.elapsed())
}

#[tokio::test]
async fn a_collector_that_is_down_is_named_with_the_number_of_events() {
    let url = format!("http://{}", free_address());
    let (delivery, waited) = delivered(&url).await;
    assert_eq!((delivery.events, delivery.lost_events()), (100, 100));
    let sentence =
        format!("100 of 100 events were not delivered to {url}: Connection refused (os error 111)");
    assert_eq!(delivery.to_string(), sentence);
    assert!(waited < Duration::from_secs(2), "{waited:?}");
}

#[tokio::test]
async fn a_collector_that_hangs_delays_the_end_by_a_limited_time() {
    let receiver = Receiver::start(Reply::Never);
    let (delivery, waited) = delivered(&receiver.url).await;
    let url = &receiver.url;
    let sentence = format!(
        "100 of 100 events were not delivered to {url}: the collector did not reply in time"
    );
    assert_eq!(delivery.to_string(), sentence);
    assert!(waited < Duration::from_secs(2), "{waited:?}");
}

#[tokio::test]
async fn a_status_that_the_protocol_does_not_repeat_loses_the_batch_at_once() {
    for (status, body, reason) in [
        (500, "out of \u{1b}[31mdisk", "status 500"),
        (500, "no disk\n", "status 500: no disk"),
        (401, "missing token", "status 401: missing token"),
        (404, "", "status 404"),
    ] {
        let receiver = Receiver::start(Reply::Status(status, body));
        let (delivery, waited) = delivered(&receiver.url).await;
        assert_eq!(
            (delivery.lost_events(), delivery.error.as_deref()),
            (100, Some(reason))
        );
        assert!(waited < Duration::from_millis(250), "{waited:?}");
        assert_eq!(receiver.headers().len(), 1, "one request");
    }
}

#[tokio::test]
async fn a_response_that_is_not_a_collectors_confirms_nothing() {
    for (body, found) in [
        ("<html>Please log in</html>", "<html>Please log in</html>"),
        ("aaaaaaaaa", "aaaaaaaaa"),
        (
            r#"{"partialSuccess":{"rejectedLogRecords":"3"}}"#,
            r#"{"partialSuccess":{"rejectedLogRecords":"3"}}"#,
        ),
        ("\u{1}", "other bytes"),
    ] {
        let receiver = Receiver::start(Reply::Status(200, body));
        let (delivery, _) = delivered(&receiver.url).await;
        let reason = format!(
            "expected an OTLP response, found {found}; check that the URL belongs to a collector"
        );
        assert_eq!(
            (delivery.lost_events(), delivery.error),
            (100, Some(reason))
        );
        assert_eq!(receiver.headers().len(), 1, "one request");
    }
    for body in ["", "{}", r#"{"partialSuccess":{}}"#] {
        let receiver = Receiver::start(Reply::Status(200, body));
        let (delivery, _) = delivered(&receiver.url).await;
        assert_eq!(
            (delivery.lost_events(), delivery.error),
            (0, None),
            "{body}"
        );
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let receiver = Receiver::start(Reply::Redirect("/elsewhere"));
    let (delivery, _) = delivered(&receiver.url).await;
    let reason = "status 302; redirects are not followed, so use the final URL";
    assert_eq!(
        (delivery.lost_events(), delivery.error.as_deref()),
        (100, Some(reason))
    );
    assert_eq!(receiver.headers().len(), 1);
}

#[tokio::test]
async fn rejected_events_are_counted() {
    let receiver = Receiver::start(Reply::Reject(3));
    let (delivery, _) = delivered(&receiver.url).await;
    let batches = receiver.headers().len() as u64;
    assert_eq!(
        (delivery.events, delivery.lost_events()),
        (100, 3 * batches)
    );
    assert_eq!(delivery.delivered_events, receiver.records().len() as u64);
    assert_eq!(
        delivery.error.as_deref(),
        Some("the collector rejected 3 of a batch: quota")
    );
}

#[tokio::test]
async fn a_collector_that_comes_up_late_receives_everything_once() {
    let address = free_address();
    let events = events(&format!("http://{address}")).build().unwrap();
    run(&events).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let receiver = Receiver::at(address, Reply::Status(503, "starting"));
    tokio::time::sleep(Duration::from_millis(300)).await;
    receiver.reply_by(Reply::Accept);
    let delivery = events.finish_within(Duration::from_secs(10));
    assert_eq!(
        (delivery.events, delivery.lost_events()),
        (100, 0),
        "{delivery}"
    );
    assert_eq!(receiver.records().len(), 100);
}

#[tokio::test]
async fn a_full_queue_loses_and_counts_what_exceeds_it() {
    let receiver = Receiver::start(Reply::Status(503, ""));
    let events = events(&receiver.url).queue(20).build().unwrap();
    run(&events).await;
    receiver.reply_by(Reply::Accept);
    let delivery = events.finish_within(Duration::from_secs(10));
    let delivered = receiver.records().len() as u64;
    assert_eq!(
        (delivery.events, delivery.delivered_events),
        (100, delivered)
    );
    // The batch that is being sent, and a full queue.
    assert!((20..=40).contains(&delivered), "{delivery}");
}

#[tokio::test]
async fn what_is_observed_after_the_end_is_counted_as_lost() {
    let receiver = Receiver::start(Reply::Accept);
    let events = events(&receiver.url).build().unwrap();
    run(&events).await;
    assert!(events.finish().is_complete());
    run(&events).await;
    let delivery = events.finish();
    assert_eq!((delivery.events, delivery.delivered_events), (200, 100));
    assert_eq!(receiver.records().len(), 100);
}

#[tokio::test]
async fn dropping_the_observer_sends_what_waits() {
    let receiver = Receiver::start(Reply::Accept);
    let events = events(&receiver.url).build().unwrap();
    run(&events).await;
    drop(events);
    assert_eq!(receiver.records().len(), 100);
}

#[tokio::test]
async fn results_do_not_depend_on_the_collector() {
    let folder = tempfile::tempdir().unwrap();
    let plain = Evaluate::builder()
        .metric(Right)
        .files(|files| files.jsonl(folder.path().join("plain.jsonl")));
    let _ = plain.build().unwrap().score(rows(100)).await.unwrap();
    let plain = std::fs::read(folder.path().join("plain.jsonl")).unwrap();
    let down = format!("http://{}", free_address());
    let [accepts, hangs] = [Reply::Accept, Reply::Never].map(Receiver::start);
    for (url, file) in [
        (&accepts.url, "1.jsonl"),
        (&hangs.url, "2.jsonl"),
        (&down, "3.jsonl"),
    ] {
        let events = events(url).build().unwrap();
        let evaluate = Evaluate::builder()
            .metric(Right)
            .files(|files| files.jsonl(folder.path().join(file)));
        let evaluate = evaluate.observer(events).build().unwrap();
        let _ = evaluate.score(rows(100)).await.unwrap();
        assert!(
            std::fs::read(folder.path().join(file)).unwrap() == plain,
            "{url}"
        );
    }
}
