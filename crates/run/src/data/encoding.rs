//! Encodings and compression of files: the readers of formats get UTF-8.

use std::io::{self, BufRead, BufReader, Read};
use std::mem;

/// How many bytes are decoded at once.
const CHUNK: u64 = 1 << 15;

/// The characters of Windows-1252 from 0x80 to 0x9F, as the WHATWG defines them.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
];

/// The text encoding of a row file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark.
    #[default]
    Utf8,
    /// UTF-16, little-endian unless a byte order mark says otherwise.
    Utf16,
    /// Windows-1252, the encoding that Excel uses in Western Europe.
    Windows1252,
}

impl Encoding {
    /// Returns a reader of UTF-8.
    pub(super) fn decoded(self, reader: Box<dyn BufRead + Send>) -> Box<dyn BufRead + Send> {
        match self {
            Self::Utf8 => reader,
            encoding => Box::new(BufReader::new(Decoder {
                reader,
                encoding,
                bytes: Vec::new(),
                text: io::Cursor::default(),
                is_big_endian: None,
                line: 1,
                column: 1,
            })),
        }
    }
}

/// Decompresses gzip and, with the feature `zstd`, Zstandard, which their first bytes show. Other files are unchanged.
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

/// Reads another encoding as UTF-8.
struct Decoder {
    reader: Box<dyn BufRead + Send>,
    encoding: Encoding,
    /// The bytes that are not decoded yet, or for Windows-1252 the last two that are.
    bytes: Vec<u8>,
    text: io::Cursor<Vec<u8>>,
    /// The order of the bytes, once it is known.
    is_big_endian: Option<bool>,
    /// The line and character after the text that is decoded, counted from 1.
    line: u64,
    column: usize,
}

/// Why a file is not in its encoding, and where, counted from 1.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {reason}")]
pub(super) struct EncodingError {
    pub(super) line: u64,
    pub(super) column: usize,
    pub(super) reason: String,
}

impl Read for Decoder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.text.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let mut chunk = Vec::new();
            self.reader.by_ref().take(CHUNK).read_to_end(&mut chunk)?;
            if chunk.is_empty() && (self.bytes.is_empty() || self.encoding != Encoding::Utf16) {
                return Ok(0);
            }
            let text = match self.encoding {
                Encoding::Utf16 => self.utf16(&chunk)?,
                _ => self.windows_1252(&chunk)?,
            };
            self.advance(&text);
            self.text = io::Cursor::new(text.into_bytes());
        }
    }
}

impl Decoder {
    fn utf16(&mut self, chunk: &[u8]) -> io::Result<String> {
        let is_end = chunk.is_empty();
        let mut bytes = mem::take(&mut self.bytes);
        bytes.extend_from_slice(chunk);
        let is_big_endian = *self
            .is_big_endian
            .get_or_insert(bytes.starts_with(&[0xFE, 0xFF]));
        let (pairs, odd) = bytes.as_chunks::<2>();
        let unit = |pair: &[u8; 2]| match is_big_endian {
            true => u16::from_be_bytes(*pair),
            false => u16::from_le_bytes(*pair),
        };
        // A character of two units may be cut.
        let cut = pairs
            .last()
            .map(unit)
            .is_some_and(|last| last & 0xFC00 == 0xD800);
        let (pairs, rest) = pairs.split_at(pairs.len() - usize::from(cut && !is_end));
        self.bytes = [rest.as_flattened(), odd].concat();
        if is_end && !self.bytes.is_empty() {
            self.bytes.clear();
            let reason = "the UTF-16 text ends within a character; copy the file again";
            return Err(self.invalid("", 0, reason.to_owned()));
        }
        let mut text = String::with_capacity(pairs.len());
        for found in char::decode_utf16(pairs.iter().map(unit)) {
            let reason = "expected UTF-16, found half a character; pass the file's --encoding, or copy the file again";
            let invalid = |_| self.invalid(&text, 0, reason.to_owned());
            text.push(found.map_err(invalid)?);
        }
        Ok(text)
    }

    fn windows_1252(&mut self, chunk: &[u8]) -> io::Result<String> {
        let mut text = String::with_capacity(chunk.len());
        for &byte in chunk {
            self.bytes.push(byte);
            let last = &self.bytes[self.bytes.len().saturating_sub(3)..];
            if let Some(found) = utf8_character(last) {
                let reason = format!(
                    "expected Windows-1252, found `{found}` in UTF-8; the file has several encodings, so convert it to UTF-8"
                );
                return Err(self.invalid(&text, found.len_utf8() - 1, reason));
            }
            let keep = last.len().min(2);
            self.bytes.drain(..self.bytes.len() - keep);
            text.push(match byte {
                0x80..=0x9F => WINDOWS_1252[usize::from(byte - 0x80)],
                byte => char::from(byte),
            });
        }
        Ok(text)
    }

    /// Moves the place behind this text.
    fn advance(&mut self, text: &str) {
        if let Some((before, last)) = text.rsplit_once('\n') {
            self.line += 1 + before.matches('\n').count() as u64;
            self.column = 1 + last.chars().count();
        } else {
            self.column += text.chars().count();
        }
    }

    /// Returns the error for a character after this text, whose last characters belong to it.
    fn invalid(&mut self, text: &str, belonging: usize, reason: String) -> io::Error {
        self.advance(text);
        let error = EncodingError {
            line: self.line,
            column: self.column.saturating_sub(belonging).max(1),
            reason,
        };
        io::Error::new(io::ErrorKind::InvalidData, error)
    }
}

/// Returns the character of several bytes of UTF-8 that ends here. Hardly any text of Windows-1252 has one.
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
