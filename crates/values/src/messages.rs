//! Formats text for messages: errors with their sources, escaped strings, suggestions for misspelt names, spreadsheet
//! formulas and hashes.
//!
//! The file is long because it holds many short functions, and every message uses several of them.

use std::error::Error;

/// Formats a count with thousands separators, such as `1,190`.
pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups.map(String::from_utf8_lossy).collect();
    groups.join(",")
}

/// Returns an error's message, followed by the messages of its sources.
///
/// A source is left out if the text already contains its message.
pub fn with_sources(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let message = cause.to_string();
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        source = cause.source();
    }
    text
}

/// Implements `Debug` for error types by printing the message and its sources.
#[doc(hidden)]
#[macro_export]
macro_rules! debug_as_display {
    ($($error:ty),*) => {$(
        impl ::std::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(&$crate::messages::with_sources(self))
            }
        }
    )*};
}

/// Defines errors that consist of a message, created by `Error::from("..")`.
#[doc(hidden)]
#[macro_export]
macro_rules! message_errors {
    ($($(#[$doc:meta])* pub struct $error:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, ::thiserror::Error)]
        #[error("{0}")]
        pub struct $error(::std::borrow::Cow<'static, str>);

        $crate::debug_as_display!($error);
        $crate::conversions! {
            &'static str => $error: |message| Self(message.into());
            String => $error: |message| Self(message.into());
        }
    )*};
}

pub mod escape {
    //! Escapes strings from rows, files, providers and arguments before a terminal shows them.
    //!
    //! Such a string may contain escape sequences, carriage returns, line breaks and characters that reverse text. On a
    //! terminal, these could hide or forge other output.

    use std::borrow::Cow;

    /// The maximum length of a name in a headline or list, in characters.
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
    /// Use this for multi-line output. For a single line, use [`escaped`].
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

    /// Quotes a string as a Rust literal.
    ///
    /// A string longer than 80 characters is truncated and ends with `…`.
    pub fn quoted(text: &str) -> String {
        let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
        // Without an early exit, several bytes are compared at once.
        if text.len() <= MAX_NAME && text.bytes().fold(true, |all, byte| all & is_plain(byte)) {
            return ["\"", text, "\""].concat();
        }
        match cut(text) {
            None => format!("{text:?}"),
            Some(start) => format!("{start:?}…"),
        }
    }

    /// Joins names for use in a message.
    ///
    /// Names are written as `` `a`, `b` ``. If there are more than 20, the list is shortened, as in `` `a`, .. and 80
    /// more ``.
    pub fn names<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
        let more = names.len().saturating_sub(MAX_NAMES);
        let shown = names.take(MAX_NAMES).map(|one| format!("`{}`", name(one)));
        let shown = shown.collect::<Vec<_>>().join(", ");
        match more {
            0 => shown,
            _ => format!("{shown} and {more} more"),
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
        let mut ends = (0..=limit).rev();
        let end = ends.find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or(0));
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
}

pub mod suggest {
    //! Suggestions for misspelt names of metrics, parameters and providers.

    use super::escape;

    /// The maximum length of a name that is compared, in bytes. Comparing takes quadratic time, and names may come from
    /// files.
    const MAX_NAME: usize = 256;

    /// Returns the candidate that is most similar to a misspelt name.
    ///
    /// Returns `None` if no candidate is similar enough. Case matters only if two candidates are equally similar.
    pub fn nearest<'a>(
        name: &str,
        candidates: impl IntoIterator<Item = &'a str>,
    ) -> Option<&'a str> {
        if name.len() > MAX_NAME {
            return None;
        }
        let lower = name.to_lowercase();
        let likeness = |candidate: &'a str| {
            let without_case = strsim::jaro(&lower, &candidate.to_lowercase());
            (without_case, strsim::jaro(name, candidate), candidate)
        };
        let short = candidates.into_iter().filter(|it| it.len() <= MAX_NAME);
        let best = short.map(likeness);
        let best = best.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)))?;
        // The threshold that clap uses for misspelt options.
        (best.0 > 0.7).then_some(best.2)
    }

    /// Returns a suggestion to append to a message about an unknown name.
    ///
    /// The suggestion is the known name that was probably meant. Returns `None` if no known name is similar.
    pub fn did_you_mean<'a>(
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Option<String> {
        let nearest = nearest(name, known).filter(|nearest| *nearest != name)?;
        Some(format!("; did you mean `{}`?", escape::name(nearest)))
    }

    /// Returns a suggestion or a list of names to append to a message about an unknown name.
    ///
    /// The suggestion is the known name that was probably meant. If none is similar, all known names are listed.
    pub fn known_names<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
        let known: Vec<&str> = known.into_iter().collect();
        did_you_mean(name, known.iter().copied()).unwrap_or_else(|| match &*known {
            [] => String::new(),
            known => format!(", only {}", escape::names(known.iter().copied())),
        })
    }

    /// Returns a suggestion or a list of fields to append to a message about a missing field.
    ///
    /// The suggestion is the field that was probably meant. If none is similar, all fields are listed.
    ///
    /// `row` is what the message calls the row.
    pub fn known_fields<'a>(
        row: &str,
        name: &str,
        fields: impl IntoIterator<Item = &'a str>,
    ) -> String {
        let fields: Vec<&str> = fields.into_iter().collect();
        did_you_mean(name, fields.iter().copied()).unwrap_or_else(|| match &*fields {
            [] => format!("; {row} has no fields"),
            fields => format!("; {row} has {}", escape::names(fields.iter().copied())),
        })
    }

    #[cfg(test)]
    mod tests {
        use super::nearest;

        #[test]
        fn another_case_is_a_misspelling() {
            assert_eq!(nearest("EM", ["f1", "em", "bleu"]), Some("em"));
            assert_eq!(nearest("Rouge_L", ["rouge_1", "rouge_l"]), Some("rouge_l"));
            // Names that differ only in case are different fields.
            assert_eq!(
                nearest("Answr", ["answer", "Answer", "ANSWER"]),
                Some("Answer")
            );
            assert_eq!(
                nearest("ANSWR", ["answer", "Answer", "ANSWER"]),
                Some("ANSWER")
            );
            assert_eq!(nearest("X", ["f1", "em"]), None);
        }

        #[test]
        fn long_names_are_not_compared() {
            assert_eq!(
                nearest("acuracy", ["f1", "accuracy", "em"]),
                Some("accuracy")
            );
            // Quadratic work would take hours.
            let (a, b) = ("ab".repeat(2_000_000), "ba".repeat(2_000_000));
            assert_eq!(nearest(&a, [&*b, &a]), None);
            assert_eq!(nearest("accuracy", [&*b, "acuracy"]), Some("acuracy"));
        }
    }
}

