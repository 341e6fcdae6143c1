//! The directory of a ZIP archive, read entry by entry: its members are not trusted, and are too many for a list of names.
//!
//! APPNOTE.TXT 6.3.10, sections 4.3.12 to 4.3.16, <https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT>.

use std::io::{BufReader, Read, Seek as _, SeekFrom};

use super::bytes::{u16_at, u32_at, u64_at};
use super::header::Header;
use super::log::{EXPECTED, Log};
use super::member::{Compression, Member, Members};
use crate::import::detect::other_format;
use crate::import::error::ImportError;
use crate::import::places::Places;
use crate::messages::escape;

/// The end of the directory, without its comment.
const END: usize = 22;
const END_MAGIC: &[u8] = b"PK\x05\x06";
const END64_MAGIC: &[u8] = b"PK\x06\x06";
const LOCATOR64_MAGIC: &[u8] = b"PK\x06\x07";
const ENTRY_MAGIC: &[u8] = b"PK\x01\x02";

/// The length of an entry without its name.
const ENTRY: usize = 46;

/// The folder of samples.
const SAMPLES: &str = "samples/";

/// Finds the samples and the header of an archive.
pub(super) fn open(members: &mut Members<'_>) -> Result<Log, ImportError> {
    let Directory { start, length, count } = directory(members)?;
    let input = members.input;
    let mut samples = Places::new();
    let (mut header, mut journal) = (None, None);
    let mut entries = 0;
    // Members are read from another position of the file only after this.
    let mut file = members.file.try_clone().map_err(|error| input.unreadable(error))?;
    file.seek(SeekFrom::Start(start)).map_err(|error| input.unreadable(error))?;
    let mut reader = BufReader::with_capacity(1 << 16, file).take(length);
    while let Some((name, member)) =
        entry(&mut reader, start).map_err(|reason| input.whole(reason))?
    {
        entries += 1;
        match &*name {
            "header.json" => header = Some((name, member)),
            "_journal/start.json" => journal = Some((name, member)),
            _ => {
                let Some(sample) = name.strip_prefix(SAMPLES) else { continue };
                if sample.contains("_epoch_") && sample.ends_with("/sample.json") {
                    let reason = "chunked samples are not read; write the log without chunks, as inspect_ai does by default";
                    return Err(input.invalid(member_name(&name), reason));
                }
                let Some((id, epoch)) = sample
                    .strip_suffix(".json")
                    .and_then(|sample| sample.rsplit_once("_epoch_"))
                    .and_then(|(id, epoch)| Some((id, epoch.parse().ok()?)))
                else {
                    continue;
                };
                samples.push(id, epoch, member);
            }
        }
    }
    if entries != count {
        return Err(input.whole(format_args!(
            "the directory of the archive has {entries} members, and its end names {count}; copy the file again"
        )));
    }
    // A log that is being written has only the journal.
    let Some((name, member)) = header.or(journal) else {
        return Err(match samples.len() {
            0 => other_format(input, EXPECTED),
            _ => input.whole("no member `header.json`; expected a log of inspect_ai"),
        });
    };
    let place = member_name(&name);
    let header = members
        .fields(member, &Header::FIELDS, &place)
        .and_then(|text| Header::parse(&text).map_err(|reason| input.invalid(&place, reason)))?;
    Ok(Log { header, samples })
}

/// A member, in messages.
pub(super) fn member_name(name: &str) -> String {
    format!("member `{}`", escape::name(name))
}

struct Directory {
    start: u64,
    length: u64,
    count: u64,
}

