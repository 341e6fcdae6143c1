//! Finds a reference answer in an output: at the beginning, at the end, anywhere, or as the whole output. Also finds
//! the choices that an output selects.

mod choice;

use serde::{Deserialize, Serialize};

pub use choice::{choice_labels, selected_choices};

use super::numbers::NumericOptions;
use super::unicode::{is_punctuation, is_space};
use super::words::Searchable;

/// Where an output must contain the reference answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Location {
    /// The output begins with the reference answer.
    Begin,
    /// The output ends with the reference answer.
    #[default]
    End,
    /// The output contains the reference answer anywhere.
    Any,
    /// The output is exactly the reference answer.
    Exact,
}

/// Options for matching an output with a reference answer.
///
/// The output and the reference are trimmed with [`trim_punctuation`], normalized (NFC) and, unless `case_sensitive` is
/// set, case folded.
///
/// ```
/// # use dsrs_metrics::text::{Location, MatchOptions};
/// let end = MatchOptions::default();
/// assert!(end.matches("The answer is **25**.", "25"));
/// assert!(!end.matches("The answer is 25.", "5"));
/// assert!(MatchOptions { whole_words: false, ..end }.matches("The answer is 25.", "5"));
///
/// let exact = MatchOptions { location: Location::Exact, ..end };
/// assert!(exact.matches("Hello world!", "hello world"));
/// assert!(!exact.matches("world hello", "hello world"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchOptions {
    /// Where the output must contain the reference.
    pub location: Location,
    /// `true` if the comparison is case-sensitive.
    pub case_sensitive: bool,
    /// `true` if the reference matches only whole words and numbers.
    pub whole_words: bool,
    /// `true` if a reference that is a number is compared by value with the numbers in the output.
    pub numeric: bool,
}

/// Matches whole words at the end of the output, ignoring case.
impl Default for MatchOptions {
    fn default() -> Self {
        Self {
            location: Location::End,
            case_sensitive: false,
            whole_words: true,
            numeric: false,
        }
    }
}

impl MatchOptions {
    /// Returns `true` if the output contains the reference at the required location.
    ///
    /// If `numeric` is set, a reference that [is a number](NumericOptions::only_number) is compared with one or all
    /// numbers in the output: the first (`begin`), the last (`end`), each (`any`), or the number that makes up the
    /// whole output (`exact`).
    pub fn matches(&self, output: &str, reference: &str) -> bool {
        let options = NumericOptions::default();
        // A brace at the end of a string may belong to a fraction.
        let only_number = |text| {
            options
                .only_number(text)
                .or_else(|| options.only_number(trim_punctuation(text)))
        };
        if let Some(number) = self.numeric.then(|| only_number(reference)).flatten() {
            return match self.location {
                Location::Begin => options.numbers(output).first() == Some(&number),
                Location::End => options.last_number(output) == Some(number),
                Location::Any => options.numbers(output).contains(&number),
                Location::Exact => only_number(output) == Some(number),
            };
        }
        let (output, reference) = (trim_punctuation(output), trim_punctuation(reference));
        let output = Searchable::new(output, self.case_sensitive, self.whole_words);
        match self.location {
            Location::Begin => output.starts_with(reference),
            Location::End => output.ends_with(reference),
            Location::Any => output.contains(reference),
            Location::Exact => output.equals(reference),
        }
    }
}

/// Removes whitespace, brackets, quotation marks, and sentence and Markdown punctuation from both ends of a string.
///
/// Characters that carry meaning remain: signs and symbols (`-5`, `$5`, `C++`, `C#`, `5%`), and a point before a number
/// or name (`.5`, `.NET`). If a string consists only of punctuation, only its whitespace is removed.
///
/// ```
/// # use dsrs_metrics::text::trim_punctuation;
/// assert_eq!(trim_punctuation(" (**“Paris”**)."), "Paris");
/// assert_eq!([trim_punctuation("- -5."), trim_punctuation("C++!"), trim_punctuation(" ?! ")], ["-5", "C++", "?!"]);
/// ```
pub fn trim_punctuation(text: &str) -> &str {
    let plain = text.trim_matches(is_space);
    let end = plain.trim_end_matches(|c| is_space(c) || is_enclosing(c));
    let mut rest = end;
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        let begins_word = after.chars().next().is_some_and(char::is_alphanumeric);
        let is_apart = after.chars().next().is_none_or(is_space);
        let is_trimmed = match first {
            // The last of several points ends an ellipsis.
            '.' => !begins_word || end[..end.len() - rest.len()].ends_with('.'),
            '-' | '–' | '—' => is_apart,
            _ => is_space(first) || is_enclosing(first),
        };
        if !is_trimmed {
            return rest;
        }
        rest = after;
    }
    plain
}

/// Returns `true` for punctuation around a word or at the end of a sentence, which is not part of the word.
fn is_enclosing(c: char) -> bool {
    match c {
        '$' | '+' | '<' | '=' | '>' | '^' | '|' | '~' => false,
        '#' | '%' | '&' | '@' | '/' | '\\' | '-' | '‰' | '–' | '—' => false,
        _ => is_punctuation(c),
    }
}

#[cfg(test)]
mod tests {
    use super::trim_punctuation;

    #[test]
    fn punctuation_around_a_string_is_removed_and_its_meaning_kept() {
        for (text, trimmed) in [
            ("Paris", "Paris"),
            ("  «Paris»,\n", "Paris"),
            ("。東京！", "東京"),
            (".5.", ".5"),
            ("...so", "so"),
            ("!. .5", ".5"),
            (".NET", ".NET"),
            ("`code`", "code"),
            ("A-", "A-"),
            ("— Paris", "Paris"),
            ("-$5", "-$5"),
            ("5%", "5%"),
            ("()", "()"),
            ("", ""),
            ("...", "..."),
        ] {
            assert_eq!(trim_punctuation(text), trimmed, "{text:?}");
        }
    }
}
