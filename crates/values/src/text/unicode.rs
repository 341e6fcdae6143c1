//! Unicode properties of characters, normal forms, and scripts without spaces.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick, is_nfkc_quick};

/// Returns the first letter of the general category, such as `L` for letters.
fn group(c: char) -> u8 {
    get_general_category(c).abbreviation().as_bytes()[0]
}

/// Returns `true` for Python's `\w`: letters, numbers of every kind and the underscore, but no combining marks.
pub(super) fn is_word(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric() || c == '_'
    } else {
        matches!(group(c), b'L' | b'N')
    }
}

/// Returns `true` for white space of Python's `str.split()`, which unlike Rust's includes U+001C..U+001F.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, '\u{1c}'..='\u{1f}') || c.is_whitespace()
}

/// Returns `true` for a letter, number or mark. A run of them is one token of the DPR tokenizer.
pub(super) fn in_dpr_run(c: char) -> bool {
    matches!(group(c), b'L' | b'N' | b'M')
}

/// Returns `true` for a separator, control or unassigned character, which is not part of any token of the DPR tokenizer.
pub(super) fn is_skipped(c: char) -> bool {
    matches!(group(c), b'Z' | b'C')
}

/// Returns `true` for a combining mark (general category M).
pub(super) fn is_mark(c: char) -> bool {
    !c.is_ascii() && group(c) == b'M'
}

/// Returns `true` for punctuation: Python's `string.punctuation` for ASCII, general category P otherwise.
pub(super) fn is_punctuation(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_punctuation()
    } else {
        group(c) == b'P'
    }
}

/// Returns `true` for a currency sign, mathematical sign or modifier symbol (Sc, Sm, Sk). Nine of them are ASCII
/// punctuation.
pub(super) fn is_symbol(c: char) -> bool {
    matches!(get_general_category(c).abbreviation(), "Sc" | "Sm" | "Sk")
}

/// Returns `true` for characters that are invisible in running text: soft hyphen, zero-width characters, variation
/// selectors, bidirectional controls.
pub(super) fn is_invisible(c: char) -> bool {
    let is_prepended = matches!(
        c,
        '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}'
    ) || matches!(c, '\u{110bd}' | '\u{110cd}');
    let is_joiner = matches!(c, '\u{34f}' | '\u{180b}'..='\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}');
    let is_format = || get_general_category(c) == GeneralCategory::Format;
    c.is_control() || is_joiner || is_format() && !is_prepended
}

/// Returns the value of a decimal digit in any script, from 0 to 9.
///
/// Returns `None` if the character is not a digit.
pub fn digit_value(c: char) -> Option<u8> {
    if c.is_ascii() {
        return c.is_ascii_digit().then(|| c as u8 - b'0');
    }
    let is_digit = |c: &char| get_general_category(*c) == GeneralCategory::DecimalNumber;
    // The ten digits of a script are consecutive, starting at zero.
    let digits = ('\0'..=c).rev().take_while(is_digit).count();
    digits.checked_sub(1).map(|before| (before % 10) as u8)
}

/// Returns the full case folding of a character.
pub(super) fn fold_case(c: char) -> impl Iterator<Item = char> {
    let upper = c.to_lowercase().flat_map(char::to_uppercase);
    // The dotless i folds to itself, although its capital letter is that of `i`.
    upper
        .flat_map(char::to_lowercase)
        .map(move |folded| if c == 'ı' { c } else { folded })
}

/// Returns `true` for a vulgar fraction such as ½.
pub(super) fn is_vulgar_fraction(c: char) -> bool {
    matches!(c, '¼'..='¾' | '\u{2150}'..='\u{215e}' | '\u{2189}')
}

/// Returns `true` for a superscript digit or sign.
pub(super) fn is_superscript(c: char) -> bool {
    matches!(c, '²' | '³' | '¹' | '\u{2070}' | '\u{2074}'..='\u{207b}')
}

/// The Unicode normal form applied to strings before they are compared.
///
/// ```
/// use dsrs_metrics::text::NormalForm;
///
/// assert_eq!(NormalForm::Nfc.apply("e\u{301}"), "é");
/// assert_eq!(NormalForm::Nfkc.apply("ﬁｎｅ"), "fine");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NormalForm {
    /// Strings are not converted and are compared code point by code point.
    ///
    /// A composed "é" and a decomposed "é" differ, as in the Python packages.
    AsIs,
    /// Canonical composition (NFC).
    ///
    /// Composed and decomposed letters are equal.
    #[default]
    Nfc,
    /// Compatibility composition (NFKC).
    ///
    /// As in NFC, composed and decomposed letters are equal. Ligatures, full-width letters and superscripts also equal
    /// their plain forms.
    Nfkc,
}

