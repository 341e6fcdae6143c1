//! Checks that brackets and quotes are balanced in code of an unknown language.

use super::Diagnostic;
use super::comments::{CommentSyntax, candidates};

/// Selects which characters must be balanced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BalanceOptions {
    /// `true` if `()`, `[]` and `{}` must match and nest.
    pub brackets: bool,
    /// `true` if a string that starts with `"` or `'` must be closed. A string that starts with `'` must be closed on
    /// the same line.
    pub quotes: bool,
}

/// Returns the first unbalanced bracket or quote, or `None` if all are balanced.
///
/// Brackets in strings and comments are ignored. Strings are `".."`, `'..'`, their triple forms, `` `..` `` and Rust's
/// `r#".."#`, with backslash escapes; an apostrophe in a word (`don't`) does not start a string. The comment syntax is
/// guessed from the markers in the code: `//` and `/* */`, `#`, or `--`. If a marker is ambiguous (`a // b` is a
/// division in Python), the code counts as balanced if it is balanced under any interpretation. Time and memory are
/// linear in the length of the code, even if it is deeply nested.
///
/// ```
/// use dsrs_metrics::syntax::{BalanceOptions, check_balance};
///
/// let all = BalanceOptions { brackets: true, quotes: true };
/// assert_eq!(check_balance("f(')', \"]\")  # :-(", all), None);
/// let error = check_balance("f(\n  [1, 2)", all).unwrap();
/// assert_eq!(error.to_string(), "line 2, column 8: `)` does not match `[` on line 2");
/// ```
pub fn check_balance(code: &str, options: BalanceOptions) -> Option<Diagnostic> {
    // If the code is unbalanced under every interpretation, the one that gets furthest is the most likely.
    let mut furthest: Option<Imbalance> = None;
    for syntax in candidates(code) {
        let found = Scan::new(code, syntax, options).run()?;
        if furthest.as_ref().is_none_or(|(at, _)| found.0 > *at) {
            furthest = Some(found);
        }
    }
    furthest.map(|(at, message)| Diagnostic::at(code, at, message))
}

/// A scan under one interpretation of the comments. It works on bytes, because all relevant characters are ASCII.
struct Scan<'a> {
    code: &'a str,
    bytes: &'a [u8],
    comments: CommentSyntax,
    options: BalanceOptions,
    at: usize,
    /// The offsets of the open brackets.
    open: Vec<usize>,
    /// For each kind of quote, the offset up to which no closing quote exists, so no range is searched twice.
    unclosed: [usize; KINDS],
}

/// The byte offset of an unbalanced character, and a message.
type Imbalance = (usize, String);

const DOUBLE: usize = 0;
const SINGLE: usize = 1;
const BACK: usize = 2;
const FENCE: usize = 3;
const KINDS: usize = 4;

impl<'a> Scan<'a> {
    fn new(code: &'a str, comments: CommentSyntax, options: BalanceOptions) -> Self {
        let bytes = code.as_bytes();
        Self {
            code,
            bytes,
            comments,
            options,
            at: 0,
            open: Vec::new(),
            unclosed: [0; KINDS],
        }
    }

    fn run(mut self) -> Option<Imbalance> {
        while let Some(&byte) = self.bytes.get(self.at) {
            let found = match byte {
                b'"' => self.double_quote(),
                b'\'' => self.single_quote(),
                b'`' => self.back_quote(),
                b'(' | b'[' | b'{' => self.opening_bracket(),
                b')' | b']' | b'}' => self.closing_bracket(byte),
                _ => self.comment_or_other(),
            };
            if found.is_some() {
                return found;
            }
        }
        let at = *self.open.first()?;
        Some((
            at,
            format!("`{}` is never closed", char::from(self.bytes[at])),
        ))
    }

    fn starts_with(&self, prefix: &str) -> bool {
        self.bytes[self.at..].starts_with(prefix.as_bytes())
    }

    fn comment_or_other(&mut self) -> Option<Imbalance> {
        if self.comments.block && self.starts_with("/*") {
            let start = self.at;
            return match self.code[start + 2..].find("*/") {
                Some(length) => {
                    self.at = start + 2 + length + 2;
                    None
                }
                None => Some((start, "`/*` is never closed".to_owned())),
            };
        }
        if !self.comments.line.is_empty()
            && self.starts_with(self.comments.line)
            && self.may_start_comment()
        {
            self.at = self.line_end();
            return None;
        }
        self.at += 1;
        None
    }

    /// Returns `true` if the marker at this position can start a comment: not in a URL (`https://`) or a word (`C#`,
    /// `i--`).
    fn may_start_comment(&self) -> bool {
        let before = self.at.checked_sub(1).map(|at| self.bytes[at]);
        match (self.comments.line, before) {
            ("//", before) => before != Some(b':'),
            (_, None) => true,
            (_, Some(before)) => {
                before.is_ascii_whitespace() || matches!(before, b';' | b')' | b']' | b'}' | b',')
            }
        }
    }

    fn line_end(&self) -> usize {
        let rest = &self.bytes[self.at..];
        rest.iter()
            .position(|&byte| byte == b'\n')
            .map_or(self.bytes.len(), |end| self.at + end)
    }

    fn opening_bracket(&mut self) -> Option<Imbalance> {
        if self.options.brackets {
            self.open.push(self.at);
        }
        self.at += 1;
        None
    }

