//! Token overlap in the `Dspy` profile without normalized strings.
//!
//! Short words in ASCII are normalized as integers, and each of the others once however often it
//! occurs.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use smallvec::SmallVec;

use super::key::{Key, Kind};
use super::normalizer::Buffer;
use super::raw_words::for_each_word;
use super::token_overlap::Overlap;
use super::word_table::WordTable;

/// The words that are read before they are counted.
const BATCH: usize = 64;

/// The most distinct words that memory is reserved for.
const MOST: usize = 4_096;

/// Up to this many tokens are compared one by one, which is faster than counting.
const FEW: usize = 24;

/// The tokens of a prediction that are few, short, and in ASCII.
pub(super) struct Few<'a> {
    prediction: &'a str,
    tokens: SmallVec<[Key; FEW]>,
}

impl<'a> Few<'a> {
    /// Returns `None` if the prediction has other tokens.
    #[inline]
    pub(super) fn new(prediction: &'a str) -> Option<Self> {
        let mut tokens = SmallVec::new();
        for_each_word(prediction, |word| {
            if word.kind() != Kind::Token || tokens.len() == FEW {
                return None;
            }
            if !word.is_article_or_empty() {
                tokens.push(word);
            }
            Some(())
        })?;
        Some(Self { prediction, tokens })
    }

    /// Returns the overlap with a reference, unless that has other words.
    #[inline]
    pub(super) fn overlap(&self, reference: &str) -> Option<Overlap> {
        let length = self.tokens.len();
        if reference == self.prediction {
            return Some(Overlap { same: length, prediction: length, reference: length });
        }
        let (mut used, mut count) = (0_u32, 0);
        for_each_word(reference, |word| {
            if word.kind() != Kind::Token {
                return None;
            }
            if !word.is_article_or_empty() {
                count += 1;
                let mut tokens = self.tokens.iter().enumerate();
                let same = tokens.find(|&(at, key)| *key == word && used & 1 << at == 0);
                used |= same.map_or(0, |(at, _)| 1 << at);
            }
            Some(())
        })?;
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

/// Tokens, and words that are not normalized.
struct Words {
    short: WordTable,
    /// Long words that are not normalized.
    long: LongWords,
    long_tokens: LongWords,
    /// The count of each token. The first is that of words that are removed.
    counts: Vec<Count>,
    /// The numbers of the tokens of all other words that have not one.
    several: Vec<Vec<u32>>,
}

type LongWords = HashMap<Box<[u8]>, u32, RandomState>;

/// The number of a word that is an article or empty.
const REMOVED: u32 = 0;

/// This bit distinguishes positions in [`Words::several`] from numbers of tokens.
const SEVERAL: u32 = 1 << 31;

/// How often a token occurs, at most 4 billion times, to save memory.
#[derive(Clone, Default)]
struct Count {
    /// 1 for a token, 0 for words that are removed.
    weight: u32,
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
        let mut words = Words::with_capacity((prediction.len() / 12).min(MOST));
        let mut tokens = 0;
        in_batches(prediction, |batch| {
            for &word in batch {
                let number = words.find(word, prediction);
                let number = number.unwrap_or_else(|| words.add(word, prediction));
                words.for_each(number, |count| {
                    count.prediction = count.prediction.saturating_add(count.weight);
                    tokens += count.weight as usize;
                });
            }
        });
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
        in_batches(reference, |batch| {
            for &word in batch {
                let number = match words.find(word, reference) {
                    Some(number) => number,
                    None if word.kind() == Kind::Token => {
                        overlap.reference += usize::from(!word.is_article_or_empty());
                        continue;
                    }
                    None => words.add(word, reference),
                };
                words.for_each(number, |count| count.take(*references, &mut overlap));
            }
        });
        overlap
    }
}

/// Calls `visit` with the words of a string, many at a time: a loop that reads words and a loop that
/// counts them are faster than one that does both.
#[inline]
fn in_batches(text: &str, mut visit: impl FnMut(&[Key])) {
    let (mut batch, mut count) = ([Key::default(); BATCH], 0);
    for_each_word(text, |word| {
        if count == BATCH {
            visit(&batch);
            count = 0;
        }
        batch[count] = word;
        count += 1;
        Some(())
    });
    visit(&batch[..count]);
}

impl Count {
    #[inline]
    fn take(&mut self, reference: u32, overlap: &mut Overlap) {
        let left = if self.reference == reference { self.left } else { self.prediction };
        self.reference = reference;
        self.left = left.saturating_sub(1);
        overlap.same += usize::from(left > 0);
        overlap.reference += self.weight as usize;
    }
}

impl Words {
    /// Memory for this many distinct words.
    fn with_capacity(words: usize) -> Self {
        let mut counts = Vec::with_capacity(words);
        counts.push(Count::default());
        Self {
            short: WordTable::with_capacity(words),
            long: LongWords::default(),
            long_tokens: LongWords::default(),
            counts,
            several: Vec::new(),
        }
    }

