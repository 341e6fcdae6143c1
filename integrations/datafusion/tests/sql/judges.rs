//! Asynchronous metrics: each row is evaluated once, within the limits, in every part of a query.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use datafusion::prelude::{SessionConfig, SessionContext};
use dsrs_metrics::contract::Settings;
use dsrs_metrics::judge::Models;
use dsrs_metrics::judge::shipped::SemanticF1;
use dsrs_metrics::lm::{LanguageModel, LmRequest, ScriptedLm};
use dsrs_metrics::prelude::*;
use dsrs_metrics_datafusion::{MetricFunctions, RegisterMetric as _};
use serde_json::json;

use crate::{error, rows};

static RUNNING: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Waits, and counts the calls that run at the same time.
#[metric]
async fn slow(#[pred] number: i64) -> Result<f64, String> {
    CALLS.fetch_add(1, Ordering::SeqCst);
    MOST.fetch_max(RUNNING.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
    // Later rows finish before earlier ones.
    let wait = if number % 2 == 0 { 6 } else { 2 };
    tokio::time::sleep(Duration::from_millis(wait)).await;
    RUNNING.fetch_sub(1, Ordering::SeqCst);
    assert!(number != 13, "unlucky");
    if number == 17 {
        Err("refused".to_owned())
    } else {
        Ok(number as f64)
    }
}

/// The rows 0 to 99 in several partitions and batches.
fn context() -> SessionContext {
    let config = SessionConfig::new()
        .with_target_partitions(4)
        .with_batch_size(16);
    SessionContext::new_with_config(config)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_row_is_evaluated_once_and_the_limit_covers_all_partitions() {
    let ctx = context();
    let functions = MetricFunctions::new(Slow).with_concurrency(5);
    ctx.register_metric_functions(functions).unwrap();
    let sql = "SELECT value, slow(value) FROM generate_series(0, 99) ORDER BY value";
    let found = rows(&ctx, sql).await.unwrap();
    let expected = (0..100).map(|row| match row {
        13 | 17 => format!("{row} | NULL"),
        row => format!("{row} | {row}.0"),
    });
    assert_eq!(found, expected.collect::<Vec<_>>());
    assert_eq!(
        (CALLS.load(Ordering::SeqCst), MOST.load(Ordering::SeqCst)),
        (100, 5)
    );
    // Columns of other types are cast, and arguments are validated before the query runs.
    assert_eq!(
        rows(&ctx, "SELECT slow(arrow_cast(7, 'Int8'))")
            .await
            .unwrap(),
        ["7.0"]
    );
    let found = error(&ctx, "SELECT slow(x) FROM (VALUES ('a')) AS t(x)").await;
    let expected = "function `slow`, argument 1 `number`: expected a whole number, found Utf8; write CAST(.. AS BIGINT)";
    assert!(found.contains(expected), "{found}");
    let found = error(&ctx, "SELECT slow(1, 2)").await;
    assert!(
        found.contains("'slow' expected 1 arguments but received 2"),
        "{found}"
    );
    let sql = "SELECT slow_details(value)['outcome'], slow_details(value)['error'] FROM (VALUES (13), (17)) AS t(value)";
    let found = rows(&ctx, sql).await.unwrap();
    let panicked = "metric_failed | metric `slow` panicked: unlucky";
    assert_eq!(found, [panicked, "metric_failed | metric `slow`: refused"]);
}

static DETAILS: AtomicUsize = AtomicUsize::new(0);

/// Counts its calls.
#[metric]
async fn counted(#[pred] number: i64) -> f64 {
    DETAILS.fetch_add(1, Ordering::SeqCst);
    number as f64
}

// DataFusion 55.2 copied the call to each field that was read.
#[tokio::test]
async fn several_fields_of_the_details_take_one_call_for_each_row() {
    let ctx = context();
    ctx.register_metric(Counted).unwrap();
    let sql = "SELECT d['value'], d['outcome'], d['error'] FROM \
               (SELECT counted_details(value) AS d FROM generate_series(0, 9))";
    assert_eq!(rows(&ctx, sql).await.unwrap().len(), 10);
    assert_eq!(DETAILS.load(Ordering::SeqCst), 10);
}

fn judge() -> (SessionContext, Arc<ScriptedLm>) {
    let reply = |request: &LmRequest| {
        let text = &request.messages.last().unwrap().content;
        let precision = if text.contains("right") { 1.0 } else { 0.5 };
        json!({ "reasoning": "Compared.", "recall": 1.0, "precision": precision }).to_string()
    };
    let lm = Arc::new(
        ScriptedLm::new()
            .when("broken", "not JSON")
            .otherwise(reply),
    );
    let ctx = context();
    let shared: Arc<dyn LanguageModel> = Arc::clone(&lm) as _;
    ctx.register_metric(SemanticF1::default().with_lm(shared))
        .unwrap();
    (ctx, lm)
}

const ROWS: &str =
    "(VALUES (1, 'right'), (2, 'wrong'), (3, 'broken'), (4, 'right')) AS t(id, reply)";

#[tokio::test]
async fn a_judge_answers_in_projections_filters_and_aggregates() {
    let (ctx, lm) = judge();
    let call = "semantic_f1('q', 'truth', reply)";
    let sql = format!("SELECT id, {call} FROM {ROWS} ORDER BY id");
    let found = rows(&ctx, &sql).await.unwrap();
    assert_eq!(
        found,
        ["1 | 1.0", "2 | 0.6666666666666666", "3 | NULL", "4 | 1.0"]
    );
    // One call for each row, and one more for the repair of the reply that is not JSON.
    assert_eq!(lm.calls(), 5);

    let sql = format!("SELECT id FROM {ROWS} WHERE {call} > 0.9 ORDER BY id");
    assert_eq!(rows(&ctx, &sql).await.unwrap(), ["1", "4"]);
    assert_eq!(lm.calls(), 10);

    let summary = "metric_summary(semantic_f1_details('q', 'truth', reply)) AS s";
    let sql =
        format!("SELECT s['mean'], s['scored'], s['failed'] FROM (SELECT {summary} FROM {ROWS})");
    assert_eq!(
        rows(&ctx, &sql).await.unwrap(),
        ["0.6666666666666666 | 3 | 1"]
    );
    assert_eq!(lm.calls(), 15);

    let sql = format!(
        "SELECT metric_mean(s), count(*) FROM (SELECT id, {call} AS s FROM {ROWS}) WHERE id > 1"
    );
    assert_eq!(rows(&ctx, &sql).await.unwrap(), ["0.5555555555555555 | 3"]);
}

#[tokio::test]
async fn a_table_without_rows_makes_no_call() {
    let (ctx, lm) = judge();
    let sql = format!("SELECT semantic_f1('q', 'truth', reply) FROM {ROWS} WHERE id > 9");
    assert_eq!(rows(&ctx, &sql).await.unwrap(), Vec::<String>::new());
    assert_eq!(lm.calls(), 0);
}

const DETAILS_QUERY: &str =
    "SELECT d['outcome'], d['feedback'] FROM (SELECT semantic_f1_details('q', 'a b', 'a') AS d)";

/// A session in which no model is configured, whatever `DSRS_LM` is.
async fn unconfigured<T>(run: impl Future<Output = T>) -> T {
    Settings::new().with(Models::default()).scope(run).await
}

#[tokio::test]
async fn a_judge_without_a_model_is_an_error_before_the_query() {
    let ctx = context();
    ctx.register_metric(SemanticF1::default()).unwrap();
    for (function, call) in [
        ("semantic_f1", "semantic_f1('q', 'a b', reply)"),
        (
            "semantic_f1_details",
            "semantic_f1_details('q', 'a b', reply)",
        ),
    ] {
        // Also without a row.
        for condition in ["true", "id > 9"] {
            let sql = format!("SELECT {call} FROM {ROWS} WHERE {condition}");
            let found = unconfigured(error(&ctx, &sql)).await;
            let expected = format!("function `{function}`: no language model is configured; ");
            assert!(found.contains(&expected), "{found}");
            for name in [
                "`--lm",
                "DSRS_LM",
                "`.with_lm(..)`",
                "`--offline`",
                "`.offline()`",
            ] {
                assert!(found.contains(name), "{name}: {found}");
            }
        }
    }
    let all = context();
    all.register_all_builtin().unwrap();
    let found = unconfigured(error(&all, DETAILS_QUERY)).await;
    assert!(
        found.contains("no language model is configured; "),
        "{found}"
    );
}

#[tokio::test]
async fn a_judge_that_is_asked_to_score_offline_says_so() {
    let judge = SemanticF1::builder().offline().build();
    let (by_value, by_functions, all) = (context(), context(), context());
    by_value.register_metric(judge).unwrap();
    let functions = MetricFunctions::new(SemanticF1::default()).offline();
    by_functions.register_metric_functions(functions).unwrap();
    all.register_all_builtin_with(MetricFunctions::offline)
        .unwrap();
    for ctx in [by_value, by_functions, all] {
        let found = rows(&ctx, DETAILS_QUERY).await.unwrap();
        assert!(
            found[0].starts_with("scored | judge: offline-lexical"),
            "{found:?}"
        );
    }
    let identity = |functions: MetricFunctions| functions.description();
    let with_model = SemanticF1::default().with_lm(ScriptedLm::new());
    let offline = identity(MetricFunctions::new(SemanticF1::default()).offline());
    assert_ne!(offline, identity(MetricFunctions::new(with_model)));
}
