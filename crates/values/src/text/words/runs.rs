//! Runs of ASCII letters and digits, found in blocks of 64 bytes.

use std::ops::Range;

use super::ascii::{eight, words};

/// Calls `visit` with the position of each run of ASCII letters and digits.
#[inline]
pub(in crate::text) fn for_each_run(text: &[u8], mut visit: impl FnMut(Range<usize>)) {
    let (mut start, mut is_in_run) = (0, false);
    // A block without letters follows the last byte, so that each run ends in a block.
    for block in (0..=text.len()).step_by(64) {
        let bits = block_bits(&text[block..text.len().min(block + 64)]);
        // The bytes at which a run starts or ends.
        let mut edges = bits ^ (bits << 1 | u64::from(is_in_run));
        while edges != 0 {
            let at = block + edges.trailing_zeros() as usize;
            edges &= edges - 1;
            if is_in_run {
                visit(start..at);
            }
            (start, is_in_run) = (at, !is_in_run);
        }
    }
}

/// Returns for each of up to 64 bytes whether it is a letter or digit.
#[inline]
fn block_bits(bytes: &[u8]) -> u64 {
    // The multiplication collects the highest bits of eight bytes in the highest byte.
    let bits = |bytes| (words(bytes) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    let (chunks, rest) = bytes.as_chunks::<8>();
    let mut all = 0;
    for (at, chunk) in chunks.iter().enumerate() {
        all |= bits(u64::from_le_bytes(*chunk)) << (8 * at);
    }
    if rest.is_empty() {
        all
    } else {
        all | bits(eight(rest, 0)) << (8 * chunks.len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::for_each_run;

    proptest! {
        #[test]
        fn runs_are_those_of_the_bytes(
            text in prop_oneof!["[ -~]{0,200}", "(a{0,80}[ é-]{0,3}){0,4}", "[a ]{60,70}", "\\PC{0,80}"],
        ) {
            let mut expected = Vec::new();
            let mut at = 0;
            let is_word = |byte: &u8| byte.is_ascii_alphanumeric();
            for run in text.as_bytes().chunk_by(|left, right| is_word(left) == is_word(right)) {
                if is_word(&run[0]) {
                    expected.push(at..at + run.len());
                }
                at += run.len();
            }
            let mut found = Vec::new();
            for_each_run(text.as_bytes(), |run| found.push(run));
            prop_assert_eq!(found, expected);
        }
    }
}
