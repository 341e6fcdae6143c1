//! The BLEU score for a sentence or a corpus, as in sacrebleu 2.6.
//!
//! BLEU was introduced by Papineni et al. (2002).
//!
//! The file is long because sentence scores, corpus scores and their options share the same counts.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{MAX_ORDER, ngram_matches, ngram_total, normalized};
use crate::text::unicode::is_space;
use crate::text::words::{WordLists, split};
use crate::text::{NoReferences, NormalForm};

/// How BLEU is smoothed for n-gram lengths without a match (Chen and Cherry 2014).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BleuSmoothing {
    /// No smoothing is applied.
    ///
    /// The score is 0 if any n-gram length has no match.
    None,
    /// An n-gram length without a match counts as having 0.1 matches.
    Floor,
    /// One is added to the number of matches and to the number of n-grams.
    ///
    /// This applies to each n-gram length except the first.
    AddOne,
    /// An n-gram length without a match counts as having a fraction of a match.
    ///
    /// The fraction is 1/2 for the first such length, 1/4 for the second and so on, as in NIST's `mteval-v13a`.
    #[default]
    Exp,
}

/// Options for computing BLEU.
///
/// The defaults are the same as in sacrebleu.
///
/// ```
/// use dsrs_metrics::text::BleuOptions;
///
/// let bleu = BleuOptions::default();
/// let counts = bleu.counts("the cat sat on the mat", &["the cat sat on a mat"])?;
/// assert_eq!((counts[0], counts[1]), (6, 6)); // words of the prediction and of the reference
/// assert_eq!(counts[2..6], [5, 3, 2, 1]); // shared n-grams of length 1 to 4
/// assert_eq!(counts[6..], [6, 5, 4, 3]); // n-grams of the prediction
/// assert!((bleu.sentence_score(&counts) - 0.537_284_965_911_770_9).abs() < 1e-12);
/// # Ok::<(), dsrs_metrics::text::NoReferences>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BleuOptions {
    /// How strings are split into words.
    pub tokens: BleuTokens,
    /// How n-gram lengths without a match are smoothed.
    pub smoothing: BleuSmoothing,
    /// The length of the longest n-gram.
    ///
    /// The value is clamped to 1..=16.
    pub max_order: usize,
    /// `true` to ignore case.
    pub lowercase: bool,
    /// The Unicode normal form applied to strings before they are compared.
    ///
    /// sacrebleu compares strings without conversion.
    pub form: NormalForm,
}

impl Default for BleuOptions {
    fn default() -> Self {
        Self {
            tokens: BleuTokens::V13a,
            smoothing: BleuSmoothing::Exp,
            max_order: 4,
            lowercase: false,
            form: NormalForm::Nfc,
        }
    }
}

impl BleuOptions {
    fn orders(&self) -> usize {
        self.max_order.clamp(1, MAX_ORDER)
    }

    /// Returns the counts used to compute the BLEU score for one row.
    ///
    /// The counts are, in this order:
    ///
    /// - The length of the prediction.
    /// - The length of the reference that is closest in length. In a tie, this is the shorter one.
    /// - The number of matching n-grams of each length. Matches are clipped, as in the BLEU paper: extra repetitions of
    ///   an n-gram in the prediction don't count.
    /// - The number of n-grams of each length in the prediction.
    ///
    /// # Errors
    /// Returns [`NoReferences`] if there are no references.
    pub fn counts<S: AsRef<str>>(
        &self,
        prediction: &str,
        references: &[S],
    ) -> Result<Vec<u64>, NoReferences> {
        if references.is_empty() {
            return Err(NoReferences);
        }
        Ok(WordLists::with(|words| {
            let references = references.iter().map(AsRef::as_ref);
            for text in std::iter::once(prediction).chain(references) {
                let text = normalized(text, self.form, self.lowercase);
                words.add(self.tokens.words(&self.tokens.prepared(text)));
            }
            words.number();
            let texts: Vec<&[u32]> = words.lists().collect();
            let (orders, length) = (self.orders(), texts[0].len());
            let lengths = texts[1..].iter().map(|text| text.len());
            let nearest = lengths.min_by_key(|other| (other.abs_diff(length), *other));
            let mut counts = vec![length as u64, nearest.unwrap_or(0) as u64];
            counts.extend(ngram_matches(&texts, orders, words.distinct()));
            counts.extend((0..orders).map(|order| ngram_total(length, order)));
            counts
        }))
    }

    /// Returns the BLEU score for one row, in [0, 1].
    ///
    /// N-gram lengths above the prediction's length are ignored, as with sacrebleu's `effective_order`. sacrebleu's
    /// score is 100 times this score.
    pub fn sentence_score(&self, counts: &[u64]) -> f64 {
        self.score(counts, true)
    }

    #[doc(hidden)]
    pub fn score(&self, counts: &[u64], effective: bool) -> f64 {
        let orders = self.orders();
        let Some((lengths, grams)) = counts.split_first_chunk::<2>() else {
            return 0.0;
        };
        let Some((matches, totals)) = grams.split_at_checked(orders) else {
            return 0.0;
        };
        if totals.len() != orders || matches.iter().all(|count| *count == 0) {
            return 0.0;
        }
        let mut halving = 1.0;
        let (mut logs, mut longest) = (0.0, 0);
        for (order, (matches, total)) in matches.iter().zip(totals).enumerate() {
            let precision = self.precision(order, *matches, *total, &mut halving);
            let Some(precision) = precision else { break };
            longest = order + 1;
            logs += precision.ln();
        }
        // Orders longer than the prediction have no match either.
        if !effective && longest < orders {
            return 0.0;
        }
        let longest = u32::try_from(longest).map_or(1.0, f64::from);
        brevity(*lengths) * (logs / longest).exp()
    }