    /// Returns the number of a word of `text`.
    #[inline]
    fn find(&self, word: Key, text: &str) -> Option<u32> {
        if word.is_long() { self.find_long(word, text) } else { self.short.find(word) }
    }

    #[inline(never)]
    fn find_long(&self, word: Key, text: &str) -> Option<u32> {
        let Kind::Long(start, length) = word.kind() else { return None };
        self.long.get(&text.as_bytes()[start..start + length]).copied()
    }

    /// Adds a word of `text`, and returns its number.
    #[inline(never)]
    fn add(&mut self, word: Key, text: &str) -> u32 {
        let number = match word.kind() {
            Kind::Token if word.is_article_or_empty() => REMOVED,
            Kind::Token => new_token(&mut self.counts),
            Kind::Raw => {
                let (bytes, length) = word.word();
                self.normalized(str::from_utf8(&bytes[..length]).unwrap_or_default())
            }
            Kind::Long(start, length) => {
                let word = &text[start..start + length];
                let number = self.normalized(word);
                self.long.insert(word.as_bytes().into(), number);
                return number;
            }
        };
        self.short.insert(word, number);
        number
    }

    /// Normalizes a word, and returns the number of its tokens.
    #[cold]
    fn normalized(&mut self, word: &str) -> u32 {
        let mut buffer = Buffer::new();
        let tokens = buffer.normalize(word).split(|&byte| byte == b' ');
        let mut numbers = SmallVec::<[u32; 4]>::new();
        for token in tokens.filter(|token| !token.is_empty()) {
            numbers.push(self.token(token));
        }
        match numbers.as_slice() {
            [] => REMOVED,
            [number] => *number,
            _ => {
                self.several.push(numbers.into_vec());
                SEVERAL | (self.several.len() - 1) as u32
            }
        }
    }

    /// Returns the number of a normalized word.
    fn token(&mut self, word: &[u8]) -> u32 {
        let key = Key::normalized(word);
        let known = match key {
            Some(key) => self.short.find(key),
            None => self.long_tokens.get(word).copied(),
        };
        known.unwrap_or_else(|| {
            let number = new_token(&mut self.counts);
            match key {
                Some(key) => self.short.insert(key, number),
                None => drop(self.long_tokens.insert(word.into(), number)),
            }
            number
        })
    }

    /// Calls `use_count` with the count of each token with this number.
    #[inline]
    fn for_each(&mut self, number: u32, mut use_count: impl FnMut(&mut Count)) {
        if number < SEVERAL {
            use_count(&mut self.counts[number as usize]);
            return;
        }
        for &number in &self.several[(number - SEVERAL) as usize] {
            use_count(&mut self.counts[number as usize]);
        }
    }
}

fn new_token(counts: &mut Vec<Count>) -> u32 {
    counts.push(Count { weight: 1, ..Count::default() });
    counts.len() as u32 - 1
}
