//! Brackets and quotes of a text whose language is not known.

use super::Fault;
use super::comments::{Rules, candidates};

/// What has to be balanced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Balance {
    /// `()`, `[]` and `{}` must match and nest.
    pub brackets: bool,
    /// A text that is opened by `"` or `'` must be closed, the latter in its own line.
    pub quotes: bool,
}

/// What is not balanced, if anything.
///
/// Brackets in strings and in comments do not count. Strings are `".."`, `'..'`, their triple forms, `` `..` `` and Rust's
/// `r#".."#`, with backslash escapes; an apostrophe inside a word (`don't`) is none. Comments are those whose marks the text
/// has: `//` and `/* */`, `#`, or `--`. Where a mark may mean something else (`a // b` divides in Python) the text is
/// balanced if it is so in one of its readings. Time and memory grow with the text's length, whatever its depth.
///
/// ```
/// use dsrs_metrics::syntax::{Balance, unbalanced};
///
/// let all = Balance { brackets: true, quotes: true };
/// assert_eq!(unbalanced("f(')', \"]\")  # :-(", all), None);
/// assert_eq!(unbalanced("f(\n  [1, 2)", all).unwrap().to_string(), "line 2, column 8: `)` closes `[` of line 2");
/// ```
#[must_use]
pub fn unbalanced(text: &str, balance: Balance) -> Option<Fault> {
    let mut furthest: Option<(usize, String)> = None;
    for rules in candidates(text) {
        let (at, what) = Scan::new(text, rules, balance).run()?;
        if furthest.as_ref().is_none_or(|(other, _)| at > *other) {
            furthest = Some((at, what));
        }
    }
    furthest.map(|(at, what)| Fault::at(text, at, what))
}

/// One reading of the text. Everything that is looked for is ASCII, so bytes will do.
struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    rules: Rules,
    balance: Balance,
    at: usize,
    open: Vec<usize>,
    /// Up to where each kind of quote is known not to be closed, so that nothing is searched for twice.
    unclosed: [usize; KINDS],
}

type Flaw = (usize, String);

const DOUBLE: usize = 0;
const SINGLE: usize = 1;
const BACK: usize = 2;
const FENCE: usize = 3;
const KINDS: usize = 4;

impl<'a> Scan<'a> {
    fn new(text: &'a str, rules: Rules, balance: Balance) -> Self {
        let bytes = text.as_bytes();
        Self { text, bytes, rules, balance, at: 0, open: Vec::new(), unclosed: [0; KINDS] }
    }

    fn run(mut self) -> Option<Flaw> {
        while let Some(&byte) = self.bytes.get(self.at) {
            let flaw = match byte {
                b'"' => self.double_quote(),
                b'\'' => self.single_quote(),
                b'`' => self.back_quote(),
                b'(' | b'[' | b'{' => self.opens(),
                b')' | b']' | b'}' => self.closes(byte),
                _ => self.other(),
            };
            if flaw.is_some() {
                return flaw;
            }
        }
        let at = *self.open.first()?;
        Some((at, format!("`{}` is never closed", char::from(self.bytes[at]))))
    }

    fn starts_with(&self, prefix: &str) -> bool {
        self.bytes[self.at..].starts_with(prefix.as_bytes())
    }

    fn other(&mut self) -> Option<Flaw> {
        if self.rules.block && self.starts_with("/*") {
            let start = self.at;
            return match self.text[start + 2..].find("*/") {
                Some(length) => {
                    self.at = start + 2 + length + 2;
                    None
                }
                None => Some((start, "`/*` is never closed".to_owned())),
            };
        }
        if !self.rules.line.is_empty() && self.starts_with(self.rules.line) && self.may_comment() {
            self.at = self.line_end();
            return None;
        }
        self.at += 1;
        None
    }

    /// Whether the mark here begins a comment: not that of an address (`https://`), nor one inside a word (`C#`, `i--`).
    fn may_comment(&self) -> bool {
        let before = self.at.checked_sub(1).map(|at| self.bytes[at]);
        match (self.rules.line, before) {
            ("//", before) => before != Some(b':'),
            (_, None) => true,
            (_, Some(before)) => {
                before.is_ascii_whitespace() || matches!(before, b';' | b')' | b']' | b'}' | b',')
            }
        }
    }

    fn line_end(&self) -> usize {
        let rest = &self.bytes[self.at..];
        rest.iter().position(|&byte| byte == b'\n').map_or(self.bytes.len(), |end| self.at + end)
    }

    fn opens(&mut self) -> Option<Flaw> {
        if self.balance.brackets {
            self.open.push(self.at);
        }
        self.at += 1;
        None
    }

