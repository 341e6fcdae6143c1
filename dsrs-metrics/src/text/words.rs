//! Words in running text: whether a text has a keyword, how many words and tokens it has.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;

use super::scripts::written_without_spaces;
use super::unicode::{fold_case, is_mark, is_space, is_word, nfd};

/// A text in which keywords are looked for, normalized once for all of them.
///
/// Composed and decomposed forms of one letter are the same letter (NFC). Without `case_sensitive`, both sides are case
/// folded in full, so "STRASSE" has "straße". With `whole_words`, a keyword that begins or ends with a letter, digit,
/// mark or underscore must not be continued by another: "TODO" is not in "TODOS", "C++" is in "C++17". Scripts that
/// are written without spaces have no such bounds.
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
    /// Normalizes the text.
    #[must_use]
    pub fn new(text: &'a str, case_sensitive: bool, whole_words: bool) -> Self {
        Self { text: comparable(text, case_sensitive), case_sensitive, whole_words }
    }

    /// Whether the text begins with the keyword. An empty keyword begins every text.
    ///
    /// ```
    /// # use dsrs_metrics::text::Searchable;
    /// let text = Searchable::new("Address the reader", false, true);
    /// assert!(text.starts_with("address") && !text.starts_with("add"));
    /// ```
    #[must_use]
    pub fn starts_with(&self, keyword: &str) -> bool {
        let keyword = comparable(keyword, self.case_sensitive);
        let Some(rest) = self.text.strip_prefix(&*keyword) else { return false };
        !self.whole_words || !continued(keyword.chars().next_back(), rest.chars().next())
    }

    /// Whether the keyword is in the text. An empty keyword is in every text.
    #[must_use]
    pub fn contains(&self, keyword: &str) -> bool {
        let keyword = comparable(keyword, self.case_sensitive);
        if !self.whole_words {
            return self.text.contains(&*keyword);
        }
        let (first, last) = (keyword.chars().next(), keyword.chars().next_back());
        let mut from = 0;
        while let Some(at) = self.text[from..].find(&*keyword) {
            let start = from + at;
            let end = start + keyword.len();
            let before = self.text[..start].chars().next_back();
            let after = self.text[end..].chars().next();
            if !continued(before, first) && !continued(last, after) {
                return true;
            }
            // A keyword may overlap with itself, so the next match may begin one character later.
            match first {
                Some(first) => from = start + first.len_utf8(),
                None => return true,
            }
        }
        false
    }
}

/// Whether two neighbours belong to one word.
fn continued(left: Option<char>, right: Option<char>) -> bool {
    let in_word = |c: char| (is_word(c) || is_mark(c)) && !written_without_spaces(c);
    left.is_some_and(in_word) && right.is_some_and(in_word)
}

fn comparable(text: &str, case_sensitive: bool) -> Cow<'_, str> {
    match (text.is_ascii(), case_sensitive) {
        (true, true) => Cow::Borrowed(text),
        (true, false) => Cow::Owned(text.to_ascii_lowercase()),
        (false, true) => Cow::Owned(text.nfc().collect()),
        (false, false) => {
            let mut folded = Vec::with_capacity(text.len());
            nfd(text).into_iter().for_each(|c| fold_case(c, &mut folded));
            Cow::Owned(folded.into_iter().nfc().collect())
        }
    }
}

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
