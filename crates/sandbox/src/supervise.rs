//! Supervises one sandbox: reads its output, enforces its limits and waits for it.
//!
//! A separate thread supervises each process. The kernel kills a sandbox when the thread that started it terminates
//! (`--die-with-parent`), so that thread must not belong to a pool.

use std::io::{ErrorKind, Read, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::accounting::Meter;
use super::init::READY;
use super::{Limits, Report, SandboxError, Termination, processes};

/// The interval at which limits are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The maximum time to set up a sandbox. Setup does not count towards the command's time, because it can take a second
/// on a busy machine.
pub(super) const SETUP_SECS: u64 = 30;

/// How long to keep reading the remaining output after all processes are killed. The streams close immediately after
/// that, but the threads that read them can run late on a busy machine.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// A command and what is needed to supervise it.
pub(super) struct Prepared {
    pub(super) command: Command,
    pub(super) limits: Limits,
    /// If the meter must be joined, the command reads a line from standard input before it starts.
    pub(super) meter: Meter,
    /// How many bytes can follow the command's output without counting as output.
    pub(super) trailer: u64,
    /// A directory that is removed after the command has terminated.
    pub(super) _dir: TempDir,
}

/// Prepares and runs a command on a separate thread. If the future is dropped, the command is killed.
pub(super) async fn supervise(
    prepare: impl FnOnce() -> Result<Prepared, SandboxError> + Send + 'static,
) -> Result<Report, SandboxError> {
    // This value is dropped with the future, which tells the thread that nobody is waiting any more.
    let caller = Arc::new(());
    let waiting = Arc::downgrade(&caller);
    let work = move || {
        prepare()
            .and_then(Run::start)
            .map(|run| run.watch(&waiting))
    };
    on_thread("running the command", work).await?
}

/// Bytes read from one of the two streams.
struct Chunk {
    is_stderr: bool,
    bytes: Vec<u8>,
}

struct Run {
    prepared: Prepared,
    child: Child,
    /// When the command's time started; `None` until the sandbox is set up.
    ready_at: Option<Instant>,
    started: Instant,
    chunks: Receiver<Chunk>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Run {
    fn start(mut prepared: Prepared) -> Result<Self, SandboxError> {
        let Prepared { command, meter, .. } = &mut prepared;
        let must_join = meter.must_join();
        let stdin = if must_join { Stdio::piped } else { Stdio::null };
        command
            .stdin(stdin())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let program = command.get_program().to_string_lossy().into_owned();
        let started = Instant::now();
        let mut child = command
            .spawn()
            .map_err(|error| SandboxError::io(format!("starting {program}"), error))?;
        if let Err(error) = join(meter, &mut child) {
            let _ = child.kill();
            let _ = child.wait();
            return Err(SandboxError::io("moving the command to its cgroup", error));
        }
        // The channel is bounded, so unread output blocks the command instead of accumulating.
        let (send, chunks) = sync_channel(4);
        if let Some(stdout) = child.stdout.take() {
            spawn_reader(stdout, false, send.clone());
        }
        if let Some(stderr) = child.stderr.take() {
            spawn_reader(stderr, true, send);
        }
        Ok(Self {
            ready_at: None,
            prepared,
            child,
            started,
            chunks,
            stdout: Vec::new(),
            stderr: Vec::new(),
        })
    }

    fn watch(mut self, waiting: &Weak<()>) -> Report {
        let mut checked = self.started;
        let killed = loop {
            let pause = POLL_INTERVAL.min(self.time_left());
            match self.chunks.recv_timeout(pause) {
                Ok(chunk) => self.append(chunk),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break None,
            }
            if self.output_len() > self.output_limit() {
                break Some(Termination::OutputLimit);
            }
            if self.time_left().is_zero() {
                break Some(Termination::TimedOut);
            }
            if checked.elapsed() >= POLL_INTERVAL {
                checked = Instant::now();
                let (root, is_ready) = (self.child.id(), self.is_ready());
                let Prepared { meter, limits, .. } = &mut self.prepared;
                if meter.is_exceeded(root, is_ready, limits) {
                    break Some(Termination::MemoryLimit);
                }
                let has_exited = matches!(self.child.try_wait(), Ok(Some(_)) | Err(_));
                if has_exited || waiting.strong_count() == 0 {
                    break None;
                }
            }
        };
        self.finish(killed, waiting)
    }

    fn time_left(&self) -> Duration {
        let (secs, began) = match self.ready_at {
            Some(at) => (self.prepared.limits.time_secs, at),
            None => (SETUP_SECS, self.started),
        };
        Duration::from_secs(secs).saturating_sub(began.elapsed())
    }

    fn output_len(&self) -> u64 {
        (self.stdout.len() + self.stderr.len()) as u64
    }

    fn output_limit(&self) -> u64 {
        let added = (READY.len() as u64).saturating_add(self.prepared.trailer);
        self.prepared.limits.output_bytes().saturating_add(added)
    }

    fn is_ready(&self) -> bool {
        self.stderr.starts_with(READY.as_bytes())
    }

    fn append(&mut self, chunk: Chunk) {
        let stream = if chunk.is_stderr {
            &mut self.stderr
        } else {
            &mut self.stdout
        };
        stream.extend(chunk.bytes);
        if self.ready_at.is_none() && self.is_ready() {
            self.ready_at = Some(Instant::now());
        }
    }

    /// Kills any remaining processes and assembles the report. `limit` is the exceeded limit, if any.
    fn finish(mut self, limit: Option<Termination>, waiting: &Weak<()>) -> Report {
        let status = match limit {
            // Both streams are closed, so the command is about to exit, but that can take a while.
            None if waiting.strong_count() > 0 => self.wait(),
            _ => None,
        };
        processes::kill_namespace(&mut self.child);
        self.drain();
        // A command can exit before its last output has been read.
        let is_too_long = self.output_len() > self.output_limit();
        let limit = limit.or_else(|| is_too_long.then_some(Termination::OutputLimit));
        let termination = match (limit, status) {
            (Some(limit), _) => limit,
            // The kernel killed a process at the limit, but not necessarily the command.
            _ if self.prepared.meter.was_exceeded() => Termination::MemoryLimit,
            (None, Some(status)) => Termination::Exited(exit_code(status)),
            (None, None) => Termination::TimedOut,
        };
        let length = |limit| usize::try_from(limit).unwrap_or(usize::MAX);
        self.stdout
            .truncate(length(self.prepared.limits.output_bytes()));
        self.stderr.truncate(length(self.output_limit()));
        Report {
            termination,
            stdout: String::from_utf8_lossy(&self.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&self.stderr).into_owned(),
            elapsed: self.started.elapsed(),
        }
    }

    /// Reads the output written before the processes were killed.
    fn drain(&mut self) {
        let deadline = Instant::now() + DRAIN_TIMEOUT;
        let left = || deadline.saturating_duration_since(Instant::now());
        while let Ok(chunk) = self.chunks.recv_timeout(left()) {
            self.append(chunk);
        }
    }

    /// Waits for the command to exit, up to the time limit.
    fn wait(&mut self) -> Option<ExitStatus> {
        let mut pause = Duration::from_micros(200);
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if !self.time_left().is_zero() => {
                    thread::sleep(pause.min(self.time_left()));
                }
                _ => return None,
            }
            pause = (pause * 2).min(POLL_INTERVAL);
        }
    }
}

