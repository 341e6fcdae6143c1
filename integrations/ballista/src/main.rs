//! A cluster with the built-in metrics: scheduler, executor, and queries. A program with its own metrics is written in the same
//! way; see the README.

use std::process::ExitCode;

use dsrs_metrics_ballista::Cluster;
use dsrs_metrics_datafusion::RegisterMetric as _;

fn main() -> ExitCode {
    let cluster = Cluster::new();
    match cluster.register_all_builtin() {
        Ok(_) => cluster.main(),
        Err(error) => {
            eprintln!("error: {}", error.strip_backtrace());
            ExitCode::from(2)
        }
    }
}
