//! The command line of all processes of a cluster.

use std::io::{BufWriter, stdout};
use std::process::ExitCode;
use std::time::Duration;

use ballista_core::extension::SessionConfigExt as _;
use ballista_executor::executor_process::ExecutorProcessConfig;
use ballista_scheduler::config::SchedulerConfig;
use clap::{Args, Parser, Subcommand};
use datafusion::common::{exec_datafusion_err, plan_datafusion_err};
use datafusion::error::DataFusionError;
use datafusion::prelude::SessionConfig;
use dsrs_metrics_datafusion::{is_broken_pipe, register_files, tables, write_csv};

use crate::address::wait_for_scheduler;
use crate::cluster::Cluster;

/// Metrics in SQL on many machines.
///
/// Start one scheduler, executors that connect to it, and then queries. All of them must be the same program.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    role: Role,
}

#[derive(Debug, Subcommand)]
enum Role {
    /// Plan queries, and distribute them among the executors
    Scheduler(SchedulerArguments),
    /// Run parts of queries
    Executor(ExecutorArguments),
    /// Run a query over files, and print CSV
    Sql(SqlArguments),
}

#[derive(Debug, Args)]
struct SchedulerArguments {
    /// The address that executors and clients connect to; port 0 is a free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050", value_parser = address)]
    listen: (String, u16),
    /// The name of this host for executors, if it is not that of --listen
    #[arg(long, value_name = "HOST")]
    external_host: Option<String>,
    /// After how many seconds without a heartbeat an executor is lost, and its tasks run on another one
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    executor_timeout: u64,
}

#[derive(Debug, Args)]
struct ExecutorArguments {
    /// The address of the scheduler
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050", value_parser = address)]
    scheduler: (String, u16),
    /// How many seconds to wait for the scheduler
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    wait: u16,
    /// The address at which clients and other executors read results; port 0 is a free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0", value_parser = address)]
    listen: (String, u16),
    /// The port at which the scheduler sends tasks; 0 is a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    task_port: u16,
    /// The name of this host for the others, if it is not that of --listen
    #[arg(long, value_name = "HOST")]
    external_host: Option<String>,
    /// How many tasks run at the same time; the number of cores by default
    #[arg(long, value_name = "N", default_value_t = 0)]
    cores: usize,
    /// The folder of intermediate files; a temporary one by default
    #[arg(long, value_name = "DIR")]
    work_dir: Option<String>,
    /// The memory of all tasks in bytes, beyond which they write to the disk; 70% of the machine by default
    #[arg(long, value_name = "BYTES")]
    memory: Option<u64>,
    /// The seconds between heartbeats
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    heartbeat: u64,
}

#[derive(Debug, Args)]
struct SqlArguments {
    /// The address of the scheduler
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050", value_parser = address)]
    scheduler: (String, u16),
    /// A setting of DataFusion or Ballista, such as datafusion.execution.target_partitions=64
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = setting)]
    settings: Vec<(String, String)>,
    /// Tables, each a file (JSONL, JSON, CSV, Parquet) or a folder of such files that all executors can read, and the query
    #[arg(value_name = "NAME=FILE.. QUERY", required = true)]
    tables_and_query: Vec<String>,
}

fn address(text: &str) -> Result<(String, u16), String> {
    let (host, port) = text
        .rsplit_once(':')
        .ok_or("expected HOST:PORT, such as 127.0.0.1:50050")?;
    let port = port
        .parse()
        .map_err(|_| format!("expected a port from 0 to 65535, found `{port}`"))?;
    Ok((host.to_owned(), port))
}

