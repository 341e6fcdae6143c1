//! Words for BLEU: sacrebleu's tokenizers that need no model and no dictionary.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::text::regex;
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
    /// Returns the string without the markup of `mteval-v13a`, in which to search for words.
    pub(super) fn prepared(self, text: Cow<'_, str>) -> Cow<'_, str> {
        match self {
            Self::V13a => {
                let text = text.trim_end_matches(is_space).replace("<skipped>", "");
                let text = text.replace("-\n", "").replace('\n', " ");
                let text = text.replace("&quot;", "\"").replace("&amp;", "&");
                Cow::Owned(text.replace("&lt;", "<").replace("&gt;", ">"))
            }
            Self::Zh => Cow::Owned(text.trim_matches(is_space).to_owned()),
            Self::Char | Self::None => text,
        }
    }

    /// Returns the words of a prepared string, in order.
    pub(super) fn words(self, text: &str) -> Vec<String> {
        let spaced = match self {
            Self::None => Cow::Borrowed(text),
            Self::Char => Cow::Owned(text.chars().flat_map(|c| [c, ' ']).collect()),
            Self::V13a => with_spaces(&format!(" {text} ")),
            Self::Zh => with_spaces(&CHINESE.replace_all(text, " $0 ")),
        };
        split(&spaced).map(str::to_owned).collect()
    }
}

/// Chinese characters, and CJK and full-width punctuation. sacrebleu's table writes the bounds of the first two ranges with
/// four digits instead of five.
static CHINESE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"[\u{2001}-\u{2a6d}\u{2f81}-\u{2fa1}\u{2e80}-\u{2fdf}\u{2ff0}-\u{303f}\u{3100}-\u{312f}\u{31a0}-\u{31ef}\u{3200}-\u{4db5}\u{4e00}-\u{9fbb}\u{f900}-\u{fa2d}\u{fa30}-\u{fa6a}\u{fa70}-\u{fad9}\u{fe10}-\u{fe1f}\u{fe30}-\u{fe4f}\u{ff00}-\u{ffef}]",
    )
});

/// The rules of `mteval-v13a`: spaces around punctuation, except around a full stop, comma or dash inside a number.
static RULES: LazyLock<[(Regex, &str); 4]> = LazyLock::new(|| {
    [
        (r"[\{-\~\[-\` -\&\(-\+\:-\@\/]", " $0 "),
        (r"([^0-9])([\.,])", "$1 $2 "),
        (r"([\.,])([^0-9])", " $1 $2"),
        (r"([0-9])(-)", "$1 $2 "),
    ]
    .map(|(rule, by)| (regex(rule), by))
});

fn with_spaces(text: &str) -> Cow<'static, str> {
    let replace =
        |text: String, (rule, by): &(Regex, &str)| rule.replace_all(&text, *by).into_owned();
    Cow::Owned(RULES.iter().fold(text.to_owned(), replace))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

    use super::{BleuTokens, CHINESE, is_space};
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
        if CHINESE.is_match(c.encode_utf8(&mut [0; 4])) {
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
