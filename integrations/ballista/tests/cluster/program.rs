//! The program of all processes: its metrics. Scheduler and executors are this test binary, started with other arguments.

use std::io::Write as _;
use std::time::Duration;

use dsrs_metrics::lm::{Lm, RetryPolicy};
use dsrs_metrics::metrics::F1;
use dsrs_metrics::prelude::*;
use dsrs_metrics_ballista::Cluster;
use dsrs_metrics_datafusion::{MetricFunctions, RegisterMetric as _};

use crate::fault_table::{ATTEMPTS, GradedJudge};

/// The arguments of the process, separated by line breaks.
pub(crate) const ARGUMENTS: &str = "DSRS_METRICS_CLUSTER_ARGUMENTS";
/// What is different in the program of this process.
pub(crate) const VARIANT: &str = "DSRS_METRICS_CLUSTER_VARIANT";
/// The file to which `slow` adds one byte for each row.
pub(crate) const PROGRESS: &str = "DSRS_METRICS_CLUSTER_PROGRESS";
/// The address of the language model.
pub(crate) const MODEL: &str = "DSRS_METRICS_CLUSTER_MODEL";

/// Panics on `panic`, and fails on `fail`.
#[metric]
fn fragile(#[pred] reply: &str) -> Result<f64, String> {
    match reply {
        "panic" => panic!("cannot score this"),
        "fail" => Err("no score for this".to_owned()),
        reply => Ok(reply.len() as f64),
    }
}

/// Waits for 0.1 ms, and scores 1 for an even number.
#[metric]
fn slow(#[pred] number: i64) -> bool {
    std::thread::sleep(Duration::from_micros(100));
    if let Some(file) = std::env::var_os(PROGRESS) {
        let mut file = std::fs::OpenOptions::new().append(true).open(file).unwrap();
        file.write_all(b".").unwrap();
    }
    number % 2 == 0
}

mod other {
    use dsrs_metrics::prelude::*;

    /// Reads a number.
    #[metric]
    pub(super) fn fragile(#[pred] reply: i64) -> f64 {
        reply as f64
    }
}

/// The cluster of a program. Some variants differ, and a model adds a judge.
pub(crate) fn cluster(variant: &str, model: Option<&str>) -> Cluster {
    let cluster = Cluster::new();
    match variant {
        "other threshold" => {
            cluster
                .register_metric(F1::default().with_threshold(0.8))
                .unwrap();
        }
        _ => {
            cluster.register_all_builtin().unwrap();
        }
    }
    match variant {
        "without fragile" => {}
        "other types" => cluster.register_metric(other::Fragile).unwrap(),
        _ => cluster.register_metric(Fragile).unwrap(),
    }
    cluster.register_metric(Slow).unwrap();
    if let Some(url) = model {
        let retry = RetryPolicy {
            max_attempts: ATTEMPTS,
            initial_delay: Duration::from_millis(2),
            max_delay: Duration::from_millis(20),
            ..RetryPolicy::default()
        };
        let lm = Lm::builder("openai:judge-faults")
            .variables(|_| None)
            .key("sk-test")
            .base_url(url);
        let lm = lm.no_proxy().no_store().retry(retry);
        let lm = lm.timeout(Duration::from_secs(60)).build().unwrap();
        let judge = MetricFunctions::new(GradedJudge::default().with_lm(lm)).with_concurrency(100);
        cluster.register_metric_functions(judge).unwrap();
    }
    cluster
}

/// Not a test: the process of a scheduler or an executor.
#[test]
fn program() {
    let Ok(arguments) = std::env::var(ARGUMENTS) else {
        return;
    };
    let variant = std::env::var(VARIANT).unwrap_or_default();
    let arguments = arguments.lines().map(str::to_owned);
    let model = std::env::var(MODEL).ok();
    let cluster = cluster(&variant, model.as_deref());
    let code = cluster.main_from(std::iter::once("program".to_owned()).chain(arguments));
    std::process::exit(code.into());
}
