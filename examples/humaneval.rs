//! HumanEval in the sandbox, in one stage and in two: how many canonical, broken and cheating
//! solutions pass, and the number of problems per second.
//!
//! ```sh
//! cargo run --release -p dsrs-metrics-examples --features sandbox --example humaneval -- FILE [CONCURRENCY]
//! ```
//!
//! `FILE` is the data set of <https://github.com/openai/human-eval>: each line has `prompt`,
//! `canonical_solution`, `test` and `entry_point`.
//!
//! In one stage, the test runs in the process of the tested function, as in the original harness.
//! In two stages, the function runs first, with arguments that were recorded from the test and the
//! canonical solution; then the test runs in another sandbox over the results. The scripts of the
//! stages are in `examples/functions`.

use std::error::Error;
use std::time::Instant;

use dsrs_metrics::metrics::{FileSource, Sandbox};
use dsrs_metrics::prelude::*;
use dsrs_metrics::sandbox::{Bubblewrap, Job, SandboxProvider as _, Termination};
use dsrs_metrics::{MetricError, Result};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde::Deserialize;

/// Solutions that are wrong, with `NAME` for the name of the function. The first three do not
/// cheat.
const WRONG: [(&str, &str); 12] = [
    ("return None", "    return None\n"),
    ("while True", "    while True: pass\n"),
    ("syntax error", "    return (\n"),
    ("raise SystemExit", "    return None\nraise SystemExit\n"),
    ("os._exit(0)", "    return None\nimport os; os._exit(0)\n"),
    (
        "atexit",
        "    return None\nimport atexit, os\natexit.register(lambda: os._exit(0))\n",
    ),
    (
        "atexit, summary",
        "    return None\nimport atexit, os\natexit.register(lambda: (os.write(1, b'24 passed in 0.1s\\n'), os._exit(0)))\n",
    ),
    (
        "equal to everything",
        "    return Any()\nclass Any:\n    __eq__ = lambda self, other: True\n    __ne__ = lambda self, other: False\n    __lt__ = __gt__ = __le__ = __ge__ = __eq__\n    __hash__ = None\n    __sub__ = __rsub__ = __abs__ = lambda self, *other: self\n    __repr__ = lambda self: 'True'\n",
    ),
    (
        "patched builtins",
        "    return None\nimport builtins, sys\nbuiltins.exec = builtins.compile = builtins.open = lambda *a, **k: sys.exit(0)\n",
    ),
    (
        "forged results",
        "    return None\nopen('results', 'w').write('(\"raised\", \"SystemExit\")\\n' * 1000)\nimport os; os._exit(0)\n",
    ),
    (
        "home directory",
        "    return None\nimport os\nd = os.path.expanduser('~/.local/lib/python3.11/site-packages')\nos.makedirs(d); open(d + '/usercustomize.py', 'w').write('import os; os._exit(0)')\nos._exit(0)\n",
    ),
    (
        "background process",
        "    return None\nimport os\nif os.fork(): os._exit(0)\nos.setsid()\nwhile True: open('results', 'w').write('(\"returned\", True)\\n')\n",
    ),
];

#[derive(Deserialize)]
struct Problem {
    prompt: String,
    entry_point: String,
    canonical_solution: String,
    test: String,
    /// The arguments of each call that the test makes.
    #[serde(default)]
    calls: String,
}

impl Problem {
    fn program(&self, body: &str) -> String {
        format!("{}{body}\n", self.prompt)
    }

    fn gold(&self) -> Example {
        let Self {
            test,
            entry_point,
            calls,
            ..
        } = self;
        example! {
            "reference" => self.program(&self.canonical_solution),
            "test" => test.as_str(),
            "entry_point" => entry_point.as_str(),
            "calls" => calls.as_str(),
            "run" => format!("\n{test}\ncheck({entry_point})\n"),
        }
    }

