//! Token overlap in the `Dspy` profile without normalized strings.
//!
//! Short words in ASCII are normalized as integers, and each of the others once however often it
//! occurs.

use std::ops::Range;

use smallvec::SmallVec;

use super::dspy::normalize_text;
use super::raw_words::{RawWord, RawWords};
use super::token_overlap::Overlap;
use super::word_table::{HEAD, Key, WordTable};

/// Up to this many tokens of a prediction are compared one by one, which is faster than counting.
const FEW: usize = 24;

/// The most tokens that memory is reserved for.
const MOST: usize = 4_096;

/// The tokens of a prediction that are few, short, and in ASCII.
pub(super) struct Few<'a> {
    prediction: &'a str,
    tokens: &'a [Key],
}

pub(super) type Keys = SmallVec<[Key; FEW]>;

impl<'a> Few<'a> {
    /// Returns `None` if the prediction has other tokens. `keys` is memory.
    #[inline]
    pub(super) fn new(prediction: &'a str, keys: &'a mut Keys) -> Option<Self> {
        for word in RawWords::new(prediction) {
            let RawWord::Short(token) = word else { return None };
            if !token.is_article_or_empty() {
                if keys.len() == FEW {
                    return None;
                }
                keys.push(token);
            }
        }
        Some(Self { prediction, tokens: keys })
    }

    /// Returns the overlap with a reference, unless that has other words.
    #[inline]
    pub(super) fn overlap(&self, reference: &str) -> Option<Overlap> {
        let length = self.tokens.len();
        if reference == self.prediction {
            return Some(Overlap { same: length, prediction: length, reference: length });
        }
        let (mut used, mut count) = (0_u32, 0);
        for word in RawWords::new(reference) {
            let RawWord::Short(token) = word else { return None };
            if token.is_article_or_empty() {
                continue;
            }
            count += 1;
            let mut tokens = self.tokens.iter().enumerate();
            if let Some((at, _)) = tokens.find(|&(at, key)| *key == token && used & 1 << at == 0) {
                used |= 1 << at;
            }
        }
        Some(Overlap { same: used.count_ones() as usize, prediction: length, reference: count })
    }
}

/// The tokens of a prediction, counted once for all of its references.
pub(super) struct Counted<'a> {
    prediction: &'a str,
    words: Words,
    tokens: usize,
    references: u32,
}

struct Words {
    tokens: WordTable<Count>,
    /// The words that are normalized as strings.
    others: WordTable<Tokens>,
    /// The numbers of the tokens of all other words that have not one.
    several: Vec<usize>,
}

/// The tokens of a word.
#[derive(Clone)]
enum Tokens {
    Unknown,
    One(usize),
    /// A range in [`Words::several`].
    Several(Range<usize>),
}

/// How often a token occurs, at most 4 billion times, to save memory.
#[derive(Default)]
struct Count {
    /// False for an article or an empty token, which do not count.
    counts: bool,
    prediction: u32,
    /// The number of the last reference with this token.
    reference: u32,
    /// How many occurrences in the prediction that reference has not matched yet.
    left: u32,
}

impl<'a> Counted<'a> {
    /// Counts the tokens of the prediction.
    #[inline(never)]
    pub(super) fn new(prediction: &'a str) -> Self {
        // About half of the words of a string are repeated, and most of those of a long one.
        let mut words = Words {
            tokens: WordTable::with_capacity((prediction.len() / 12).min(MOST)),
            others: WordTable::with_capacity(0),
            several: Vec::new(),
        };
        let mut tokens = 0;
        for word in RawWords::new(prediction) {
            match word {
                RawWord::Short(key) => {
                    let number = words.tokens.number(key, &[], || Count::new(key));
                    tokens += words.tokens.value(number).predict();
                }
                RawWord::Other(start, key) => {
                    words.of_other(key, &prediction[start..], |count| tokens += count.predict());
                }
            }
        }
        Self { prediction, words, tokens, references: 0 }
    }

    /// Returns the overlap of the prediction and a reference.
    #[inline(never)]
    pub(super) fn overlap(&mut self, reference: &str) -> Overlap {
        let mut overlap = Overlap { same: 0, prediction: self.tokens, reference: 0 };
        if reference == self.prediction {
            return Overlap { same: self.tokens, reference: self.tokens, ..overlap };
        }
        self.references = self.references.wrapping_add(1).max(1);
        let Self { words, references, .. } = self;
        for word in RawWords::new(reference) {
            match word {
                RawWord::Short(key) => match words.tokens.find(key, &[]) {
                    Some(number) => words.tokens.value(number).take(*references, &mut overlap),
                    None => overlap.reference += usize::from(Count::new(key).counts),
                },
                RawWord::Other(start, key) => words.of_other(key, &reference[start..], |count| {
                    count.take(*references, &mut overlap);
                }),
            }
        }
        overlap
    }
}

impl Count {
    #[inline]
    fn new(key: Key) -> Self {
        Self { counts: !key.is_article_or_empty(), ..Self::default() }
    }

    #[inline]
    fn predict(&mut self) -> usize {
        self.prediction = self.prediction.saturating_add(u32::from(self.counts));
        usize::from(self.counts)
    }

    #[inline]
    fn take(&mut self, reference: u32, overlap: &mut Overlap) {
        if self.reference != reference {
            self.reference = reference;
            self.left = self.prediction;
        }
        let taken = self.left > 0;
        self.left -= u32::from(taken);
        overlap.same += usize::from(taken);
        overlap.reference += usize::from(self.counts);
    }
}

impl Words {
    /// Calls `use_count` with the tokens of the word that `text` begins with.
    #[inline]
    fn of_other(&mut self, key: Key, text: &str, mut use_count: impl FnMut(&mut Count)) {
        let tail = text.as_bytes().get(HEAD..key.len).unwrap_or_default();
        let other = self.others.number(key, tail, || Tokens::Unknown);
        if let Tokens::Unknown = self.others.value(other) {
            *self.others.value(other) = self.tokens_of(&text[..key.len]);
        }
        match self.others.value(other) {
            Tokens::One(number) => use_count(self.tokens.value(*number)),
            Tokens::Several(range) => {
                let numbers = &self.several[range.clone()];
                numbers.iter().for_each(|&number| use_count(self.tokens.value(number)));
            }
            Tokens::Unknown => {}
        }
    }

    #[cold]
    fn tokens_of(&mut self, word: &str) -> Tokens {
        let start = self.several.len();
        for token in normalize_text(word).split(' ').filter(|token| !token.is_empty()) {
            let (key, tail) = Key::new(token.as_bytes());
            self.several.push(self.tokens.number(key, tail, || Count::new(key)));
        }
        if self.several.len() == start + 1 {
            return self.several.pop().map_or(Tokens::Unknown, Tokens::One);
        }
        Tokens::Several(start..self.several.len())
    }
}
