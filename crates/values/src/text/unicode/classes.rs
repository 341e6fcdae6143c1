//! Unicode properties as in the reference implementation: CPython 3.11 (Unicode 14) and the `regex`
//! package.
//!
//! Lookups in the generated tables, and NFD and lower case restricted to the code points that the
//! reference knows. Rust's own tables are newer: a code point that only they contain has no
//! decomposition, no case and no class here, as in the reference.

use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization as _;

use super::tables::{
    CASED, CASEFOLDS, DIGIT_ZEROS, DPR_SKIP, DPR_TOKEN, FORMAT, IGNORABLE, MARK, PUNCT, RUNS,
    SYMBOL, UNASSIGNED, WORD,
};

const FLAG_BITS: u32 = 11;
const BMP: u32 = 0x1_0000;

/// The runs of the Basic Multilingual Plane as a flat table, since nearly all lookups are in it.
static BMP_FLAGS: LazyLock<Vec<u16>> = LazyLock::new(|| {
    let mut flat = Vec::with_capacity(BMP as usize);
    for (at, &run) in RUNS.iter().enumerate() {
        let start = run >> FLAG_BITS;
        if start >= BMP {
            break;
        }
        let end = RUNS.get(at + 1).map_or(BMP, |next| next >> FLAG_BITS);
        flat.resize(end.min(BMP) as usize, run_flags(run));
    }
    flat
});

fn run_flags(run: u32) -> u16 {
    (run & ((1 << FLAG_BITS) - 1)) as u16
}

fn flags(c: char) -> u16 {
    let code = u32::from(c);
    if let Some(&found) = BMP_FLAGS.get(code as usize) {
        return found;
    }
    let after = RUNS.partition_point(|run| run >> FLAG_BITS <= code);
    RUNS.get(after.wrapping_sub(1))
        .map_or(0, |&run| run_flags(run))
}

/// Python's `\w`: letters, numbers of every kind and the underscore, but no combining marks.
pub(in crate::text) fn is_word(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric() || c == '_'
    } else {
        flags(c) & WORD != 0
    }
}

/// The white space of Python's `str.split()`, which unlike Rust's includes U+001C..U+001F.
pub(in crate::text) fn is_space(c: char) -> bool {
    matches!(c, '\u{1c}'..='\u{1f}') || c.is_whitespace()
}

/// How the DPR tokenizer treats a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::text) enum DprClass {
    /// Letter, number or mark: part of a run that is one token.
    Run,
    /// A token of its own.
    Single,
    /// Separator, control or unassigned character: in no token.
    Skip,
}

pub(in crate::text) fn dpr_class(c: char) -> DprClass {
    let found = flags(c);
    if found & DPR_TOKEN != 0 {
        DprClass::Run
    } else if found & DPR_SKIP != 0 {
        DprClass::Skip
    } else {
        DprClass::Single
    }
}

/// A combining mark (general category M).
pub(in crate::text) fn is_mark(c: char) -> bool {
    !c.is_ascii() && flags(c) & MARK != 0
}

/// Punctuation: Python's `string.punctuation` for ASCII, general category P otherwise.
pub(in crate::text) fn is_punctuation(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_punctuation()
    } else {
        flags(c) & PUNCT != 0
    }
}

/// A currency sign, mathematical sign or modifier symbol (Sc, Sm, Sk). Nine of them are ASCII
/// punctuation.
pub(in crate::text) fn is_symbol(c: char) -> bool {
    if c.is_ascii() {
        matches!(c, '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~')
    } else {
        flags(c) & SYMBOL != 0
    }
}

/// Invisible in running text: soft hyphen, zero-width characters, variation selectors,
/// bidirectional controls.
pub(in crate::text) fn is_invisible(c: char) -> bool {
    c.is_control() || flags(c) & FORMAT != 0
}

/// Returns the value 0..=9 of a decimal digit of any script.
pub fn digit_value(c: char) -> Option<u8> {
    if c.is_ascii() {
        return c.is_ascii_digit().then(|| c as u8 - b'0');
    }
    let code = u32::from(c);
    let after = DIGIT_ZEROS.partition_point(|&zero| zero <= code);
    let value = code - DIGIT_ZEROS.get(after.checked_sub(1)?)?;
    u8::try_from(value).ok().filter(|&digit| digit < 10)
}

/// Appends the full case folding of a character.
pub(in crate::text) fn fold_case(c: char, out: &mut Vec<char>) {
    if c.is_ascii() {
        out.push(c.to_ascii_lowercase());
        return;
    }
    match CASEFOLDS.binary_search_by_key(&u32::from(c), |&(code, _)| code) {
        Ok(at) => out.extend(CASEFOLDS[at].1.chars()),
        Err(_) => out.extend(c.to_lowercase()),
    }
}

pub(super) fn is_unassigned(c: char) -> bool {
    !c.is_ascii() && flags(c) & UNASSIGNED != 0
}

/// `unicodedata.normalize("NFD", text)`.
///
/// An unassigned code point is its own decomposition and starts a new combining sequence, so the
/// parts between such code points are normalized separately.
pub(in crate::text) fn nfd(text: &str) -> Vec<char> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, unknown)) = rest.char_indices().find(|&(_, c)| is_unassigned(c)) {
        out.extend(rest[..at].nfd());
        out.push(unknown);
        rest = &rest[at + unknown.len_utf8()..];
    }
    out.extend(rest.nfd());
    out
}

