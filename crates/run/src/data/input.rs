//! The bytes of an open file as UTF-8, with the file name and row limit that every format reader needs.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::iter;
use std::path::Path;
use std::sync::Arc;

use super::error::DataError;
use crate::contract::Origin;
use crate::json::MAX_VALUES;

/// The default size limit for one row, in bytes.
///
/// The limit is 64 MiB. You can change it with [`DataReader::with_row_limit`](super::DataReader::with_row_limit).
///
/// A longer row almost always means that a line break is missing or a quote is unclosed. Without the limit, the rest of
/// the file would be read into memory.
pub const ROW_LIMIT: usize = 64 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The number of bytes needed to detect a compressed file: a byte order mark and the longest start of a compressed
/// file.
const START: usize = BYTE_ORDER_MARK.len() + 5;

const HTML: &str = "an HTML page; it may be the error page of a download; download the file again";
const UTF_16: &str = "UTF-16; pass --encoding utf-16";

/// The first bytes of other kinds of files, what the files are, and what to do.
const OTHERS: [(&[u8], &str); 11] = [
    (b"\x1f\x8b", "gzip; decompress the file first"),
    (b"\x28\xb5\x2f\xfd", "zstd; decompress the file first"),
    (b"\xfd7zXZ", "xz; decompress the file first"),
    (
        b"version https://git-lfs",
        "a Git LFS pointer; run `git lfs pull` to get the file",
    ),
    (b"<!doctype html", HTML),
    (b"<!DOCTYPE html", HTML),
    (b"<html", HTML),
    (
        b"PAR1",
        "Parquet; rename the file to .parquet, or pass --format parquet",
    ),
    (
        b"PK\x03\x04",
        "a zip archive; save a workbook as CSV, or read an inspect log with --from inspect",
    ),
    (b"\xff\xfe", UTF_16),
    (b"\xfe\xff", UTF_16),
];

/// An open file of rows.
pub(super) struct Input {
    pub(super) file: Arc<Path>,
    pub(super) reader: Box<dyn BufRead + Send>,
    /// The maximum number of bytes in one row.
    pub(super) row_limit: usize,
}

impl Input {
    /// Opens the input at the first byte after any byte order mark.
    pub(super) fn new(
        file: Arc<Path>,
        reader: Box<dyn BufRead + Send>,
        row_limit: usize,
        encoding: Encoding,
    ) -> Result<Self, DataError> {
        let unreadable = |reason| DataError::unreadable(&file, &reason);
        let reader = with_whole_start(reader).and_then(decompressed);
        let mut reader = encoding.decoded(reader.map_err(unreadable)?);
        if reader
            .fill_buf()
            .map_err(unreadable)?
            .starts_with(BYTE_ORDER_MARK)
        {
            reader.consume(BYTE_ORDER_MARK.len());
        }
        // No row starts with the first bytes of a compressed file.
        let start = reader.fill_buf().map_err(unreadable)?;
        if let Some((_, found)) = OTHERS.iter().find(|it| start.starts_with(it.0)) {
            let message = format_args!("expected rows, found {found}");
            return Err(DataError::invalid_file(&file, message));
        }
        Ok(Self {
            file,
            reader,
            row_limit,
        })
    }

    /// Returns the maximum number of JSON values in one row.
    pub(super) fn value_limit(&self) -> usize {
        value_limit(self.row_limit)
    }

    /// Returns the location of a line, counted from 1.
    pub(super) fn at(&self, line: u64) -> Origin {
        Origin {
            file: Arc::clone(&self.file),
            line,
        }
    }

    /// Returns the next bytes, or no bytes at the end of the file.
    pub(super) fn fill(&mut self) -> Result<&[u8], DataError> {
        let bytes = self.reader.fill_buf();
        bytes.map_err(|reason| DataError::unreadable(&self.file, &reason))
    }

    pub(super) fn unreadable(&self, reason: &io::Error) -> DataError {
        DataError::unreadable(&self.file, reason)
    }
}

/// Returns the maximum number of values in one row. It grows with the byte limit.
pub(super) fn value_limit(row_limit: usize) -> usize {
    row_limit.max(ROW_LIMIT) / (ROW_LIMIT / MAX_VALUES)
}

