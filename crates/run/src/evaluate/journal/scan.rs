//! Reading a journal: every line is validated once, and the records of a row are found by its position.
//!
//! A journal may come from anywhere: a line that is too long, damaged or of another form is not a record, and is counted.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Mutex;

use serde::Deserialize;

use super::error::JournalError;
use super::log;
use super::record::{CallCost, FORMAT, OLDEST_FORMAT, ReadHeader, Record};
use crate::evaluate::lock::lock;

/// The largest length of a line, in bytes. A longer one is not a record.
const MAX_LINE: u64 = 268_435_456;

const NO_JOURNAL: &str = "its first line does not belong to a journal";

/// The index of a journal. The records stay on the disk; the index has 16 bytes for each.
pub(super) struct Scan {
    /// The run that the journal's first record describes; `None` without a complete line.
    pub(super) header: Option<serde_json::Value>,
    /// The beginning of the first line, if that is not complete.
    pub(super) incomplete: Vec<u8>,
    /// The number of lines that are not records.
    pub(super) damaged: u64,
    /// The length of all complete lines, in bytes.
    pub(super) end: u64,
    /// The calls of models.
    models: Calls,
    /// The calls of metrics under the gate of a run.
    gate: Calls,
    /// The number of the next call.
    pub(super) next_call: u64,
    /// The row and the offset of every record, by row and then by offset.
    records: Vec<(u64, u64)>,
    /// `None` if there are no records.
    file: Option<Mutex<BufReader<File>>>,
    dir: std::path::PathBuf,
}

/// The cost of calls, in millisatoshis.
#[derive(Default)]
struct Calls {
    /// The cost of all calls that have one.
    settled: u64,
    /// The reserved amount of each call without a recorded cost, by the number of the call.
    unsettled: HashMap<u64, u64>,
}

impl Calls {
    fn add_cost(&mut self, msats: Option<u64>) {
        self.settled = self.settled.saturating_add(msats.unwrap_or(0));
    }

    /// The amount reserved for calls without a recorded cost, which were in progress when a process died.
    fn unsettled(&self) -> u64 {
        self.unsettled.values().fold(0, |sum, msats| sum.saturating_add(*msats))
    }

    /// The cost of all calls. A call that was in progress costs the amount reserved for it.
    fn spent(&self) -> u64 {
        self.settled.saturating_add(self.unsettled())
    }
}

/// The fields of a line that are needed to find it again. It is a record of a row or of spending.
#[derive(Deserialize)]
struct Line {
    row: Option<u64>,
    reply: Option<PaidReply>,
    reserved: Option<CallCost>,
    settled: Option<CallCost>,
}

#[derive(Deserialize)]
struct PaidReply {
    reply: Cost,
    #[serde(default)]
    is_spending: bool,
}

#[derive(Deserialize)]
struct Cost {
    cost_msats: Option<u64>,
}

