//! Measures how well a metric or judge agrees with labels, which tells you how far you can trust its scores.
//!
//! `rating.rs` has the two sides of the comparison. `compare.rs` finds what they have in common, given the meaning of
//! labels from `scale.rs`. `labelled.rs` says how the labelled rows were chosen, and `next.rs` chooses more. `statistics.rs` computes the figures,
//! each a value with its interval (`figure.rs`), and `table.rs` prints them. The statistics are in `stats/`; files are
//! read in `cli/agree/`.

mod builder;
mod compare;
mod figure;
mod labelled;
mod next;
mod rating;
mod scale;
mod statistics;
mod table;

pub use builder::AgreementBuilder;
pub use figure::{Figure, Note};
pub use labelled::{LabelSample, LabelledRows};
pub use rating::{AgreementError, Label, Rating};
#[doc(hidden)]
pub use scale::verdict_word;
pub use statistics::{Agreement, Closeness};
