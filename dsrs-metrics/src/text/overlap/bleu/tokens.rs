//! Words for BLEU: the tokenizers of sacrebleu that need no model and no dictionary.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::text::unicode::is_space;
use crate::text::words::split;

/// How strings are split into words for BLEU.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum BleuTokens {
    /// `mteval-v13a`, used by WMT: splits ASCII punctuation off, except inside numbers. A string
    /// without spaces, as in Chinese or Japanese, is one word; use `zh` or `char` for it.
    #[default]
    #[serde(rename = "13a", alias = "v13a")]
    V13a,
    /// As `13a`, and each Chinese character and each CJK or full-width punctuation mark is a word.
    /// The ranges are those that sacrebleu's table has in effect; they exclude ideographs beyond
    /// the Basic Multilingual Plane.
    #[serde(rename = "zh")]
    Zh,
    /// Each character except white space is a word.
    #[serde(rename = "char")]
    Char,
    /// Words are separated by white space: for strings that are tokenized already.
    #[serde(rename = "none")]
    None,
}

impl BleuTokens {
    pub(super) fn of(self, text: Cow<'_, str>) -> Vec<Cow<'_, str>> {
        let written = match self {
            Self::None => return words(text),
            Self::Char => return characters(&text),
            Self::V13a => western(text.trim_end_matches(is_space)),
            Self::Zh => chinese(text.trim_matches(is_space)),
        };
        words(Cow::Owned(written))
    }
}

fn words(text: Cow<'_, str>) -> Vec<Cow<'_, str>> {
    match text {
        Cow::Borrowed(text) => split(text).map(Cow::Borrowed).collect(),
        Cow::Owned(text) => split(&text).map(|word| Cow::Owned(word.to_owned())).collect(),
    }
}

fn characters<'a>(text: &str) -> Vec<Cow<'a, str>> {
    text.chars().filter(|c| !is_space(*c)).map(|c| Cow::Owned(c.to_string())).collect()
}

/// The steps of `mteval-v13a`: its markup, entities, then punctuation.
fn western(text: &str) -> String {
    let mut text = text.replace("<skipped>", "").replace("-\n", "").replace('\n', " ");
    if text.contains('&') {
        for (entity, sign) in [("&quot;", "\""), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")] {
            text = text.replace(entity, sign);
        }
    }
    punctuated(&format!(" {text} "))
}

fn chinese(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() * 2);
    for c in text.chars() {
        match is_chinese(c) {
            true => spaced.extend([' ', c, ' ']),
            false => spaced.push(c),
        }
    }
    punctuated(&spaced)
}

/// Puts spaces around punctuation, except around a full stop, comma or dash inside a number.
fn punctuated(text: &str) -> String {
    let mut chars: Vec<char> = Vec::with_capacity(text.len() + text.len() / 4);
    for c in text.chars() {
        match is_sign(c) {
            true => chars.extend([' ', c, ' ']),
            false => chars.push(c),
        }
    }
    let is_stop = |c: char| matches!(c, '.' | ',');
    let is_digit = |c: char| c.is_ascii_digit();
    chars = pairs(&chars, |a, b| !is_digit(a) && is_stop(b), |a, b| [a, ' ', b, ' ']);
    chars = pairs(&chars, |a, b| is_stop(a) && !is_digit(b), |a, b| [' ', a, ' ', b]);
    chars = pairs(&chars, |a, b| is_digit(a) && b == '-', |a, b| [a, ' ', b, ' ']);
    chars.into_iter().collect()
}

/// Rewrites pairs of neighbours from left to right. Rewritten characters are not part of another
/// pair.
fn pairs(
    chars: &[char],
    is_pair: impl Fn(char, char) -> bool,
    write: impl Fn(char, char) -> [char; 4],
) -> Vec<char> {
    let mut written = Vec::with_capacity(chars.len() + 16);
    let mut rest = chars;
    loop {
        rest = match *rest {
            [a, b, ..] if is_pair(a, b) => {
                written.extend(write(a, b));
                &rest[2..]
            }
            [a, ..] => {
                written.push(a);
                &rest[1..]
            }
            [] => return written,
        };
    }
}

/// Whether the character is ASCII punctuation other than apostrophe, comma, dash and full stop, or
/// a space.
fn is_sign(c: char) -> bool {
    matches!(c, ' '..='&' | '('..='+' | '/' | ':'..='@' | '['..='`' | '{'..='~')
}

fn is_chinese(c: char) -> bool {
    matches!(c,
        // sacrebleu's table writes the bounds of two ranges with four digits instead of five.
        '\u{2001}'..='\u{2a6d}' | '\u{2f81}'..='\u{2fa1}'
        | '\u{2e80}'..='\u{2fdf}' | '\u{2ff0}'..='\u{303f}' | '\u{3100}'..='\u{312f}'
        | '\u{31a0}'..='\u{31bf}' | '\u{31c0}'..='\u{31ef}' | '\u{3200}'..='\u{33ff}'
        | '\u{3400}'..='\u{4db5}' | '\u{4e00}'..='\u{9fbb}'
        | '\u{f900}'..='\u{fa2d}' | '\u{fa30}'..='\u{fa6a}' | '\u{fa70}'..='\u{fad9}'
        | '\u{fe10}'..='\u{fe1f}' | '\u{fe30}'..='\u{fe4f}' | '\u{ff00}'..='\u{ffef}')
}