/// Returns a reader whose buffer contains the first [`START`] bytes, or the whole input if it is shorter. A pipe may
/// return fewer bytes at first.
fn with_whole_start(mut reader: Box<dyn BufRead + Send>) -> io::Result<Box<dyn BufRead + Send>> {
    if reader.fill_buf()?.len() >= START {
        return Ok(reader);
    }
    let mut start = Vec::with_capacity(START);
    reader.by_ref().take(START as u64).read_to_end(&mut start)?;
    Ok(Box::new(io::Cursor::new(start).chain(reader)))
}

/// The characters of Windows-1252 from 0x80 to 0x9F, as the WHATWG defines them.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
];

/// The text encoding of a data file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark.
    #[default]
    Utf8,
    /// UTF-16.
    ///
    /// The byte order is little-endian unless a byte order mark says otherwise.
    Utf16,
    /// Windows-1252, the encoding that Excel uses in Western Europe.
    Windows1252,
}

impl Encoding {
    /// Returns a reader that converts this encoding to UTF-8.
    pub(super) fn decoded(self, reader: Box<dyn BufRead + Send>) -> Box<dyn BufRead + Send> {
        match self {
            Self::Utf8 => reader,
            encoding => Box::new(BufReader::new(Decoder {
                reader,
                encoding,
                last: Vec::new(),
                text: VecDeque::new(),
                is_big_endian: None,
                line: 1,
                column: 1,
            })),
        }
    }
}

/// Decompresses gzip and, with the feature `zstd`, Zstandard. The first bytes show how a file is compressed. Other
/// files are unchanged.
pub(super) fn decompressed(
    mut reader: Box<dyn BufRead + Send>,
) -> io::Result<Box<dyn BufRead + Send>> {
    let start = reader.fill_buf()?;
    #[cfg(feature = "compressed")]
    if start.starts_with(b"\x1f\x8b") {
        let inflated = flate2::bufread::MultiGzDecoder::new(reader);
        return Ok(Box::new(BufReader::new(inflated)));
    }
    #[cfg(feature = "zstd")]
    if start.starts_with(b"\x28\xb5\x2f\xfd") {
        let inflated = zstd::stream::read::Decoder::with_buffer(reader)?;
        return Ok(Box::new(BufReader::new(inflated)));
    }
    let _ = start;
    Ok(reader)
}

/// Converts a different encoding to UTF-8, one character at a time.
struct Decoder {
    reader: Box<dyn BufRead + Send>,
    encoding: Encoding,
    /// The last bytes read as Windows-1252, which may form a UTF-8 character.
    last: Vec<u8>,
    /// The decoded characters that have not been returned yet.
    text: VecDeque<u8>,
    /// `true` if the UTF-16 text is big-endian, once that is known.
    is_big_endian: Option<bool>,
    /// The position of the next character, counted from 1.
    line: u64,
    column: usize,
}

/// Why a file is not valid in its encoding, and where. The position is counted from 1.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {reason}")]
pub(super) struct EncodingError {
    pub(super) line: u64,
    pub(super) column: usize,
    pub(super) reason: String,
}

impl Read for Decoder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.text.len() < buffer.len() {
            let character = match self.encoding {
                Encoding::Utf16 => self.utf16()?,
                _ => self.windows_1252()?,
            };
            let Some(character) = character else {
                break;
            };
            if character == '\n' {
                (self.line, self.column) = (self.line + 1, 1);
            } else {
                self.column += 1;
            }
            self.text.extend(character.encode_utf8(&mut [0; 4]).bytes());
        }
        self.text.read(buffer)
    }
}

impl Decoder {
    fn byte(&mut self) -> io::Result<Option<u8>> {
        self.reader.by_ref().bytes().next().transpose()
    }

    /// Reads two bytes. Returns `None` at the end of the file.
    fn unit(&mut self) -> io::Result<Option<u16>> {
        let Some(first) = self.byte()? else {
            return Ok(None);
        };
        let Some(second) = self.byte()? else {
            return Err(self.ends_within());
        };
        let pair = [first, second];
        let is_big_endian = self.is_big_endian.get_or_insert(pair == [0xFE, 0xFF]);
        Ok(Some(match is_big_endian {
            true => u16::from_be_bytes(pair),
            false => u16::from_le_bytes(pair),
        }))
    }

