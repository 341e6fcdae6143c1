//! Words for BLEU: the tokenizers of sacrebleu that need no model and no dictionary.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::text::unicode::is_space;
use crate::text::words::{for_each_run, split_ranges};

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
    /// Returns the string in which the words are searched.
    pub(super) fn prepared(self, text: Cow<'_, str>) -> Cow<'_, str> {
        // Without a branch, so that many bytes are compared at once.
        let is_mark = |byte| matches!(byte, b'<' | b'&' | b'\n');
        let is_marked = |text: &str| text.bytes().fold(false, |any, byte| any | is_mark(byte));
        match (self, text) {
            (Self::V13a, text) if is_marked(&text) => Cow::Owned(without_markup(&text)),
            (Self::Zh, Cow::Borrowed(text)) => Cow::Borrowed(text.trim_matches(is_space)),
            (Self::Zh, Cow::Owned(text)) => Cow::Owned(text.trim_matches(is_space).to_owned()),
            (_, text) => text,
        }
    }

    /// Adds the position of each word of a prepared string, in their order.
    pub(super) fn find(self, text: &str, found: &mut Vec<Range<usize>>) {
        match self {
            Self::None => found.extend(split_ranges(text, is_space)),
            Self::Char => found.extend(characters(text)),
            Self::V13a => Scanner {
                text,
                start: 0,
                is_chinese: false,
                found,
            }
            .scan(),
            Self::Zh => Scanner {
                text,
                start: 0,
                is_chinese: true,
                found,
            }
            .scan(),
        }
    }
}

/// Removes the markup of `mteval-v13a` and decodes its entities.
fn without_markup(text: &str) -> String {
    let text = text.trim_end_matches(is_space);
    let mut text = text
        .replace("<skipped>", "")
        .replace("-\n", "")
        .replace('\n', " ");
    if text.contains('&') {
        for (entity, sign) in [
            ("&quot;", "\""),
            ("&amp;", "&"),
            ("&lt;", "<"),
            ("&gt;", ">"),
        ] {
            text = text.replace(entity, sign);
        }
    }
    text
}

fn characters(text: &str) -> impl Iterator<Item = Range<usize>> {
    let characters = text.char_indices().filter(|(_, c)| !is_space(*c));
    characters.map(|(at, c)| at..at + c.len_utf8())
}

/// Splits a string at white space and around punctuation, except around a full stop, comma or dash inside a number.
///
/// Returns the words of `mteval-v13a`, which inserts spaces around pairs of characters by regular expressions, one
/// expression after the other. A match consumes both of its characters; hence the rule in [`Self::stops`].
struct Scanner<'a> {
    text: &'a str,
    /// Where the word that is being read starts.
    start: usize,
    /// Whether the rules of `zh` apply.
    is_chinese: bool,
    found: &'a mut Vec<Range<usize>>,
}

