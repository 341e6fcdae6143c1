//! The normalization of the `Dspy` profile.
//!
//! The steps are dspy's: NFD, lower case, removal of ASCII punctuation, removal of articles, and collapsing of white
//! space.
//! Punctuation is removed before articles, so `"t.he"` is an article too.

use unicode_normalization::UnicodeNormalization as _;

use crate::text::unicode::{is_space, is_word};

/// Lower-case words that normalization removes.
pub const ARTICLES: [&str; 3] = ["a", "an", "the"];

/// Normalizes a string for comparison, exactly as dspy's `normalize_text` does.
///
/// The steps are, in this order: Unicode NFD, lower case, removal of the 32 ASCII punctuation characters, removal of
/// the English articles `a`, `an` and `the`, and collapsing of whitespace to single spaces. For any string of Unicode
/// 14 characters, the result is the same as in dspy 3.4.1 on CPython 3.11.
///
/// Normalizing a string twice can give a different result from normalizing it once. If punctuation was removed between
/// two combining marks, the second NFD can reorder the marks. Normalizing a third time never changes anything.
///
/// ```
/// # use dsrs_metrics::text::normalize_text;
/// assert_eq!(normalize_text("The,  Eiffel  Tower!"), "eiffel tower");
/// assert_eq!(normalize_text("C++"), "c");
/// assert_eq!(normalize_text("A"), "");
/// ```
pub fn normalize_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    if text.chars().all(is_plain) {
        write_words(text.chars().map(|c| c.to_ascii_lowercase()), &mut out);
    } else {
        let lower = text.nfd().collect::<String>().to_lowercase();
        write_words(lower.chars(), &mut out);
    }
    out
}

/// Returns `true` if a character is ASCII or common in Chinese: its NFD is the character itself, and its lower case is
/// that of ASCII.
fn is_plain(c: char) -> bool {
    c.is_ascii()
        || matches!(c, '\u{2010}'..='\u{205e}' | '\u{3001}'..='\u{3029}' | '\u{3400}'..='\u{9fff}' | '\u{ff01}'..='\u{ff20}')
}

/// Removes punctuation and articles, and collapses white space.
///
/// `\b(a|an|the)\b` matches exactly if a whole run of word characters is an article, and the match becomes a space. So
/// an article is removed at the end of its run.
#[inline]
fn write_words(chars: impl Iterator<Item = char>, out: &mut String) {
    // Where the current run of ASCII letters and digits starts.
    let mut run = 0;
    for c in chars.filter(|c| !c.is_ascii_punctuation()) {
        if c.is_ascii_alphanumeric() {
            out.push(c);
            continue;
        }
        end_run(out, run, Some(c));
        if is_space(c) {
            separate(out);
        } else {
            out.push(c);
        }
        run = out.len();
    }
    end_run(out, run, None);
    out.truncate(out.trim_end_matches(' ').len());
}

/// Removes a run that is an article, unless it is part of a longer run of word characters.
fn end_run(out: &mut String, run: usize, next: Option<char>) {
    let is_outside = |c: Option<char>| !c.is_some_and(is_word);
    if ARTICLES.contains(&&out[run..])
        && is_outside(next)
        && is_outside(out[..run].chars().next_back())
    {
        out.truncate(run);
        separate(out);
    }
}

fn separate(out: &mut String) {
    if !out.is_empty() && !out.ends_with(' ') {
        out.push(' ');
    }
}