    fn closing_bracket(&mut self, close: u8) -> Option<Imbalance> {
        let at = self.at;
        self.at += 1;
        if !self.options.brackets {
            return None;
        }
        let open = match close {
            b')' => b'(',
            b']' => b'[',
            _ => b'{',
        };
        let close = char::from(close);
        match self.open.pop() {
            None => Some((at, format!("unmatched `{close}`"))),
            Some(start) if self.bytes[start] != open => {
                let line = Diagnostic::at(self.code, start, String::new()).line;
                let found = char::from(self.bytes[start]);
                Some((
                    at,
                    format!("`{close}` does not match `{found}` on line {line}"),
                ))
            }
            Some(_) => None,
        }
    }

    fn double_quote(&mut self) -> Option<Imbalance> {
        let start = self.at;
        let end = match self.raw_hashes() {
            _ if self.is_unclosed(DOUBLE) => None,
            Some(hashes) => {
                let close = format!("\"{}", "#".repeat(hashes));
                self.code[start + 1..]
                    .find(&close)
                    .map(|at| start + 1 + at + close.len())
            }
            None if self.starts_with("\"\"\"") => self.closed_by("\"\"\"", start + 3, false),
            None => self.closed_by("\"", start + 1, false),
        };
        self.after_quote(DOUBLE, end)
    }

    fn is_unclosed(&self, kind: usize) -> bool {
        self.at < self.unclosed[kind]
    }

    /// Returns the number of `#` between an `r` and the quote at this position, if any.
    fn raw_hashes(&self) -> Option<usize> {
        let before = &self.bytes[..self.at];
        let hashes = before
            .iter()
            .rev()
            .take_while(|&&byte| byte == b'#')
            .count();
        let is_raw = hashes > 0 && before[..before.len() - hashes].ends_with(b"r");
        is_raw.then_some(hashes)
    }

    fn single_quote(&mut self) -> Option<Imbalance> {
        let start = self.at;
        if self.is_apostrophe() {
            self.at += 1;
            return None;
        }
        if self.comments.lifetimes {
            self.at = self.char_literal().unwrap_or(start + 1);
            return None;
        }
        let end = match self.starts_with("'''") {
            _ if self.is_unclosed(SINGLE) => None,
            true => self.closed_by("'''", start + 3, false),
            false => self.closed_by("'", start + 1, true),
        };
        self.after_quote(SINGLE, end)
    }

    /// Returns `true` if the quote at this position is in or after a word. Prefixed strings such as `b'..'`
    /// are not words.
    fn is_apostrophe(&self) -> bool {
        let before = self.code[..self.at].chars().next_back();
        if !before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            return false;
        }
        let is_letter = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let word = self.bytes[..self.at]
            .iter()
            .rev()
            .take(3)
            .take_while(is_letter);
        let word: Vec<u8> = word.copied().collect();
        let is_prefix = word.len() <= 2
            && word.iter().all(|byte| b"bBrRuUfF".contains(byte))
            && before.is_some_and(|c| c.is_ascii());
        !is_prefix
    }

    /// Returns the end of the Rust character literal that starts at this position.
    fn char_literal(&self) -> Option<usize> {
        let mut rest = self.code[self.at + 1..].char_indices();
        match rest.next()?.1 {
            '\\' => self.closed_by("'", self.at + 1, true),
            '\'' | '\n' => None,
            _ => rest
                .next()
                .filter(|(_, c)| *c == '\'')
                .map(|(at, _)| self.at + 1 + at + 1),
        }
    }

    fn back_quote(&mut self) -> Option<Imbalance> {
        let (fence, kind) = match self.starts_with("```") {
            true => ("```", FENCE),
            false => ("`", BACK),
        };
        let from = self.at + fence.len();
        let end = (!self.is_unclosed(kind))
            .then(|| self.closed_by(fence, from, false))
            .flatten();
        if end.is_none() {
            // A truncated code fence, or a backtick in prose, is not an unbalanced quote.
            self.unclosed[kind] = self.bytes.len();
        }
        self.at = end.unwrap_or(from);
        None
    }

    fn after_quote(&mut self, kind: usize, end: Option<usize>) -> Option<Imbalance> {
        let start = self.at;
        if end.is_none() && !self.is_unclosed(kind) {
            let in_line = kind == SINGLE && !self.starts_with("'''");
            self.unclosed[kind] = if in_line {
                self.line_end()
            } else {
                self.bytes.len()
            };
        }
        self.at = end.unwrap_or(start + 1);
        let quote = char::from(self.bytes[start]);
        let is_reported = end.is_none() && self.options.quotes;
        is_reported.then(|| (start, format!("`{quote}` is never closed")))
    }

    /// Returns the end of the string whose content starts at `from`, after the closing `close`. Skips escapes.
    fn closed_by(&self, close: &str, from: usize, in_line: bool) -> Option<usize> {
        let mut at = from;
        while let Some(&byte) = self.bytes.get(at) {
            if byte == b'\\' {
                at += 2;
            } else if in_line && byte == b'\n' {
                return None;
            } else if self.bytes[at..].starts_with(close.as_bytes()) {
                return Some(at + close.len());
            } else {
                at += 1;
            }
        }
        None
    }
}
