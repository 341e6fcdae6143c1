//! Cheap checks of form, which need no gold answer: format, keywords, length, syntax, repetition. They are free and
//! take microseconds.
//!
//! `format`, `keyword`, `length` and `syntax` look at one field of the prediction, `answer` unless their parameter
//! `field` says otherwise; `field = "*"` is the whole prediction as JSON. A value that is no text is taken as its JSON,
//! `null` as empty text; what is nested deeper than 128 levels fails its row. Their spec names the field that they are
//! configured to read. Rows that derive `Record` are scored too; whether they have the field is known only then, since
//! the parameter may name any.

mod format;
mod keyword;
mod length;
mod syntax;

pub use format::{Format, format};
pub use keyword::{Keyword, keyword};
pub use length::{Length, length};
pub use syntax::{Syntax, syntax};
