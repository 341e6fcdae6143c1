//! The identity of the metric in `metric_summary`: known where the plan shows which metric computed the scores, else NULL.

use datafusion::prelude::{SessionConfig, SessionContext};
use dsrs_metrics::contract::MetricIdentity;
use dsrs_metrics::judge::shipped::SemanticF1;
use dsrs_metrics::metrics::{Em, F1};
use dsrs_metrics::prelude::*;
use dsrs_metrics_datafusion::RegisterMetric as _;

use crate::rows;

const ROWS: &str = "(VALUES (1, 'z', 'z'), (2, 'b c', 'b'), (1, 'd', 'e')) AS t(g, x, y)";

fn context() -> SessionContext {
    let config = SessionConfig::new()
        .with_target_partitions(3)
        .with_batch_size(1);
    let ctx = SessionContext::new_with_config(config);
    ctx.register_metric(F1::default()).unwrap();
    ctx.register_metric(Em::default()).unwrap();
    ctx.register_metric_as("strict_f1", F1::default().with_threshold(0.8))
        .unwrap();
    ctx.register_metric(SemanticF1::default().offline())
        .unwrap();
    ctx
}

fn identity(metric: &dyn Metric) -> String {
    serde_json::to_string(&MetricIdentity::of(metric)).unwrap()
}

/// Returns the identities of a query with one column of it.
async fn found(ctx: &SessionContext, sql: &str) -> Vec<String> {
    let found = rows(ctx, sql).await.unwrap();
    // The order of keys depends on the features of `serde_json`.
    let canonical = |text: String| match text.as_str() {
        "NULL" => text,
        text => identity_of(text),
    };
    found.into_iter().map(canonical).collect()
}

fn identity_of(text: &str) -> String {
    serde_json::to_string(&serde_json::from_str::<MetricIdentity>(text).unwrap()).unwrap()
}

#[tokio::test]
async fn summaries_of_two_metrics_are_told_apart() {
    let ctx = context();
    let metrics: [(&str, String); 4] = [
        ("f1(x, y)", identity(&F1::default())),
        ("f1_details(x, y)", identity(&F1::default())),
        ("em(x, y)", identity(&Em::default())),
        (
            "strict_f1(x, y)",
            identity(&F1::default().with_threshold(0.8)),
        ),
    ];
    for (call, expected) in metrics {
        let sql = format!("SELECT metric_summary({call})['identity'] FROM {ROWS}");
        assert_eq!(found(&ctx, &sql).await, [expected.as_str()], "{call}");
        let groups = format!("{sql} GROUP BY g");
        assert_eq!(found(&ctx, &groups).await, [expected.as_str(); 2], "{call}");
        let window = format!("SELECT (metric_summary({call}) OVER ())['identity'] FROM {ROWS}");
        assert_eq!(found(&ctx, &window).await, [expected.as_str(); 3], "{call}");
    }
    let two = format!(
        "SELECT f['identity'] = e['identity'], f['mean'], e['mean'] FROM \
                       (SELECT metric_summary(f1(x, y)) AS f, metric_summary(strict_f1(x, y)) AS e FROM {ROWS})"
    );
    assert_eq!(
        rows(&ctx, &two).await.unwrap(),
        ["false | 0.5555555555555555 | 0.5555555555555555"]
    );
}

#[tokio::test]
async fn a_judge_is_identified_by_its_model() {
    let ctx = context();
    let expected = identity(&SemanticF1::default().offline());
    assert!(
        expected.contains(r#""models":["offline-lexical"]"#),
        "{expected}"
    );
    for call in ["semantic_f1('q', x, y)", "semantic_f1_details('q', x, y)"] {
        let sql = format!("SELECT metric_summary({call})['identity'] FROM {ROWS}");
        assert_eq!(found(&ctx, &sql).await, [expected.as_str()], "{call}");
    }
}

#[tokio::test]
async fn scores_of_a_subquery_keep_the_identity() {
    let ctx = context();
    let f1 = identity(&F1::default());
    let scores = format!("SELECT g, f1(x, y) AS s FROM {ROWS}");
    ctx.sql(&format!("CREATE VIEW scores AS {scores}"))
        .await
        .unwrap();
    for from in [
        "scores".to_owned(),
        format!("({scores} ORDER BY s LIMIT 2)"),
        format!("(SELECT s FROM ({scores}) AS inner_scores WHERE s > 0.1)"),
        format!("(SELECT DISTINCT s FROM ({scores}))"),
        format!("({scores} UNION ALL SELECT g, f1(y, x) AS other FROM {ROWS})"),
        "scores AS one JOIN (VALUES (1), (2)) AS two(g) ON one.g = two.g".to_owned(),
    ] {
        let sql = format!("SELECT metric_summary(s)['identity'] FROM {from}");
        assert_eq!(found(&ctx, &sql).await, [f1.as_str()], "{from}");
    }
}

#[tokio::test]
async fn other_scores_and_changed_scores_have_no_identity() {
    let ctx = context();
    for scores in [
        "VALUES (1.0), (0.0)".to_owned(),
        format!("SELECT f1(x, y) FROM {ROWS} UNION ALL SELECT 1.0"),
        format!("SELECT f1(x, y) FROM {ROWS} UNION ALL SELECT strict_f1(x, y) FROM {ROWS}"),
        format!("SELECT -f1(x, y) FROM {ROWS}"),
        format!("SELECT CAST(f1(x, y) AS INT) FROM {ROWS}"),
        format!("SELECT coalesce(f1(x, y), 0.5) FROM {ROWS}"),
        format!("SELECT max(f1(x, y)) FROM {ROWS} GROUP BY g"),
    ] {
        let sql = format!("SELECT metric_summary(s)['identity'] FROM ({scores}) AS t(s)");
        assert_eq!(found(&ctx, &sql).await, ["NULL"], "{scores}");
    }
    for call in [
        "1.0 - f1(x, y)",
        "f1_details(x, y)['value']",
        "CAST(f1(x, y) AS INT)",
    ] {
        let sql = format!("SELECT metric_summary({call})['identity'] FROM {ROWS}");
        assert_eq!(found(&ctx, &sql).await, ["NULL"], "{call}");
    }
}
