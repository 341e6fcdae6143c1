//! Logs of inspect_ai: `.eval`, a ZIP archive with a member for each epoch of a sample, and `.json`.
//!
//! Written by <https://github.com/UKGovernmentBEIS/inspect_ai/tree/main/src/inspect_ai/log>. `archive.rs` finds the members of an
//! archive, `json_log.rs` the samples of a JSON log; `member.rs` reads one of either, and `fields.rs` takes from it what is read.
//! `header.rs` has what was measured, `sample.rs` a sample, `messages.rs` its messages, `score.rs` its scores, and `rows.rs` makes rows
//! of the samples. Names of members are never paths of files.

mod archive;
mod fields;
mod header;
mod json_log;
mod log;
mod member;
mod messages;
mod rows;
mod sample;
mod score;

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use self::log::EXPECTED;
use self::rows::Rows;
use super::detect::other_format;
use super::error::{ImportError, Input};
use super::format::Epochs;

/// The first bytes of an archive, and of one without members.
const ARCHIVE: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

pub(super) fn import(file: &Path, out: &Path, epochs: Epochs) -> Result<Vec<String>, ImportError> {
    let input = Input { file };
    let mut opened = File::open(file).map_err(|error| input.unreadable(error))?;
    let mut magic = [0; 4];
    let is_short = opened.read_exact(&mut magic).is_err();
    opened.seek(SeekFrom::Start(0)).map_err(|error| input.unreadable(error))?;
    let (mut members, mut log) = match ARCHIVE.contains(&&magic[..]) {
        _ if is_short => return Err(other_format(input, EXPECTED)),
        true => archive::open(input, opened)?,
        false => json_log::open(input, opened)?,
    };
    if log.samples.len() == 0 {
        let status = log.header.status();
        return Err(input.whole(format_args!("no sample in the log, whose status is `{status}`")));
    }
    log.samples.sort();
    // Of a sample that was evaluated again, inspect_ai reads the last one too.
    log.samples.keep_last();
    Rows::new(log.header, epochs).write(&mut members, &log.samples, out)
}
