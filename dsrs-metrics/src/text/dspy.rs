//! `normalize_text` bit for bit as dspy has it, and nothing else.
//!
//! The order is dspy's: NFD, lower case, ASCII punctuation out, articles out, white space collapsed. Since
//! punctuation goes first, `"t.he"` is an article too.

use super::unicode::{is_space, is_word, lower, nfd};

/// Lower-cased words that normalization drops.
pub const ARTICLES: [&str; 3] = ["a", "an", "the"];

/// Normalizes text for comparison, exactly as dspy's `normalize_text`.
///
/// In this order: Unicode NFD, lower case, removal of the 32 ASCII punctuation characters, removal of the
/// English articles `a`, `an`, `the`, and white space collapsed to single spaces. The result is the one that
/// dspy 3.4.1 gives on CPython 3.11 (Unicode 14) for any text.
///
/// Normalizing twice is not always the same as once: where removed punctuation stood between two
/// combining marks, the second NFD may put the marks into another order. A third time never changes anything.
///
/// ```
/// # use dsrs_metrics::text::normalize_text;
/// assert_eq!(normalize_text("The,  Eiffel  Tower!"), "eiffel tower");
/// assert_eq!(normalize_text("C++"), "c");
/// assert_eq!(normalize_text("A"), "");
/// ```
#[must_use]
pub fn normalize_text(text: &str) -> String {
    let mut out = Collapser::with_capacity(text.len());
    if text.is_ascii() {
        for byte in text.bytes().filter(|b| !b.is_ascii_punctuation()) {
            out.push(char::from(byte.to_ascii_lowercase()));
        }
    } else {
        lower(&nfd(text), |c| {
            if !c.is_ascii_punctuation() {
                out.push(c);
            }
        });
    }
    out.finish()
}

/// Collects characters, dropping articles and collapsing white space on the way.
///
/// `\b(a|an|the)\b` matches exactly where a whole run of word characters is an article, and the match becomes
/// a space; so an article is taken back at the end of its run and leaves a pending space.
struct Collapser {
    out: String,
    /// Where the output ended before the current run of word characters and the space in front of it.
    before_run: usize,
    run_start: usize,
    in_run: bool,
    space_pending: bool,
}

impl Collapser {
    fn with_capacity(bytes: usize) -> Self {
        Self {
            out: String::with_capacity(bytes),
            before_run: 0,
            run_start: 0,
            in_run: false,
            space_pending: false,
        }
    }

    fn push(&mut self, c: char) {
        if is_word(c) {
            if !self.in_run {
                self.before_run = self.out.len();
                self.flush_space();
                self.run_start = self.out.len();
                self.in_run = true;
            }
            self.out.push(c);
            return;
        }
        self.end_run();
        if is_space(c) {
            self.space_pending = true;
        } else {
            self.flush_space();
            self.out.push(c);
        }
    }

    fn flush_space(&mut self) {
        if self.space_pending && !self.out.is_empty() {
            self.out.push(' ');
        }
        self.space_pending = false;
    }

    fn end_run(&mut self) {
        if self.in_run && ARTICLES.contains(&&self.out[self.run_start..]) {
            self.out.truncate(self.before_run);
            self.space_pending = true;
        }
        self.in_run = false;
    }

    fn finish(mut self) -> String {
        self.end_run();
        self.out
    }
}
