//! Checks that brackets and quotes are balanced in code of an unknown language.

use std::sync::LazyLock;

use regex::Regex;

use super::Diagnostic;

/// Options for checking that brackets and quotes are balanced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BalanceOptions {
    /// If `true`, checks that `()`, `[]` and `{}` are closed in the right order.
    pub brackets: bool,
    /// If `true`, checks that strings starting with `"` or `'` are closed.
    ///
    /// A string that starts with `'` must be closed on the same line.
    pub quotes: bool,
}

/// Returns the first unbalanced bracket or quote, or `None` if all are balanced.
///
/// Brackets in strings and comments are ignored. Strings can be `".."`, `'..'`, their triple forms, `` `..` ``, or
/// Rust's `r#".."#`, with backslash escapes. An apostrophe inside a word, as in `don't`, does not start a string.
///
/// The comment syntax (`//` and `/* */`, `#`, or `--`) is guessed from the code, because the language is unknown. For
/// example, `a // b` is a division in Python but contains a comment in other languages. Ambiguous code is accepted if
/// it is balanced under any interpretation.
///
/// Time and memory are linear in the length of the code.
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
    // If the code is unbalanced under every interpretation, the one that gets furthest is most likely right.
    let mut furthest: Option<Imbalance> = None;
    for syntax in candidates(code) {
        let scan = Scan {
            code,
            bytes: code.as_bytes(),
            comments: syntax,
            options,
            at: 0,
            open: Vec::new(),
            unclosed: [0; QUOTES.len()],
        };
        let found = scan.run()?;
        if furthest.as_ref().is_none_or(|(at, _)| found.0 > *at) {
            furthest = Some(found);
        }
    }
    furthest.map(|(at, message)| Diagnostic::at(code, at, message))
}

/// Scans the code under one interpretation of the comments. The scan works on bytes, because all relevant characters
/// are ASCII.
struct Scan<'a> {
    code: &'a str,
    bytes: &'a [u8],
    comments: CommentSyntax,
    options: BalanceOptions,
    at: usize,
    /// The offsets of the open brackets.
    open: Vec<usize>,
    /// For each quote in [`QUOTES`], the offset up to which there is no closing quote, so that no range is searched
    /// twice.
    unclosed: [usize; QUOTES.len()],
}

/// The byte offset of an unbalanced character, and a message.
type Imbalance = (usize, String);

/// The kinds of quotes whose closing quotes are tracked separately.
const QUOTES: [&str; 4] = ["```", "`", "'", "\""];

impl Scan<'_> {
    fn run(mut self) -> Option<Imbalance> {
        while let Some(&byte) = self.bytes.get(self.at) {
            let start = self.at;
            self.at += 1;
            let message = match byte {
                b'"' | b'\'' | b'`' => self.quote(start, char::from(byte)),
                b'(' | b'[' | b'{' if self.options.brackets => {
                    self.open.push(start);
                    None
                }
                b')' | b']' | b'}' if self.options.brackets => self.closing_bracket(byte),
                _ => self.comment(start),
            };
            if let Some(message) = message {
                return Some((start, message));
            }
        }
        let start = *self.open.first()?;
        let bracket = char::from(self.bytes[start]);
        Some((start, format!("`{bracket}` is never closed")))
    }

    /// Skips the comment that starts at a position, if there is one. Returns a message if the comment does not end.
    fn comment(&mut self, start: usize) -> Option<String> {
        let rest = &self.bytes[start..];
        let line = self.comments.line;
        if self.comments.block && rest.starts_with(b"/*") {
            let Some(length) = self.code[start + 2..].find("*/") else {
                return Some("`/*` is never closed".to_owned());
            };
            self.at = start + 2 + length + 2;
        } else if !line.is_empty() && rest.starts_with(line.as_bytes()) && self.may_comment(start) {
            self.at = self.line_end(start);
        }
        None
    }

    /// Returns `true` if the marker at this position can start a comment, unlike a marker in a URL (`https://`) or a
    /// word (`C#`, `i--`).
    fn may_comment(&self, start: usize) -> bool {
        let before = start.checked_sub(1).map(|at| self.bytes[at]);
        match (self.comments.line, before) {
            ("//", before) => before != Some(b':'),
            (_, None) => true,
            (_, Some(before)) => {
                before.is_ascii_whitespace() || matches!(before, b';' | b')' | b']' | b'}' | b',')
            }
        }
    }

    fn line_end(&self, start: usize) -> usize {
        let length = self.code[start..].find('\n');
        length.map_or(self.bytes.len(), |length| start + length)
    }

    /// Closes the innermost bracket. Returns a message if that bracket is of a different kind.
    fn closing_bracket(&mut self, close: u8) -> Option<String> {
        let open = match close {
            b')' => b'(',
            b']' => b'[',
            _ => b'{',
        };
        let close = char::from(close);
        match self.open.pop() {
            None => Some(format!("unmatched `{close}`")),
            Some(start) if self.bytes[start] != open => {
                let line = Diagnostic::at(self.code, start, String::new()).line;
                let found = char::from(self.bytes[start]);
                Some(format!("`{close}` does not match `{found}` on line {line}"))
            }
            Some(_) => None,
        }
    }

    /// Skips the string that starts at a position, if there is one. Returns a message if the string does not end.
    fn quote(&mut self, start: usize, quote: char) -> Option<String> {
        if quote == '\'' && self.is_apostrophe(start) {
            return None;
        }
        if quote == '\'' && self.comments.lifetimes {
            self.at = self.char_literal(start).unwrap_or(start + 1);
            return None;
        }
        let is_triple = self.code[start..].starts_with(&*quote.to_string().repeat(3));
        let opening = &self.code[start..start + if is_triple { 3 } else { 1 }];
        let kind = QUOTES
            .iter()
            .position(|quotes| opening.starts_with(quotes))?;
        let is_searched = start < self.unclosed[kind];
        let end = match self.raw_hashes(start).filter(|_| quote == '"') {
            _ if is_searched => None,
            Some(hashes) => {
                let close = format!("\"{}", "#".repeat(hashes));
                let length = self.code[start + 1..].find(&close);
                length.map(|length| start + 1 + length + close.len())
            }
            None => self.closed_by(opening, start + opening.len(), opening == "'"),
        };
        if let Some(end) = end {
            self.at = end;
            return None;
        }
        if !is_searched {
            self.unclosed[kind] = match opening {
                "'" => self.line_end(start),
                _ => self.bytes.len(),
            };
        }
        // A truncated code fence or a backtick in prose is not an unbalanced quote.
        if quote == '`' {
            self.at = start + opening.len();
            return None;
        }
        let is_reported = self.options.quotes;
        is_reported.then(|| format!("`{quote}` is never closed"))
    }

    /// Returns the number of `#` between an `r` and the quote at this position, if any.
    fn raw_hashes(&self, start: usize) -> Option<usize> {
        let before = self.code[..start].trim_end_matches('#');
        let hashes = start - before.len();
        (hashes > 0 && before.ends_with('r')).then_some(hashes)
    }

    /// Returns `true` if the quote at this position is in or directly after a word. The prefix of a string such as
    /// `b'..'` is not a word.
    fn is_apostrophe(&self, start: usize) -> bool {
        let in_word = |c: &char| c.is_alphanumeric() || *c == '_';
        let word = self.code[..start].chars().rev().take(3).take_while(in_word);
        let word: String = word.collect();
        !word.is_empty() && (word.len() > 2 || !word.chars().all(|c| "bBrRuUfF".contains(c)))
    }

    /// Returns the end of the Rust character literal that starts at this position.
    fn char_literal(&self, start: usize) -> Option<usize> {
        let mut rest = self.code[start + 1..].char_indices();
        match rest.next()?.1 {
            '\\' => self.closed_by("'", start + 1, true),
            '\'' | '\n' => None,
            _ => rest
                .next()
                .filter(|(_, c)| *c == '\'')
                .map(|(at, _)| start + 1 + at + 1),
        }
    }

    /// Returns the end of a string after the closing `close`, given the start of its content, `from`. Skips escapes.
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

