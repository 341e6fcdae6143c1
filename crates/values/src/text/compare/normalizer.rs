//! The normalization of the `Dspy` profile, bit for bit as in dspy, in one pass over borrowed bytes.
//!
//! The steps are dspy's: NFD, lower case, removal of ASCII punctuation, removal of articles,
//! collapsing of white space. Punctuation is removed first, so `"t.he"` is an article too.

use smallvec::SmallVec;

use crate::text::unicode::{Lowered, combining_class, nfd, sigma_is_final};
use crate::text::words::ascii::{Class, class, eight, is_article_or_empty, word_run};

/// The free bytes that a step needs, which is more than it keeps.
pub(super) const STEP: usize = 32;

/// Lower-cased words that normalization removes.
pub const ARTICLES: [&str; 3] = ["a", "an", "the"];

/// Strings of up to this many bytes need no allocation.
const SHORT: usize = 128;

/// Memory for a normalized string.
type Buffer = SmallVec<[u8; SHORT]>;

/// Normalizes a string for comparison, exactly as dspy's `normalize_text`.
///
/// The steps, in this order: Unicode NFD, lower case, removal of the 32 ASCII punctuation
/// characters, removal of the English articles `a`, `an`, `the`, and white space collapsed to
/// single spaces. For any string the result equals the result of dspy 3.4.1 on CPython 3.11 (Unicode 14).
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
pub fn normalize_text(text: &str) -> String {
    let string = |utf8| {
        simdutf8::basic::from_utf8(utf8)
            .unwrap_or_default()
            .to_owned()
    };
    if text.len() + STEP <= SHORT {
        let mut buffer = [0; SHORT];
        let mut writer = Writer::new(&mut buffer);
        if writer.fill(text, 0) == text.len() {
            let length = writer.finish();
            return string(&buffer[..length]);
        }
    }
    string(&normalize(text))
}

/// Returns the normalized string, which is UTF-8.
pub(super) fn normalize(text: &str) -> Buffer {
    let mut buffer = match text.len() + STEP {
        length @ 0..=SHORT => Buffer::from_buf_and_len([0; _], length),
        length => Buffer::from_vec(vec![0; length]),
    };
    let mut state = State::default();
    let mut at = 0;
    loop {
        let mut writer = Writer {
            buffer: &mut buffer,
            state,
        };
        at = writer.fill(text, at);
        if at == text.len() {
            let length = writer.finish();
            buffer.truncate(length);
            return buffer;
        }
        state = writer.state;
        // NFD makes UTF-8 at most three times as long.
        buffer.resize(state.len + 3 * (text.len() - at) + STEP, 0);
    }
}

/// Writes normalized strings into a buffer until it is full.
///
/// `\b(a|an|the)\b` matches exactly where a whole run of word characters is an article, and the
/// match becomes a space. So an article is removed at the end of its run.
pub(super) struct Writer<'b> {
    buffer: &'b mut [u8],
    state: State,
}

#[derive(Clone, Copy, Default)]
pub(super) struct State {
    /// The number of bytes written.
    len: usize,
    /// Where the current run of word characters starts.
    run: usize,
    /// The combining class of the last mark of the current sequence of marks.
    mark: u8,
}

impl<'b> Writer<'b> {
    pub(super) fn new(buffer: &'b mut [u8]) -> Self {
        Self {
            buffer,
            state: State::default(),
        }
    }

    /// Normalizes from `at`, and returns where it stopped: at the end or because the buffer is
    /// full.
    #[inline]
    pub(super) fn fill(&mut self, text: &str, mut at: usize) -> usize {
        let bytes = text.as_bytes();
        // Whether the next word starts after a space or at the beginning.
        let mut separate = self.is_separate();
        while at < bytes.len() && self.has_room() {
            let eight = eight(bytes, at);
            let (lower, run) = word_run(eight);
            if separate && run != 8 && (eight >> (8 * run)) as u8 == b' ' {
                // A short word and the spaces after it.
                let is_kept = !is_article_or_empty(lower & !(u64::MAX << (8 * run)));
                let with_space = run + 1;
                self.write(&lower.to_le_bytes(), with_space * usize::from(is_kept));
                self.state.run = self.state.len;
                at += with_space;
                while bytes.get(at) == Some(&b' ') {
                    at += 1;
                }
                continue;
            }
            self.write(&lower.to_le_bytes(), run);
            at += run;
            separate = false;
            if run == 8 {
                continue;
            }
            let Some(&byte) = bytes.get(at) else { break };
            match class(byte) {
                Class::Space => {
                    self.space();
                    separate = true;
                }
                Class::Punctuation | Class::Word => {}
                Class::Control => {
                    self.end_run();
                    self.write(&[byte], 1);
                    self.state.run = self.state.len;
                }
                Class::Other => {
                    let next = self.other(text, at);
                    if next == at {
                        // The marks that must be sorted need more room than a step.
                        break;
                    }
                    at = next;
                    continue;
                }
            }
            at += 1;
        }
        at
    }

    /// Ends the last run, removes white space at the end, and returns the length.
    #[inline]
    pub(super) fn finish(&mut self) -> usize {
        self.end_run();
        let len = self.state.len;
        len - usize::from(self.buffer[..len].ends_with(b" "))
    }

    fn has_room(&self) -> bool {
        self.buffer.len() - self.state.len >= STEP
    }

    /// Writes more bytes than are kept, since a copy of a fixed length is fast.
    #[inline]
    fn write<const N: usize>(&mut self, bytes: &[u8; N], kept: usize) {
        self.buffer[self.state.len..self.state.len + N].copy_from_slice(bytes);
        self.state.len += kept;
    }