/// Moves a waiting process to the cgroup that accounts for its memory, and lets it continue.
fn join(meter: &Meter, child: &mut Child) -> std::io::Result<()> {
    meter.join(child.id())?;
    match child.stdin.take() {
        Some(mut stdin) => stdin.write_all(b"\n"),
        None => Ok(()),
    }
}

fn exit_code(status: ExitStatus) -> i32 {
    status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

fn spawn_reader(mut stream: impl Read + Send + 'static, is_stderr: bool, to: SyncSender<Chunk>) {
    thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match stream.read(&mut buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) | Ok(0) => return,
                Ok(length) => {
                    let bytes = buffer[..length].to_vec();
                    if to.send(Chunk { is_stderr, bytes }).is_err() {
                        return;
                    }
                }
            }
        }
    });
}

/// Runs `work` on a new thread and returns its result. If the future is dropped, the result is
/// discarded when `work` ends, so `work` must be bounded.
///
/// # Errors
/// Returns an error if the thread cannot be started or panics.
pub(super) async fn on_thread<T: Send + 'static>(
    name: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, SandboxError> {
    let (send, receive) = tokio::sync::oneshot::channel();
    thread::Builder::new()
        .name(name.to_owned())
        // The receiver is gone if the future was dropped.
        .spawn(move || _ = send.send(work()))
        .map_err(|error| SandboxError::io("starting a thread", error))?;
    receive
        .await
        .map_err(|_| SandboxError::io(name, "the thread panicked"))
}