/// Calls `emit` with each character of Python's `str.lower()` of `text`.
pub(in crate::text) fn lower(text: &[char], mut emit: impl FnMut(char)) {
    for (at, &c) in text.iter().enumerate() {
        if c.is_ascii() {
            emit(c.to_ascii_lowercase());
        } else if c == 'Σ' {
            emit(if final_sigma(text, at) { 'ς' } else { 'σ' });
        } else if is_unassigned(c) {
            emit(c);
        } else {
            c.to_lowercase().for_each(&mut emit);
        }
    }
}

/// Unicode's Final_Sigma: after a cased character and not before one, ignoring case-ignorable
/// characters.
fn final_sigma(text: &[char], at: usize) -> bool {
    let cased = |c: Option<&char>| c.is_some_and(|&c| flags(c) & CASED != 0);
    let visible = |c: &&char| flags(**c) & IGNORABLE == 0;
    cased(text[..at].iter().rev().find(visible)) && !cased(text[at + 1..].iter().find(visible))
}

/// The same for the sigma at `at` of a string that is not decomposed.
pub(in crate::text) fn sigma_is_final(text: &str, at: usize) -> bool {
    let decomposed = |c: char| nfd(c.encode_utf8(&mut [0; 4]));
    let visible = |c: &char| flags(*c) & IGNORABLE == 0;
    let cased = |c: Option<char>| c.is_some_and(|c| flags(c) & CASED != 0);
    let before = text[..at]
        .chars()
        .rev()
        .flat_map(|c| decomposed(c).into_iter().rev());
    let after = text[at + 'Σ'.len_utf8()..].chars().flat_map(decomposed);
    cased(before.into_iter().find(visible)) && !cased(after.into_iter().find(visible))
}

/// A vulgar fraction such as ½.
pub(in crate::text) fn is_vulgar_fraction(c: char) -> bool {
    matches!(c, '¼'..='¾' | '\u{2150}'..='\u{215e}' | '\u{2189}')
}

/// A superscript digit or sign.
pub(in crate::text) fn is_superscript(c: char) -> bool {
    matches!(c, '²' | '³' | '¹' | '\u{2070}' | '\u{2074}'..='\u{207b}')
}

#[cfg(test)]
mod tests {
    use super::{
        BMP, BMP_FLAGS, DprClass, digit_value, dpr_class, final_sigma, is_symbol, is_unassigned,
        is_word, sigma_is_final,
    };

    #[test]
    fn the_flat_table_has_all_characters_of_the_basic_plane() {
        assert_eq!(BMP_FLAGS.len(), BMP as usize);
    }

    #[test]
    fn a_sigma_is_final_after_a_letter_and_not_before_one_but_for_marks_and_apostrophes() {
        for (before, after, is_final) in [
            ("ΟΔΟ", "", true),
            ("ΟΔΟ", " ΑΒ", true),
            ("Ο", "Α", false),
            ("", "", false),
            (" ", "", false),
            ("5", "", false),
            ("Ο'", "", true),
            ("Ο\u{301}", "", true),
            ("Ο", "'Α", false),
            ("Ο", "'", true),
            ("Ο", "\u{301}Α", false),
        ] {
            let text = format!("{before}Σ{after}");
            assert_eq!(sigma_is_final(&text, before.len()), is_final, "{text}");
            let chars: Vec<char> = text.chars().collect();
            assert_eq!(
                final_sigma(&chars, before.chars().count()),
                is_final,
                "{text}"
            );
        }
    }

    #[test]
    fn characters_outside_of_the_basic_plane_have_their_own_class() {
        for (c, is_letter) in [
            ('𝐀', true),
            ('𐐀', true),
            ('𠀀', true),
            ('😀', false),
            ('𝄞', false),
        ] {
            assert_eq!(is_word(c), is_letter, "{c}");
        }
    }

    #[test]
    fn a_code_point_after_unicode_14_is_unassigned() {
        // U+1E4F0 is of Unicode 15, and U+0378 of no version yet.
        for (c, expected) in [
            ('\u{378}', true),
            ('\u{1e4f0}', true),
            ('é', false),
            ('a', false),
        ] {
            assert_eq!(is_unassigned(c), expected, "{c:?}");
        }
    }

    #[test]
    fn signs_of_currencies_and_mathematics_are_symbols() {
        for (c, expected) in [
            ('+', true),
            ('€', true),
            ('×', true),
            ('!', false),
            ('é', false),
        ] {
            assert_eq!(is_symbol(c), expected, "{c:?}");
        }
    }

    #[test]
    fn a_punctuation_mark_is_a_single_token_and_a_space_none() {
        let classes = ['a', 'é', '!', '。', ' '].map(dpr_class);
        let (run, single) = (DprClass::Run, DprClass::Single);
        assert_eq!(classes, [run, run, single, single, DprClass::Skip]);
    }

    #[test]
    fn the_character_after_the_nine_of_a_script_is_no_digit() {
        let values = ['９', '：', '٩', '٪', '9', ':'].map(digit_value);
        assert_eq!(values, [Some(9), None, Some(9), None, Some(9), None]);
    }
}