    /// Whether the bytes from the start of the run to `end` are an article.
    #[inline]
    fn is_article(&self, end: usize) -> bool {
        let run = self.state.run;
        let Some(start) = self.buffer[run..].first_chunk() else {
            return false;
        };
        let kept = match end - run {
            length @ 0..8 => u64::from_le_bytes(*start) & !(u64::MAX << (8 * length)),
            _ => return false,
        };
        kept != 0 && is_article_or_empty(kept)
    }

    #[inline]
    fn end_run(&mut self) {
        if self.is_article(self.state.len) {
            self.state.len = self.state.run;
            self.separate();
        }
    }

    #[inline]
    fn space(&mut self) {
        self.end_run();
        self.separate();
        self.state.run = self.state.len;
    }

    /// Whether a space is the last byte, or nothing was written.
    fn is_separate(&self) -> bool {
        matches!(self.buffer[..self.state.len].last(), None | Some(b' '))
    }

    #[inline]
    fn separate(&mut self) {
        if !self.is_separate() {
            self.write(b" ", 1);
        }
    }

    /// Normalizes characters outside of ASCII, up to an ASCII character or until the buffer is
    /// full.
    fn other(&mut self, text: &str, at: usize) -> usize {
        let mut rest = text[at..].chars();
        // Local variables stay in registers.
        let buffer = &mut *self.buffer;
        let State {
            mut len,
            mut run,
            mut mark,
        } = self.state;
        loop {
            let here = rest.as_str();
            let Some(c) = rest.next().filter(|c| !c.is_ascii()) else {
                self.state = State { len, run, mark: 0 };
                return text.len() - here.len();
            };
            let Some(slot) = buffer[len..].first_chunk_mut() else {
                self.state = State { len, run, mark };
                return text.len() - here.len();
            };
            let lowered = Lowered::of(c);
            if lowered.first() <= mark {
                let at = text.len() - here.len();
                let mut writer = Writer {
                    buffer: &mut *buffer,
                    state: State { len, run, mark },
                };
                let end = writer.special(text, at, lowered);
                self.state = writer.state;
                let Some(end) = end else { return at };
                State { len, run, mark } = self.state;
                rest = text[end..].chars();
                continue;
            }
            *slot = *lowered.padded();
            let word = len + lowered.word();
            len += lowered.len();
            mark = lowered.last();
            if !lowered.ends_run() {
                if is_ideograph(c) {
                    let length = ideographs(rest.as_str().as_bytes(), &mut buffer[len..]);
                    rest = rest.as_str()[length..].chars();
                    len += length;
                }
                continue;
            }
            if matches!(buffer[run], b'a' | b't') {
                let mut writer = Writer {
                    buffer: &mut *buffer,
                    state: State { len, run, mark },
                };
                writer.end_run_at(word);
                len = writer.state.len;
            }
            run = len;
        }
    }

    /// Ends a run at `end`, before other characters. Removes it if it is an article.
    fn end_run_at(&mut self, end: usize) {
        if self.is_article(end) {
            let after = end..self.state.len;
            self.state.len = self.state.run;
            self.separate();
            let start = self.state.len;
            self.state.len += after.len();
            self.buffer.copy_within(after, start);
        }
    }

    /// Normalizes the character at `at` that cannot be copied, and returns the place after it, or
    /// `None` if the buffer is full.
    #[cold]
    fn special(&mut self, text: &str, at: usize, lowered: &Lowered) -> Option<usize> {
        if lowered.is_space() {
            self.space();
        } else if lowered.is_starter() {
            let sigma = if sigma_is_final(text, at) { "ς" } else { "σ" };
            sigma.bytes().for_each(|byte| self.write(&[byte], 1));
        } else {
            return self.reorder(text, at);
        }
        self.state.mark = 0;
        Some(at + text[at..].chars().next().map_or(0, char::len_utf8))
    }

    /// Sorts all marks of the sequence around `at` by their combining class.
    fn reorder(&mut self, text: &str, at: usize) -> Option<usize> {
        let combines = |&c: &char| !c.is_ascii() && !Lowered::of(c).is_starter();
        let decomposed = |c: char| nfd(c.encode_utf8(&mut [0; 4]));

        let after: String = text[at..].chars().take_while(combines).collect();
        let mut before: Vec<char> = text[..at].chars().rev().take_while(combines).collect();
        let start: usize = before.iter().map(|c| c.len_utf8()).sum();
        before.extend(text[..at - start].chars().next_back());
        before.reverse();

        let is_mark = |&c: &char| combining_class(c) != 0;
        let mut marks: Vec<char> = before
            .into_iter()
            .flat_map(decomposed)
            .filter(is_mark)
            .collect();
        let written: usize = marks.iter().map(|c| c.len_utf8()).sum();
        marks.extend(after.chars().flat_map(decomposed));
        marks.sort_by_key(|&c| combining_class(c));

        let marks: String = marks.into_iter().collect();
        let start = self.state.len - written;
        self.buffer
            .get_mut(start..start + marks.len())?
            .copy_from_slice(marks.as_bytes());
        self.state = State {
            len: start + marks.len(),
            run: start + marks.len(),
            mark: 0,
        };
        Some(at + after.len())
    }
}

/// Whether a character is an ideograph of the most used blocks: a word character that normalization
/// does not change.
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}')
}

/// Copies ideographs as long as there is room, and returns the number of bytes.
fn ideographs(utf8: &[u8], out: &mut [u8]) -> usize {
    let is_ideograph = |c: &&[u8]| matches!(**c, [0xe4, 0xb8..=0xbf, _] | [0xe5..=0xe9, ..]);
    let utf8 = &utf8[..utf8.len().min(out.len())];
    let length = 3 * utf8.chunks_exact(3).take_while(is_ideograph).count();
    out[..length].copy_from_slice(&utf8[..length]);
    length
}
