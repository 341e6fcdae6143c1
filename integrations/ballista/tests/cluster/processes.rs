//! Processes of a cluster, which end with the test.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use ballista_core::extension::SessionConfigExt as _;
use datafusion::prelude::{SessionConfig, SessionContext};

use crate::program::{ARGUMENTS, VARIANT, cluster};

/// How long a process may take to start.
const WAIT: Duration = Duration::from_secs(60);

/// A process, and what it writes to standard error.
pub(crate) struct Process {
    child: Child,
    lines: Receiver<String>,
}

impl Process {
    pub(crate) fn start(arguments: &[&str], environment: &[(&str, &OsStr)]) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["program::program", "--exact", "--nocapture"]);
        command
            .env(ARGUMENTS, arguments.join("\n"))
            .envs(environment.iter().copied());
        Self::of(command)
    }

    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                // The test may have ended.
                let _ = sender.send(line);
            }
        });
        Self { child, lines }
    }

    /// Waits for a line that contains a text, and returns it.
    pub(crate) fn line(&self, text: &str) -> String {
        let deadline = Instant::now() + WAIT;
        let mut before = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) if line.contains(text) => return line,
                Ok(line) => before.push(line),
                Err(_) => panic!("expected a line with `{text}`, found {before:#?}"),
            }
        }
    }

    /// Ends the process at once, as SIGKILL does.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until the process has ended.
    pub(crate) fn end(&mut self) -> ExitStatus {
        let deadline = Instant::now() + WAIT;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "the process has not ended");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A scheduler with executors.
pub(crate) struct Running {
    pub(crate) executors: Vec<Process>,
    scheduler: Process,
    port: String,
}

impl Running {
    /// Starts a scheduler, and executors with these variants of the program.
    pub(crate) fn start(variants: &[&str], environment: &[(&str, &OsStr)]) -> Self {
        let arguments = [
            "scheduler",
            "--listen",
            "127.0.0.1:0",
            "--executor-timeout",
            "4",
        ];
        let scheduler = Process::start(&arguments, environment);
        let line = scheduler.line("listening on port ");
        let port = line.rsplit(' ').next().unwrap().to_owned();
        let mut running = Self {
            executors: Vec::new(),
            scheduler,
            port,
        };
        for variant in variants {
            let executor = running.executor(variant, environment);
            running.executors.push(executor);
        }
        for executor in running
            .executors
            .iter()
            .filter(|_| variants.iter().all(|it| it.is_empty()))
        {
            executor.line("registered");
        }
        running
    }

    fn executor(&self, variant: &str, environment: &[(&str, &OsStr)]) -> Process {
        // A name, which is resolved.
        let scheduler = format!("localhost:{}", self.port);
        let arguments = [
            "executor",
            "--listen",
            "localhost:0",
            "--scheduler",
            &scheduler,
            "--cores",
            "2",
            "--heartbeat",
            "1",
        ];
        let variant = [(VARIANT, OsStr::new(variant))];
        Process::start(&arguments, &[environment, &variant].concat())
    }

    /// A session of a client that runs this variant of the program, with the judge if there is a model.
    pub(crate) async fn client(&self, variant: &str, model: Option<&str>) -> SessionContext {
        // As many partitions as tasks run at the same time.
        let config = SessionConfig::new_with_ballista().with_target_partitions(4);
        let url = format!("http://127.0.0.1:{}", self.port);
        cluster(variant, model).connect(&url, config).await.unwrap()
    }

    /// The address for `--scheduler`.
    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// What the scheduler wrote, up to a line with this text.
    pub(crate) fn scheduler_line(&self, text: &str) -> String {
        self.scheduler.line(text)
    }
}
