//! The number of words and of model tokens in running text.

use crate::text::unicode::{is_mark, is_space, is_word, written_without_spaces};

/// Returns the number of words of a string.
///
/// Words are separated by spaces and contain a letter or digit: "state-of-the-art" is one word, a
/// dash alone is not a word. In scripts that are written without spaces every letter counts as a
/// word.
///
/// ```
/// # use dsrs_metrics::text::count_words;
/// assert_eq!(count_words("It's state-of-the-art - 東京都"), 5);
/// ```
pub fn count_words(text: &str) -> usize {
    text.split(is_space).map(count_in).sum()
}

fn count_in(piece: &str) -> usize {
    let (mut words, mut within) = (0, false);
    for c in piece.chars() {
        if written_without_spaces(c) {
            words += usize::from(is_word(c));
            within = false;
        } else if is_word(c) && !within {
            words += 1;
            within = true;
        }
    }
    words
}

/// Returns the approximate number of tokens of a string for a language model's tokenizer.
///
/// The approximation follows rules and is the same on every machine; it is not the count of a real
/// tokenizer. A run of ASCII letters counts one token for every six letters, rounded up, digits one
/// for every three, other letters one for every two. A letter of a script without spaces counts one
/// token, and so do a run of one punctuation mark or symbol, and a run of line breaks. Other spaces
/// count nothing.
///
/// ```
/// # use dsrs_metrics::text::count_tokens;
/// assert_eq!(count_tokens("The quick fox, 12345 responsibilities."), 3 + 1 + 2 + 3 + 1);
/// ```
pub fn count_tokens(text: &str) -> usize {
    let mut tokens = 0;
    let mut chars = text.chars().peekable();
    while let Some(first) = chars.next() {
        let kind = Kind::of(first);
        let mut length = 1;
        while chars.next_if(|&next| Kind::of(next) == kind).is_some() {
            length += 1;
        }
        tokens += kind.tokens(length);
    }
    tokens
}

/// The class of the characters of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Space,
    Break,
    Digit,
    Latin,
    Letter,
    Unspaced,
    Mark(char),
}

impl Kind {
    fn of(c: char) -> Self {
        match c {
            '\n' | '\r' => Self::Break,
            c if is_space(c) => Self::Space,
            '0'..='9' => Self::Digit,
            'a'..='z' | 'A'..='Z' => Self::Latin,
            c if written_without_spaces(c) => Self::Unspaced,
            c if c != '_' && (is_word(c) || is_mark(c)) => Self::Letter,
            c => Self::Mark(c),
        }
    }

    fn tokens(self, length: usize) -> usize {
        match self {
            Self::Space => 0,
            Self::Break | Self::Mark(_) => 1,
            Self::Digit => length.div_ceil(3),
            Self::Latin => length.div_ceil(6),
            Self::Letter => length.div_ceil(2),
            Self::Unspaced => length,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{count_tokens, count_words};

    #[test]
    fn a_word_has_a_letter_or_digit_and_scripts_without_spaces_a_word_for_each_letter() {
        for (text, words) in [
            ("", 0),
            ("word", 1),
            ("two words", 2),
            ("state-of-the-art", 1),
            ("a - dash, alone", 3),
            ("-- !", 0),
            ("東京都", 3),
            ("in 東京。", 3),
        ] {
            assert_eq!(count_words(text), words, "{text:?}");
        }
    }

    #[test]
    fn tokens_are_counted_by_the_kind_of_each_run() {
        for (text, tokens) in [
            ("", 0),
            // 6 letters are one token, 7 are two.
            ("letter", 1),
            ("letters", 2),
            // 3 digits are one token, 4 are two.
            ("123", 1),
            ("1234", 2),
            // 2 other letters are one token, 3 are two; a mark is part of its word.
            ("éà", 1),
            ("éàü", 2),
            ("कि", 1),
            ("東京都", 3),
            ("...", 1),
            ("___", 1),
            ("…!", 2),
            ("a  b", 2),
            ("a\u{3000}b", 2),
            ("a\n\r\nb", 3),
            ("ab12é東", 4),
        ] {
            assert_eq!(count_tokens(text), tokens, "{text:?}");
        }
    }
}
