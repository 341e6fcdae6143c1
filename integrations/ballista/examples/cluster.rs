//! Measures a cluster of processes on loopback over generated rows: rows per second with one executor and with two, the result
//! after an executor was killed, and the time that one task takes to be scheduled.
//!
//! ```text
//! cargo build --release && cargo run --release --example cluster -- [ROWS] [FOLDER]
//! ```
//!
//! Each executor runs one task at a time. Rows that are already in the folder are used again.

#[path = "../../datafusion/examples/generated/mod.rs"]
mod generated;

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ballista_core::extension::SessionConfigExt as _;
use datafusion::error::Result;
use datafusion::prelude::{SessionConfig, SessionContext};
use dsrs_metrics_ballista::Cluster;
use dsrs_metrics_datafusion::{RegisterMetric as _, register_files, write_csv};

const SQL: &str = "SELECT model, metric_mean(answer_exact_match(answer, prediction)) AS exact, \
                   metric_mean(f1(answer, prediction)) AS f1, metric_mean(rouge_l(answer, prediction)) AS rouge_l, \
                   count(*) AS rows FROM t GROUP BY model ORDER BY model";

/// The tasks of the query that measures scheduling.
const TASKS: usize = 400;

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let rows = arguments
        .next()
        .map_or(2_000_000, |rows| rows.parse().expect("a number of rows"));
    let folder = arguments
        .next()
        .unwrap_or_else(|| format!("target/throughput-{rows}"));
    if !Path::new(&folder).exists() {
        generated::write(rows, folder.clone()).await?;
    }

    let alone = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(2));
    alone.register_all_builtin()?;
    let (expected, seconds) = result(&alone, &folder).await?;
    report("one process, two threads", rows, seconds);
    print!("{expected}");

    let (mut scheduler, line) = start(&[
        "scheduler",
        "--listen",
        "127.0.0.1:0",
        "--executor-timeout",
        "4",
    ]);
    let address = format!("127.0.0.1:{}", line.rsplit(' ').next().unwrap_or_default());
    let executor = [
        "executor",
        "--scheduler",
        &address,
        "--cores",
        "1",
        "--heartbeat",
        "1",
    ];
    let (mut first, _) = start(&executor);
    let ctx = client(&address, 8).await?;
    let (found, one) = result(&ctx, &folder).await?;
    assert_eq!(found, expected, "one executor");
    report("one executor", rows, one);

    let (mut second, _) = start(&executor);
    let (found, two) = result(&ctx, &folder).await?;
    assert_eq!(found, expected, "two executors");
    report("two executors", rows, two);
    println!("two executors are {:.2} times as fast as one", one / two);

    let many = client(&address, TASKS).await?;
    let (_, seconds) = tasks(&many).await?;
    let each = seconds * 1000.0 / TASKS as f64;
    println!("{TASKS} tasks of one row each: {seconds:.2} s, {each:.1} ms a task");

    let query = tokio::spawn(async move { result(&ctx, &folder).await });
    tokio::time::sleep(Duration::from_secs_f64(two / 2.0)).await;
    assert!(
        !query.is_finished(),
        "the query ended before an executor was killed"
    );
    first.kill()?;
    let (found, seconds) = query.await.expect("no panic")?;
    assert_eq!(found, expected, "an executor was killed");
    println!(
        "two executors, one of them killed after {:.1} s: the same result after {seconds:.1} s",
        two / 2.0
    );
    second.kill()?;
    scheduler.kill()?;
    Ok(())
}

fn report(name: &str, rows: u64, seconds: f64) {
    println!(
        "{name}: {seconds:.2} s, {:.0} rows a second",
        rows as f64 / seconds
    );
}

/// The result as CSV, and how many seconds it took.
async fn result(ctx: &SessionContext, folder: &str) -> Result<(String, f64)> {
    let start = Instant::now();
    if !ctx.table_exist("t")? {
        register_files(ctx, "t", &[folder.into()]).await?;
    }
    let mut csv = Vec::new();
    write_csv(ctx.sql(SQL).await?, &mut csv).await?;
    Ok((
        String::from_utf8_lossy(&csv).into_owned(),
        start.elapsed().as_secs_f64(),
    ))
}

/// Runs a query of many tasks without work.
async fn tasks(ctx: &SessionContext) -> Result<(String, f64)> {
    let folder = tempfile::tempdir()?;
    for file in 0..TASKS {
        std::fs::write(folder.path().join(format!("{file}.csv")), "answer\nParis\n")?;
    }
    register_files(ctx, "small", &[folder.path().into()]).await?;
    let start = Instant::now();
    let mut csv = Vec::new();
    let sql = "SELECT metric_mean(f1(answer, answer)) AS f1, count(*) AS rows FROM small";
    write_csv(ctx.sql(sql).await?, &mut csv).await?;
    let csv = String::from_utf8_lossy(&csv).into_owned();
    assert_eq!(csv, format!("f1,rows\n1.0,{TASKS}\n"));
    Ok((csv, start.elapsed().as_secs_f64()))
}

async fn client(address: &str, partitions: usize) -> Result<SessionContext> {
    let cluster = Cluster::new();
    cluster.register_all_builtin()?;
    let config = SessionConfig::new_with_ballista().with_target_partitions(partitions);
    cluster.connect(&format!("http://{address}"), config).await
}

/// Starts a process of the program next to this example, and waits for the line that it writes then.
fn start(arguments: &[&str]) -> (Child, String) {
    let example = std::env::current_exe().expect("the path of this program");
    let folder = example
        .parent()
        .and_then(Path::parent)
        .expect("the folder of the build");
    let mut command = Command::new(folder.join("dsrs-metrics-ballista"));
    let mut child = command
        .args(arguments)
        .stderr(Stdio::piped())
        .spawn()
        .expect("run cargo build first");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let line = lines
        .next()
        .and_then(Result::ok)
        .expect("a line when it has started");
    std::thread::spawn(move || {
        lines
            .map_while(Result::ok)
            .for_each(|line| eprintln!("{line}"));
    });
    (child, line)
}