    fn closes(&mut self, close: u8) -> Option<Flaw> {
        let at = self.at;
        self.at += 1;
        if !self.balance.brackets {
            return None;
        }
        let open = match close {
            b')' => b'(',
            b']' => b'[',
            _ => b'{',
        };
        let close = char::from(close);
        match self.open.pop() {
            None => Some((at, format!("`{close}` closes nothing"))),
            Some(start) if self.bytes[start] != open => {
                let line = Fault::at(self.text, start, String::new()).line;
                let found = char::from(self.bytes[start]);
                Some((at, format!("`{close}` closes `{found}` of line {line}")))
            }
            Some(_) => None,
        }
    }

    fn double_quote(&mut self) -> Option<Flaw> {
        let start = self.at;
        let end = match self.raw_hashes() {
            _ if self.is_dead(DOUBLE) => None,
            Some(hashes) => {
                let close = format!("\"{}", "#".repeat(hashes));
                self.text[start + 1..].find(&close).map(|at| start + 1 + at + close.len())
            }
            None if self.starts_with("\"\"\"") => self.closed_by("\"\"\"", start + 3, false),
            None => self.closed_by("\"", start + 1, false),
        };
        self.after_quote(DOUBLE, end)
    }

    fn is_dead(&self, kind: usize) -> bool {
        self.at < self.unclosed[kind]
    }

    /// How many `#` stand between an `r` and the quote here, if any do.
    fn raw_hashes(&self) -> Option<usize> {
        let before = &self.bytes[..self.at];
        let hashes = before.iter().rev().take_while(|&&byte| byte == b'#').count();
        let is_raw = hashes > 0 && before[..before.len() - hashes].ends_with(b"r");
        is_raw.then_some(hashes)
    }

    fn single_quote(&mut self) -> Option<Flaw> {
        let start = self.at;
        if self.is_apostrophe() {
            self.at += 1;
            return None;
        }
        if self.rules.lifetimes {
            self.at = self.char_literal().unwrap_or(start + 1);
            return None;
        }
        let end = match self.starts_with("'''") {
            _ if self.is_dead(SINGLE) => None,
            true => self.closed_by("'''", start + 3, false),
            false => self.closed_by("'", start + 1, true),
        };
        self.after_quote(SINGLE, end)
    }

    /// Whether the quote here stands inside or behind a word. `b'..'` and its like are texts.
    fn is_apostrophe(&self) -> bool {
        let before = self.text[..self.at].chars().next_back();
        if !before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            return false;
        }
        let is_letter = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let word = self.bytes[..self.at].iter().rev().take(3).take_while(is_letter);
        let word: Vec<u8> = word.copied().collect();
        let is_prefix = word.len() <= 2
            && word.iter().all(|byte| b"bBrRuUfF".contains(byte))
            && before.is_some_and(|c| c.is_ascii());
        !is_prefix
    }

    /// Where the Rust character that begins here ends.
    fn char_literal(&self) -> Option<usize> {
        let mut rest = self.text[self.at + 1..].char_indices();
        match rest.next()?.1 {
            '\\' => self.closed_by("'", self.at + 1, true),
            '\'' | '\n' => None,
            _ => rest.next().filter(|(_, c)| *c == '\'').map(|(at, _)| self.at + 1 + at + 1),
        }
    }

    fn back_quote(&mut self) -> Option<Flaw> {
        let (fence, kind) = match self.starts_with("```") {
            true => ("```", FENCE),
            false => ("`", BACK),
        };
        let from = self.at + fence.len();
        let end = (!self.is_dead(kind)).then(|| self.closed_by(fence, from, false)).flatten();
        if end.is_none() {
            // A fence that was cut off, or a mark in prose: no fault of brackets or quotes.
            self.unclosed[kind] = self.bytes.len();
        }
        self.at = end.unwrap_or(from);
        None
    }

    fn after_quote(&mut self, kind: usize, end: Option<usize>) -> Option<Flaw> {
        let start = self.at;
        if end.is_none() && !self.is_dead(kind) {
            let in_line = kind == SINGLE && !self.starts_with("'''");
            self.unclosed[kind] = if in_line { self.line_end() } else { self.bytes.len() };
        }
        self.at = end.unwrap_or(start + 1);
        let quote = char::from(self.bytes[start]);
        let is_flaw = end.is_none() && self.balance.quotes;
        is_flaw.then(|| (start, format!("`{quote}` is never closed")))
    }

    /// Where the text from `from` on that ends with `close` ends, escapes skipped.
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
