//! `normalize_text`, bit for bit as in dspy.
//!
//! The steps are dspy's: NFD, lower case, removal of ASCII punctuation, removal of articles,
//! collapsing of white space. Punctuation is removed first, so `"t.he"` is an article too.

use super::normalizer::Buffer;

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
    let mut buffer = Buffer::new();
    simdutf8::basic::from_utf8(buffer.normalize(text)).unwrap_or_default().to_owned()
}
