//! Runs a query over files, with all built-in metrics as functions, and prints CSV.
//!
//! ```text
//! cargo run --release --example sql -- [--offline] [--metric NAME=METRIC[,KEY=VALUE..]].. NAME=FILE.. "SELECT .."
//! ```
//!
//! `--metric good_f1=f1,threshold=0.8` is a built-in metric with parameters, as the function `good_f1`. `list METRIC` of the
//! command line `dsrs-metrics` has the parameters.
//!
//! The variable `DSRS_LM` names the model of judges. `--offline` calls none: they score by token overlap, and their feedback says so. A
//! judge without either is an error before the query.
//!
//! A file is JSONL, JSON, CSV or Parquet, or a folder of such files; the same name several times is one table. The settings of
//! DataFusion are read from the environment: `DATAFUSION_EXECUTION_TARGET_PARTITIONS=1` is one partition.

#[path = "sql/metrics.rs"]
mod metrics;

use std::io::{BufWriter, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use datafusion::error::Result;
use datafusion::prelude::{SessionConfig, SessionContext};
use dsrs_metrics_datafusion::{is_broken_pipe, register_files, tables, write_csv};

const USAGE: &str =
    "usage: sql [--offline] [--metric NAME=METRIC[,KEY=VALUE..]].. NAME=FILE.. \"SELECT ..\"";

#[tokio::main]
async fn main() -> ExitCode {
    let mut options: Vec<_> = std::env::args().skip(1).collect();
    let metrics = metrics::take_metrics(&mut options);
    let parsed = metrics.and_then(|metrics| Ok((metrics, arguments(options)?)));
    let (metrics, (tables, query)) = match parsed {
        Ok(parsed) => parsed,
        Err(problem) => {
            eprintln!("error: {problem}; {USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(metrics, tables, &query).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", error.strip_backtrace());
            ExitCode::from(2)
        }
    }
}

async fn run(metrics: metrics::Metrics, tables: Tables, query: &str) -> Result<()> {
    let ctx = SessionContext::new_with_config(SessionConfig::from_env()?);
    metrics.register(&ctx)?;
    for (name, files) in tables {
        register_files(&ctx, &name, &files).await?;
    }
    write_csv(ctx.sql(query).await?, &mut BufWriter::new(stdout())).await
}

type Tables = Vec<(String, Vec<PathBuf>)>;

/// Returns the tables with their files, and the query.
fn arguments(mut arguments: Vec<String>) -> Result<(Tables, String), String> {
    let query = arguments
        .pop()
        .ok_or("expected a query, found no arguments")?;
    Ok((tables(arguments)?, query))
}
