//! Search for keywords in running text.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;

use crate::text::unicode::{fold_case, is_mark, is_word, nfd, written_without_spaces};

/// A string in which keywords are searched, normalized once for all of them.
///
/// Composed and decomposed forms of a letter are equal (NFC). Without `case_sensitive`, both sides
/// are case folded in full, so "STRASSE" contains "straße". With `whole_words`, a keyword that
/// begins or ends with a letter, digit, mark or underscore matches only at a word boundary: "TODOS"
/// does not contain "TODO", but "C++17" contains "C++". Scripts that are written without spaces
/// have no word boundaries.
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
    /// Normalizes the string.
    #[must_use]
    pub fn new(text: &'a str, case_sensitive: bool, whole_words: bool) -> Self {
        Self { text: normalized(text, case_sensitive), case_sensitive, whole_words }
    }

    /// Whether the string begins with the keyword. Every string begins with an empty keyword.
    ///
    /// ```
    /// # use dsrs_metrics::text::Searchable;
    /// let text = Searchable::new("Address the reader", false, true);
    /// assert!(text.starts_with("address") && !text.starts_with("add"));
    /// ```
    #[must_use]
    pub fn starts_with(&self, keyword: &str) -> bool {
        let keyword = normalized(keyword, self.case_sensitive);
        let Some(rest) = self.text.strip_prefix(&*keyword) else { return false };
        !self.whole_words || !is_one_word(keyword.chars().next_back(), rest.chars().next())
    }

    /// Whether the string ends with the keyword. Every string ends with an empty keyword.
    ///
    /// ```
    /// # use dsrs_metrics::text::Searchable;
    /// let text = Searchable::new("That makes 25", false, true);
    /// assert!(text.ends_with("25") && !text.ends_with("5"));
    /// ```
    #[must_use]
    pub fn ends_with(&self, keyword: &str) -> bool {
        let keyword = normalized(keyword, self.case_sensitive);
        let Some(rest) = self.text.strip_suffix(&*keyword) else { return false };
        !self.whole_words || !is_one_word(rest.chars().next_back(), keyword.chars().next())
    }

    /// Whether the string is equal to another one.
    ///
    /// ```
    /// # use dsrs_metrics::text::Searchable;
    /// assert!(Searchable::new("STRASSE", false, false).equals("straße"));
    /// ```
    #[must_use]
    pub fn equals(&self, other: &str) -> bool {
        self.text == normalized(other, self.case_sensitive)
    }

    /// Whether the string contains the keyword. Every string contains an empty keyword.
    #[must_use]
    pub fn contains(&self, keyword: &str) -> bool {
        let keyword = normalized(keyword, self.case_sensitive);
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
            if !is_one_word(before, first) && !is_one_word(last, after) {
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

/// Whether two neighbouring characters belong to the same word.
fn is_one_word(left: Option<char>, right: Option<char>) -> bool {
    let in_word = |c: char| (is_word(c) || is_mark(c)) && !written_without_spaces(c);
    left.is_some_and(in_word) && right.is_some_and(in_word)
}

fn normalized(text: &str, case_sensitive: bool) -> Cow<'_, str> {
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

#[cfg(test)]
mod tests {
    use super::Searchable;

    /// Whether a string begins with, ends with and contains a keyword as whole words.
    fn found(text: &str, keyword: &str) -> [bool; 3] {
        let text = Searchable::new(text, true, true);
        [text.starts_with(keyword), text.ends_with(keyword), text.contains(keyword)]
    }

    #[test]
    fn whole_words_have_boundaries_on_both_sides() {
        for (text, keyword, expected) in [
            ("TODO", "TODO", [true, true, true]),
            ("TODO: later", "TODO", [true, false, true]),
            ("a TODO", "TODO", [false, true, true]),
            ("a TODO, later", "TODO", [false, false, true]),
            ("TODOS aTODO TODO_1", "TODO", [false, false, false]),
            ("TODOS, then a TODO later", "TODO", [false, false, true]),
            // A keyword that ends with another character has no boundary there.
            ("C++17", "C++", [true, false, true]),
            ("AC++", "C++", [false, false, false]),
            ("#tag a#tag", "#tag", [true, true, true]),
            ("#tags", "#tag", [false, false, false]),
            // The mark belongs to the letter before it.
            ("x\u{327}", "x", [false, false, false]),
            // The keyword overlaps with itself, and its first letter has two bytes.
            ("éé-éé-éé", "éé-éé", [true, true, true]),
            ("aéé-éé-éé", "éé-éé", [false, true, true]),
            ("éaé éaé", "éaé", [true, true, true]),
            ("xéaéaé éaé", "éaé", [false, true, true]),
            // Words of these scripts have no boundaries.
            ("我喜欢苹果", "喜欢", [false, false, true]),
            ("any", "", [true, true, true]),
            ("", "any", [false, false, false]),
        ] {
            assert_eq!(found(text, keyword), expected, "{keyword:?} in {text:?}");
        }
    }

    #[test]
    fn forms_are_equal_and_case_counts_if_it_is_configured() {
        for (text, keyword, with_case, without_case) in [
            ("STRASSE", "straße", false, true),
            ("Cafe\u{301}", "Café", true, true),
            ("cafe\u{301}", "Café", false, true),
            ("TODO", "todo", false, true),
            ("todo", "todo", true, true),
        ] {
            for (case_sensitive, expected) in [(true, with_case), (false, without_case)] {
                let text = Searchable::new(text, case_sensitive, false);
                let found = [text.equals(keyword), text.contains(keyword)];
                assert_eq!(found, [expected; 2], "{keyword:?} in {text:?}");
            }
        }
    }
}
