//! Words for BLEU: sacrebleu's tokenizers that need no model and no dictionary.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::text::unicode::is_space;
use crate::text::words::split;

/// How strings are split into words for BLEU.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum BleuTokens {
    /// The tokenizer of `mteval-v13a`, used by WMT. Splits off ASCII punctuation, except inside numbers. A string
    /// without spaces, as in Chinese or Japanese, is one word; use `zh` or `char` for such strings.
    #[default]
    #[serde(rename = "13a", alias = "v13a")]
    V13a,
    /// Like `13a`, but each Chinese character and each CJK or full-width punctuation mark is a word. The character
    /// ranges are the ones that sacrebleu's table covers in practice, which exclude ideographs beyond the Basic
    /// Multilingual Plane.
    #[serde(rename = "zh")]
    Zh,
    /// Every character except whitespace is a word.
    #[serde(rename = "char")]
    Char,
    /// Whitespace separates words. Use this for strings that are already tokenized.
    #[serde(rename = "none")]
    None,
}

impl BleuTokens {
    /// Returns the string in which to search for words.
    pub(super) fn prepared(self, text: Cow<'_, str>) -> Cow<'_, str> {
        // Without a branch, so many bytes are compared at once.
        let is_mark = |byte| matches!(byte, b'<' | b'&' | b'\n');
        let is_marked = |text: &str| text.bytes().fold(false, |any, byte| any | is_mark(byte));
        match (self, text) {
            (Self::V13a, text) if is_marked(&text) => Cow::Owned(without_markup(&text)),
            (Self::Zh, Cow::Borrowed(text)) => Cow::Borrowed(text.trim_matches(is_space)),
            (Self::Zh, Cow::Owned(text)) => Cow::Owned(text.trim_matches(is_space).to_owned()),
            (_, text) => text,
        }
    }

    /// Returns the words of a prepared string, in order.
    pub(super) fn words(self, text: &str) -> Vec<&str> {
        match self {
            Self::None => split(text).collect(),
            Self::Char => split(text).flat_map(characters).collect(),
            Self::V13a => Scanner::new(text, false).scan(),
            Self::Zh => Scanner::new(text, true).scan(),
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

fn characters(word: &str) -> impl Iterator<Item = &str> {
    word.split("").filter(|character| !character.is_empty())
}

/// Splits a string at white space and around punctuation, except around a full stop, comma or dash inside a number.
///
/// `mteval-v13a` inserts spaces around pairs of characters with one regular expression after the other. A match
/// consumes both of its characters; hence the rule in [`Self::stops`].
struct Scanner<'a> {
    text: &'a str,
    /// Where the word that is being read starts.
    start: usize,
    /// `true` if the rules of `zh` apply.
    is_chinese: bool,
    found: Vec<&'a str>,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str, is_chinese: bool) -> Self {
        Self {
            text,
            start: 0,
            is_chinese,
            found: Vec::with_capacity(text.len() / 4),
        }
    }

    fn scan(mut self) -> Vec<&'a str> {
        let mut at = 0;
        while let Some(byte) = self.text.as_bytes().get(at) {
            at = match byte {
                b'\t'..=b'\r' | 0x1c..=b' ' => self.skip(at, at + 1),
                b'-' if at > 0 && self.is_digit(at - 1) => self.alone(at, at + 1),
                b'.' | b',' => self.stops(at),
                b'\'' | b'-' => at + 1,
                byte if byte.is_ascii_punctuation() => self.alone(at, at + 1),
                byte if byte.is_ascii() => at + 1,
                _ => self.wide(at),
            };
        }
        self.skip(at, at);
        self.found
    }

    /// Ends the word before `at`. The next one starts at `next`.
    fn skip(&mut self, at: usize, next: usize) -> usize {
        if self.start < at {
            self.found.push(&self.text[self.start..at]);
        }
        self.start = next;
        next
    }

    /// Makes `at..next` a word, ending the word before it.
    fn alone(&mut self, at: usize, next: usize) -> usize {
        self.skip(at, at);
        self.skip(next, next)
    }

    /// Full stops and commas are words of their own, with one exception: before a digit, the last of them belongs to
    /// the number if their count is even, or odd after another digit. For `zh` the ends of the string are like digits.
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
                assert_eq!(
                    tokens.words(&prepared),
                    by_rules(&text, tokens),
                    "{tokens:?} {text:?}"
                );
            }
        }
    }
}
