//! The members of an archive and the samples of a JSON log, decompressed within limits.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};

use flate2::read::DeflateDecoder;

use super::bytes::u16_at;
use super::fields::Fields;
use crate::import::error::{ImportError, Input};

/// The first bytes of a member before its name.
const LOCAL: u64 = 30;
const LOCAL_MAGIC: &[u8] = b"PK\x03\x04";

/// The limits of the bytes of all members together: this number, or the archive's bytes times this ratio. Members that overlap and
/// members that consist of one repeated byte exceed them.
const MAX_BYTES: u64 = 256 << 20;
const MAX_RATIO: u64 = 200;

/// A member of an archive, or a sample of a JSON log.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) offset: u64,
    pub(super) compressed: u64,
    pub(super) length: u64,
    pub(super) crc: u32,
    pub(super) compression: Compression,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Compression {
    /// A range of a JSON log, which has no head.
    Range,
    Stored,
    Deflate,
    Zstandard,
    Encrypted,
    Unsupported(u16),
}

/// The file of a log.
pub(super) struct Members<'a> {
    pub(super) input: Input<'a>,
    pub(super) file: File,
    pub(super) size: u64,
    /// The number of bytes that were decompressed.
    read: u64,
    block: Vec<u8>,
}

impl<'a> Members<'a> {
    pub(super) fn new(input: Input<'a>, file: File) -> Result<Self, ImportError> {
        let size = file.metadata().map_err(|error| input.unreadable(error))?.len();
        Ok(Self { input, file, size, read: 0, block: vec![0; 1 << 16] })
    }

    /// Reads bytes at an offset; their number is small.
    pub(super) fn read_at(&mut self, offset: u64, length: u64) -> Result<Vec<u8>, ImportError> {
        let mut bytes = Vec::new();
        let read = self.file.seek(SeekFrom::Start(offset));
        let read = read.and_then(|_| (&self.file).take(length).read_to_end(&mut bytes));
        match read {
            Ok(read) if read as u64 == length => Ok(bytes),
            Ok(_) => Err(self.input.whole("the file became shorter while it was read")),
            Err(error) => Err(self.input.unreadable(error)),
        }
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
        fields.finish().map_err(|reason| self.input.invalid(place, reason))
    }

    /// Calls a function with the content of a member, block by block.
    pub(super) fn each_block(
        &mut self,
        member: Member,
        place: &str,
        each: &mut dyn FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<(), ImportError> {
        let Member { compression, length, compressed, .. } = member;
        let invalid = |reason: &str| self.input.invalid(place, reason);
        let start = match compression {
            Compression::Range => member.offset,
            Compression::Encrypted => {
                return Err(invalid("encrypted; write the log without a password"));
            }
            Compression::Unsupported(method) => {
                return Err(invalid(&format!(
                    "compressed with method {method}; expected stored (0), deflate (8) or Zstandard (93)"
                )));
            }
            _ => {
                let head = self.read_at(member.offset, LOCAL)?;
                if !head.starts_with(LOCAL_MAGIC) {
                    return Err(self
                        .input
                        .invalid(place, "no member at its offset; copy the file again"));
                }
                let names = u64::from(u16_at(&head, 26)) + u64::from(u16_at(&head, 28));
                member.offset + LOCAL + names
            }
        };
        let raw = self.file.try_clone().and_then(|mut file| {
            file.seek(SeekFrom::Start(start))?;
            Ok(BufReader::with_capacity(1 << 16, file.take(compressed)))
        });
        let raw = raw.map_err(|error| self.input.unreadable(error))?;
        let damaged = |error: io::Error| {
            self.input.invalid(
                place,
                format_args!("cannot be decompressed: {error}; copy the file again"),
            )
        };
        let mut content: Box<dyn Read> = match compression {
            Compression::Deflate => Box::new(DeflateDecoder::new(raw)),
            Compression::Zstandard => {
                Box::new(zstd::stream::read::Decoder::with_buffer(raw).map_err(damaged)?)
            }
            _ => Box::new(raw),
        };
        let (mut read, mut crc) = (0_u64, crc32fast::Hasher::new());
        let limit = MAX_BYTES.max(self.size.saturating_mul(MAX_RATIO));
        loop {
            let block = match content.read(&mut self.block).map_err(damaged)? {
                0 => break,
                block => block,
            };
            read += block as u64;
            self.read += block as u64;
            if read > length {
                let reason =
                    format_args!("longer than the {length} bytes that the directory names");
                return Err(self.input.invalid(place, reason));
            }
            if self.read > limit {
                return Err(self.input.invalid(
                    place,
                    format_args!(
                        "the members so far have more than {limit} bytes in an archive of {} bytes; expected at most {MAX_RATIO} times as many",
                        self.size
                    ),
                ));
            }
            crc.update(&self.block[..block]);
            each(&self.block[..block]).map_err(|reason| self.input.invalid(place, reason))?;
        }
        if read < length {
            let reason =
                format_args!("{read} bytes, but the directory names {length}; copy the file again");
            return Err(self.input.invalid(place, reason));
        }
        if compression != Compression::Range && crc.finalize() != member.crc {
            return Err(self
                .input
                .invalid(place, "damaged: its checksum differs; copy the file again"));
        }
        Ok(())
    }
}