impl NormalForm {
    /// Converts a string to this normal form.
    ///
    /// The result is borrowed if the string already has this form.
    pub fn apply(self, text: &str) -> Cow<'_, str> {
        let quick = |answer: IsNormalized| answer == IsNormalized::Yes;
        match self {
            _ if text.is_ascii() => Cow::Borrowed(text),
            Self::AsIs => Cow::Borrowed(text),
            Self::Nfc if quick(is_nfc_quick(text.chars())) => Cow::Borrowed(text),
            Self::Nfc => Cow::Owned(text.nfc().collect()),
            Self::Nfkc if quick(is_nfkc_quick(text.chars())) => Cow::Borrowed(text),
            Self::Nfkc => Cow::Owned(text.nfkc().collect()),
        }
    }
}

/// Splits a word where a letter of a script without spaces begins or ends.
pub(super) fn pieces(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        if rest.is_ascii() {
            return Some(std::mem::take(&mut rest)).filter(|word| !word.is_empty());
        }
        let alone = written_without_spaces(rest.chars().next()?);
        let ends = |&(_, c): &(usize, char)| !is_mark(c) && (alone || written_without_spaces(c));
        let end = rest.char_indices().skip(1).find(ends);
        let (piece, others) = rest.split_at(end.map_or(rest.len(), |(end, _)| end));
        rest = others;
        Some(piece)
    })
}

/// Returns `true` if the character belongs to a script that does not separate words by spaces: Han, Kana, Bopomofo, Yi,
/// and the scripts of South-East Asia and Tibet. Hangul uses spaces and is not included.
pub(super) fn written_without_spaces(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0FFF         // Thai, Lao, Tibetan
        | 0x1000..=0x109F       // Myanmar
        | 0x1780..=0x17FF       // Khmer
        | 0x1950..=0x19FF       // Tai Le, New Tai Lue, Khmer symbols
        | 0x1A20..=0x1AAF       // Tai Tham
        | 0x1B00..=0x1B7F       // Balinese
        | 0x2E80..=0x2FDF       // Han radicals
        | 0x3005..=0x3007 | 0x3021..=0x3029 | 0x3038..=0x303B
        | 0x3041..=0x312F       // Hiragana, Katakana, Bopomofo
        | 0x31A0..=0x31BF | 0x31F0..=0x31FF
        | 0x3400..=0x4DBF | 0x4E00..=0xA4CF // Han, Yi
        | 0xA980..=0xA9FF       // Javanese, Myanmar
        | 0xAA60..=0xAADF       // Myanmar, Tai Viet
        | 0xF900..=0xFAFF
        | 0x1_AFF0..=0x1_B16F   // Kana
        | 0x2_0000..=0x3_FFFF)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::NormalForm::{AsIs, Nfc, Nfkc};
    use super::{digit_value, fold_case, in_dpr_run, is_skipped, is_symbol, is_word};

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
        let characters = ['a', 'é', '!', '。', ' '];
        assert_eq!(
            characters.map(in_dpr_run),
            [true, true, false, false, false]
        );
        assert_eq!(
            characters.map(is_skipped),
            [false, false, false, false, true]
        );
    }

    #[test]
    fn the_character_after_the_nine_of_a_script_is_no_digit() {
        let values = ['９', '：', '٩', '٪', '9', ':', '𝟿', '𝟘'].map(digit_value);
        let nine = Some(9);
        assert_eq!(values, [nine, None, nine, None, nine, None, nine, Some(0)]);
    }

    #[test]
    fn letters_of_either_case_fold_to_the_same_characters() {
        for (c, folded) in [
            ('ẞ', "ss"),
            ('ﬁ', "fi"),
            ('ς', "σ"),
            ('İ', "i\u{307}"),
            ('ı', "ı"),
        ] {
            assert_eq!(fold_case(c).collect::<String>(), folded);
        }
    }

    #[test]
    fn a_string_in_its_form_is_borrowed_and_another_is_composed() {
        for (form, text, composed) in [
            (AsIs, "e\u{301}", "e\u{301}"),
            (Nfc, "é", "é"),
            (Nfc, "e\u{301}", "é"),
            (Nfc, "ﬁ", "ﬁ"),
            (Nfkc, "é", "é"),
            (Nfkc, "e\u{301}", "é"),
            (Nfkc, "ﬁ", "fi"),
        ] {
            let applied = form.apply(text);
            assert_eq!(applied, composed);
            assert_eq!(
                matches!(applied, Cow::Borrowed(_)),
                text == composed,
                "{form:?} {text}"
            );
        }
    }
}
