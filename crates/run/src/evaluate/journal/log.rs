//! The log: lines with a checksum, appended by any number of threads, and synced to disk in groups.
//!
//! A record that something was paid for is written by the call that appends it, so that it survives the death of the
//! process. A thread syncs the file every [`SYNC_INTERVAL`], so that a power failure loses at most the records of that time.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;

use super::error::JournalError;
use super::file::LogFile;
use crate::evaluate::lock::lock;
use crate::messages::hash::hexadecimal;

/// The time between two syncs.
const SYNC_INTERVAL: Duration = Duration::from_millis(100);

/// The size at which buffered records are written, in bytes.
const BUFFER: usize = 65_536;

/// The length of most lines, in bytes.
const LINE: usize = 512;

/// When a record is written to the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Write {
    /// Before `append` returns.
    Now,
    /// With later records, or before the next sync.
    Later,
}

pub(super) struct Log {
    shared: Arc<Shared>,
    syncer: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    dir: PathBuf,
    file: Arc<dyn LogFile>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    buffer: Vec<u8>,
    /// The length of the file, in bytes.
    written: u64,
    is_synced: bool,
    is_closing: bool,
    /// The first error. Nothing is written after it.
    error: Option<JournalError>,
}

impl Log {
    /// Starts a log that appends to a file of this length.
    pub(super) fn start(
        dir: &Path,
        file: Arc<dyn LogFile>,
        length: u64,
    ) -> Result<Self, JournalError> {
        let state = State { written: length, is_synced: true, ..State::default() };
        let shared =
            Shared { dir: dir.to_owned(), file, state: Mutex::new(state), changed: Condvar::new() };
        let shared = Arc::new(shared);
        let of_thread = Arc::clone(&shared);
        let syncer = std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || of_thread.sync_until_closed())
            .map_err(|error| JournalError::open(dir, &error))?;
        Ok(Self { shared, syncer: Mutex::new(Some(syncer)) })
    }

    /// Appends a record. After an error, which [`error`](Self::error) returns, nothing is appended.
    pub(super) fn append(&self, record: &impl Serialize, write: Write) {
        let line = line(record);
        let mut state = lock(&self.shared.state);
        match line {
            Ok(line) if state.error.is_none() => state.buffer.extend_from_slice(&line),
            Ok(_) => return,
            Err(error) => return self.shared.fail(&mut state, &error.into()),
        }
        if write == Write::Now || state.buffer.len() >= BUFFER {
            self.shared.write_buffer(&mut state);
        }
        if std::mem::take(&mut state.is_synced) {
            self.shared.changed.notify_one();
        }
    }

    pub(super) fn error(&self) -> Option<JournalError> {
        lock(&self.shared.state).error.clone()
    }

    /// Writes and syncs everything, and ends the thread.
    pub(super) fn finish(&self) -> Result<(), JournalError> {
        lock(&self.shared.state).is_closing = true;
        self.shared.changed.notify_one();
        let syncer = lock(&self.syncer).take();
        if let Some(syncer) = syncer {
            // The thread does not panic.
            let _ = syncer.join();
        }
        self.error().map_or(Ok(()), Err)
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // An error was returned by `error`, or concerns a run that was dropped.
        let _ = self.finish();
    }
}

impl Shared {
    fn sync_until_closed(&self) {
        let mut state = lock(&self.state);
        loop {
            let is_idle = |state: &mut State| state.is_synced && !state.is_closing;
            let waited = self.changed.wait_while(state, is_idle);
            state = waited.unwrap_or_else(PoisonError::into_inner);
            let is_closing = state.is_closing;
            if !is_closing {
                // More records are synced together.
                let is_open = |state: &mut State| !state.is_closing;
                let waited = self.changed.wait_timeout_while(state, SYNC_INTERVAL, is_open);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            self.write_buffer(&mut state);
            if !std::mem::replace(&mut state.is_synced, true) && state.error.is_none() {
                drop(state);
                let synced = self.file.sync();
                state = lock(&self.state);
                if let Err(error) = synced {
                    // A second sync would succeed without the lost pages, so none is tried.
                    self.fail(&mut state, &error);
                }
            }
            if is_closing {
                return;
            }
        }
    }

    /// Writes the buffer.
    fn write_buffer(&self, state: &mut State) {
        if state.error.is_some() {
            return;
        }
        match write(&*self.file, &state.buffer, state.written) {
            Ok(()) => {
                state.written += state.buffer.len() as u64;
                state.buffer.clear();
            }
            Err(error) => self.fail(state, &error),
        }
    }

    fn fail(&self, state: &mut State, error: &io::Error) {
        let (dir, reason) = (self.dir.clone(), error.to_string());
        state.error.get_or_insert(JournalError::Write { dir, reason });
        state.buffer = Vec::new();
    }
}

/// Appends to a file of this length. If that fails, a part that was written is removed.
fn write(file: &dyn LogFile, bytes: &[u8], length: u64) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        let error = match file.append(&bytes[done..]) {
            Ok(0) => io::ErrorKind::WriteZero.into(),
            Ok(count) => {
                done += count;
                continue;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => error,
        };
        // If this fails as well, the incomplete line is removed when the journal is opened again.
        let _ = file.truncate(length);
        return Err(error);
    }
    Ok(())
}

