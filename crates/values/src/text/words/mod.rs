//! Splits strings into words, counts words and searches for keywords.

mod lists;
mod windows;

pub(in crate::text) use lists::{Key, Replacement, WordLists};
pub(in crate::text) use windows::for_each_word;

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;

use super::unicode::{fold_case, is_mark, is_space, is_word, written_without_spaces};

/// Splits a string at whitespace, like Python's `str.split()`.
#[doc(hidden)]
pub fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// A string to search for keywords.
///
/// The string is normalized once for all keywords.
///
/// Composed and decomposed forms of a letter compare equal (NFC). Unless `case_sensitive` is set, both the string and
/// the keyword are fully case folded, so "STRASSE" contains "straße".
///
/// If `whole_words` is set, a keyword that begins or ends with a letter, digit, mark or underscore matches only at a
/// word boundary. For example, "TODOS" does not contain "TODO", but "C++17" contains "C++". Scripts without spaces have
/// no word boundaries.
///
/// ```
/// use dsrs_metrics::text::Searchable;
///
/// let text = Searchable::new("Returned by STRASSE 5", false, true);
/// assert!(text.contains("straße") && !text.contains("return"));
/// ```
#[derive(Debug, Clone)]
pub struct Searchable<'a> {
    text: Cow<'a, str>,
    case_sensitive: bool,
    whole_words: bool,
}

impl<'a> Searchable<'a> {
    /// Normalizes a string so you can search it for keywords.
    pub fn new(text: &'a str, case_sensitive: bool, whole_words: bool) -> Self {
        Self {
            text: normalized(text, case_sensitive),
            case_sensitive,
            whole_words,
        }
    }

    /// Returns `true` if the string begins with the keyword.
    ///
    /// ```
    /// # use dsrs_metrics::text::Searchable;
    /// let text = Searchable::new("Address the reader", false, true);
    /// assert!(text.starts_with("address") && !text.starts_with("add"));
    /// ```
    pub fn starts_with(&self, keyword: &str) -> bool {
        let keyword = normalized(keyword, self.case_sensitive);
        self.text.starts_with(&*keyword) && self.is_bounded(0, &keyword)
    }

    /// Returns `true` if the string ends with the keyword.
    ///
    /// ```
    /// # use dsrs_metrics::text::Searchable;
    /// let text = Searchable::new("That makes 25", false, true);
    /// assert!(text.ends_with("25") && !text.ends_with("5"));
    /// ```
    pub fn ends_with(&self, keyword: &str) -> bool {
        let keyword = normalized(keyword, self.case_sensitive);
        let start = self.text.len().checked_sub(keyword.len());
        self.text.ends_with(&*keyword) && start.is_some_and(|at| self.is_bounded(at, &keyword))
    }

    /// Returns `true` if the string equals `other` after both are normalized.
    ///
    /// ```
    /// # use dsrs_metrics::text::Searchable;
    /// assert!(Searchable::new("STRASSE", false, false).equals("straße"));
    /// ```
    pub fn equals(&self, other: &str) -> bool {
        self.text == normalized(other, self.case_sensitive)
    }

    /// Returns `true` if the string contains the keyword.
    pub fn contains(&self, keyword: &str) -> bool {
        let keyword = normalized(keyword, self.case_sensitive);
        // A keyword may overlap with itself, so the next match may begin one character later.
        let step = keyword.chars().next().map_or(1, char::len_utf8);
        let mut from = 0;
        while let Some(at) = self.text[from..].find(&*keyword) {
            if self.is_bounded(from + at, &keyword) {
                return true;
            }
            from += at + step;
        }
        false
    }

    /// Returns `true` unless the keyword at this place must be a whole word but is only part of one.
    fn is_bounded(&self, at: usize, keyword: &str) -> bool {
        let (before, after) = (&self.text[..at], &self.text[at + keyword.len()..]);
        let (mut inside, mut after) = (keyword.chars(), after.chars());
        !self.whole_words
            || !is_one_word(before.chars().next_back(), keyword.chars().next())
                && !is_one_word(inside.next_back(), after.next())
    }
}

/// Returns `true` if two neighbouring characters belong to the same word.
fn is_one_word(left: Option<char>, right: Option<char>) -> bool {
    let in_word = |c: char| (is_word(c) || is_mark(c)) && !written_without_spaces(c);
    left.is_some_and(in_word) && right.is_some_and(in_word)
}

