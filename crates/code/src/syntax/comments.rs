//! Comment syntax of code in an unknown language, guessed from its comment markers.

/// The syntax of comments and single quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CommentSyntax {
    /// The marker of a comment that extends to the end of the line, or an empty string.
    pub(super) line: &'static str,
    /// `true` if `/* */` is a comment.
    pub(super) block: bool,
    /// `true` if `'a` may be a Rust lifetime. Then only `'a'` and `'\n'` are literals.
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

/// How certain it is that a marker starts a comment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Evidence {
    None,
    Possible,
    Certain,
}

/// Returns the comment syntaxes that the code may use, based on its markers. `//` may also be a division, `#` a color
/// and `--` a double negation. Unless a marker certainly starts a comment, the code may also have none.
pub(super) fn candidates(code: &str) -> Vec<CommentSyntax> {
    let slash = if code.contains("/*") {
        Evidence::Certain
    } else {
        strongest(code, "//", slashes)
    };
    let hash = strongest(code, "#", hash);
    let dash = strongest(code, "--", dashes);
    let mut syntaxes = Vec::with_capacity(4);
    if [slash, hash, dash]
        .iter()
        .all(|evidence| *evidence < Evidence::Certain)
    {
        syntaxes.push(PLAIN);
    }
    for (evidence, syntax) in [(slash, C), (hash, SCRIPT), (dash, SQL)] {
        if evidence > Evidence::None {
            syntaxes.push(syntax);
        }
    }
    let may_be_rust = syntaxes.contains(&C) || syntaxes.contains(&PLAIN);
    if may_be_rust && has_lifetime(code) {
        syntaxes.push(RUST);
    }
    syntaxes
}

/// Returns the strongest evidence for a marker in any line, judged by the characters around it.
fn strongest(code: &str, marker: &str, judge: fn(&str, &str) -> Evidence) -> Evidence {
    let mut strongest = Evidence::None;
    for line in code.lines() {
        // The first marker on a line decides: later ones are in its comment, or as uncertain as it is.
        if let Some((before, after)) = line.split_once(marker) {
            strongest = strongest.max(judge(before, after));
        }
        if strongest == Evidence::Certain {
            break;
        }
    }
    strongest
}

fn is_operand(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | ')' | ']')
}

fn slashes(before: &str, after: &str) -> Evidence {
    let left = before.trim_end().chars().next_back();
    let right = after.trim_start().chars().next();
    let divides = left.is_some_and(is_operand)
        && right.is_some_and(|c| c == '_' || c == '(' || c.is_alphanumeric());
    match before.ends_with(':') {
        true => Evidence::None,
        false if divides => Evidence::Possible,
        false => Evidence::Certain,
    }
}

fn hash(before: &str, after: &str) -> Evidence {
    let starts = before.is_empty() || before.ends_with(char::is_whitespace);
    match after.chars().next() {
        _ if !starts => Evidence::None,
        None | Some(' ' | '!' | '#') => Evidence::Certain,
        Some(_) => Evidence::Possible,
    }
}

fn dashes(before: &str, after: &str) -> Evidence {
    let starts = before.is_empty() || before.ends_with(char::is_whitespace);
    match after.chars().next() {
        None | Some(' ') if starts && !before.trim().is_empty() => Evidence::Certain,
        _ if starts => Evidence::Possible,
        _ => Evidence::None,
    }
}

/// Returns `true` if a single quote and a name follow `&` or `<`, which only lifetimes do.
fn has_lifetime(code: &str) -> bool {
    code.match_indices('\'').any(|(at, _)| {
        let mut after = code[at + 1..].chars();
        let is_name = after.next().is_some_and(|c| c.is_alphabetic() || c == '_');
        is_name && code[..at].ends_with(['&', '<']) && after.next() != Some('\'')
    })
}