/// Writes and syncs the first line of an empty file.
pub(super) fn write_first(file: &dyn LogFile, line: &[u8]) -> io::Result<()> {
    write(file, line, 0)?;
    file.sync()
}

/// Returns a record as a line: the checksum, a space, and JSON.
pub(super) fn line(record: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    // Replaced by the checksum of the rest of the line.
    let mut line = Vec::with_capacity(LINE);
    line.extend([b'0'; CHECKSUM]);
    line.push(b' ');
    serde_json::to_writer(&mut line, record)?;
    let checksum = checksum(&line[CHECKSUM + 1..]);
    line[..CHECKSUM].copy_from_slice(checksum.as_bytes());
    line.push(b'\n');
    Ok(line)
}

/// The length of a checksum: 8 hexadecimal digits.
const CHECKSUM: usize = 8;

/// Returns the CRC-32 of some bytes, in lower-case hexadecimal digits.
fn checksum(bytes: &[u8]) -> String {
    hexadecimal(&crc32fast::hash(bytes).to_be_bytes())
}

/// Returns the JSON of a line without its line break, or `None` if the line was not written like that.
pub(super) fn content(line: &[u8]) -> Option<&[u8]> {
    let (sum, rest) = line.split_first_chunk::<CHECKSUM>()?;
    let json = rest.strip_prefix(b" ")?;
    (checksum(json).as_bytes() == sum).then_some(json)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Instant;

    use super::*;

    /// A file in memory, and the number of its syncs. A sync waits while the test holds `may_sync`.
    #[derive(Default)]
    struct Memory {
        content: Mutex<Vec<u8>>,
        syncs: Mutex<u32>,
        may_sync: Mutex<()>,
        begins_sync: Option<Mutex<Sender<()>>>,
    }

    impl LogFile for Memory {
        fn append(&self, bytes: &[u8]) -> io::Result<usize> {
            lock(&self.content).extend(bytes);
            Ok(bytes.len())
        }

        fn sync(&self) -> io::Result<()> {
            if let Some(begins) = &self.begins_sync {
                let _ = lock(begins).send(());
            }
            drop(lock(&self.may_sync));
            *lock(&self.syncs) += 1;
            Ok(())
        }

        fn truncate(&self, length: u64) -> io::Result<()> {
            lock(&self.content).truncate(usize::try_from(length).unwrap());
            Ok(())
        }
    }

    fn log(begins_sync: Option<Sender<()>>) -> (Log, Arc<Memory>) {
        let begins_sync = begins_sync.map(Mutex::new);
        let file = Arc::new(Memory { begins_sync, ..Memory::default() });
        let of_log: Arc<dyn LogFile> = Arc::clone(&file) as _;
        (Log::start(Path::new("j"), of_log, 0).unwrap(), file)
    }

    #[test]
    fn a_log_without_records_is_not_synced() {
        let (log, file) = log(None);
        assert_eq!(log.finish(), Ok(()));
        assert_eq!((*lock(&file.syncs), lock(&file.content).len()), (0, 0));
    }

    #[test]
    fn records_are_synced_in_groups_and_before_the_end() {
        let (sender, receiver): (_, Receiver<()>) = channel();
        let (log, file) = log(Some(sender));
        let start = Instant::now();
        log.append(&"first", Write::Later);
        receiver
            .recv_timeout(Duration::from_secs(60))
            .expect("it is synced without a further call");
        for _ in 0..500 {
            log.append(&"next", Write::Now);
        }
        assert_eq!(log.finish(), Ok(()));
        let intervals = start.elapsed().as_millis() / SYNC_INTERVAL.as_millis();
        let syncs = u128::from(*lock(&file.syncs));
        assert!((2..=intervals + 1).contains(&syncs), "{syncs} syncs in {intervals} intervals");
        let lines = lock(&file.content).iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(lines, 501);
    }

    #[test]
    fn records_wait_in_a_buffer_that_is_written_when_it_is_full() {
        let (sender, receiver) = channel();
        let (log, file) = log(Some(sender));
        let no_sync = lock(&file.may_sync);
        log.append(&"first", Write::Now);
        let first = lock(&file.content).len();
        assert_eq!(first, CHECKSUM + " \"first\"\n".len());
        // The thread waits for the sync, so that it writes nothing.
        receiver.recv_timeout(Duration::from_secs(60)).unwrap();
        log.append(&"small", Write::Later);
        assert_eq!(lock(&file.content).len(), first);
        log.append(&"x".repeat(BUFFER), Write::Later);
        assert!(lock(&file.content).len() > first + BUFFER);
        drop(no_sync);
        assert_eq!(log.finish(), Ok(()));
    }
}
