//! Reads a ZIP archive entry by entry and limits the decompressed size, because the members are untrusted.

use std::io::{self, BufReader, Read};

use flate2::bufread::DeflateDecoder;
use rawzip::{
    CompressionMethod, Error, FileReader, RECOMMENDED_BUFFER_SIZE, ZipArchive, ZipFileHeaderRecord,
};

use super::header::Header;
use super::sample::{self, Sample};
use super::{Log, MAX_MEMBER, Samples};
use super::{fields, kept};
use crate::import::text::{as_text, with_finite_numbers};
use crate::messages::escape;
use crate::{FormatError, Input};

/// All members together can decompress to at most this many bytes, or this many times the archive's size. Overlapping
/// members, or members that repeat one byte, exceed both limits.
const MAX_BYTES: u64 = 256 << 20;
const MAX_RATIO: u64 = 200;

/// Reads the samples and the header from an archive.
pub(super) fn read(
    input: Input<'_>,
    archive: &ZipArchive<FileReader>,
    size: u64,
) -> Result<Log, FormatError> {
    let damaged = |error| damaged(input, &error);
    let mut members = Members {
        archive,
        input,
        size,
        read: 0,
        kept: 0,
    };
    let mut samples = Samples::new();
    let (mut header, mut journal) = (None, None);
    let (mut found, mut unread) = (0, None);
    let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
    let mut entries = archive.entries(&mut buffer);
    while let Some(entry) = entries.next_entry().map_err(damaged)? {
        found += 1;
        let name = String::from_utf8_lossy(entry.file_path().as_ref()).into_owned();
        let place = format!("member `{}`", escape::name(&name));
        let of_header = match &*name {
            "header.json" => &mut header,
            // A log that is still being written contains only the journal.
            "_journal/start.json" => &mut journal,
            _ => {
                let Some(sample) = name.strip_prefix("samples/") else {
                    continue;
                };
                if sample.contains("_epoch_") && sample.ends_with("/sample.json") {
                    let reason = "chunked samples are not supported; write the log without chunks, as inspect_ai does by default";
                    return Err(input.invalid(place, reason));
                }
                let id_and_epoch = sample
                    .strip_suffix(".json")
                    .and_then(|sample| sample.rsplit_once("_epoch_"));
                let parsed = id_and_epoch.and_then(|(id, epoch)| Some((id, epoch.parse().ok()?)));
                if let Some((id, epoch)) = parsed {
                    let place = format!("sample {}, epoch {epoch}", escape::name(id));
                    let text = members.fields(&entry, sample::FIELDS, &place)?;
                    let sample = Sample::parse(&text);
                    let sample = sample.map_err(|reason| input.invalid(place, reason))?;
                    let epochs = samples.entry(id.to_owned()).or_default();
                    epochs.insert(epoch, sample);
                } else if !sample.is_empty() {
                    unread.get_or_insert(name);
                }
                continue;
            }
        };
        *of_header = Some((members.fields(&entry, Header::FIELDS, &place)?, place));
    }
    if found != archive.entries_hint() {
        return Err(input.whole(format_args!(
            "the archive's directory has {found} members, but its end record says {}; copy the file again",
            archive.entries_hint()
        )));
    }
    let Some((text, place)) = header.or(journal) else {
        let reason = "expected an inspect_ai log (.eval or .json), found a ZIP archive without `header.json`";
        return Err(input.whole(reason));
    };
    Ok(Log {
        header: Header::parse(&text).map_err(|reason| input.invalid(place, reason))?,
        samples,
        unread,
    })
}

/// Reads the members of an archive.
struct Members<'a> {
    archive: &'a ZipArchive<FileReader>,
    input: Input<'a>,
    /// The size of the file, in bytes.
    size: u64,
    /// The number of bytes decompressed so far.
    read: u64,
    /// The total size of the fields kept so far, in bytes.
    kept: usize,
}

impl Members<'_> {
    /// Returns an object that contains these fields of a member. Messages call the member `place`.
    fn fields(
        &mut self,
        entry: &ZipFileHeaderRecord<'_>,
        keep: &str,
        place: &str,
    ) -> Result<String, FormatError> {
        let kept = self.content(entry).and_then(|bytes| {
            let text = with_finite_numbers(as_text(&bytes)?);
            let kept = kept(&fields(&text)?, keep)?;
            self.kept += kept.len();
            match self.kept as u64 > MAX_MEMBER {
                true => Err(format!(
                    "the members so far have more than {} MiB without their events",
                    MAX_MEMBER >> 20
                )),
                false => Ok(kept),
            }
        });
        kept.map_err(|reason| self.input.invalid(place, reason))
    }

    /// Returns a member's content after checking its length and checksum against the directory.
    fn content(&mut self, entry: &ZipFileHeaderRecord<'_>) -> Result<Vec<u8>, String> {
        let opened = self.archive.get_entry(entry.wayfinder());
        let opened = opened.map_err(|_| "no member at its offset; copy the file again")?;
        if entry.flags().is_encrypted() {
            return Err("encrypted; write the log without a password".to_owned());
        }
        let raw = BufReader::with_capacity(1 << 16, opened.reader());
        let content: Box<dyn Read> = match entry.compression_method() {
            CompressionMethod::STORE => Box::new(opened.verifying_reader(raw)),
            CompressionMethod::DEFLATE => {
                Box::new(opened.verifying_reader(DeflateDecoder::new(raw)))
            }
            CompressionMethod::ZSTD => {
                let decoder = zstd::stream::read::Decoder::with_buffer(raw);
                Box::new(opened.verifying_reader(decoder.map_err(|error| damage(&error))?))
            }
            other => {
                return Err(format!(
                    "expected the compression method stored (0), deflate (8) or Zstandard (93), found {}",
                    other.as_u16()
                ));
            }
        };
        let limit = MAX_BYTES.max(self.size.saturating_mul(MAX_RATIO));
        let longest = MAX_MEMBER.min(limit - self.read);
        let mut bytes = Vec::new();
        let read = content.take(longest + 1).read_to_end(&mut bytes);
        read.map_err(|error| damage(&error))?;
        self.read += bytes.len() as u64;
        if self.read > limit {
            return Err(format!(
                "the members so far decompress to more than {limit} bytes, from an archive of {} bytes; expected at most {MAX_RATIO} times as many",
                self.size
            ));
        }
        match bytes.len() as u64 > longest {
            true => Err(format!("longer than {} MiB", MAX_MEMBER >> 20)),
            false => Ok(bytes),
        }
    }
}

/// Explains why a member cannot be read.
fn damage(error: &io::Error) -> String {
    format!("cannot be read: {error}; copy the file again")
}

/// Returns the error for an unreadable directory.
pub(super) fn damaged(input: Input<'_>, error: &Error) -> FormatError {
    input.whole(format_args!(
        "the archive is cut off or damaged: {error}; copy the file again"
    ))
}
