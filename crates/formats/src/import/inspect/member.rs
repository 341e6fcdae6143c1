//! The members of an archive and the samples of a JSON log, decompressed within limits.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};

use flate2::bufread::DeflateDecoder;
use rawzip::{ErrorKind, FileReader, ZipArchive, ZipArchiveEntryWayfinder};

use super::fields::Fields;
use crate::import::error::{ImportError, Input};

/// The limits of the bytes of all members together: this number, or the archive's bytes times this ratio. Members that overlap and
/// members that consist of one repeated byte exceed them.
const MAX_BYTES: u64 = 256 << 20;
const MAX_RATIO: u64 = 200;

/// A member of an archive, or a sample of a JSON log.
#[derive(Clone, Copy, Debug)]
pub(super) enum Member {
    Entry(Entry),
    Range { offset: u64, length: u64 },
}

/// A member of an archive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) place: ZipArchiveEntryWayfinder,
    pub(super) compression: Compression,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Compression {
    Stored,
    Deflate,
    Zstandard,
    Encrypted,
    Unsupported(u16),
}

/// The file of a log.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    Archive(&'a ZipArchive<FileReader>),
    Json(&'a File),
}

/// The members of a log.
pub(super) struct Members<'a> {
    input: Input<'a>,
    source: Source<'a>,
    /// The number of bytes of the file.
    size: u64,
    /// The number of bytes that were decompressed.
    read: u64,
    block: Vec<u8>,
}

impl<'a> Members<'a> {
    pub(super) fn new(input: Input<'a>, source: Source<'a>, size: u64) -> Self {
        Self {
            input,
            source,
            size,
            read: 0,
            block: vec![0; 1 << 16],
        }
    }

    /// Allows that all members are read once more.
    pub(super) fn rewind(&mut self) {
        self.read = 0;
    }

    pub(super) fn input(&self) -> Input<'a> {
        self.input
    }

    /// Returns an object with these fields of a member. `place` names it.
    pub(super) fn fields(
        &mut self,
        member: Member,
        keep: &[&str],
        place: &str,
    ) -> Result<Vec<u8>, ImportError> {
        let mut fields = Fields::new(keep);
        self.each_block(member, place, &mut |bytes| fields.feed(bytes))?;
        fields
            .finish()
            .map_err(|reason| self.input.invalid(place, reason))
    }

    /// Calls a function with the content of a member, block by block.
    fn each_block(
        &mut self,
        member: Member,
        place: &str,
        each: &mut dyn FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<(), ImportError> {
        let Self {
            input,
            source,
            size,
            read,
            block,
        } = self;
        let mut content = content(*source, member).map_err(|reason| match reason {
            Unreadable::File(error) => input.unreadable(error),
            Unreadable::Member(reason) => input.invalid(place, reason),
        })?;
        let limit = MAX_BYTES.max(size.saturating_mul(MAX_RATIO));
        loop {
            let length = match content.read(block) {
                Ok(0) => return Ok(()),
                Ok(length) => length,
                Err(error) => return Err(input.invalid(place, damage(&error))),
            };
            *read += length as u64;
            if *read > limit {
                return Err(input.invalid(
                    place,
                    format_args!(
                        "the members so far have more than {limit} bytes in an archive of {size} bytes; expected at most {MAX_RATIO} times as many"
                    ),
                ));
            }
            each(&block[..length]).map_err(|reason| input.invalid(place, reason))?;
        }
    }
}

/// Why a member cannot be read.
enum Unreadable {
    File(io::Error),
    Member(String),
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

/// Returns the content of a member. At its end, its length and checksum are compared with the directory.
fn content(source: Source<'_>, member: Member) -> Result<Box<dyn Read + '_>, Unreadable> {
    let invalid = |reason: String| Err(Unreadable::Member(reason));
    let (archive, Entry { place, compression }) = match (source, member) {
        (Source::Archive(archive), Member::Entry(entry)) => (archive, entry),
        (Source::Json(file), Member::Range { offset, length }) => {
            let mut file = file.try_clone()?;
            file.seek(SeekFrom::Start(offset))?;
            return Ok(Box::new(BufReader::with_capacity(
                1 << 16,
                file.take(length),
            )));
        }
        _ => return invalid("not a member of this file".to_owned()),
    };
    match compression {
        Compression::Encrypted => {
            return invalid("encrypted; write the log without a password".to_owned());
        }
        Compression::Unsupported(method) => {
            return invalid(format!(
                "compressed with method {method}; expected stored (0), deflate (8) or Zstandard (93)"
            ));
        }
        Compression::Stored | Compression::Deflate | Compression::Zstandard => {}
    }
    let no_member =
        |_| Unreadable::Member("no member at its offset; copy the file again".to_owned());
    let entry = archive.get_entry(place).map_err(no_member)?;
    let raw = BufReader::with_capacity(1 << 16, entry.reader());
    Ok(match compression {
        Compression::Deflate => Box::new(entry.verifying_reader(DeflateDecoder::new(raw))),
        Compression::Zstandard => {
            let decoder = zstd::stream::read::Decoder::with_buffer(raw)?;
            Box::new(entry.verifying_reader(decoder))
        }
        _ => Box::new(entry.verifying_reader(raw)),
    })
}

/// Describes an error while the content of a member is read.
fn damage(error: &io::Error) -> String {
    let of_archive = error
        .get_ref()
        .and_then(|error| error.downcast_ref::<rawzip::Error>());
    match of_archive.map(rawzip::Error::kind) {
        Some(ErrorKind::InvalidSize { expected, actual }) if actual > expected => {
            format!("longer than the {expected} bytes that the directory names")
        }
        Some(ErrorKind::InvalidSize { expected, actual }) => {
            format!("{actual} bytes, but the directory names {expected}; copy the file again")
        }
        Some(ErrorKind::InvalidChecksum { .. }) => {
            "damaged: its checksum differs; copy the file again".to_owned()
        }
        _ => format!("cannot be decompressed: {error}; copy the file again"),
    }
}