    fn ends_within(&self) -> io::Error {
        let reason = "the UTF-16 text ends within a character; copy the file again";
        self.invalid(0, reason.to_owned())
    }

    fn utf16(&mut self) -> io::Result<Option<char>> {
        let Some(first) = self.unit()? else {
            return Ok(None);
        };
        let second = match first {
            0xD800..=0xDBFF => Some(self.unit()?.ok_or_else(|| self.ends_within())?),
            _ => None,
        };
        let character = char::decode_utf16(iter::once(first).chain(second)).next();
        character.transpose().map_err(|_| {
            let reason = "expected UTF-16, found half a character; pass the file's --encoding, or copy the file again";
            self.invalid(0, reason.to_owned())
        })
    }

    fn windows_1252(&mut self) -> io::Result<Option<char>> {
        let Some(byte) = self.byte()? else {
            return Ok(None);
        };
        self.last.push(byte);
        if let Some(found) = utf8_character(&self.last) {
            let reason = format!(
                "expected Windows-1252, found `{found}` in UTF-8; the file has several encodings, so convert it to UTF-8"
            );
            return Err(self.invalid(found.len_utf8() - 1, reason));
        }
        self.last.drain(..self.last.len().saturating_sub(2));
        Ok(Some(match byte {
            0x80..=0x9F => WINDOWS_1252[usize::from(byte - 0x80)],
            byte => char::from(byte),
        }))
    }

    /// Creates the error for the next character. `belonging` is the number of preceding characters that belong to it.
    fn invalid(&self, belonging: usize, reason: String) -> io::Error {
        let error = EncodingError {
            line: self.line,
            column: self.column.saturating_sub(belonging).max(1),
            reason,
        };
        io::Error::new(io::ErrorKind::InvalidData, error)
    }
}

/// Returns the multi-byte UTF-8 character that ends here, if there is one. Windows-1252 text hardly ever contains one.
fn utf8_character(last: &[u8]) -> Option<char> {
    let ends_with = |length: usize| {
        let character = last.get(last.len().checked_sub(length)?..)?;
        str::from_utf8(character)
            .ok()?
            .chars()
            .next()
            .filter(|found| found.len_utf8() == length)
    };
    ends_with(2).or_else(|| ends_with(3))
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read as _};

    use super::Encoding;

    fn read(encoding: Encoding, bytes: &[u8]) -> Result<String, String> {
        let mut text = String::new();
        let mut reader = encoding.decoded(Box::new(Cursor::new(bytes.to_vec())));
        let read = reader.read_to_string(&mut text);
        read.map(|_| text).map_err(|error| error.to_string())
    }

    #[test]
    fn utf_16_is_read_in_both_orders() {
        let text = "id;Zürich\n1;€ 𝄞\n".repeat(4000);
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(read(Encoding::Utf16, &little), Ok(text.clone()));
        let big = format!("\u{FEFF}{text}");
        let big: Vec<u8> = big.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(read(Encoding::Utf16, &big), Ok(format!("\u{FEFF}{text}")));
        assert_eq!(
            read(Encoding::Utf16, &little[..little.len() - 1]),
            Err(
                "line 8000: the UTF-16 text ends within a character; copy the file again"
                    .to_owned()
            )
        );
    }

    #[test]
    fn windows_1252_is_read_and_utf_8_in_it_is_found() {
        let bytes = b"Z\xFCrich\n3,50 \x80\n\x93Stra\xDFe\x94";
        assert_eq!(
            read(Encoding::Windows1252, bytes),
            Ok("Zürich\n3,50 €\n“Straße”".to_owned())
        );
        let several = [bytes, "\nMüller".as_bytes()].concat();
        assert_eq!(
            read(Encoding::Windows1252, &several),
            Err("line 4: expected Windows-1252, found `ü` in UTF-8; the file has several encodings, so convert it to UTF-8".to_owned())
        );
    }
}