fn setting(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

impl Cluster {
    /// Runs the command line of the process: `scheduler`, `executor` or `sql`. Each has `--help`. Standard output has the
    /// results of queries only; messages of Ballista are selected with the environment variable `RUST_LOG`.
    #[must_use]
    pub fn main(&self) -> ExitCode {
        ExitCode::from(self.main_from(std::env::args()))
    }

    /// Runs the command line with these arguments; the first is the name of the program. Returns the exit code: 0, or 2 after
    /// printing an error to standard error.
    #[must_use]
    pub fn main_from(&self, arguments: impl IntoIterator<Item = String>) -> u8 {
        let Arguments { role } = match Arguments::try_parse_from(arguments) {
            Ok(arguments) => arguments,
            Err(error) => {
                let code = u8::try_from(error.exit_code()).unwrap_or(2);
                // The terminal may be closed.
                let _ = error.print();
                return code;
            }
        };
        // The error of a query is printed at its end.
        let level = if matches!(role, Role::Sql(_)) {
            "off"
        } else {
            "error"
        };
        let filter = env_logger::Env::default().default_filter_or(level);
        // A program that has its own logger keeps it.
        let _ = env_logger::Builder::from_env(filter).try_init();
        let ended = match tokio::runtime::Runtime::new() {
            Ok(runtime) => runtime.block_on(self.run(role)),
            Err(error) => Err(format!("cannot start threads: {error}")),
        };
        match ended {
            Ok(()) => 0,
            Err(problem) => {
                eprintln!("error: {problem}");
                2
            }
        }
    }

    async fn run(&self, role: Role) -> Result<(), String> {
        match role {
            Role::Scheduler(arguments) => {
                let started = |port| eprintln!("scheduler: listening on port {port}");
                let ended = self.run_scheduler(arguments.config()?, started).await;
                ended.map_err(|error| error.to_string())
            }
            Role::Executor(arguments) => {
                let (host, port) = &arguments.scheduler;
                let scheduler = format!("{host}:{port}");
                let started =
                    move || eprintln!("executor: registered with the scheduler at {scheduler}");
                let ended = self.run_executor(arguments.config(), started).await;
                ended.map_err(|error| error.to_string())
            }
            Role::Sql(arguments) => match self.sql(arguments).await {
                Err(error) if !is_broken_pipe(&error) => Err(message(&error)),
                _ => Ok(()),
            },
        }
    }

    async fn sql(&self, arguments: SqlArguments) -> Result<(), DataFusionError> {
        let SqlArguments {
            scheduler: (host, port),
            settings,
            mut tables_and_query,
        } = arguments;
        let query = tables_and_query.pop().unwrap_or_default();
        let tables =
            tables(tables_and_query).map_err(|problem| plan_datafusion_err!("{problem}"))?;
        let mut config = SessionConfig::new_with_ballista();
        for (key, value) in &settings {
            config.options_mut().set(key, value)?;
        }
        let reached = wait_for_scheduler(&host, port, Duration::ZERO).await;
        reached.map_err(|error| exec_datafusion_err!("{error}"))?;
        let ctx = self
            .connect(&format!("http://{host}:{port}"), config)
            .await?;
        for (name, files) in tables {
            register_files(&ctx, &name, &files).await?;
        }
        write_csv(ctx.sql(&query).await?, &mut BufWriter::new(stdout())).await
    }
}

impl SchedulerArguments {
    fn config(self) -> Result<SchedulerConfig, String> {
        let Self {
            listen: (bind_host, bind_port),
            external_host,
            executor_timeout,
        } = self;
        if external_host.is_none() && ["0.0.0.0", "[::]"].contains(&&*bind_host) {
            return Err(format!(
                "--listen {bind_host}:{bind_port}: expected --external-host too, the name of this host for executors"
            ));
        }
        Ok(SchedulerConfig {
            external_host: external_host.unwrap_or_else(|| bind_host.clone()),
            bind_host,
            bind_port,
            executor_timeout_seconds: executor_timeout,
            expire_dead_executor_interval_seconds: (executor_timeout / 2).max(1),
            no_executors_grace_period_seconds: executor_timeout,
            ..SchedulerConfig::default()
        })
    }
}

impl ExecutorArguments {
    fn config(self) -> ExecutorProcessConfig {
        let (scheduler_host, scheduler_port) = self.scheduler;
        let (bind_host, port) = self.listen;
        ExecutorProcessConfig {
            scheduler_host,
            scheduler_port,
            bind_host,
            port,
            grpc_port: self.task_port,
            external_host: self.external_host,
            vcores: self.cores,
            work_dir: self.work_dir,
            memory_pool_size: self.memory,
            executor_heartbeat_interval_seconds: self.heartbeat,
            scheduler_connect_timeout_seconds: self.wait,
            ..ExecutorProcessConfig::default()
        }
    }
}

/// Returns the message of an error. The scheduler returns several layers of Rust's `Debug` output, and only the innermost
/// message is for the user.
fn message(error: &DataFusionError) -> String {
    let text = error.strip_backtrace();
    let DataFusionError::Execution(found) = error.find_root() else {
        return text;
    };
    let is_job = found.starts_with("Job ");
    if !is_job && !found.starts_with("Status {") && !found.starts_with("Fail to execute query") {
        return text;
    }
    let mut inner = found.clone();
    while let Some(quoted) = quoted(&inner) {
        inner = quoted;
    }
    if is_job {
        format!("the job failed: {inner}")
    } else {
        inner
    }
}

/// Returns the first string that a tuple or a field `message` has in a text of `Debug`.
fn quoted(text: &str) -> Option<String> {
    let starts = ["(\"", "message: \""].into_iter();
    let start = starts
        .filter_map(|it| text.find(it).map(|at| at + it.len()))
        .min()?;
    let (mut quoted, mut rest) = (String::new(), text[start..].chars());
    loop {
        match rest.next()? {
            '"' => return Some(quoted),
            '\\' => quoted.push(match rest.next()? {
                'n' => '\n',
                't' => '\t',
                other => other,
            }),
            other => quoted.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheduler_on_all_addresses_needs_a_name() {
        let config = |arguments: &[&str]| {
            let arguments = ["program", "scheduler"].iter().chain(arguments);
            let Role::Scheduler(scheduler) = Arguments::parse_from(arguments).role else {
                panic!("not a scheduler")
            };
            scheduler.config().map(|config| config.external_host)
        };
        assert_eq!(config(&[]), Ok("127.0.0.1".to_owned()));
        let all = ["--listen", "0.0.0.0:50050"];
        let expected = "--listen 0.0.0.0:50050: expected --external-host too, the name of this host for executors";
        assert_eq!(config(&all), Err(expected.to_owned()));
        let named = [&all[..], &["--external-host", "node-1"]].concat();
        assert_eq!(config(&named), Ok("node-1".to_owned()));
    }

    #[test]
    fn errors_of_the_scheduler_are_the_innermost_message() {
        let execution = |text: &str| message(&DataFusionError::Execution(text.to_owned()));
        let status = r#"Status { code: Internal, message: "Failed to create SessionContext: DataFusionError(Plan(\"the cluster has no executor; start one\"))", metadata: MetadataMap { headers: {"server": "ballista"} }, source: None }"#;
        assert_eq!(execution(status), "the cluster has no executor; start one");
        let plan = r#"Fail to execute query due to ExecuteQueryFailureResult { failure: Some(PlanParsingFailure("Could not parse plan: Error during planning: function `f1`: expected parameter `F1.profile` \"dspy\", found \"folded\"")) }"#;
        let expected = r#"Could not parse plan: Error during planning: function `f1`: expected parameter `F1.profile` "dspy", found "folded""#;
        assert_eq!(execution(plan), expected);
        let job = r#"Job 038 failed: Job failed due to stage 0 failed: Task failed due to runtime execution error: DataFusionError(Shared(External(ArrowError(CastError("Cannot cast 'x'\nto Int32")))))"#;
        assert_eq!(execution(job), "the job failed: Cannot cast 'x'\nto Int32");
        assert_eq!(
            execution("cannot read `a (\"b\")`"),
            "Execution error: cannot read `a (\"b\")`"
        );
        assert_eq!(
            execution("Job 1 failed: no quotes"),
            "the job failed: Job 1 failed: no quotes"
        );
    }
}
