//! Logs of inspect_ai: `.eval`, a ZIP archive with a member for each epoch of a sample, and `.json`.
//!
//! The logs are written by <https://github.com/UKGovernmentBEIS/inspect_ai/tree/main/src/inspect_ai/log>. `archive.rs`
//! finds the members of an archive, and `member.rs` extracts the needed fields from a member or from a sample of a JSON
//! log. `header.rs` reads what was evaluated, `sample.rs` reads a sample, and `score.rs` converts its scores and
//! messages. `rows.rs` turns samples into rows. The name of a member is never used as a path.

mod archive;
mod header;
mod member;
mod rows;
mod sample;
mod score;

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::Path;

use rawzip::{RECOMMENDED_BUFFER_SIZE, ZipArchive};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use self::header::Header;
use self::member::{MAX_MEMBER, Member, Members, Samples, fields, kept};
use self::rows::Rows;
use self::sample::id_of;
use super::detect::other_format;
use super::format::{Converted, Epochs};
use super::scores::by_id;
use super::text::{as_text, parse, with_finite_numbers};
use crate::error::{FormatError, Input};

/// What messages call a file of this format.
const EXPECTED: &str = "an inspect_ai log (.eval or .json)";

/// The samples of a log, with the parts of its header.
struct Log<'a> {
    header: Header,
    samples: Samples<'a>,
    /// The first member in the samples folder that isn't named like a sample.
    unread: Option<String>,
}

/// How an archive starts, with or without members.
const ARCHIVE: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

pub(super) fn import(file: &Path, epochs: Epochs) -> Result<Converted, FormatError> {
    let input = Input { file };
    let mut opened = File::open(file).map_err(|error| input.whole(error))?;
    let metadata = opened.metadata().map_err(|error| input.whole(error))?;
    let mut members = Members {
        input,
        size: metadata.len(),
        read: 0,
        kept: 0,
    };
    let mut magic = [0; 4];
    if opened.read_exact(&mut magic).is_err() {
        let short = input.whole("fewer than 4 bytes");
        return Err(other_format(input, EXPECTED, short));
    }
    if !ARCHIVE.contains(&&magic[..]) {
        let bytes = input.read(MAX_MEMBER)?;
        if bytes.len() as u64 > MAX_MEMBER {
            let limit = MAX_MEMBER >> 20;
            return Err(input.whole(format_args!("larger than {limit} MiB; save it as `.eval`")));
        }
        let text = as_text(&bytes).map_err(|reason| input.whole(reason))?;
        let text = with_finite_numbers(text);
        return convert(json_log(input, &text)?, &mut members, epochs);
    }
    opened.rewind().map_err(|error| input.whole(error))?;
    let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
    let archive = ZipArchive::from_file(opened, &mut buffer);
    let archive = archive.map_err(|error| archive::damaged(input, &error))?;
    let log = archive::open(&mut members, &archive)?;
    convert(log, &mut members, epochs)
}

fn convert(
    mut log: Log<'_>,
    members: &mut Members<'_>,
    epochs: Epochs,
) -> Result<Converted, FormatError> {
    if log.samples.is_empty() {
        let status = log.header.status();
        let reason = format_args!("the log has no samples; its status is `{status}`");
        return Err(members.input.whole(reason));
    }
    log.samples.sort_by(|a, _, b, _| by_id(a, b));
    Rows::new(log.header, epochs).convert(members, &log.samples, log.unread)
}

/// Finds the samples and the header of a JSON log.
fn json_log<'t>(input: Input<'_>, text: &'t str) -> Result<Log<'t>, FormatError> {
    #[derive(Deserialize)]
    struct Key {
        id: Value,
        epoch: u32,
    }
    let of_log =
        fields(text).map_err(|reason| match reason.starts_with("the object does not") {
            true => input.whole(format_args!(
                "{reason}; the log is cut off, or is not an inspect_ai log"
            )),
            false => other_format(input, EXPECTED, input.whole(reason)),
        })?;
    let header = kept(&of_log, &Header::FIELDS)
        .and_then(|header| Header::parse(&header))
        .map_err(|reason| other_format(input, EXPECTED, input.whole(reason)))?;
    let written: Vec<&'t RawValue> = match of_log.0.get("samples") {
        Some(samples) => serde_json::from_str(samples.get()).unwrap_or_default(),
        None => Vec::new(),
    };
    let mut samples = Samples::new();
    for (number, sample) in written.into_iter().enumerate() {
        let invalid = |reason| input.invalid(format_args!("sample {}", number + 1), reason);
        let sample = sample.get();
        let key: Key = parse(sample.as_bytes()).map_err(invalid)?;
        let id = id_of(&key.id).map_err(invalid)?;
        let epochs = samples.entry(id).or_default();
        epochs.insert(key.epoch, Member::Text(sample));
    }
    Ok(Log {
        header,
        samples,
        unread: None,
    })
}