    /// Returns the share of n-grams that match, or `None` if there are no n-grams.
    fn precision(&self, order: usize, matches: u64, total: u64, halving: &mut f64) -> Option<f64> {
        let (mut matches, mut total) = (matches as f64, total as f64);
        if self.smoothing == BleuSmoothing::AddOne && order > 0 {
            (matches, total) = (matches + 1.0, total + 1.0);
        }
        if total == 0.0 {
            return None;
        }
        if matches == 0.0 {
            matches = match self.smoothing {
                BleuSmoothing::Exp => {
                    *halving *= 2.0;
                    1.0 / *halving
                }
                BleuSmoothing::Floor => 0.1,
                BleuSmoothing::None | BleuSmoothing::AddOne => 0.0,
            };
        }
        Some(matches / total)
    }
}

/// Returns the brevity penalty, which is needed because precision does not penalize short predictions.
pub(super) fn brevity([prediction, reference]: [u64; 2]) -> f64 {
    // 0 for an empty prediction, because the exponent is then negative infinity.
    if prediction < reference {
        (1.0 - reference as f64 / prediction as f64).exp()
    } else {
        1.0
    }
}

/// How strings are split into words for BLEU.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum BleuTokens {
    /// The tokenizer of `mteval-v13a`, which WMT uses.
    ///
    /// The tokenizer splits off ASCII punctuation, except inside numbers. A string without spaces, as in Chinese or
    /// Japanese, is a single word. Use `zh` or `char` for such strings.
    #[default]
    #[serde(rename = "13a", alias = "v13a")]
    V13a,
    /// Works like the tokenizer `13a`, but each Chinese character is a separate word.
    ///
    /// Each CJK or full-width punctuation mark is a word too. As in sacrebleu, ideographs beyond the Basic Multilingual
    /// Plane are not included.
    #[serde(rename = "zh")]
    Zh,
    /// Every character except whitespace is a word.
    #[serde(rename = "char")]
    Char,
    /// Words are separated by whitespace.
    ///
    /// Use this for strings that are already tokenized.
    #[serde(rename = "none")]
    None,
}

impl BleuTokens {
    /// Returns the string to search for words.
    fn prepared(self, text: Cow<'_, str>) -> Cow<'_, str> {
        match self {
            Self::V13a if text.contains(['<', '&', '\n']) => Cow::Owned(without_markup(&text)),
            _ => text,
        }
    }

    /// Returns the words of a prepared string, in order.
    fn words(self, text: &str) -> Vec<&str> {
        match self {
            Self::None => split(text).collect(),
            Self::Char => split(text).flat_map(characters).collect(),
            Self::V13a => words(text, false),
            Self::Zh => words(text.trim_matches(is_space), true),
        }
    }
}

/// Removes the markup of `mteval-v13a` and decodes its entities.
fn without_markup(text: &str) -> String {
    let text = text.trim_end_matches(is_space);
    let text = text.replace("<skipped>", "").replace("-\n", "");
    let text = text.replace('\n', " ").replace("&quot;", "\"");
    let text = text.replace("&amp;", "&").replace("&lt;", "<");
    text.replace("&gt;", ">")
}

fn characters(word: &str) -> impl Iterator<Item = &str> {
    word.split("").filter(|character| !character.is_empty())
}

/// Splits a string at white space and around punctuation, except around a full stop, comma or dash inside a number.
fn words(text: &str, of_zh: bool) -> Vec<&str> {
    let is_alone = |at: usize, c: char| match c {
        '-' => at > 0 && text.as_bytes()[at - 1].is_ascii_digit(),
        '.' | ',' => !is_in_number(text.as_bytes(), at, of_zh),
        '\'' => false,
        c => c.is_ascii_punctuation() || (of_zh && is_chinese(c)),
    };
    let (mut words, mut start) = (Vec::with_capacity(text.len() / 4), 0);
    for (at, c) in text.char_indices() {
        let is_space = is_space(c);
        if is_space || is_alone(at, c) {
            let end = at + c.len_utf8();
            words.push(&text[start..at]);
            words.extend((!is_space).then(|| &text[at..end]));
            start = end;
        }
    }
    words.push(&text[start..]);
    words.retain(|word| !word.is_empty());
    words
}

/// Returns `true` if a full stop or comma belongs to a number: it is the last of its run, before a digit, and the run has an
/// even count, or an odd one after another digit. For `zh` the ends of the string are like digits.
///
/// `mteval-v13a` inserts spaces around pairs of characters with one regular expression after the other. A match
/// consumes both of its characters, which results in this rule.
fn is_in_number(text: &[u8], at: usize, of_zh: bool) -> bool {
    let is_digit = |byte: Option<&u8>| byte.map_or(of_zh, u8::is_ascii_digit);
    let is_stop = |byte: &&u8| matches!(byte, b'.' | b',');
    is_digit(text.get(at + 1)) && {
        let count = text[..=at].iter().rev().take_while(is_stop).count();
        is_digit(text[..at + 1 - count].last()) == (count % 2 == 1)
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
