//! NFD and lower case of single characters, computed once for each block of 256 characters.

use std::array;
use std::sync::OnceLock;

use unicode_normalization::char::canonical_combining_class;

use super::classes::{is_space, is_unassigned, is_word, lower, nfd};

/// A character after NFD, lower case, and the removal of ASCII punctuation, with the properties that
/// normalization uses, in 16 bytes.
#[derive(Clone, Copy)]
pub(in crate::text) struct Lowered([u8; 16]);

/// The longest decomposition in UTF-8.
const LONGEST: usize = 12;

/// The position of each property after the string.
const LEN: usize = LONGEST;
const WORD: usize = LONGEST + 1;
const FIRST: usize = LONGEST + 2;
const LAST: usize = LONGEST + 3;

/// [`Lowered::first`] of a character that starts a combining sequence.
const STARTER: u8 = u8::MAX;

/// [`Lowered::first`] of a character that cannot be copied: white space and the capital sigma.
const SPECIAL: u8 = 0;

impl Lowered {
    #[inline]
    pub(in crate::text) fn of(c: char) -> &'static Self {
        let code = u32::from(c);
        &BLOCKS[(code >> 8) as usize].get_or_init(|| block(code >> 8))[(code & 0xff) as usize]
    }

    /// The string, followed by bytes without a meaning.
    #[inline]
    pub(in crate::text) fn padded(&self) -> &[u8; LONGEST] {
        self.0.first_chunk().unwrap_or(&[0; LONGEST])
    }

    /// Returns the number of bytes of the string.
    #[inline]
    pub(in crate::text) fn len(&self) -> usize {
        usize::from(self.0[LEN])
    }

    /// Whether a run of word characters ends in this character.
    #[inline]
    pub(in crate::text) fn ends_run(&self) -> bool {
        self.0[WORD] != u8::MAX
    }

    /// Returns the number of bytes that belong to the run before, if it ends here.
    #[inline]
    pub(in crate::text) fn word(&self) -> usize {
        usize::from(self.0[WORD])
    }

    /// Whether both characters are normalized equally, whatever is around them.
    #[inline]
    pub(in crate::text) fn is_copy_of(&self, other: &Self) -> bool {
        self.0 == other.0 && self.first() != SPECIAL
    }

    /// Returns 1 more than the combining class of the first character, [`STARTER`] or [`SPECIAL`].
    /// If that is not more than the class of the mark before, the character cannot be copied.
    #[inline]
    pub(in crate::text) fn first(&self) -> u8 {
        self.0[FIRST]
    }

    /// Returns the combining class of the last character.
    #[inline]
    pub(in crate::text) fn last(&self) -> u8 {
        self.0[LAST]
    }

    pub(in crate::text) fn is_starter(&self) -> bool {
        matches!(self.first(), STARTER | SPECIAL)
    }

    pub(in crate::text) fn is_space(&self) -> bool {
        self.first() == SPECIAL && self.len() == 0
    }

    fn new(c: char) -> Self {
        let chars = nfd(c.encode_utf8(&mut [0; 4]));
        let class = |c: Option<&char>| c.map_or(0, |&c| combining_class(c));
        let (first, last) = (class(chars.first()), class(chars.last()));
        let (mut utf8, mut word, mut spaces, mut others) = (String::new(), 0, false, false);
        lower(&chars, |c| {
            if is_space(c) {
                spaces = true;
            } else if !c.is_ascii_punctuation() {
                utf8.push(c);
                others |= !is_word(c);
                if !others {
                    word = utf8.len();
                }
            }
        });
        let mut all = [0; 16];
        all.iter_mut()
            .zip(utf8.bytes().take(LONGEST))
            .for_each(|(to, byte)| *to = byte);
        all[LEN] = utf8.len() as u8;
        all[WORD] = if others { word as u8 } else { u8::MAX };
        all[FIRST] = match first {
            _ if spaces || c == 'Σ' => SPECIAL,
            0 => STARTER,
            // Marks of the same class keep their order: 1 is then more than the class before.
            class => class + 1,
        };
        all[LAST] = last;
        Self(all)
    }
}

/// The canonical combining class, 0 for a character that is not a mark.
pub(in crate::text) fn combining_class(c: char) -> u8 {
    if is_unassigned(c) {
        0
    } else {
        canonical_combining_class(c)
    }
}

type Block = Box<[Lowered; 256]>;

static BLOCKS: [OnceLock<Block>; 0x1100] = [const { OnceLock::new() }; 0x1100];

#[cold]
fn block(high: u32) -> Block {
    let lowered =
        |low: usize| char::from_u32(high << 8 | low as u32).map_or(Lowered([0; 16]), Lowered::new);
    Box::new(array::from_fn(lowered))
}

#[cfg(test)]
mod tests {
    use super::{Lowered, combining_class};

    #[test]
    fn letters_that_differ_in_case_alone_are_copies() {
        for (left, right, is_copy) in [
            ('A', 'a', true),
            ('É', 'é', true),
            ('a', 'b', false),
            ('e', 'é', false),
            // The lower case of a sigma depends on the letters around it.
            ('Σ', 'Σ', false),
        ] {
            assert_eq!(
                Lowered::of(left).is_copy_of(Lowered::of(right)),
                is_copy,
                "{left}{right}"
            );
        }
    }

    #[test]
    fn combining_classes_are_those_of_unicode() {
        // Acute accent, cedilla, a letter, and a mark of Unicode 15, which has class 232 there.
        let marks = ['\u{301}', '\u{327}', 'a', '\u{1e4ec}'];
        assert_eq!(marks.map(combining_class), [230, 202, 0, 0]);
        assert_eq!(
            ['é', 'ç', 'a'].map(|c| Lowered::of(c).last()),
            [230, 202, 0]
        );
    }
}