pub mod formula {
    //! Escapes strings in CSV files that a spreadsheet would evaluate as formulas.
    //!
    //! Spreadsheets evaluate a cell if its first character starts a formula (OWASP, "CSV Injection"). A leading apostrophe
    //! marks the cell as text. A string that begins like a list or object gets an apostrophe too, so it is read back as a
    //! string. The escape is lossless: a string that already has apostrophes before such a character gets one more.

    use std::borrow::Cow;

    use crate::json::read::may_be_literal;

    /// The characters that begin a formula. Some spreadsheets treat the full-width forms like the usual ones.
    const TRIGGERS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

    /// Returns `true` if the string, after any leading apostrophes, is a formula or begins like a list or object.
    fn needs_escape(text: &str) -> bool {
        let text = text.trim_start_matches('\'');
        text.starts_with(TRIGGERS) || may_be_literal(text)
    }

    /// Adds an apostrophe to a string that a spreadsheet could read as a formula.
    ///
    /// An apostrophe is also added if the string begins like a list or object. This check skips any leading apostrophes
    /// in the string.
    pub fn escaped(text: &str) -> Cow<'_, str> {
        match needs_escape(text) {
            true => Cow::Owned(format!("'{text}")),
            false => Cow::Borrowed(text),
        }
    }

    /// Removes the apostrophe that [`escaped`] added.
    ///
    /// Returns `text` unchanged if [`escaped`] cannot have produced it.
    pub fn unescaped(text: &str) -> &str {
        match text.strip_prefix('\'') {
            Some(inner) if needs_escape(inner) => inner,
            _ => text,
        }
    }

    #[cfg(test)]
    mod tests {
        use std::collections::HashSet;

        use super::{TRIGGERS, escaped, unescaped};

        #[test]
        fn a_formula_gets_one_apostrophe() {
            let formulas = [
                "=cmd|' /C calc'!A0",
                "+1",
                "-2+3",
                "-",
                "@SUM(1)",
                "\t=1",
                "\r=1",
                "\n=1",
                "＝1",
                "＠x",
            ];
            for formula in formulas {
                assert_eq!(escaped(formula), format!("'{formula}"));
                assert_eq!(escaped(&format!("'{formula}")), format!("''{formula}"));
            }
            for list in ["[1]", " ['a']", "{\"a\": 1}", "array([1])"] {
                assert_eq!(escaped(list), format!("'{list}"));
            }
            for harmless in [
                "", "a=b", "0-5", " =1", "'", "'tis", "''", "\"=1\"", "a[1]", "é",
            ] {
                assert_eq!(
                    (&*escaped(harmless), unescaped(harmless)),
                    (harmless, harmless)
                );
            }
        }

        /// Tests all strings of up to six characters from an alphabet.
        #[test]
        fn escaping_is_lossless_and_leaves_no_formula() {
            let mut strings = vec![String::new()];
            for _ in 0..6 {
                let longer: Vec<String> = strings
                    .iter()
                    .flat_map(|text| "'=-\ta".chars().map(move |c| format!("{text}{c}")))
                    .collect();
                strings.extend(longer);
            }
            let strings: HashSet<String> = strings.into_iter().collect();
            assert_eq!(
                strings.len(),
                (0..=6).map(|length| 5_usize.pow(length)).sum::<usize>()
            );
            let cells: HashSet<_> = strings.iter().map(|text| escaped(text)).collect();
            assert_eq!(
                cells.len(),
                strings.len(),
                "different strings have different cells"
            );
            for text in &strings {
                assert!(!escaped(text).starts_with(TRIGGERS), "{text:?}");
                assert_eq!(unescaped(&escaped(text)), text);
            }
        }
    }
}