impl Scan {
    /// Reads a file from its beginning, until `is_stopped` returns true.
    pub(super) fn read(
        dir: &Path,
        file: File,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Self, JournalError> {
        let failed = |error: std::io::Error| JournalError::open(dir, &error);
        let mut lines = BufReader::with_capacity(1 << 16, file);
        let mut scan = Self {
            header: None,
            incomplete: Vec::new(),
            damaged: 0,
            end: 0,
            models: Calls::default(),
            gate: Calls::default(),
            next_call: 0,
            records: Vec::new(),
            file: None,
            dir: dir.to_owned(),
        };
        let mut line = Vec::new();
        while let Some(length) = read_line(&mut lines, &mut line, MAX_LINE).map_err(failed)? {
            if is_stopped() {
                return Err(JournalError::Stopped { dir: dir.to_owned() });
            }
            scan.add_line(&line)?;
            scan.end += length;
        }
        if scan.header.is_none() {
            scan.incomplete = line;
        }
        scan.records.sort_unstable();
        if !scan.records.is_empty() {
            lines.seek(SeekFrom::Start(0)).map_err(failed)?;
            scan.file = Some(Mutex::new(lines));
        }
        Ok(scan)
    }

    fn add_line(&mut self, line: &[u8]) -> Result<(), JournalError> {
        let content = log::content(line);
        if self.end == 0 {
            self.header = Some(self.header(content)?);
            return Ok(());
        }
        match content.and_then(|json| serde_json::from_slice::<Line>(json).ok()) {
            Some(Line { row: Some(row), reply, .. }) => {
                self.records.push((row, self.end));
                let reply = reply.filter(|reply| !reply.is_spending);
                self.models.add_cost(reply.and_then(|reply| reply.reply.cost_msats));
            }
            Some(Line { reserved: Some(CallCost { call, msats, of_gate }), .. }) => {
                // Only a forged journal has two calls of one number.
                let calls = self.calls(of_gate);
                let other = calls.unsettled.insert(call, msats);
                calls.add_cost(other);
                self.next_call = self.next_call.max(call.saturating_add(1));
            }
            Some(Line { settled: Some(CallCost { call, msats, of_gate }), .. }) => {
                let calls = self.calls(of_gate);
                calls.unsettled.remove(&call);
                calls.add_cost(Some(msats));
                self.next_call = self.next_call.max(call.saturating_add(1));
            }
            _ => self.damaged += 1,
        }
        Ok(())
    }

    fn calls(&mut self, of_gate: bool) -> &mut Calls {
        if of_gate { &mut self.gate } else { &mut self.models }
    }

    /// The amount reserved for calls of models without a recorded cost, in millisatoshis.
    pub(super) fn unsettled_msats(&self) -> u64 {
        self.models.unsettled()
    }

    /// The cost of all calls of models, in millisatoshis.
    pub(super) fn spent_msats(&self) -> u64 {
        self.models.spent()
    }

    /// The cost of all calls of metrics under a gate, in millisatoshis.
    pub(super) fn gate_msats(&self) -> u64 {
        self.gate.spent()
    }

    fn header(&self, content: Option<&[u8]>) -> Result<serde_json::Value, JournalError> {
        let header = content.and_then(|json| serde_json::from_slice::<ReadHeader>(json).ok());
        match header {
            Some(ReadHeader { format: OLDEST_FORMAT..=FORMAT, run }) => Ok(run),
            Some(ReadHeader { format, .. }) => {
                let reason = format!("expected version {FORMAT} of the format, found {format}");
                Err(self.invalid(reason))
            }
            None => Err(self.invalid(NO_JOURNAL.to_owned())),
        }
    }

    fn invalid(&self, reason: String) -> JournalError {
        JournalError::Format { dir: self.dir.clone(), reason }
    }

    /// Checks that the file may be cut off after its complete lines: an incomplete first line must be the beginning of
    /// this header, or the file belongs to somebody else.
    pub(super) fn check_end(&self, header: &[u8]) -> Result<(), JournalError> {
        match header.starts_with(&self.incomplete) {
            true => Ok(()),
            false => Err(self.invalid(NO_JOURNAL.to_owned())),
        }
    }

    /// Returns whether the journal has only a header.
    pub(super) fn is_unused(&self) -> bool {
        self.records.is_empty() && self.damaged == 0
    }

    /// The number of rows up to the last one that has a record.
    pub(super) fn rows(&self) -> u64 {
        self.records.last().map_or(0, |(row, _)| row.saturating_add(1))
    }

    /// Returns the records of a row, in the order in which they were written.
    pub(super) fn of_row(&self, row: u64) -> Result<Vec<Record<'static>>, JournalError> {
        let first = self.records.partition_point(|(other, _)| *other < row);
        let of_row = self.records[first..].iter().take_while(|(other, _)| *other == row);
        let offsets: Vec<u64> = of_row.map(|(_, offset)| *offset).collect();
        let Some(file) = self.file.as_ref().filter(|_| !offsets.is_empty()) else {
            return Ok(Vec::new());
        };
        let failed = |error: std::io::Error| JournalError::open(&self.dir, &error);
        let mut file = lock(file);
        let (mut line, mut records) = (Vec::new(), Vec::with_capacity(offsets.len()));
        for offset in offsets {
            // A relative seek keeps the buffer for records that are close to each other.
            let at = file.stream_position().map_err(failed)?;
            file.seek_relative(offset.cast_signed() - at.cast_signed()).map_err(failed)?;
            read_line(&mut *file, &mut line, MAX_LINE).map_err(failed)?;
            let record = log::content(&line).and_then(|json| serde_json::from_slice(json).ok());
            records.extend(record);
        }
        Ok(records)
    }
}

