//! Cheap checks that need no gold answer: format, keywords, length and syntax. They are free and
//! take microseconds.
//!
//! Each reads one field of the prediction, which the parameter `field` names (`answer` by default);
//! `field = "*"` is the whole prediction as JSON. A value other than a string is converted to JSON,
//! `null` to the empty string; a value nested deeper than 128 levels is an error. The spec of a
//! configured metric names the field that it reads. Rows that derive `Record` are supported too,
//! but whether they have the field is checked only at run time, since the parameter may name any
//! field.

mod format;
mod keyword;
mod length;
mod syntax;

pub use format::{Format, format};
pub use keyword::{Keyword, keyword};
pub use length::{Length, length};
pub use syntax::{Syntax, syntax};
