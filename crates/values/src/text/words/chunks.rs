//! Bytes in chunks of 16 and blocks of 64, and their classes as masks: bit 0 is the first byte.

use wide::u8x16;

use super::ascii::eight;

/// 16 bytes. Bytes outside of ASCII are in no class.
#[derive(Clone, Copy)]
pub(in crate::text) struct Chunk(u8x16);

impl Chunk {
    /// A chunk of these bytes, the first in the lowest bits.
    #[inline]
    pub(in crate::text) fn new(bytes: u128) -> Self {
        Self(u8x16::new(bytes.to_le_bytes()))
    }

    /// Letters and digits.
    #[inline]
    pub(in crate::text) fn words(self) -> u64 {
        mask(self.is_word())
    }

    #[inline]
    fn is_word(self) -> u8x16 {
        in_range(self.0 | u8x16::splat(0x20), b'a', b'z') | in_range(self.0, b'0', b'9')
    }

    /// Letters, digits and punctuation.
    #[inline]
    pub(in crate::text) fn visible(self) -> u64 {
        mask(in_range(self.0, b'!', b'~'))
    }

    /// White space.
    #[inline]
    fn is_space(self) -> u8x16 {
        in_range(self.0, b'\t', b'\r') | in_range(self.0, 0x1c, b' ')
    }
}

#[inline]
fn in_range(bytes: u8x16, first: u8, last: u8) -> u8x16 {
    let from_first = bytes - u8x16::splat(first);
    from_first.min(u8x16::splat(last - first)).simd_eq(from_first)
}

#[inline]
fn mask(bytes: u8x16) -> u64 {
    bytes.to_bitmask().into()
}

/// A string that is read in chunks, with zeros after the end.
#[derive(Clone, Copy)]
pub(in crate::text) struct Chunks<'a> {
    text: &'a [u8],
    /// The last 16 bytes, or all, and where they start.
    last: u128,
    last_start: usize,
}

impl<'a> Chunks<'a> {
    #[inline]
    pub(in crate::text) fn new(text: &'a [u8]) -> Self {
        let last = match text.last_chunk() {
            Some(last) => u128::from_le_bytes(*last),
            None => u128::from(eight(text, 0)) | u128::from(eight(text, 8)) << 64,
        };
        Self { text, last, last_start: text.len().saturating_sub(16) }
    }

    /// Returns the 16 bytes from `at`, the first in the lowest bits. They have no meaning at the end of the string.
    #[inline]
    pub(in crate::text) fn at(&self, at: usize) -> u128 {
        match self.text.get(at..).and_then(<[u8]>::first_chunk) {
            Some(bytes) => u128::from_le_bytes(*bytes),
            None => self.last.wrapping_shr(8 * (at - self.last_start) as u32),
        }
    }

    /// Calls `visit` with each part between ASCII white space: where it starts, its length, and whether it has a byte that
    /// is neither a letter nor a digit. A part may be empty.
    // Inlined, so that the arguments stay in registers.
    #[inline(always)]
    pub(in crate::text) fn for_each_word(self, mut visit: impl FnMut(usize, usize, bool)) {
        let (mut start, mut is_other) = (0, false);
        for block_start in (0..=self.text.len()).step_by(BLOCK) {
            let Block { mut spaces, mut others } = self.block(block_start);
            while spaces != 0 {
                // The space and the bytes before it.
                let word = spaces ^ (spaces - 1);
                let end = block_start + spaces.trailing_zeros() as usize;
                is_other |= others & word != 0;
                visit(start, end - start, is_other);
                spaces &= !word;
                others &= !word;
                (start, is_other) = (end + 1, false);
            }
            is_other |= others != 0;
        }
    }

    /// Returns the block that starts at `start`. The end of the string counts as a space.
    #[inline]
    fn block(&self, start: usize) -> Block {
        let mut block = Block::default();
        let left = self.text.len() - start;
        if left >= BLOCK {
            for at in [0, 16, 32, 48] {
                block.add(self.at(start + at), at);
            }
            return block;
        }
        let mut at = 0;
        while at < left {
            block.add(self.at(start + at), at);
            at += 16;
        }
        block.spaces |= 1 << left;
        block
    }
}

/// The bytes of a [`Block`].
const BLOCK: usize = 64;

/// The classes of 64 bytes.
#[derive(Clone, Copy, Default)]
struct Block {
    /// White space.
    spaces: u64,
    /// Neither white space nor letters and digits. So are the bytes after the end of the string.
    others: u64,
}

impl Block {
    #[inline]
    fn add(&mut self, bytes: u128, at: usize) {
        let chunk = Chunk::new(bytes);
        let spaces = chunk.is_space();
        self.spaces |= mask(spaces) << at;
        self.others |= (0xffff ^ mask(spaces | chunk.is_word())) << at;
    }
}
