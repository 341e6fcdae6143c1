//! Standard errors and intervals of summaries: which formula, over which rows, at any concurrency.

use dsrs_metrics::prelude::*;
use dsrs_metrics::stats::{Clusters, Moments, Proportion, Uncertainty};
use dsrs_metrics::{Evaluate, rows::Pair, runs::EvaluationResult};

use super::{saying, score, scoring};

/// Ten documents with two to five questions each; the answer to a question is right or wrong with its document.
fn questions() -> Vec<Pair> {
    let question = |document: usize, question: usize| {
        let gold = example! { "document" => document, "about" => json(document) };
        let say = ["0", "1", "0.5"][document % 3];
        let mut pair = Pair::new(
            format!("{document}.{question}"),
            gold,
            prediction! { "say" => say },
        );
        if document != 4 {
            pair.attributes.insert("source", format!("page {document}"));
        }
        pair
    };
    (0..10)
        .flat_map(|document| (0..2 + document % 4).map(move |n| question(document, n)))
        .collect()
}

fn json(document: usize) -> serde_json::Value {
    serde_json::json!({ "title": [format!("document {document}")] })
}

async fn grouped(field: &str, concurrency: usize) -> EvaluationResult {
    let evaluate = scoring()
        .statistics(|statistics| statistics.group(field))
        .concurrency(concurrency)
        .build()
        .unwrap();
    evaluate.score(questions()).await.unwrap()
}

#[tokio::test]
async fn a_bool_has_wilsons_interval_in_its_range() {
    let is_one = metric_fn("is_one", |_: &Example, pred: &Prediction| {
        pred.get("say").and_then(|say| say.as_str()) == Some("1")
    });
    let evaluate = Evaluate::builder().metric(is_one).build().unwrap();
    let result = evaluate
        .score(saying(&["1", "1", "1", "0", "1"]))
        .await
        .unwrap();
    let expected = Proportion {
        successes: 4,
        trials: 5,
    };
    let found = result.metrics[0].uncertainty;
    assert_eq!(found, expected.uncertainty());
    let (stderr, ci95) = (found.stderr().unwrap(), found.ci95().unwrap());
    assert!((stderr - 0.2).abs() < 1e-15, "{stderr}");
    assert_eq!(format!("{:.4} {:.4}", ci95.low, ci95.high), "0.3755 0.9638");
    assert_eq!(
        result.to_string(),
        "is_one  80.00% [37.55, 96.38] (4/5, 0 failed)"
    );
}

#[tokio::test]
async fn a_failed_row_is_in_the_interval_too() {
    let result = score(&["0.5", "0.75", "fail", "0.25", "abstain"]).await;
    let expected: Moments = [0.5, 0.75, 0.0, 0.25].into_iter().collect();
    // The metric's range.
    assert_eq!(
        result.metrics[0].uncertainty,
        expected.uncertainty_within(0.0, 1e6)
    );
}

#[tokio::test]
async fn too_few_rows_have_no_interval_rather_than_zero() {
    let one = score(&["0.5"]).await;
    assert_eq!(
        one.metrics[0].uncertainty,
        Uncertainty::NotEnoughRows {
            found: 1,
            needed: 2
        }
    );
    assert_eq!(
        one.to_string(),
        "said  0.5000 [not enough rows] (mean of 1/1, 0 failed)"
    );
    let none = score(&["abstain", "fail"]).await;
    assert_eq!(
        none.metrics[0].uncertainty,
        Uncertainty::NotEnoughRows {
            found: 0,
            needed: 1
        }
    );
    assert_eq!(
        none.to_string(),
        "said  not enough rows (0/2 scored, 1 failed, 1 abstained)"
    );
    let equal = score(&["0.5", "0.5"]).await;
    // The metric's range has a million scores that two rows cannot exclude.
    let Uncertainty::WithoutStderr { ci95 } = equal.metrics[0].uncertainty else {
        panic!("{equal}")
    };
    assert!(ci95.low < 1e-8 && ci95.high > 990_000.0, "{ci95}");
    let json = serde_json::to_value(&one).unwrap()["metrics"]["said"].clone();
    let (stderr, ci95, reason) = (&json["stderr"], &json["ci95"], &json["no_interval"]);
    assert!(
        stderr.is_null() && ci95.is_null() && reason == "not enough rows",
        "{json}"
    );
}

#[tokio::test]
async fn groups_are_those_of_the_field() {
    let rows = questions();
    let mut clusters = Clusters::default();
    for row in &rows {
        let value = row
            .pred
            .get("say")
            .unwrap()
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        clusters.record(row.gold.get("document").unwrap().as_u64().unwrap(), value);
    }
    let expected = clusters.uncertainty();
    for field in ["gold.document", "gold.about", "gold.about.title.0"] {
        let result = grouped(field, 1).await;
        let summary = &result.metrics[0];
        assert_eq!(
            (summary.groups, result.without_group),
            (Some(10), 0),
            "{field}"
        );
        assert_eq!(summary.uncertainty.stderr(), expected.stderr(), "{field}");
    }
    let independent = scoring().build().unwrap().score(rows).await.unwrap();
    let stderr = |result: &EvaluationResult| result.metrics[0].uncertainty.stderr().unwrap();
    let ratio = expected.stderr().unwrap() / stderr(&independent);
    assert!((1.6..2.2).contains(&ratio), "{ratio}");
}

#[tokio::test]
async fn a_row_without_the_field_is_a_group_of_its_own() {
    let result = grouped("source", 1).await;
    // The two questions about document 4 have no source.
    assert_eq!(
        (result.metrics[0].groups, result.without_group),
        (Some(11), 2)
    );
    let result = grouped("nothing", 1).await;
    assert_eq!(
        (result.metrics[0].groups, result.without_group),
        (Some(33), 33)
    );
}

#[tokio::test]
async fn intervals_do_not_depend_on_the_concurrency() {
    let first = grouped("gold.document", 1).await;
    let again = grouped("gold.document", 64).await;
    assert_eq!(first.metrics, again.metrics);
    for group in [None, Some("gold.document")] {
        let mut results = Vec::new();
        for concurrency in [1, 8, 64] {
            let builder = scoring()
                .statistics(|statistics| statistics.bootstrap(300).seed(5))
                .concurrency(concurrency);
            let builder = match group {
                Some(field) => builder.statistics(|statistics| statistics.group(field)),
                None => builder,
            };
            results.push(
                builder
                    .build()
                    .unwrap()
                    .score(questions())
                    .await
                    .unwrap()
                    .metrics,
            );
        }
        assert!(
            results.iter().all(|metrics| *metrics == results[0]),
            "{results:?}"
        );
        let other = scoring()
            .statistics(|statistics| statistics.bootstrap(300).seed(6))
            .build()
            .unwrap();
        let other = other.score(questions()).await.unwrap().metrics;
        assert_ne!(other[0].uncertainty, results[0][0].uncertainty);
    }
}

#[tokio::test]
async fn a_group_function_that_panics_makes_groups_of_one_row() {
    let evaluate = scoring()
        .statistics(|statistics| statistics.group_by(|_| panic!("told to panic")))
        .build()
        .unwrap();
    let result = evaluate.score(saying(&["0.5", "1"])).await.unwrap();
    assert_eq!(
        (result.metrics[0].groups, result.without_group),
        (Some(2), 2)
    );
}
