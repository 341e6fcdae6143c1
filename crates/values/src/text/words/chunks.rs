//! Bytes in chunks of 16, and their classes as masks: bit 0 is the first byte.

use wide::i8x16;

use super::ascii::eight;

/// 16 bytes. Bytes outside of ASCII are in no class.
#[derive(Clone, Copy)]
pub(super) struct Chunk(i8x16);

impl Chunk {
    /// A chunk of these bytes, the first in the lowest bits.
    #[inline]
    pub(super) fn new(bytes: u128) -> Self {
        Self(i8x16::new(bytes.to_le_bytes().map(u8::cast_signed)))
    }

    /// Letters and digits.
    #[inline]
    pub(super) fn words(self) -> u64 {
        mask(in_range(self.lower(), b'a', b'z') | in_range(self.0, b'0', b'9'))
    }

    /// Sets the bit of lower case in each byte.
    #[inline]
    fn lower(self) -> i8x16 {
        self.0 | i8x16::splat(0x20)
    }

    /// Letters, digits and punctuation.
    #[inline]
    pub(super) fn visible(self) -> u64 {
        mask(in_range(self.0, b'!', b'~'))
    }

    /// White space.
    #[inline]
    pub(super) fn spaces(self) -> u64 {
        mask(in_range(self.0, b'\t', b'\r') | in_range(self.0, 0x1c, b' '))
    }
}

/// Compares signed numbers, which is a single instruction, after the addition has made `last` the largest.
#[inline]
fn in_range(bytes: i8x16, first: u8, last: u8) -> i8x16 {
    let largest = i8::MAX.cast_unsigned();
    let shifted = bytes + i8x16::splat((largest - last).cast_signed());
    shifted.simd_gt(i8x16::splat((largest - (last - first) - 1).cast_signed()))
}

#[inline]
fn mask(bytes: i8x16) -> u64 {
    u64::from(bytes.to_bitmask())
}

/// A string that is read in chunks, with zeros after the end.
#[derive(Clone, Copy)]
pub(super) struct Chunks<'a> {
    text: &'a [u8],
    /// The last 16 bytes, or all, and where they start.
    last: u128,
    last_start: usize,
}

impl<'a> Chunks<'a> {
    #[inline]
    pub(super) fn new(text: &'a [u8]) -> Self {
        let last = match text.last_chunk() {
            Some(last) => u128::from_le_bytes(*last),
            None => u128::from(eight(text, 0)) | u128::from(eight(text, 8)) << 64,
        };
        Self {
            text,
            last,
            last_start: text.len().saturating_sub(16),
        }
    }

    /// Returns the 16 bytes from `at`, the first in the lowest bits. They have no meaning at the end of the string.
    #[inline]
    pub(super) fn at(&self, at: usize) -> u128 {
        match self.text.get(at..).and_then(<[u8]>::first_chunk) {
            Some(bytes) => u128::from_le_bytes(*bytes),
            None => self.last.wrapping_shr(8 * (at - self.last_start) as u32),
        }
    }
}
