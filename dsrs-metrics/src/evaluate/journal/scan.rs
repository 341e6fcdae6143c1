//! Reading a journal: every line is validated once, and the records of a row are found by its position.
//!
//! A journal may come from anywhere: a line that is too long, damaged or of another form is not a record, and is counted.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;

use super::FORMAT;
use super::error::JournalError;
use super::log;
use super::record::{ReadHeader, Record};

/// The largest length of a line, in bytes. A longer one is not a record.
const MAX_LINE: u64 = 256 << 20;

/// What a journal contains. The records themselves stay on the disk, except for 16 bytes each.
pub(super) struct Scan {
    /// What the journal's first record has about its run; `None` if the journal is empty.
    pub(super) header: Option<serde_json::Value>,
    /// The number of lines that are not records.
    pub(super) damaged: u64,
    /// The length of all complete lines, in bytes.
    pub(super) end: u64,
    /// The cost of all replies, in millisatoshis.
    pub(super) cost_msats: u64,
    /// The row and the offset of every record, by row and then by offset.
    records: Vec<(u64, u64)>,
    /// `None` if there are no records.
    file: Option<Mutex<BufReader<File>>>,
    dir: std::path::PathBuf,
}

/// The part of a record that is needed to find it.
#[derive(Deserialize)]
struct Place {
    row: u64,
    #[serde(default)]
    reply: Option<PaidReply>,
}

#[derive(Deserialize)]
struct PaidReply {
    reply: Cost,
}

#[derive(Deserialize)]
struct Cost {
    cost_msats: Option<u64>,
}

impl Scan {
    /// Reads a file from its beginning.
    pub(super) fn read(dir: &Path, file: File) -> Result<Self, JournalError> {
        let failed = |error: std::io::Error| JournalError::open(dir, &error);
        let mut lines = BufReader::with_capacity(1 << 16, file);
        let mut scan = Self {
            header: None,
            damaged: 0,
            end: 0,
            cost_msats: 0,
            records: Vec::new(),
            file: None,
            dir: dir.to_owned(),
        };
        let mut line = Vec::new();
        while let Some(length) = read_line(&mut lines, &mut line).map_err(failed)? {
            scan.add_line(&line)?;
            scan.end += length;
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
        match content.and_then(|json| serde_json::from_slice::<Place>(json).ok()) {
            Some(Place { row, reply }) => {
                self.records.push((row, self.end));
                let cost = reply.and_then(|reply| reply.reply.cost_msats).unwrap_or(0);
                self.cost_msats = self.cost_msats.saturating_add(cost);
            }
            None => self.damaged += 1,
        }
        Ok(())
    }

    fn header(&self, content: Option<&[u8]>) -> Result<serde_json::Value, JournalError> {
        let invalid = |reason: String| JournalError::Format { dir: self.dir.clone(), reason };
        let header = content.and_then(|json| serde_json::from_slice::<ReadHeader>(json).ok());
        match header {
            Some(ReadHeader { format: FORMAT, run }) => Ok(run),
            Some(ReadHeader { format, .. }) => {
                Err(invalid(format!("expected version {FORMAT} of the format, found {format}")))
            }
            None => Err(invalid("its first line is not that of a journal".to_owned())),
        }
    }

    /// The number of rows up to the last one that has a record.
    pub(super) fn rows(&self) -> u64 {
        self.records.last().map_or(0, |(row, _)| row.saturating_add(1))
    }

    /// Returns the records of a row, in the order in which they were written.
    pub(super) fn of_row(&self, row: u64) -> Result<Vec<Record>, JournalError> {
        let first = self.records.partition_point(|(other, _)| *other < row);
        let of_row = self.records[first..].iter().take_while(|(other, _)| *other == row);
        let offsets: Vec<u64> = of_row.map(|(_, offset)| *offset).collect();
        let Some(file) = self.file.as_ref().filter(|_| !offsets.is_empty()) else {
            return Ok(Vec::new());
        };
        let failed = |error: std::io::Error| JournalError::open(&self.dir, &error);
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut line, mut records) = (Vec::new(), Vec::with_capacity(offsets.len()));
        for offset in offsets {
            // A relative seek keeps the buffer for records that are close to each other.
            let at = file.stream_position().map_err(failed)?;
            file.seek_relative(offset.cast_signed() - at.cast_signed()).map_err(failed)?;
            read_line(&mut *file, &mut line).map_err(failed)?;
            let record = log::content(&line).and_then(|json| serde_json::from_slice(json).ok());
            records.extend(record);
        }
        Ok(records)
    }
}

/// Reads the next complete line without its line break, and returns its length in the file. Of a line that is too long
/// only the beginning is kept. `None` at the end, and for an incomplete line.
fn read_line(from: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<Option<u64>> {
    line.clear();
    let mut length = from.by_ref().take(MAX_LINE).read_until(b'\n', line)? as u64;
    if length == MAX_LINE && line.last() != Some(&b'\n') {
        let skipped = from.skip_until(b'\n')? as u64;
        if skipped == 0 {
            return Ok(None);
        }
        length += skipped;
        line.clear();
        return Ok(Some(length));
    }
    Ok((line.pop() == Some(b'\n')).then_some(length))
}