/// Finds the directory from the end of the file.
fn directory(members: &mut Members<'_>) -> Result<Directory, ImportError> {
    let input = members.input;
    let truncated = || {
        input.whole(
            "the archive is cut off: the end of its directory is missing; copy the file again",
        )
    };
    let size = members.size;
    let tail_length = size.min(END as u64 + u64::from(u16::MAX));
    let tail_start = size - tail_length;
    let tail = members.read_at(tail_start, tail_length)?;
    let end = (0..tail.len().saturating_sub(END - 1)).rev().find(|at| {
        let comment = usize::from(u16_at(&tail, at + 20));
        tail[*at..].starts_with(END_MAGIC) && at + END + comment == tail.len()
    });
    let Some(end) = end else { return Err(truncated()) };
    let mut directory = Directory {
        start: u64::from(u32_at(&tail, end + 16)),
        length: u64::from(u32_at(&tail, end + 12)),
        count: u64::from(u16_at(&tail, end + 10)),
    };
    let mut limit = tail_start + end as u64;
    let is_large = directory.start == u64::from(u32::MAX)
        || directory.length == u64::from(u32::MAX)
        || directory.count == u64::from(u16::MAX);
    if let Some(locator) = is_large.then(|| limit.checked_sub(20)).flatten() {
        let found = members.read_at(locator, 20)?;
        if found.starts_with(LOCATOR64_MAGIC) {
            limit = u64_at(&found, 8);
            let end = match limit.checked_add(56) {
                Some(end) if end <= locator => members.read_at(limit, 56)?,
                _ => return Err(truncated()),
            };
            if !end.starts_with(END64_MAGIC) {
                return Err(truncated());
            }
            let (count, length, start) = (u64_at(&end, 32), u64_at(&end, 40), u64_at(&end, 48));
            directory = Directory { start, length, count };
        }
    }
    match directory.start.checked_add(directory.length) {
        Some(end) if end <= limit => Ok(directory),
        _ => Err(input.whole(format_args!(
            "the directory of the archive is at byte {} with {} bytes, but the archive has {size}; copy the file again",
            directory.start, directory.length
        ))),
    }
}

/// Reads the next entry of the directory, whose start is the end of the members; `None` at the end.
fn entry(reader: &mut impl Read, end: u64) -> Result<Option<(String, Member)>, String> {
    let mut entry = [0; ENTRY];
    let damaged = |reason| format!("the directory of the archive is damaged: {reason}");
    match reader.read(&mut entry[..1]).map_err(|error| error.to_string())? {
        0 => return Ok(None),
        _ => reader.read_exact(&mut entry[1..]).map_err(|_| damaged("an entry is cut off"))?,
    }
    if !entry.starts_with(ENTRY_MAGIC) {
        return Err(damaged("an entry has other first bytes"));
    }
    let mut take = |length: u16| {
        let mut bytes = vec![0; usize::from(length)];
        reader.read_exact(&mut bytes).map_err(|_| damaged("an entry is cut off")).map(|()| bytes)
    };
    let name = take(u16_at(&entry, 28))?;
    let extra = take(u16_at(&entry, 30))?;
    take(u16_at(&entry, 32))?;
    let name = String::from_utf8_lossy(&name).into_owned();
    let mut sizes = [u32_at(&entry, 24), u32_at(&entry, 20), u32_at(&entry, 42)].map(u64::from);
    read_extra64(&extra, &mut sizes);
    let [length, compressed, offset] = sizes;
    let is_encrypted = u16_at(&entry, 8) & 1 != 0;
    let compression = match u16_at(&entry, 10) {
        _ if is_encrypted => Compression::Encrypted,
        0 => Compression::Stored,
        8 => Compression::Deflate,
        93 => Compression::Zstandard,
        other => Compression::Unsupported(other),
    };
    if offset.checked_add(compressed).is_none_or(|at| at > end) {
        return Err(format!(
            "{}: at byte {offset} with {compressed} bytes, but the members of the archive end at byte {end}; copy the file again",
            member_name(&name)
        ));
    }
    let crc = u32_at(&entry, 16);
    Ok(Some((name, Member { offset, compressed, length, crc, compression })))
}

/// Replaces sizes of 4 GiB by those in the extra field for large members.
fn read_extra64(mut extra: &[u8], sizes: &mut [u64; 3]) {
    while extra.len() >= 4 {
        let (kind, length) = (u16_at(extra, 0), usize::from(u16_at(extra, 2)));
        let Some(mut content) = extra.get(4..4 + length) else { return };
        if kind == 1 {
            for size in sizes.iter_mut().filter(|size| **size == u64::from(u32::MAX)) {
                if content.len() < 8 {
                    return;
                }
                *size = u64_at(content, 0);
                content = &content[8..];
            }
            return;
        }
        extra = &extra[4 + length..];
    }
}
