//! Classes of ASCII bytes, eight at a time.

/// How normalization treats a byte.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::text) enum Class {
    Word,
    Punctuation,
    Space,
    Control,
    /// Part of a character that is not ASCII.
    Other,
}

pub(in crate::text) fn class(byte: u8) -> Class {
    CLASSES[usize::from(byte)]
}

static CLASSES: [Class; 256] = {
    let mut table = [Class::Other; 256];
    let mut byte = 0_u8;
    while byte.is_ascii() {
        table[byte as usize] = match byte {
            b'\t'..=b'\r' | 0x1c..=b' ' => Class::Space,
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => Class::Word,
            b'!'..=b'~' => Class::Punctuation,
            _ => Class::Control,
        };
        byte += 1;
    }
    table
};

const EACH: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x80 * EACH;

/// Returns the eight bytes from `at`, the first in the lowest bits, and zeros after the end.
#[inline]
pub(in crate::text) fn eight(bytes: &[u8], at: usize) -> u64 {
    if let Some(bytes) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        return u64::from_le_bytes(*bytes);
    }
    if let Some(last) = bytes.last_chunk() {
        return u64::from_le_bytes(*last)
            .checked_shr(8 * (8 + at - bytes.len()) as u32)
            .unwrap_or(0);
    }
    few(bytes).checked_shr(8 * at as u32).unwrap_or(0)
}

/// Returns up to seven bytes, the first in the lowest bits.
#[inline]
fn few(bytes: &[u8]) -> u64 {
    let length = bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let last = u64::from(u32::from_le_bytes(*last));
        return u64::from(u32::from_le_bytes(*first)) | last << (8 * (length - 4));
    }
    // Of up to three bytes these are all.
    let byte = |at: usize| bytes.get(at).map_or(0, |&byte| u64::from(byte) << (8 * at));
    byte(0) + byte(1) + byte(2)
}

/// Sets the high bit of each byte that is in the range. Bytes outside of ASCII are in none.
#[inline]
fn in_range(bytes: u64, first: u8, last: u8) -> u64 {
    let low = bytes & !HIGH;
    let from_first = low + EACH * u64::from(0x80 - first);
    let after_last = low + EACH * u64::from(0x7f - last);
    from_first & !after_last & !bytes & HIGH
}

/// Sets the bit of lower case, which digits have too, in each byte.
#[inline]
fn lower_words(bytes: u64) -> u64 {
    bytes | (0x20 * EACH)
}

/// Returns the bytes with letters in lower case, and the number of letters and digits at the
/// beginning.
#[inline]
pub(in crate::text) fn word_run(bytes: u64) -> (u64, usize) {
    (
        lower_words(bytes),
        (!words(bytes) & HIGH).trailing_zeros() as usize / 8,
    )
}

/// Sets the high bit of each letter and digit.
#[inline]
pub(in crate::text) fn words(bytes: u64) -> u64 {
    in_range(lower_words(bytes), b'a', b'z') | in_range(bytes, b'0', b'9')
}

fn lower(bytes: u64) -> u64 {
    bytes | in_range(bytes, b'A', b'Z') >> 2
}

/// Returns the length of the longest common prefix, ignoring the case of ASCII letters.
pub(in crate::text) fn common_prefix(left: &[u8], right: &[u8]) -> usize {
    let end = left.len().min(right.len());
    let (left, right) = (&left[..end], &right[..end]);
    let mut at = 0;
    while at < end {
        let (a, b) = (eight(left, at), eight(right, at));
        if a != b {
            let differing = lower(a) ^ lower(b);
            if differing != 0 {
                return at + differing.trailing_zeros() as usize / 8;
            }
        }
        at += 8;
    }
    end
}

/// Whether a run of word characters, followed by zeros, is an article or empty.
#[inline]
pub(in crate::text) fn is_article_or_empty(run: u64) -> bool {
    const A: u64 = u64::from_le_bytes(*b"a\0\0\0\0\0\0\0");
    const AN: u64 = u64::from_le_bytes(*b"an\0\0\0\0\0\0");
    const THE: u64 = u64::from_le_bytes(*b"the\0\0\0\0\0");
    (run == 0) | (run == A) | (run == AN) | (run == THE)
}

#[cfg(test)]
mod tests {
    use super::{Class, class, common_prefix, eight};

    #[test]
    fn each_byte_has_its_class() {
        for byte in 0..=u8::MAX {
            let expected = match byte {
                b'\t' | b'\n' | 0x0b | 0x0c | b'\r' | 0x1c..=0x1f | b' ' => Class::Space,
                _ if byte.is_ascii_alphanumeric() => Class::Word,
                _ if byte.is_ascii_punctuation() => Class::Punctuation,
                _ if byte.is_ascii() => Class::Control,
                _ => Class::Other,
            };
            assert!(class(byte) == expected, "{byte}");
        }
    }

    #[test]
    fn bytes_after_the_end_are_zeros() {
        for (text, at, bytes) in [
            ("", 0, *b"\0\0\0\0\0\0\0\0"),
            ("abc", 0, *b"abc\0\0\0\0\0"),
            ("abc", 2, *b"c\0\0\0\0\0\0\0"),
            ("abcdefg", 0, *b"abcdefg\0"),
            ("abcdefghi", 3, *b"defghi\0\0"),
            ("abcdefghi", 9, *b"\0\0\0\0\0\0\0\0"),
        ] {
            assert_eq!(
                eight(text.as_bytes(), at).to_le_bytes(),
                bytes,
                "{text} {at}"
            );
        }
    }

    #[test]
    fn the_common_prefix_ignores_the_case_of_ascii_letters_alone() {
        for (left, right, length) in [
            ("", "a", 0),
            ("a", "b", 0),
            ("ab", "AB", 2),
            ("abc", "ABd", 2),
            ("hello world", "HELLO worms", 9),
            ("hello world, again", "Hello World", 11),
            ("[", "{", 0),
            ("@", "`", 0),
            ("É", "é", 1),
        ] {
            assert_eq!(
                common_prefix(left.as_bytes(), right.as_bytes()),
                length,
                "{left} {right}"
            );
        }
    }
}
