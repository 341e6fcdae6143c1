//! One process from start to end: its output is read, its limits are watched, and it is waited for.
//!
//! It happens on a thread of its own: the kernel ends a sandbox when the thread that started it ends, so that must not
//! be one of a pool.

use std::io::Read;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::{Ending, Limits, Report, SandboxError, tree};

/// How often limits are looked at.
const TICK: Duration = Duration::from_millis(20);

/// How long output is still read once nobody should be left who writes it.
const DRAIN: Duration = Duration::from_millis(300);

/// How a process and all that it started is ended.
pub(super) type End = fn(&mut Child);

/// Runs the command; if the future is dropped, it is ended.
pub(super) async fn supervise(
    command: Command,
    limits: Limits,
    end: End,
) -> Result<Report, SandboxError> {
    let given_up = Arc::new(AtomicBool::new(false));
    let _dropped = OnDrop(Arc::clone(&given_up));
    let (send, receive) = tokio::sync::oneshot::channel();
    let work = move || {
        // Nobody listens any more if the future was dropped.
        let _ = send.send(Run::start(command, limits, end).map(|run| run.watch(&given_up)));
    };
    thread::Builder::new()
        .name("sandbox".to_owned())
        .spawn(work)
        .map_err(|error| SandboxError::io("starting a thread", error))?;
    let gone = |_| SandboxError::io("running the command", "the thread that watched it is gone");
    receive.await.map_err(gone)?
}

struct OnDrop(Arc<AtomicBool>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What was read from one of the two streams; empty at its end.
struct Chunk {
    is_error: bool,
    bytes: Vec<u8>,
}

struct Run {
    child: Child,
    limits: Limits,
    end: End,
    started: Instant,
    chunks: Receiver<Chunk>,
    open: u8,
    out: Vec<u8>,
    err: Vec<u8>,
}

impl Run {
    fn start(mut command: Command, limits: Limits, end: End) -> Result<Self, SandboxError> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = command.get_program().to_string_lossy().into_owned();
        let started = Instant::now();
        let mut child = command
            .spawn()
            .map_err(|error| SandboxError::io(format!("starting {program}"), error))?;
        // A few chunks at most wait, so output that is not read is not held.
        let (send, chunks) = sync_channel(4);
        if let Some(out) = child.stdout.take() {
            read(out, false, send.clone());
        }
        if let Some(err) = child.stderr.take() {
            read(err, true, send);
        }
        let (out, err) = (Vec::new(), Vec::new());
        Ok(Self { child, limits, end, started, chunks, open: 2, out, err })
    }

    fn watch(mut self, given_up: &AtomicBool) -> Report {
        let mut looked = self.started;
        let ending = loop {
            if self.open == 0 {
                break None;
            }
            match self.chunks.recv_timeout(TICK.min(self.left())) {
                Ok(chunk) => self.keep(chunk),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break None,
            }
            if self.said() > self.limits.output_kb.saturating_mul(1024) {
                break Some(Ending::TooMuchOutput);
            }
            if self.left().is_zero() {
                break Some(Ending::TimedOut);
            }
            if looked.elapsed() >= TICK {
                looked = Instant::now();
                if self.uses_too_much_memory() {
                    break Some(Ending::TooMuchMemory);
                }
                let is_over = matches!(self.child.try_wait(), Ok(Some(_)) | Err(_));
                if is_over || given_up.load(Ordering::Relaxed) {
                    break None;
                }
            }
        };
        self.finish(ending, given_up)
    }

    fn left(&self) -> Duration {
        Duration::from_secs(self.limits.time_secs).saturating_sub(self.started.elapsed())
    }

    fn said(&self) -> u64 {
        (self.out.len() + self.err.len()) as u64
    }

    fn keep(&mut self, chunk: Chunk) {
        if chunk.bytes.is_empty() {
            self.open = self.open.saturating_sub(1);
        }
        let into = if chunk.is_error { &mut self.err } else { &mut self.out };
        into.extend(chunk.bytes);
    }

    fn uses_too_much_memory(&self) -> bool {
        tree::memory(self.child.id()) > self.limits.memory_mb.saturating_mul(1024 * 1024)
    }

    fn finish(mut self, ending: Option<Ending>, given_up: &AtomicBool) -> Report {
        let status = match ending {
            // Both streams are closed, so it is ending by itself, but it may take its time.
            None if !given_up.load(Ordering::Relaxed) => self.wait(),
            _ => None,
        };
        let timed_out = ending.is_none() && status.is_none();
        (self.end)(&mut self.child);
        // What was written before the end may still wait to be read, on either stream.
        let until = Instant::now() + DRAIN;
        while self.open > 0 {
            let left = until.saturating_duration_since(Instant::now());
            match self.chunks.recv_timeout(left) {
                Ok(chunk) => self.keep(chunk),
                Err(_) => break,
            }
        }
        let exited = || Ending::Exited(status.map_or(-1, code));
        let ending = ending.unwrap_or_else(|| if timed_out { Ending::TimedOut } else { exited() });
        let limit =
            usize::try_from(self.limits.output_kb.saturating_mul(1024)).unwrap_or(usize::MAX);
        self.out.truncate(limit);
        self.err.truncate(limit);
        Report {
            ending,
            stdout: String::from_utf8_lossy(&self.out).into_owned(),
            stderr: String::from_utf8_lossy(&self.err).into_owned(),
            elapsed: self.started.elapsed(),
        }
    }

    /// Waits as long as there is time.
    fn wait(&mut self) -> Option<ExitStatus> {
        let mut pause = Duration::from_micros(200);
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if !self.left().is_zero() => thread::sleep(pause.min(self.left())),
                _ => return None,
            }
            pause = (pause * 2).min(TICK);
        }
    }
}

fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

fn read(mut from: impl Read + Send + 'static, is_error: bool, to: SyncSender<Chunk>) {
    thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let length = match from.read(&mut buffer) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                read => read.unwrap_or(0),
            };
            let bytes = buffer[..length].to_vec();
            if to.send(Chunk { is_error, bytes }).is_err() || length == 0 {
                return;
            }
        }
    });
}
