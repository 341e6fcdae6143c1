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

use rawzip::{RECOMMENDED_BUFFER_SIZE, ZipArchive};

use self::log::{EXPECTED, Log};
use self::member::{Members, Source};
use self::rows::Rows;
use super::detect::other_format;
use super::error::{ImportError, Input};
use super::format::Epochs;

/// The first bytes of an archive, and of one without members.
const ARCHIVE: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

pub(super) fn import(file: &Path, out: &Path, epochs: Epochs) -> Result<Vec<String>, ImportError> {
    let input = Input { file };
    let mut opened = File::open(file).map_err(|error| input.unreadable(error))?;
    let size = opened
        .metadata()
        .map_err(|error| input.unreadable(error))?
        .len();
    let mut magic = [0; 4];
    let is_short = opened.read_exact(&mut magic).is_err();
    opened
        .seek(SeekFrom::Start(0))
        .map_err(|error| input.unreadable(error))?;
    if is_short {
        return Err(other_format(
            input,
            EXPECTED,
            input.whole("fewer than 4 bytes"),
        ));
    }
    if !ARCHIVE.contains(&&magic[..]) {
        let mut members = Members::new(input, Source::Json(&opened), size);
        let log = json_log::open(&mut members, &opened)?;
        return convert(log, &mut members, out, epochs);
    }
    let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
    let archive = ZipArchive::from_file(opened, &mut buffer);
    let archive = archive.map_err(|error| archive::damaged(input, &error))?;
    let mut members = Members::new(input, Source::Archive(&archive), size);
    let log = archive::open(&mut members, &archive)?;
    convert(log, &mut members, out, epochs)
}

fn convert(
    mut log: Log,
    members: &mut Members<'_>,
    out: &Path,
    epochs: Epochs,
) -> Result<Vec<String>, ImportError> {
    if log.samples.len() == 0 {
        let status = log.header.status();
        let reason = format_args!("no sample in the log, whose status is `{status}`");
        return Err(members.input().whole(reason));
    }
    log.samples.sort();
    // Of a sample that was evaluated again, inspect_ai reads the last one too.
    log.samples.keep_last();
    Rows::new(log.header, epochs).write(members, &log.samples, log.unread, out)
}
