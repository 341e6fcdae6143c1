//! Measures metrics in SQL over generated rows in partitioned Parquet: rows per second on one core and on two, memory, and the
//! overhead over a native string function.
//!
//! ```text
//! cargo run --release --example throughput -- [ROWS] [FOLDER]
//! ```
//!
//! Rows that are already in the folder are used again.

mod generated;

use std::path::Path;
use std::time::Instant;

use datafusion::arrow::array::RecordBatch;
use datafusion::error::Result;
use datafusion::prelude::{SessionConfig, SessionContext};
use dsrs_metrics::metrics::{AnswerExactMatch, F1, RougeL};
use dsrs_metrics_datafusion::{RegisterMetric as _, register_files};

/// The figures of each query, over the columns `answer` and `prediction`.
const QUERIES: [(&str, &str); 5] = [
    (
        "scan: bytes of both columns",
        "sum(octet_length(answer) + octet_length(prediction))",
    ),
    (
        "native: lower(trim(a)) = lower(trim(b))",
        "count(*) FILTER (WHERE lower(trim(answer)) = lower(trim(prediction)))",
    ),
    (
        "answer_exact_match, counted",
        "count(*) FILTER (WHERE answer_exact_match(answer, prediction))",
    ),
    (
        "answer_exact_match, metric_summary",
        "metric_summary(answer_exact_match(answer, prediction))",
    ),
    (
        "3 metrics, metric_mean of each",
        "metric_mean(answer_exact_match(answer, prediction)), metric_mean(f1(answer, prediction)), \
         metric_mean(rouge_l(answer, prediction))",
    ),
];

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let rows = arguments
        .next()
        .map_or(2_000_000, |rows| rows.parse().expect("a number of rows"));
    let folder = arguments
        .next()
        .unwrap_or_else(|| format!("target/throughput-{rows}"));
    if !Path::new(&folder).exists() {
        on_cores(2, generated::write(rows, folder.clone()))?;
    }
    let size = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten();
    let files = size(Path::new(&folder))
        .flat_map(|model| size(&model.path()))
        .count();
    println!("{rows} rows in {files} files of {folder}; seconds, then rows per second");
    for (name, figures) in QUERIES {
        let sql = format!("SELECT model, {figures} FROM t GROUP BY model ORDER BY model");
        let mut seconds = Vec::new();
        for cores in [1, 2] {
            let start = Instant::now();
            on_cores(cores, run(cores, folder.clone(), sql.clone()))?;
            seconds.push(start.elapsed().as_secs_f64());
        }
        let [one, two] = seconds[..] else { continue };
        let per_second = |seconds: f64| (rows as f64 / seconds).round();
        println!(
            "{name}: 1 core {one:.2} s {}/s; 2 cores {two:.2} s {}/s; {:.2} times; peak memory {}",
            per_second(one),
            per_second(two),
            one / two,
            peak_memory()
        );
    }
    Ok(())
}

/// Runs a query on this many worker threads; the thread of `main` only waits for them.
fn on_cores(cores: usize, work: impl Future<Output = Result<()>>) -> Result<()> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime
        .worker_threads(cores)
        .enable_all()
        .build()?
        .block_on(work)
}

async fn run(cores: usize, folder: String, sql: String) -> Result<()> {
    let config = SessionConfig::new().with_target_partitions(cores);
    let ctx = SessionContext::new_with_config(config);
    ctx.register_metric(AnswerExactMatch::default())?;
    ctx.register_metric(F1::default())?;
    ctx.register_metric(RougeL::default())?;
    register_files(&ctx, "t", &[folder.into()]).await?;
    let groups: usize = ctx
        .sql(&sql)
        .await?
        .collect()
        .await?
        .iter()
        .map(RecordBatch::num_rows)
        .sum();
    assert_eq!(groups, 4);
    Ok(())
}

/// The largest resident memory of the process so far.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "unknown".to_owned(), |size| size.trim().to_owned())
}
