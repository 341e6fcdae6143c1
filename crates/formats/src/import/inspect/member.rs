//! Reads the members of an archive and the samples of a JSON log, and limits their decompressed size.

use std::collections::BTreeMap;
use std::io;
use std::io::{BufReader, Read};

use flate2::bufread::DeflateDecoder;
use indexmap::IndexMap;
use rawzip::{CompressionMethod, ErrorKind, FileReader, ZipArchive, ZipArchiveEntryWayfinder};
use serde_json::value::RawValue;

use crate::error::{FormatError, Input};
use crate::import::text::{Unique, as_text, with_finite_numbers};

/// All members together may decompress to this many bytes, or to this many times the archive's size. Overlapping members and members
/// of one repeated byte exceed both.
const MAX_BYTES: u64 = 256 << 20;
const MAX_RATIO: u64 = 200;

/// The maximum size of a member, of a JSON log, and of the fields kept from all members, in bytes.
pub(super) const MAX_MEMBER: u64 = 2 << 30;

/// A member of an archive, or a sample of a JSON log.
#[derive(Clone, Copy)]
pub(super) enum Member<'a> {
    Entry(Entry<'a>),
    Text(&'a str),
}

/// A member of an archive.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) archive: &'a ZipArchive<FileReader>,
    pub(super) place: ZipArchiveEntryWayfinder,
    pub(super) compression: CompressionMethod,
    pub(super) is_encrypted: bool,
}

/// The samples of a log, by id and epoch. If a sample was evaluated again, the last evaluation counts, as in inspect_ai.
pub(super) type Samples<'a> = IndexMap<String, BTreeMap<u32, Member<'a>>>;

/// Reads the members of a log.
pub(super) struct Members<'a> {
    pub(super) input: Input<'a>,
    /// The number of bytes of the file.
    pub(super) size: u64,
    /// The number of bytes that were decompressed.
    pub(super) read: u64,
    /// The number of bytes that stay in memory.
    pub(super) kept: usize,
}

impl Members<'_> {
    /// Returns an object with these fields of a member, which messages call `place`.
    pub(super) fn fields(
        &mut self,
        member: Member<'_>,
        keep: &[&str],
        place: &str,
    ) -> Result<String, FormatError> {
        let input = self.input;
        let invalid = |reason: String| input.invalid(place, reason);
        let of_text = |text: &str| kept(&fields(text)?, keep);
        let kept = match member {
            Member::Text(text) => of_text(text),
            Member::Entry(entry) => self.content(entry).and_then(|bytes| {
                let text = as_text(&bytes)?;
                of_text(&with_finite_numbers(text))
            }),
        };
        let kept = kept.map_err(invalid)?;
        self.kept += kept.len();
        match self.kept as u64 > MAX_MEMBER {
            true => Err(invalid(format!(
                "the members so far have more than {} MiB without their events",
                MAX_MEMBER >> 20
            ))),
            false => Ok(kept),
        }
    }

    /// Returns the content of a member, after comparing its length and checksum with the directory.
    fn content(&mut self, entry: Entry<'_>) -> Result<Vec<u8>, String> {
        let opened = entry
            .archive
            .get_entry(entry.place)
            .map_err(|_| "no member at its offset; copy the file again")?;
        if entry.is_encrypted {
            return Err("encrypted; write the log without a password".to_owned());
        }
        let raw = BufReader::with_capacity(1 << 16, opened.reader());
        let content: Box<dyn Read> = match entry.compression {
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
        content
            .take(longest + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| damage(&error))?;
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

/// Says why a member cannot be read.
fn damage(error: &io::Error) -> String {
    let of_archive = error
        .get_ref()
        .and_then(|error| error.downcast_ref::<rawzip::Error>());
    match of_archive.map(rawzip::Error::kind) {
        Some(ErrorKind::InvalidSize { expected, actual }) if actual > expected => {
            format!("longer than the {expected} bytes that the directory says")
        }
        Some(ErrorKind::InvalidSize { expected, actual }) => {
            format!("{actual} bytes, but the directory says {expected}; copy the file again")
        }
        Some(ErrorKind::InvalidChecksum { .. }) => {
            "damaged: its checksum differs; copy the file again".to_owned()
        }
        _ => format!("cannot be decompressed: {error}; copy the file again"),
    }
}

/// The maximum size of the fields kept from one member, in bytes.
const MAX_KEPT: usize = 64 << 20;

/// The fields of an object, not yet parsed.
pub(super) type Fields<'t> = Unique<&'t RawValue>;

/// Splits the text of an object into its fields.
pub(super) fn fields(text: &str) -> Result<Fields<'_>, String> {
    match text.trim_ascii_start() {
        "" => return Err("empty".to_owned()),
        object if !object.starts_with('{') => return Err("expected an object".to_owned()),
        _ => {}
    }
    serde_json::from_str(text).map_err(|error| match error.is_eof() {
        true => format!("the object does not end; {} bytes were read", text.len()),
        false if error.to_string().starts_with("trailing characters") => {
            "expected one object, found more after it".to_owned()
        }
        false => error.to_string(),
    })
}

/// Returns the text of an object with only these fields.
pub(super) fn kept(fields: &Fields<'_>, keep: &[&str]) -> Result<String, String> {
    let kept: Vec<String> = keep
        .iter()
        .filter_map(|name| Some(format!("\"{name}\":{}", fields.0.get(*name)?.get())))
        .collect();
    let kept = format!("{{{}}}", kept.join(","));
    match kept.len() {
        length if length > MAX_KEPT => {
            Err(format!("longer than {MAX_KEPT} bytes without its events"))
        }
        _ => Ok(kept),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, keep: &[&str]) -> Result<String, String> {
        kept(&fields(text)?, keep)
    }

    #[test]
    fn only_the_named_fields_of_the_object_are_kept() {
        let text = r#" {"id": 7, "events": [{"id": [1, {}]}], "score\u0073": {"a": "}"}, "x": "\"id\": 8"} "#;
        assert_eq!(
            of(text, &["id", "scores"]).unwrap(),
            r#"{"id":7,"scores":{"a": "}"}}"#
        );
        assert_eq!(of("{}", &["id"]).unwrap(), "{}");
        let deep = format!(
            "{{\"id\":1,\"e\":{}1{}}}",
            "[".repeat(200_000),
            "]".repeat(200_000)
        );
        assert_eq!(of(&deep, &["id"]).unwrap(), r#"{"id":1}"#);
    }

    #[test]
    fn what_is_not_one_object_is_an_error() {
        for (text, expected) in [
            ("", "empty"),
            ("[1]", "expected an object"),
            (r#"{"a": 1"#, "the object does not end; 7 bytes were read"),
            ("{} {}", "expected one object, found more after it"),
        ] {
            assert_eq!(of(text, &["a"]).unwrap_err(), expected, "{text}");
        }
    }
}
