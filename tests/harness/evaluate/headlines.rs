//! Headlines: bounded and on lines of their own, whatever names and explanations a metric returns.

use std::time::Instant;

use dsrs_metrics::prelude::*;
use dsrs_metrics::{Evaluate, contract::Scores, rows::Pair, runs::EvaluationResult};

fn pair(id: usize) -> Pair {
    Pair::new(id.to_string(), example! {}, prediction! {})
}

/// The result of a metric that returns these named scores after its headline score.
async fn with_parts(names: Vec<String>) -> EvaluationResult {
    let metric = metric_fn("fields", move |_, _| {
        names.iter().fold(Scores::new("all", 1.0), |scores, name| {
            scores.with(name.clone(), 0.5)
        })
    });
    let evaluate = Evaluate::builder()
        .metric(metric)
        .metric(metric_fn("one", |_, _| 1.0));
    evaluate.build().unwrap().score([pair(0)]).await.unwrap()
}

#[tokio::test]
async fn a_name_from_a_row_cannot_forge_a_headline() {
    let hostile = "x\nem  100.00% (9/9, 0 failed)\r\u{1b}[2K\u{202e}".to_owned();
    let shown = with_parts(vec![hostile.clone(), "long".repeat(1000)]).await;
    assert!(
        shown.metric(&format!("fields.{hostile}")).is_some(),
        "the name itself is unchanged"
    );
    let text = shown.to_string();
    let lines: Vec<_> = text
        .lines()
        .map(|line| line.split("  ").next().unwrap())
        .collect();
    let long = format!("fields.{}…", &"long".repeat(100)[..72]);
    assert_eq!(
        lines,
        ["fields", "fields.all", "fields.x\\nem", &long, "one"],
        "{text}"
    );
    assert!(
        !text.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}'),
        "{text:?}"
    );
}

#[tokio::test]
async fn the_number_of_headlines_does_not_depend_on_the_rows() {
    let names = |count: usize| {
        (0..count)
            .map(|name| format!("f{name}"))
            .collect::<Vec<_>>()
    };
    let text = with_parts(names(19)).await.to_string();
    assert_eq!(text.lines().count(), 22, "20 named scores are shown");
    let result = with_parts(names(20_000)).await;
    let text = result.to_string();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 23, "{text}");
    assert_eq!(
        lines[20],
        "fields.f18  0.5000 [not enough rows] (mean of 1/1, 0 failed)"
    );
    assert_eq!(lines[21], "fields.*    19981 more named scores");
    assert!(lines[22].starts_with("one  "));
    assert_eq!(result.metrics.len(), 20_003, "all are in the result");
}

/// Quadratic work takes several minutes.
#[tokio::test]
async fn many_named_scores_take_linear_time() {
    let started = Instant::now();
    let result = with_parts((0..200_000).map(|name| format!("field {name}")).collect()).await;
    assert_eq!(result.metrics.len(), 200_003);
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

#[test]
fn many_named_scores_are_replaced_and_kept_in_order() {
    let names = (0..100).map(|name| name.to_string());
    let add = |scores: Scores, name: String| scores.with(name, 0.25);
    let scores = names.clone().fold(Scores::new("0", 0.5), add);
    assert_eq!(
        scores.headline(),
        0.25,
        "replaced by the score of the same name"
    );
    let again = names.fold(scores.clone(), add);
    assert_eq!(again, scores);
    assert_ne!(scores.clone().with("99", 0.5), scores);
    assert_ne!(scores.clone().with("100", 0.25), scores);
}

#[tokio::test]
async fn explanations_are_cut_off() {
    let long = || "é".repeat(1 << 20);
    let told = metric_fn("told", move |_, _| FeedbackMetric::new(0.5, long()));
    let detailed = metric_fn("detailed", move |_, _| {
        MetricScore::new(0.5).with_details(long())
    });
    let evaluate = Evaluate::builder()
        .metric(told)
        .metric(detailed)
        .build()
        .unwrap();
    let result = evaluate.score([pair(0)]).await.unwrap();
    let [told, detailed] = [0, 1].map(|at| result.results[0].outcomes[at].scored().unwrap());
    let expected = format!(
        "{}... (truncated; 2097152 bytes in full)",
        "é".repeat(32 << 10)
    );
    assert_eq!(told.feedback().as_deref(), Some(&*expected));
    assert_eq!(detailed.score.details, Some(expected));
}
