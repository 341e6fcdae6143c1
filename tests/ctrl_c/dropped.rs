//! A run whose future is dropped leaves no task, process or temporary file. This is in a process of its own, because it
//! counts all of them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dsrs_metrics::Evaluate;
use dsrs_metrics::lm::{LanguageModel, LmError, LmReply, LmRequest};
use dsrs_metrics::metrics::Sandbox;
use dsrs_metrics::prelude::*;
use dsrs_metrics_tests::can_isolate;

/// What a sandboxed process has in its command line.
const MARKER: &str = "86397.75";

/// A model that never replies.
#[derive(Default)]
struct Silent(AtomicUsize);

#[async_trait]
impl LanguageModel for Silent {
    fn id(&self) -> &str {
        "test:silent"
    }

    async fn complete(&self, _: &LmRequest) -> Result<LmReply, LmError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        std::future::pending().await
    }

    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        Ok(None)
    }
}

/// Decide whether the answer is polite.
#[judge(cost = "10 msat")]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

/// What a run has while it is in progress.
#[derive(Debug, PartialEq, Eq)]
struct Held {
    tasks: usize,
    processes: usize,
    /// Files beside the result files, and folders of the sandbox.
    files: Vec<String>,
}

fn held(runtime: &tokio::runtime::Handle, folder: &Path) -> Held {
    let lines = names(Path::new("/proc")).into_iter();
    let lines = lines.filter_map(|id| std::fs::read(format!("/proc/{id}/cmdline")).ok());
    let processes = lines
        .filter(|line| String::from_utf8_lossy(line).contains(MARKER))
        .count();
    let own = format!("dsrs-sandbox-{}-", std::process::id());
    let mut files = names(folder);
    files.extend(
        names(&std::env::temp_dir())
            .into_iter()
            .filter(|name| name.starts_with(&own)),
    );
    Held {
        tasks: runtime.metrics().num_alive_tasks(),
        processes,
        files,
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn dropping_a_run_leaves_no_task_process_or_temporary_file() {
    if !can_isolate() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let lm = Arc::new(Silent::default());
    let sandbox = Sandbox::builder()
        .command(format!("sleep {MARKER}"))
        .timeout_secs(100)
        .build();
    let evaluate = Evaluate::builder()
        .devset((0..4).map(|n| example! { "n" => n }))
        .inputs(["n"])
        .metric(sandbox)
        .metric(PoliteJudge::default().with_lm(Arc::clone(&lm)))
        .files(|files| {
            files
                .jsonl(folder.path().join("out.jsonl"))
                .csv(folder.path().join("out.csv"))
        })
        .build()
        .unwrap();
    // The program never ends on row 0.
    let program = |inputs: Example| async move {
        if inputs.get("n").unwrap() == 0 {
            std::future::pending::<()>().await;
        }
        prediction! { "answer" => "Please." }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = runtime.unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    let during = runtime.block_on(async {
        let run = std::pin::pin!(evaluate.run(program));
        let started = async {
            loop {
                let held = held(runtime.handle(), folder.path());
                if (lm.0.load(Ordering::SeqCst) == 3 && held.processes >= 3)
                    || Instant::now() > until
                {
                    return held;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::select! {
            result = run => panic!("no row can end: {result:?}"),
            held = started => held,
        }
    });
    assert!(
        during.tasks >= 4 && during.processes >= 3 && during.files.len() >= 5,
        "{during:?}"
    );

    // A sandbox metric keeps its system call filters in files for its next run.
    drop(evaluate);
    let nothing = Held {
        tasks: 0,
        processes: 0,
        files: Vec::new(),
    };
    let until = Instant::now() + Duration::from_secs(60);
    let mut left = held(runtime.handle(), folder.path());
    while left != nothing && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
        left = held(runtime.handle(), folder.path());
    }
    assert_eq!(left, nothing);
}
