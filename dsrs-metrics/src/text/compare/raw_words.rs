//! The words of a string before normalization: the parts between ASCII white space.
//!
//! Normalization treats each of them independently of the others.

use super::chunk::{BLOCK, Block, Chunks};
use super::key::Key;

/// Calls `visit` with each word in order, until it returns `None`. A word may be empty.
// Inlined, so that the words stay in registers.
#[inline(always)]
pub(super) fn for_each_word(text: &str, mut visit: impl FnMut(Key) -> Option<()>) -> Option<()> {
    let chunks = Chunks::new(text.as_bytes());
    // Where the word starts, and whether it has a byte that is neither a letter nor a digit.
    let (mut start, mut is_other) = (0, false);
    let mut block_start = 0;
    while block_start <= text.len() {
        let Block { mut spaces, mut others } = chunks.block(block_start);
        while spaces != 0 {
            // The space and the bytes before it.
            let word = spaces ^ (spaces - 1);
            let end = block_start + spaces.trailing_zeros() as usize;
            is_other |= others & word != 0;
            visit(key(&chunks, start, end - start, is_other))?;
            spaces &= !word;
            others &= !word;
            (start, is_other) = (end + 1, false);
        }
        is_other |= others != 0;
        block_start += BLOCK;
    }
    Some(())
}

#[inline(always)]
fn key(chunks: &Chunks<'_>, start: usize, length: usize, is_other: bool) -> Key {
    if length > Key::LONGEST {
        return Key::long(start, length);
    }
    let bytes = chunks.at(start);
    if is_other { Key::of_other(bytes, length) } else { Key::letters(bytes, length) }
}
