//! Random requests made of strings that are difficult to normalize.

use super::replay::Request;

const PIECES: [&str; 56] = [
    "a",
    "an",
    "the",
    "A",
    "The",
    "tHe",
    "yes",
    "no",
    "noanswer",
    "Paris",
    "paris",
    "tower",
    "C++",
    "-5",
    "3.14",
    "$5",
    "U.S.",
    "it's",
    "ΑΣ",
    "Σ",
    "σς",
    "ΟΔΟΣ.",
    "İ",
    "ẞ",
    "ﬁ",
    "K",
    "Å",
    "é",
    "e\u{301}",
    "ệ",
    "文字",
    "한국",
    "각",
    "ที่",
    "क्षि",
    "١٢",
    "Ⅷ",
    "½",
    "²",
    "’",
    "—",
    "…",
    "😀",
    "𐐀",
    "𝐀",
    "\u{301}",
    "\u{323}",
    "\u{345}",
    "\u{307}",
    "\u{200d}",
    "\u{ad}",
    "\0",
    "\u{1f}",
    "\u{7f}",
    "\u{378}",
    "\u{e000}",
];
const SPACES: [&str; 14] = [
    " ", " ", " ", "  ", "\t", "\n", "\u{b}", "\u{1c}", "\u{1f}", "\u{85}", "\u{a0}", "\u{2003}",
    "\u{2028}", "\u{3000}",
];

/// A seeded source of requests whose strings `accept` accepts.
pub(crate) struct Draw<F> {
    state: u64,
    accept: F,
}

impl<F: Fn(&str) -> bool> Draw<F> {
    pub(crate) fn new(seed: u64, accept: F) -> Self {
        Self {
            state: seed,
            accept,
        }
    }

    /// SplitMix64 (Steele, Lea and Flood 2014).
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap_or(0)
    }

    fn piece(&mut self) -> String {
        match self.below(10) {
            0..4 => PIECES[self.below(PIECES.len())].to_owned(),
            4..7 => SPACES[self.below(SPACES.len())].to_owned(),
            7 => char::from(33 + u8::try_from(self.below(94)).unwrap_or(0)).to_string(),
            8 => self.character(0x3000).to_string(),
            _ => self.character(0x11_0000).to_string(),
        }
    }

    fn character(&mut self, bound: usize) -> char {
        let code = u32::try_from(self.below(bound)).unwrap_or(0);
        char::from_u32(code).unwrap_or('\u{fffd}')
    }

    fn text(&mut self, longest: usize) -> String {
        let pieces = self.below(longest + 1);
        let text: String = (0..pieces).map(|_| self.piece()).collect();
        if (self.accept)(&text) {
            text
        } else {
            self.text(longest)
        }
    }

    fn texts(&mut self, most: usize, longest: usize) -> Vec<String> {
        let count = self.below(most + 1);
        (0..count).map(|_| self.text(longest)).collect()
    }

    pub(crate) fn request(&mut self) -> Request {
        match self.below(3) {
            0 => Request::Text {
                text: self.text(24),
            },
            1 => {
                let prediction = self.text(10);
                let mut answers = self.texts(3, 8);
                if self.below(3) == 0 {
                    answers.push(format!("The {}.", prediction.to_uppercase()));
                }
                answers.retain(|answer| (self.accept)(answer));
                Request::Pair {
                    prediction,
                    answers,
                    frac: [1.0, 0.8, 0.5, 0.0][self.below(4)],
                }
            }
            _ => {
                let passages = self.texts(3, 30);
                let mut answers = self.texts(2, 3);
                if let Some(passage) = passages.first() {
                    let start = self.below(passage.chars().count() + 1);
                    let length = 1 + self.below(12);
                    answers.push(passage.chars().skip(start).take(length).collect());
                }
                Request::Passages { answers, passages }
            }
        }
    }
}
