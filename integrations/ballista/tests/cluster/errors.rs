//! Processes of different programs, and wrong queries: errors before a job runs.

use ballista_core::extension::SessionConfigExt as _;
use datafusion::prelude::SessionConfig;

use crate::error;
use crate::processes::Running;
use crate::program::cluster;

const ADVICE: &str =
    "start scheduler, executors and clients with the same version of the same program";

#[tokio::test(flavor = "multi_thread")]
async fn an_executor_without_a_function_is_refused() {
    let mut running = Running::start(&["without fragile"], &[]);
    let reason = "function `fragile`: expected fragile(reply: a string) -> Float64, found no function of this name on \
                  the executor; ";
    let line = running.executors[0].line("error: ");
    assert!(line.contains(reason) && line.contains(ADVICE), "{line}");
    assert_eq!(running.executors[0].end().code(), Some(2));
    let line = running.scheduler_line("was refused");
    assert!(line.contains(reason), "{line}");
    // A query is told why no executor can run it.
    let found = error(
        &running.client("", None).await,
        "SELECT fragile(x) FROM (VALUES ('a')) AS t(x)",
    )
    .await;
    assert!(
        found.contains("the cluster has no executor: executor 127.0.0.1:"),
        "{found}"
    );
    assert!(found.contains(reason), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_executor_with_other_types_or_settings_is_refused() {
    let mut running = Running::start(&["other types"], &[]);
    let line = running.executors[0].line("error: ");
    let types = "function `fragile`: expected fragile(reply: a string) -> Float64, found fragile(reply: a whole number) -> \
                 Float64 on the executor; ";
    assert!(line.contains(types), "{line}");
    assert_eq!(running.executors[0].end().code(), Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_of_another_program_is_refused_before_it_runs() {
    let running = Running::start(&[""], &[]);
    let query = |variant: &'static str, sql: &'static str| {
        let running = &running;
        async move { error(&running.client(variant, None).await, sql).await }
    };
    let found = query("other types", "SELECT fragile(x) FROM (VALUES (1)) AS t(x)").await;
    let types = "function `fragile`: expected fragile(reply: a string) -> Float64, found fragile(reply: a whole number) -> \
                 Float64 in the query; ";
    assert!(found.contains(types) && found.contains(ADVICE), "{found}");
    let found = query(
        "other threshold",
        "SELECT f1(x, x) FROM (VALUES ('a')) AS t(x)",
    )
    .await;
    let settings = "function `f1`: expected `threshold` not set, found 0.8 in the query; ";
    assert!(found.contains(settings), "{found}");
    // Functions that are the same in both programs run.
    let client = running.client("other threshold", None).await;
    let found = crate::rows(&client, "SELECT slow(x) FROM (VALUES (2)) AS t(x)")
        .await
        .unwrap();
    assert_eq!(found, ["true"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_queries_are_errors_of_the_client() {
    // No process listens here, so these errors need none.
    let config = SessionConfig::new_with_ballista();
    let client = cluster("", None)
        .connect("http://127.0.0.1:9", config)
        .await
        .unwrap();
    for (sql, expected) in [
        ("SELECT f2('a', 'b')", "Invalid function 'f2'"),
        (
            "SELECT f1('a')",
            "function `f1`: expected 2 arguments, found 1 (Utf8)",
        ),
        (
            "SELECT f1('a', DATE '2020-01-01')",
            "function `f1`, argument 2 `prediction_answer`: expected a string, found Date32",
        ),
        (
            "SELECT metric_mean('a')",
            "function `metric_mean`, argument 1: expected scores",
        ),
    ] {
        let found = error(&client, sql).await;
        assert!(found.contains(expected), "{sql}: {found}");
    }
    let found = error(&client, "SELECT f1(x, x) FROM (VALUES ('a')) AS t(x)").await;
    assert!(found.contains("Connect"), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_without_an_executor_is_an_error() {
    let running = Running::start(&[], &[]);
    let found = error(
        &running.client("", None).await,
        "SELECT f1(x, x) FROM (VALUES ('a')) AS t(x)",
    )
    .await;
    assert!(
        found.contains("the cluster has no executor; start one, and run the query again"),
        "{found}"
    );
    assert!(running.address().starts_with("127.0.0.1:"));
}

#[test]
fn an_executor_without_a_scheduler_ends() {
    let arguments = ["executor", "--scheduler", "127.0.0.1:9", "--wait", "1"];
    let mut executor = crate::processes::Process::start(&arguments, &[]);
    let line = executor.line("error: ");
    let expected = "cannot connect to the scheduler at 127.0.0.1:9: ";
    assert!(line.contains(expected), "{line}");
    assert_eq!(executor.end().code(), Some(2));
}