    /// Runs the test over the canonical solution to learn with which arguments it calls the
    /// function. Both are part of the data set, not of a prediction.
    async fn record_calls(mut self) -> std::result::Result<Self, Box<dyn Error>> {
        let files = [
            ("record.py", include_str!("functions/record.py").to_owned()),
            ("reference.py", self.program(&self.canonical_solution)),
            ("test.py", self.test.clone()),
            ("entry_point", self.entry_point.clone()),
        ];
        let job = Job {
            command: "python3 -I record.py".to_owned(),
            read_only: files
                .map(|(path, content)| (path.to_owned(), content))
                .into(),
            ..Job::default()
        };
        let report = Bubblewrap::new().run(&job).await?;
        if report.termination != Termination::Exited(0) {
            return Err(format!("{}: {}", self.entry_point, report.stderr).into());
        }
        self.calls = report.stdout;
        Ok(self)
    }
}

/// The test and the function in one process.
fn one_stage(timeout_secs: u64) -> Sandbox {
    let parts = vec![FileSource::pred("program"), FileSource::gold("run")];
    Sandbox::builder()
        .command("python3 check.py")
        .file("check.py", FileSource::Parts(parts))
        .timeout_secs(timeout_secs)
        .build()
}

/// The function first, then the test over its results.
fn two_stages(timeout_secs: u64) -> Sandbox {
    let script = |text: &str| FileSource::Text(text.to_owned());
    Sandbox::builder()
        .command("python3 -I run.py")
        .file("program.py", FileSource::pred("program"))
        .file("run.py", script(include_str!("functions/run.py")))
        .file("calls", FileSource::gold("calls"))
        .file("entry_point", FileSource::gold("entry_point"))
        .check("python3 -I check.py")
        .check_file("check.py", script(include_str!("functions/check.py")))
        .check_file("calls", FileSource::gold("calls"))
        .check_file("reference.py", FileSource::gold("reference"))
        .check_file("test.py", FileSource::gold("test"))
        .timeout_secs(timeout_secs)
        .build()
}

/// Returns how many rows pass, and the number of rows per second.
async fn run(
    metric: Sandbox,
    rows: &[(Example, Prediction)],
    concurrency: usize,
) -> Result<(usize, f64), MetricError> {
    let started = Instant::now();
    let scores = stream::iter(rows).map(|(gold, pred)| metric.evaluate(gold, pred));
    let scores: Vec<MetricScore> = scores.buffer_unordered(concurrency).try_collect().await?;
    let passed = scores.iter().filter(|score| score.value >= 1.0).count();
    Ok((passed, rows.len() as f64 / started.elapsed().as_secs_f64()))
}

async fn print(
    label: &str,
    problems: &[Problem],
    body: impl Fn(&Problem) -> String,
    concurrency: usize,
) -> Result<(), MetricError> {
    let row = |problem: &Problem| {
        (
            problem.gold(),
            prediction! { "program" => problem.program(&body(problem)) },
        )
    };
    let rows: Vec<(Example, Prediction)> = problems.iter().map(row).collect();
    // An endless loop runs into the limit; everything else has time on a busy machine.
    let timeout_secs = if label == "while True" { 1 } else { 30 };
    let (one, one_rate) = run(one_stage(timeout_secs), &rows, concurrency).await?;
    let (two, two_rate) = run(two_stages(timeout_secs), &rows, concurrency).await?;
    println!("{label:20} {one:>5} at {one_rate:>5.1}/s {two:>12} at {two_rate:>5.1}/s");
    Ok(())
}

#[tokio::main]
async fn main() -> std::result::Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let path = args
        .next()
        .ok_or("expected a file; write -- FILE [CONCURRENCY]")?;
    let concurrency = args.next().map_or(Ok(4), |number| number.parse())?;
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let problems: std::result::Result<Vec<Problem>, _> =
        text.lines().map(serde_json::from_str).collect();
    let problems = stream::iter(problems?).map(Problem::record_calls);
    let problems: Vec<Problem> = problems.buffered(concurrency).try_collect().await?;
    println!(
        "{} problems          one stage         two stages",
        problems.len()
    );
    print(
        "canonical solution",
        &problems,
        |it| it.canonical_solution.clone(),
        concurrency,
    )
    .await?;
    for (label, body) in WRONG {
        print(label, &problems, |_| body.to_owned(), concurrency).await?;
    }
    Ok(())
}
