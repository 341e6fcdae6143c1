//! Normalization of the folding profiles: compatibility forms, case, quotes, dashes, digits.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use unicode_normalization::UnicodeNormalization as _;

use super::ARTICLES;
use crate::text::numbers::grouped;
use crate::text::regex;
use crate::text::unicode::{
    NormalForm, digit_value, fold_case, is_invisible, is_mark, is_punctuation, is_space,
    is_superscript, is_symbol, is_vulgar_fraction,
};
use crate::text::words::split;

/// How the folding profiles treat punctuation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Marks {
    /// Removes punctuation, and the kinds of symbols that ASCII contains.
    Drop,
    /// Keeps symbols, and punctuation that is part of a number.
    Keep,
}

pub(super) fn normalize(text: &str, marks: Marks) -> String {
    let folded = fold(text, marks);
    let words = match marks {
        Marks::Drop => join_words(&folded.replace(|c| is_punctuation(c) || is_symbol(c), "")),
        Marks::Keep => join_words(&keep_numbers(&folded)),
    };
    // A string that consists only of punctuation is kept: "?" and "!" are different answers, and neither is empty.
    let words = match words.is_empty() {
        true => join_words(&folded),
        false => words,
    };
    NormalForm::Nfc.apply(&words).into_owned()
}

/// Removes articles, unless nothing else is left (the answer "A" is an answer), and joins the words with single spaces.
fn join_words(text: &str) -> String {
    let words: Vec<&str> = split(text).collect();
    let is_content = |word: &&str| !ARTICLES.contains(word);
    let content: Vec<&str> = words.iter().copied().filter(is_content).collect();
    if content.is_empty() { words } else { content }.join(" ")
}

/// Applies NFKD and full case folding, maps quotes, dashes and digits to ASCII, and removes
/// invisible characters.
fn fold(text: &str, marks: Marks) -> String {
    if text.is_ascii() {
        let is_hidden = |c: char| c.is_ascii_control() && !is_space(c);
        return text.to_ascii_lowercase().replace(is_hidden, "");
    }
    let mut out = String::with_capacity(text.len());
    for c in spell_out(text, marks).nfkd() {
        if is_space(c) {
            out.push(' ');
        } else if !is_invisible(c) {
            match digit_value(c) {
                Some(digit) => out.push(char::from(b'0' + digit)),
                None => out.extend(fold_case(ascii_mark(c))),
            }
        }
    }
    out
}

/// Maps quotes, primes, dashes, the minus sign and the fraction slash to ASCII.
fn ascii_mark(c: char) -> char {
    match c {
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{2035}' | '\u{2039}' | '\u{203a}' => '\'',
        '\u{201c}'..='\u{201f}' | '«' | '»' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{2e3a}' | '\u{2e3b}' => '-',
        '\u{2044}' | '\u{2215}' => '/',
        other => other,
    }
}

/// Rewrites characters that NFKD would change into something else: `6½` must not become 61/2, 10⁵ must not become 105
/// if numbers are kept, and the acute accent of `it´s` is an apostrophe.
fn spell_out(text: &str, marks: Marks) -> Cow<'_, str> {
    let special = |c: char| matches!(c, '´' | 'ʼ') || is_vulgar_fraction(c) || is_superscript(c);
    if !text.contains(special) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut previous = ' ';
    for c in text.chars() {
        if is_vulgar_fraction(c) && digit_value(previous).is_some() {
            out.push(' ');
        }
        // The mark of a decomposed letter is part of the letter.
        let base = previous.is_alphanumeric() || is_mark(previous);
        let raised = base || matches!(previous, ')' | ']' | '}');
        if marks == Marks::Keep && is_superscript(c) && raised && !is_superscript(previous) {
            out.push('^');
        }
        out.push(if matches!(c, '´' | 'ʼ') { '\'' } else { c });
        previous = c;
    }
    Cow::Owned(out)
}

/// Matches a run of digits and commas, and the mark before it, which may belong to the run.
static RUN: LazyLock<Regex> = LazyLock::new(|| regex("([.,]?)([0-9]+(?:,[0-9]+)*)"));

/// Removes punctuation unless it is part of a number: between two digits (except a comma that groups thousands), or a
/// sign or a decimal point before a number. Keeps symbols.
fn keep_numbers(text: &str) -> String {
    let text = RUN.replace_all(text, |run: &Captures<'_>| match run[1].is_empty() {
        true if grouped(&run[2]) => run[2].replace(',', ""),
        _ => run[0].to_owned(),
    });
    let text: Vec<char> = text.chars().collect();
    let is_kept = |(at, c): &(usize, &char)| {
        !is_punctuation(**c) || stands_for_itself(**c) || belongs_to_number(&text, *at)
    };
    let kept = text.iter().enumerate().filter(is_kept);
    kept.map(|(_, c)| c).collect()
}

/// Returns `true` if the character is a symbol, or a mark with its own meaning: C#, 5%, AT&T, user@host.
fn stands_for_itself(c: char) -> bool {
    let symbol = matches!(c, '+' | '$' | '<' | '=' | '>' | '^' | '|' | '~');
    symbol || matches!(c, '%' | '‰' | '#' | '&' | '@')
}

/// Returns `true` if the punctuation at `at` is inside a number, its sign, or its leading decimal point.
fn belongs_to_number(text: &[char], at: usize) -> bool {
    let digit = |at: usize| text.get(at).is_some_and(char::is_ascii_digit);
    let back = |steps: usize| at.checked_sub(steps).map_or(' ', |before| text[before]);
    let in_word = back(1).is_alphanumeric() || is_mark(back(1));
    match text[at] {
        _ if back(1).is_ascii_digit() => digit(at + 1),
        '-' if back(1) == 'e' && back(2).is_ascii_digit() => digit(at + 1),
        '-' if !in_word => {
            let unit = usize::from(text.get(at + 1).is_some_and(|&c| is_currency(c)));
            let point = usize::from(text.get(at + 1 + unit) == Some(&'.'));
            digit(at + 1 + unit + point)
        }
        '.' => !in_word && back(1) != '.' && digit(at + 1),
        _ => false,
    }
}

fn is_currency(c: char) -> bool {
    c == '$' || !c.is_ascii() && is_symbol(c)
}

#[cfg(test)]
mod tests {
    use super::{Marks, normalize};

    #[test]
    fn punctuation_is_kept_where_it_is_part_of_a_number() {
        for (text, normalized) in [
            ("1e-5", "1e-5"),
            // A hyphen inside a word.
            ("Page-5", "page5"),
            ("3D-4", "3d4"),
            // A sign is before a number or its currency sign.
            ("-€5", "-€5"),
            ("-$.5", "-$.5"),
            ("-+5", "+5"),
            ("-я5", "я5"),
            // A decimal point is neither inside a word nor the end of an ellipsis.
            (".5", ".5"),
            ("v.5", "v5"),
            ("x . y", "x y"),
            ("..5", "5"),
            // A comma between digits is part of a number or groups thousands.
            ("1,000", "1000"),
            ("1,5", "1,5"),
            ("5, 6", "5 6"),
            ("5,", "5"),
        ] {
            assert_eq!(normalize(text, Marks::Keep), normalized, "{text:?}");
        }
    }
}