fn normalized(text: &str, case_sensitive: bool) -> Cow<'_, str> {
    match (text.is_ascii(), case_sensitive) {
        (true, true) => Cow::Borrowed(text),
        (true, false) => Cow::Owned(text.to_ascii_lowercase()),
        (false, true) => Cow::Owned(text.nfc().collect()),
        (false, false) => Cow::Owned(text.nfd().flat_map(fold_case).nfc().collect()),
    }
}

/// Returns the number of words in a string.
///
/// Words are separated by spaces and contain at least one letter or digit. For example, "state-of-the-art" is one word,
/// and a dash alone is not a word. In scripts without spaces, every letter counts as a word.
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

/// Returns the approximate number of tokens in a string.
///
/// The result approximates the number that a language model's tokenizer would count.
///
/// The approximation follows fixed rules, so the result is the same on every machine:
///
/// - A run of ASCII letters counts as one token for every six letters, rounded up.
/// - Every three digits count as one token.
/// - Every two other letters count as one token.
/// - A letter of a script without spaces counts as one token.
/// - A run of the same punctuation mark or symbol counts as one token, and so does a run of line breaks.
/// - Other spaces do not count.
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

/// The class of a run's characters.
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
    use super::Searchable;

    /// Checks whether a string begins with, ends with and contains the keyword as whole words.
    fn found(text: &str, keyword: &str) -> [bool; 3] {
        let text = Searchable::new(text, true, true);
        [
            text.starts_with(keyword),
            text.ends_with(keyword),
            text.contains(keyword),
        ]
    }

    #[test]
    fn a_word_is_not_found_inside_another() {
        for (text, keyword, expected) in [
            ("5", "5", [true, true, true]),
            ("25", "5", [false, false, false]),
            ("25 or 5", "5", [false, true, true]),
            ("returned", "return", [false, false, false]),
            ("return: later", "return", [true, false, true]),
            ("x.return;", "return", [false, false, true]),
            ("my_return", "return", [false, false, false]),
            (
                "returned, then a return later",
                "return",
                [false, false, true],
            ),
            ("std::vector", "vector", [false, true, true]),
            ("naïve", "na", [false, false, false]),
            ("naïvement naïve", "naïve", [false, true, true]),
            ("Übung", "bung", [false, false, false]),
            ("한국어는", "한국어", [false, false, false]),
            ("don't", "don", [true, false, true]),
            // A keyword has no boundary at a character that is not part of a word.
            ("C++17 is C++", "C++", [true, true, true]),
            ("AC++", "C++", [false, false, false]),
            ("->x", "->", [true, false, true]),
            ("#tag a#tag", "#tag", [true, true, true]),
            ("#tags", "#tag", [false, false, false]),
            // The mark belongs to the letter before it.
            ("x\u{327}", "x", [false, false, false]),
            // The keyword overlaps with itself, and its first letter has two bytes.
            ("aaa aa", "aa", [false, true, true]),
            ("éé-éé-éé", "éé-éé", [true, true, true]),
            ("aéé-éé-éé", "éé-éé", [false, true, true]),
            ("xéaéaé éaé", "éaé", [false, true, true]),
            // Scripts without spaces have no word boundaries.
            ("東京都です", "京都", [false, false, true]),
            ("any", "", [true, true, true]),
            ("", "any", [false, false, false]),
        ] {
            assert_eq!(found(text, keyword), expected, "{keyword:?} in {text:?}");
        }
    }

    #[test]
    fn normalization_forms_are_equal_and_case_counts_if_it_is_configured() {
        for (text, keyword, folded, exact) in [
            ("STRASSE", "straße", true, false),
            ("ΟΔΥΣΣΕΥΣ", "οδυσσευς", true, false),
            ("cafe\u{301}", "café", true, true),
            ("CAFE\u{301}", "café", true, false),
            ("İstanbul", "i\u{307}stanbul", true, false),
            ("TODO", "todo", true, false),
            ("todo", "todo", true, true),
            ("cafe\u{301}", "cafe", false, false),
        ] {
            for (case_sensitive, expected) in [(false, folded), (true, exact)] {
                let text = Searchable::new(text, case_sensitive, false);
                let found = [text.equals(keyword), text.contains(keyword)];
                assert_eq!(found, [expected; 2], "{keyword:?} in {text:?}");
            }
        }
        assert!(Searchable::new("東京都", true, false).contains("京"));
    }
}

#[cfg(test)]
mod counts_tests {
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
