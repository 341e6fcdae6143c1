//! Escapes strings from rows, files, providers and arguments before a terminal shows them.
//!
//! Such a string may contain escape sequences, carriage returns, line breaks and characters that reverse text. On a
//! terminal, these could hide or forge other output.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The maximum number of characters of a name in a headline or a list.
const MAX_NAME: usize = 80;

/// The maximum number of names in a list.
const MAX_NAMES: usize = 20;

/// Returns `true` if a terminal could interpret the character instead of showing it.
///
/// This covers control characters (C0, DEL and C1), line and paragraph separators, and directional formatting. It also
/// covers invisible characters that make different names look alike. U+200C and U+200D are considered safe, because
/// some scripts and emoji need them.
pub fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{061C}' | '\u{180E}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{FEFF}'
            | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{FFF9}'..='\u{FFFB}'
            | '\u{E0000}'..='\u{E0FFF}'
        )
}

/// Escapes all characters that a terminal could interpret instead of showing.
///
/// The characters are written as in a Rust literal: `\n`, `\r`, `\t`, `\u{1b}`. The result is a single line.
pub fn escaped(text: &str) -> Cow<'_, str> {
    escape(text, is_unsafe)
}

/// Escapes all characters that a terminal could interpret, except tabs and line breaks.
///
/// Use this for output of several lines. For a single line, use [`escaped`].
pub fn escaped_lines(text: &str) -> Cow<'_, str> {
    escape(text, |c| is_unsafe(c) && !matches!(c, '\n' | '\r' | '\t'))
}

fn escape(text: &str, is_hidden: fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            shown if !is_hidden(shown) => escaped.push(shown),
            '\n' | '\r' | '\t' => escaped.extend(character.escape_default()),
            hidden => escaped.extend(hidden.escape_unicode()),
        }
    }
    Cow::Owned(escaped)
}

/// Returns the start of a string longer than [`MAX_NAME`] characters, leaving room for `…`.
fn cut(text: &str) -> Option<&str> {
    text.char_indices().nth(MAX_NAME)?;
    let (end, _) = text.char_indices().nth(MAX_NAME - 1)?;
    Some(&text[..end])
}

/// Escapes a name for use in a message.
///
/// A name longer than 80 characters is truncated and ends with `…`.
pub fn name(name: &str) -> Cow<'_, str> {
    match cut(name) {
        None => escaped(name),
        Some(start) => Cow::Owned(format!("{}…", escaped(start))),
    }
}

/// Returns a string in quotes, as a Rust literal.
///
/// A string longer than 80 characters is truncated and ends with `…`.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len().min(MAX_NAME) + 2);
    push_quoted(&mut quoted, text);
    quoted
}

/// Appends a string in quotes to `quoted`, in the same format as [`quoted`].
pub fn push_quoted(quoted: &mut String, text: &str) {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    // Without an early exit, several bytes are compared at once.
    if text.len() <= MAX_NAME && text.bytes().fold(true, |all, byte| all & is_plain(byte)) {
        quoted.reserve(text.len() + 2);
        return quoted.extend(["\"", text, "\""]);
    }
    // Writing to a string cannot fail.
    let _ = match cut(text) {
        None => write!(quoted, "{text:?}"),
        Some(start) => write!(quoted, "{start:?}…"),
    };
}

/// Joins names for use in a message.
///
/// Names are written as `` `a`, `b` ``. If there are more than 20, the list ends as in `` `a`, .. and 80 more ``.
pub fn names<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(MAX_NAMES);
    let shown: Vec<_> = names
        .take(MAX_NAMES)
        .map(|one| format!("`{}`", name(one)))
        .collect();
    let shown = shown.join(", ");
    if more == 0 {
        shown
    } else {
        format!("{shown} and {more} more")
    }
}

/// Truncates a string that is longer than `limit` bytes.
///
/// The string is cut at a character boundary, and its full length is appended.
pub fn truncate(text: &mut String, limit: usize) {
    if text.len() <= limit {
        return;
    }
    let length = text.len();
    let end = (0..=limit)
        .rev()
        .find(|end| text.is_char_boundary(*end))
        .unwrap_or(0);
    text.truncate(end);
    text.push_str(&format!("... (truncated; {length} bytes in full)"));
}

#[cfg(test)]
mod tests {
    use super::{escaped, is_unsafe, name, names, quoted, truncate};

    #[test]
    fn everything_that_a_terminal_may_obey_is_escaped() {
        let hostile =
            "a\u{1b}[31m\r\n\t\u{7}\u{7f}\u{9b}2J\u{202e}\u{2066}\u{200f}\u{2028}\u{e0041}";
        let shown = escaped(hostile);
        assert!(!shown.contains(is_unsafe), "{shown}");
        assert_eq!(
            shown,
            "a\\u{1b}[31m\\r\\n\\t\\u{7}\\u{7f}\\u{9b}2J\\u{202e}\\u{2066}\\u{200f}\\u{2028}\\u{e0041}"
        );
        for harmless in [
            "",
            "Zürich, 東京, שלום",
            "👩\u{200d}💻",
            "می\u{200c}خواهم",
            "C:\\new",
        ] {
            assert_eq!(escaped(harmless), harmless);
        }
    }

    #[test]
    fn names_are_bounded() {
        assert_eq!(name(&"é".repeat(80)), "é".repeat(80));
        assert_eq!(name(&"é".repeat(81)), format!("{}…", "é".repeat(79)));
        let many: Vec<String> = (0..100).map(|number| number.to_string()).collect();
        let listed = names(many.iter().map(String::as_str));
        assert!(
            listed.starts_with("`0`, `1`, ") && listed.ends_with("`19` and 80 more"),
            "{listed}"
        );
        assert_eq!(names(["a", "b\n"].into_iter()), "`a`, `b\\n`");
    }

    #[test]
    fn a_quoted_string_is_bounded_and_escaped() {
        assert_eq!(
            quoted("a \"b\"\n\u{1b}\u{202e}"),
            r#""a \"b\"\n\u{1b}\u{202e}""#
        );
        assert_eq!(quoted(&"é".repeat(80)), format!("\"{}\"", "é".repeat(80)));
        assert_eq!(quoted(&"é".repeat(81)), format!("\"{}\"…", "é".repeat(79)));
    }

    #[test]
    fn a_string_is_cut_off_between_characters() {
        let mut text = "é".repeat(10);
        truncate(&mut text, 20);
        assert_eq!(text, "é".repeat(10));
        truncate(&mut text, 5);
        assert_eq!(text, "éé... (truncated; 20 bytes in full)");
    }
}