/// The syntax of comments and single quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CommentSyntax {
    /// The marker of a comment that extends to the end of the line, or an empty string.
    pub(super) line: &'static str,
    /// If `true`, `/* */` is a comment.
    pub(super) block: bool,
    /// If `true`, `'a` can be a Rust lifetime. Then only `'a'` and `'\n'` are literals.
    pub(super) lifetimes: bool,
}

const fn syntax(line: &'static str, block: bool, lifetimes: bool) -> CommentSyntax {
    CommentSyntax {
        line,
        block,
        lifetimes,
    }
}

const C: CommentSyntax = syntax("//", true, false);
const RUST: CommentSyntax = syntax("//", true, true);
const SCRIPT: CommentSyntax = syntax("#", false, false);
const SQL: CommentSyntax = syntax("--", true, false);
const PLAIN: CommentSyntax = syntax("", false, false);

/// For each syntax, a pattern for anything that looks like one of its comments, and a pattern for what can only be a
/// comment. `//` can also be a division, `#` a color and `--` a double negation. Neither the `//` in a URL nor the `#`
/// in `C#` starts a comment.
static MARKERS: LazyLock<[(CommentSyntax, Regex, Regex); 3]> = LazyLock::new(|| {
    let regex = |pattern: &str| Regex::new(pattern).expect("the pattern is valid");
    let no_division = r"(?m)/\*|(?:^|[^\w)\]\s:]|:\s)\s*//|(?:^|[^:])//\s*(?:[^\w(\s]|$)";
    [
        (C, regex(r"(?m)/\*|(?:^|[^:])//"), regex(no_division)),
        (
            SCRIPT,
            regex(r"(?m)(?:^|\s)#"),
            regex(r"(?m)(?:^|\s)#(?:[ !#]|$)"),
        ),
        (SQL, regex(r"(?m)(?:^|\s)--"), regex(r"(?m)\S.*\s--(?: |$)")),
    ]
});

/// Matches a single quote and a name after `&` or `<`, which can only be a lifetime.
static LIFETIME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[&<]'[\p{Alphabetic}_](?:[^']|\z)").expect("the pattern is valid")
});

/// Returns the comment syntaxes that the code may use, based on its markers. Unless a marker can only start a comment,
/// the code may also have no comments.
fn candidates(code: &str) -> Vec<CommentSyntax> {
    let possible = MARKERS.iter().filter(|(_, may, _)| may.is_match(code));
    let is_certain = possible.clone().any(|(.., must)| must.is_match(code));
    let plain = (!is_certain).then_some(PLAIN);
    let possible = possible.map(|(syntax, ..)| *syntax);
    let mut syntaxes: Vec<_> = plain.into_iter().chain(possible).collect();
    let may_be_rust = syntaxes.contains(&C) || syntaxes.contains(&PLAIN);
    if may_be_rust && LIFETIME.is_match(code) {
        syntaxes.push(RUST);
    }
    syntaxes
}
