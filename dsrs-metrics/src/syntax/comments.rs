//! Which comments a text of unknown language may have, judged by the marks in it.

/// How comments and single quotes are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rules {
    /// What begins a comment that ends with the line.
    pub(super) line: &'static str,
    /// Whether `/* */` is a comment.
    pub(super) block: bool,
    /// Whether `'a` may be a name (a Rust lifetime), so that only `'a'` and `'\n'` are texts.
    pub(super) lifetimes: bool,
}

const C: Rules = Rules { line: "//", block: true, lifetimes: false };
const RUST: Rules = Rules { lifetimes: true, ..C };
const SCRIPT: Rules = Rules { line: "#", block: false, lifetimes: false };
const SQL: Rules = Rules { line: "--", block: true, lifetimes: false };
const PLAIN: Rules = Rules { line: "", block: false, lifetimes: false };

/// Whether a mark is there, and whether it can only be a comment's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    None,
    Maybe,
    Sure,
}

/// The rules that the text may follow: those whose comments it has. `//` may also divide, `#` begin a colour and `--`
/// subtract twice; where it is not sure to be a comment, the text may have none as well.
pub(super) fn candidates(text: &str) -> Vec<Rules> {
    let slash = if text.contains("/*") { Mark::Sure } else { strongest(text, "//", slashes) };
    let hash = strongest(text, "#", hash);
    let dash = strongest(text, "--", dashes);
    let mut rules = Vec::with_capacity(4);
    if [slash, hash, dash].iter().all(|mark| *mark < Mark::Sure) {
        rules.push(PLAIN);
    }
    for (mark, with) in [(slash, C), (hash, SCRIPT), (dash, SQL)] {
        if mark > Mark::None {
            rules.push(with);
        }
    }
    let may_be_rust = rules.contains(&C) || rules.contains(&PLAIN);
    if may_be_rust && has_lifetime(text) {
        rules.push(RUST);
    }
    rules
}

/// The strongest of the marks, each judged by what stands around it in its line.
fn strongest(text: &str, mark: &str, judge: fn(&str, &str) -> Mark) -> Mark {
    let mut strongest = Mark::None;
    for line in text.lines() {
        // The first of a line decides: the others stand in its comment, or are as doubtful.
        if let Some((before, after)) = line.split_once(mark) {
            strongest = strongest.max(judge(before, after));
        }
        if strongest == Mark::Sure {
            break;
        }
    }
    strongest
}

fn is_operand(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | ')' | ']')
}

fn slashes(before: &str, after: &str) -> Mark {
    let left = before.trim_end().chars().next_back();
    let right = after.trim_start().chars().next();
    let divides = left.is_some_and(is_operand)
        && right.is_some_and(|c| c == '_' || c == '(' || c.is_alphanumeric());
    match before.ends_with(':') {
        true => Mark::None,
        false if divides => Mark::Maybe,
        false => Mark::Sure,
    }
}

fn hash(before: &str, after: &str) -> Mark {
    let starts = before.is_empty() || before.ends_with(char::is_whitespace);
    match after.chars().next() {
        _ if !starts => Mark::None,
        None | Some(' ' | '!' | '#') => Mark::Sure,
        Some(_) => Mark::Maybe,
    }
}

fn dashes(before: &str, after: &str) -> Mark {
    let starts = before.is_empty() || before.ends_with(char::is_whitespace);
    match after.chars().next() {
        None | Some(' ') if starts && !before.trim().is_empty() => Mark::Sure,
        _ if starts => Mark::Maybe,
        _ => Mark::None,
    }
}

/// Whether a name with a single quote in front stands behind `&` or `<`, as only lifetimes do.
fn has_lifetime(text: &str) -> bool {
    text.match_indices('\'').any(|(at, _)| {
        let mut after = text[at + 1..].chars();
        let named = after.next().is_some_and(|c| c.is_alphabetic() || c == '_');
        named && text[..at].ends_with(['&', '<']) && after.next() != Some('\'')
    })
}