pub mod hash {
    //! Hexadecimal hashes that a run uses to compare contents with those of an earlier run.

    use std::io::{self, Read};

    use sha2::{Digest, Sha256};

    /// Returns the first 16 bytes of the SHA-256 hash of `bytes`, in hexadecimal.
    pub fn of_bytes(bytes: &[u8]) -> String {
        hexadecimal(&Sha256::digest(bytes)[..16])
    }

    /// Reads everything from `from` and returns the start of the content's SHA-256 hash.
    ///
    /// The first 16 bytes of the hash are returned in hexadecimal.
    pub fn of_reader(mut from: impl Read) -> io::Result<String> {
        let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
        loop {
            match from.read(&mut buffer) {
                Ok(0) => return Ok(hexadecimal(&hash.finalize()[..16])),
                Ok(read) => hash.update(&buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the SHA-256 hash of `bytes`, in hexadecimal.
    pub fn sha256(bytes: &[u8]) -> String {
        hexadecimal(&Sha256::digest(bytes))
    }

    /// Formats bytes in hexadecimal, with two lower-case digits for each byte.
    pub fn hexadecimal(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    #[derive(thiserror::Error)]
    enum Failure {
        #[error("cannot read `a`: {0}")]
        Shown(#[source] io::Error),
        #[error("cannot read `a`")]
        Hidden(#[source] io::Error),
        #[error("run 1 failed")]
        Nested(#[source] Box<Self>),
    }
    crate::debug_as_display!(Failure);

    #[test]
    fn debug_is_the_message_with_each_source_once() {
        let cause = || io::Error::other("no such file");
        assert_eq!(
            format!("{:?}", Failure::Shown(cause())),
            "cannot read `a`: no such file"
        );
        assert_eq!(
            format!("{:#?}", Failure::Hidden(cause())),
            "cannot read `a`: no such file"
        );
        let nested = Failure::Nested(Box::new(Failure::Hidden(cause())));
        assert_eq!(
            format!("{nested:?}"),
            "run 1 failed: cannot read `a`: no such file"
        );
    }
}