/// Reads the next complete line without its line break, and returns its length in the file. Nothing is kept of a line of more
/// than `max` bytes. `None` at the end, and for an incomplete line, which is kept.
fn read_line(
    from: &mut impl BufRead,
    line: &mut Vec<u8>,
    max: u64,
) -> std::io::Result<Option<u64>> {
    line.clear();
    let mut length = from.by_ref().take(max).read_until(b'\n', line)? as u64;
    if length == max && line.last() != Some(&b'\n') {
        let skipped = from.skip_until(b'\n')? as u64;
        if skipped == 0 {
            return Ok(None);
        }
        length += skipped;
        line.clear();
        return Ok(Some(length));
    }
    Ok(line.pop_if(|last| *last == b'\n').map(|_| length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn scanned(lines: &[serde_json::Value]) -> Scan {
        let name = format!("dsrs-metrics-scan-{}-{:p}", std::process::id(), lines);
        let path = std::env::temp_dir().join(name);
        let lines: Vec<_> = lines.iter().map(|line| log::line(line).unwrap()).collect();
        std::fs::write(&path, lines.concat()).unwrap();
        let scan = Scan::read(Path::new("j"), File::open(&path).unwrap(), &|| false).unwrap();
        std::fs::remove_file(&path).unwrap();
        scan
    }

    #[test]
    fn the_cost_of_a_reply_counts_once_whatever_wrote_the_journal() {
        use serde_json::json;
        let reply = |is_spending: bool| {
            let reply =
                json!({ "key": "k", "reply": { "cost_msats": 40 }, "is_spending": is_spending });
            json!({ "row": 0, "fingerprint": "f", "reply": reply })
        };
        let reserved =
            |call: u64, msats: u64| json!({ "reserved": { "call": call, "msats": msats } });
        let settled =
            |call: u64, msats: u64| json!({ "settled": { "call": call, "msats": msats } });
        let of = |lines: &[serde_json::Value]| {
            let scan = scanned(lines);
            (scan.spent_msats(), scan.unsettled_msats(), scan.damaged)
        };
        // Without a budget, and by a version without records of spending.
        let old = json!({ "format": OLDEST_FORMAT, "run": null });
        assert_eq!(
            of(&[old, json!({ "row": 0, "reply": { "reply": { "cost_msats": 40 } } })]),
            (40, 0, 0)
        );
        let header = || json!({ "format": FORMAT, "run": null });
        assert_eq!(of(&[header(), reserved(0, 900), settled(0, 40), reply(true)]), (40, 0, 0));
        // The second call was in progress, or its record is damaged.
        let lines = [header(), reserved(0, 900), reserved(1, 900), settled(0, 40), reply(true)];
        assert_eq!(of(&lines), (940, 900, 0));
        // The record of the reservation is damaged.
        assert_eq!(of(&[header(), json!("?"), settled(0, 40), reply(true)]), (40, 0, 1));
        // Forged: numbers that repeat, and sums that overflow.
        let lines = [header(), reserved(u64::MAX, u64::MAX), reserved(u64::MAX, 1), reply(false)];
        assert_eq!(of(&lines), (u64::MAX, 1, 0));
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_an_incomplete_one_is_kept() {
        let mut from = &b"ab\nabc\nabcd\nabcdefgh\n\nab"[..];
        let mut line = Vec::new();
        for (length, kept) in [
            (Some(3), "ab"),
            (Some(4), "abc"),
            (Some(5), ""),
            (Some(9), ""),
            (Some(1), ""),
            (None, "ab"),
            (None, ""),
        ] {
            assert_eq!(read_line(&mut from, &mut line, 4).unwrap(), length, "{kept}");
            assert_eq!(line, kept.as_bytes());
        }
        // The end of the file where the longest line may end.
        for (text, length) in [("abcd", None), ("abcde", Some(5))] {
            assert_eq!(read_line(&mut text.as_bytes(), &mut line, 4).unwrap(), length, "{text}");
        }
    }

    #[test]
    fn a_stop_ends_the_reading_of_a_journal() {
        let path = std::env::temp_dir().join(format!("dsrs-metrics-stop-{}", std::process::id()));
        let rows = (0..1_000).map(|row| serde_json::json!({ "row": row }));
        let header = serde_json::json!({ "format": FORMAT, "run": null });
        let lines = std::iter::once(header).chain(rows).map(|line| log::line(&line).unwrap());
        std::fs::write(&path, lines.collect::<Vec<_>>().concat()).unwrap();
        let file = File::open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let asked = Cell::new(0);
        let is_stopped = || {
            asked.set(asked.get() + 1);
            asked.get() > 3
        };
        let stopped = Scan::read(Path::new("j"), file, &is_stopped).err().unwrap();
        assert_eq!(
            (stopped.to_string(), asked.get()),
            (
                "stopped while the journal `j` was read; start the same run again to continue"
                    .to_owned(),
                4
            )
        );
    }
}
