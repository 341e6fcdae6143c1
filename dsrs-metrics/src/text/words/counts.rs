//! The number of words and of model tokens in running text.

use crate::text::unicode::{is_mark, is_space, is_word, written_without_spaces};

/// How many words a text has.
///
/// A word is what stands between spaces and has a letter or digit in it: "state-of-the-art" is one, a dash alone is
/// none. In scripts that are written without spaces every letter counts as a word.
///
/// ```
/// # use dsrs_metrics::text::count_words;
/// assert_eq!(count_words("It's state-of-the-art - 東京都"), 5);
/// ```
#[must_use]
pub fn count_words(text: &str) -> usize {
    text.split(is_space).map(words_of).sum()
}

fn words_of(piece: &str) -> usize {
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

/// About how many tokens a language model's tokenizer makes of a text.
///
/// An approximation by rule, the same on every machine, and no tokenizer's own count: a run of ASCII letters is a token
/// for each six letters begun, of digits for each three, of other letters for each two; a letter of a script without
/// spaces is a token, so is each run of one punctuation mark or symbol, and a run of line breaks; other spaces are none.
///
/// ```
/// # use dsrs_metrics::text::count_tokens;
/// assert_eq!(count_tokens("The quick fox, 12345 responsibilities."), 3 + 1 + 2 + 3 + 1);
/// ```
#[must_use]
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

/// What the characters of one run have in common.
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
