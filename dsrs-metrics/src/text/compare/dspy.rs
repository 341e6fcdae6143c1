//! `normalize_text`, bit for bit as in dspy.
//!
//! The steps are dspy's: NFD, lower case, removal of ASCII punctuation, removal of articles,
//! collapsing of white space. Punctuation is removed first, so `"t.he"` is an article too.

use crate::text::unicode::{is_space, is_word, lower, nfd};

/// Lower-cased words that normalization removes.
pub const ARTICLES: [&str; 3] = ["a", "an", "the"];

/// Normalizes a string for comparison, exactly as dspy's `normalize_text`.
///
/// The steps, in this order: Unicode NFD, lower case, removal of the 32 ASCII punctuation
/// characters, removal of the English articles `a`, `an`, `the`, and white space collapsed to
/// single spaces. The result is that of dspy 3.4.1 on CPython 3.11 (Unicode 14) for any string.
///
/// Normalizing twice may differ from normalizing once: where punctuation was removed between two
/// combining marks, the second NFD may reorder the marks. A third time never changes anything.
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
        normalize_ascii(text.as_bytes(), &mut out);
    } else {
        lower(&nfd(text), |c| {
            let mut utf8 = [0; 4];
            if c.is_ascii_punctuation() {
            } else if is_space(c) {
                out.space();
            } else if is_word(c) {
                out.word(c.encode_utf8(&mut utf8).as_bytes());
            } else {
                out.other(c.encode_utf8(&mut utf8).as_bytes());
            }
        });
    }
    out.finish()
}

fn normalize_ascii(mut rest: &[u8], out: &mut Collapser) {
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        match class(first) {
            Ascii::Punctuation => {}
            Ascii::Space => out.space(),
            Ascii::Control => out.other(&[first]),
            Ascii::Word => {
                out.word(&[first.to_ascii_lowercase()]);
                let run =
                    rest.iter().take_while(|&&byte| matches!(class(byte), Ascii::Word)).count();
                let (run, after) = rest.split_at(run);
                out.out.extend(run.iter().map(u8::to_ascii_lowercase));
                rest = after;
            }
        }
    }
}

fn class(byte: u8) -> Ascii {
    ASCII[usize::from(byte)]
}

/// How normalization treats an ASCII byte.
#[derive(Clone, Copy)]
enum Ascii {
    Punctuation,
    Space,
    Control,
    Word,
}

static ASCII: [Ascii; 256] = {
    let mut table = [Ascii::Control; 256];
    let mut byte = 0;
    while byte < 128_u8 {
        table[byte as usize] = match byte {
            b'\t'..=b'\r' | 0x1c..=b' ' => Ascii::Space,
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => Ascii::Word,
            b'!'..=b'~' => Ascii::Punctuation,
            _ => Ascii::Control,
        };
        byte += 1;
    }
    table
};

/// Collects characters, removing articles and collapsing white space.
///
/// `\b(a|an|the)\b` matches exactly where a whole run of word characters is an article, and the
/// match becomes a space. So an article is removed at the end of its run and leaves a pending
/// space.
struct Collapser {
    /// UTF-8: every push is a whole character.
    out: Vec<u8>,
    /// Length of the output before the current run of word characters and the space before it.
    before_run: usize,
    run_start: usize,
    in_run: bool,
    space_pending: bool,
}

impl Collapser {
    fn with_capacity(bytes: usize) -> Self {
        Self {
            out: Vec::with_capacity(bytes),
            before_run: 0,
            run_start: 0,
            in_run: false,
            space_pending: false,
        }
    }

    #[inline]
    fn word(&mut self, character: &[u8]) {
        if !self.in_run {
            self.before_run = self.out.len();
            self.flush_space();
            self.run_start = self.out.len();
            self.in_run = true;
        }
        self.out.extend_from_slice(character);
    }

    #[inline]
    fn space(&mut self) {
        self.end_run();
        self.space_pending = true;
    }

    #[inline]
    fn other(&mut self, character: &[u8]) {
        self.end_run();
        self.flush_space();
        self.out.extend_from_slice(character);
    }

    #[inline]
    fn flush_space(&mut self) {
        if self.space_pending && !self.out.is_empty() {
            self.out.push(b' ');
        }
        self.space_pending = false;
    }

    #[inline]
    fn end_run(&mut self) {
        // Articles have at most three bytes, so the length alone excludes most words.
        if self.in_run && self.out.len() - self.run_start <= 3 {
            let run = &self.out[self.run_start..];
            if ARTICLES.iter().any(|article| article.as_bytes() == run) {
                self.out.truncate(self.before_run);
                self.space_pending = true;
            }
        }
        self.in_run = false;
    }

    fn finish(mut self) -> String {
        self.end_run();
        String::from_utf8(self.out).unwrap_or_default()
    }
}