impl Scanner<'_> {
    fn scan(mut self) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        for_each_run(bytes, |run| {
            // The most common separator of two runs.
            if bytes[at..run.start] == *b" " {
                self.skip(at, at + 1);
            } else {
                self.scan_between(at, run.start);
            }
            at = run.end;
        });
        self.scan_between(at, bytes.len());
        self.skip(bytes.len(), bytes.len());
    }

    /// Scans bytes that are not ASCII letters or digits.
    fn scan_between(&mut self, mut at: usize, end: usize) {
        while at < end {
            at = match CLASSES[usize::from(self.text.as_bytes()[at])] {
                Class::Space => self.skip(at, at + 1),
                Class::Other => at + 1,
                Class::Sign => self.alone(at, at + 1),
                Class::Dash if at > 0 && self.is_digit(at - 1) => self.alone(at, at + 1),
                Class::Dash => at + 1,
                Class::Stop => self.stops(at),
                Class::Wide => self.wide(at),
            };
        }
    }

    /// Ends the word before `at`. The next one starts at `next`.
    fn skip(&mut self, at: usize, next: usize) -> usize {
        if self.start < at {
            self.found.push(self.start..at);
        }
        self.start = next;
        next
    }

    /// A word from `at` to `next`, which ends the word before it.
    fn alone(&mut self, at: usize, next: usize) -> usize {
        self.skip(at, at);
        self.skip(next, next)
    }

    /// Full stops and commas are words of their own, with an exception: before a digit the last of them belongs to the
    /// number, if their count is even, or odd after another digit. For `zh` the ends of the string are like digits.
    fn stops(&mut self, at: usize) -> usize {
        let is_stop = |byte: &&u8| matches!(byte, b'.' | b',');
        let count = self.text.as_bytes()[at..]
            .iter()
            .take_while(is_stop)
            .count();
        let end = at + count;
        let after = if at == 0 {
            self.is_chinese
        } else {
            self.is_digit(at - 1)
        };
        let before = if end == self.text.len() {
            self.is_chinese
        } else {
            self.is_digit(end)
        };
        let in_number = before && after == (count % 2 == 1);
        for stop in at..end - usize::from(in_number) {
            self.alone(stop, stop + 1);
        }
        end
    }

    fn wide(&mut self, at: usize) -> usize {
        let Some(c) = self.text[at..].chars().next() else {
            return self.text.len();
        };
        let next = at + c.len_utf8();
        match c {
            _ if is_space(c) => self.skip(at, next),
            _ if self.is_chinese && is_chinese(c) => self.alone(at, next),
            _ => next,
        }
    }

    fn is_digit(&self, at: usize) -> bool {
        self.text.as_bytes()[at].is_ascii_digit()
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Class {
    /// Part of a word.
    Other,
    Space,
    /// A word of its own.
    Sign,
    Dash,
    Stop,
    /// The first byte of a character that is not ASCII.
    Wide,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Wide; 256];
    let mut byte = 0_u8;
    while byte.is_ascii() {
        classes[byte as usize] = match byte {
            b'\t'..=b'\r' | 0x1c..=b' ' => Class::Space,
            b'!'..=b'&' | b'('..=b'+' | b'/' | b':'..=b'@' | b'['..=b'`' | b'{'..=b'~' => {
                Class::Sign
            }
            b'-' => Class::Dash,
            b'.' | b',' => Class::Stop,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

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

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

    use super::{BleuTokens, is_chinese, is_space};
    use crate::text::definition::{v13a_words, words_by_regexes};

    fn by_rules(text: &str, tokens: BleuTokens) -> Vec<String> {
        match tokens {
            BleuTokens::Zh => {
                let text: String = text.trim_matches(is_space).chars().map(spaced).collect();
                words_by_regexes(&text)
            }
            _ => v13a_words(text),
        }
    }

    fn spaced(c: char) -> String {
        if is_chinese(c) {
            format!(" {c} ")
        } else {
            c.to_string()
        }
    }

    #[test]
    fn words_are_those_of_the_regular_expressions() {
        let pieces = [
            ".",
            ".",
            ",",
            "-",
            "-",
            "1",
            "2",
            "1",
            "a",
            "Z",
            " ",
            " ",
            "\n",
            "\t",
            "\u{1c}",
            "'",
            "\"",
            "&",
            "&amp;",
            "&lt;",
            "quot;",
            "<",
            "<skipped>",
            "/",
            "{",
            "~",
            "`",
            "@",
            "(",
            "\u{0}",
            "\u{7f}",
            "é",
            "\u{85}",
            "\u{a0}",
            "\u{2003}",
            "\u{3000}",
            "日",
            "本",
            "。",
            "，",
            "\u{2a6d6}",
            "😀",
            "٣",
            "½",
        ];
        let mut random = Xoshiro256PlusPlus::seed_from_u64(13);
        for _ in 0..10_000 {
            let length = random.next_u64() % 24;
            let piece = |_| pieces[(random.next_u64() % pieces.len() as u64) as usize];
            let text: String = (0..length).map(piece).collect();
            for tokens in [BleuTokens::V13a, BleuTokens::Zh] {
                let prepared = tokens.prepared(Cow::Borrowed(&text));
                let mut found = Vec::new();
                tokens.find(&prepared, &mut found);
                let words: Vec<&str> = found.into_iter().map(|word| &prepared[word]).collect();
                assert_eq!(words, by_rules(&text, tokens), "{tokens:?} {text:?}");
            }
        }
    }
}
