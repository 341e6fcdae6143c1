//! Edit distances between strings and between lists of words, and entities matched by them.

mod bits;
mod distance;
mod entities;
mod sequences;

pub use distance::{EditCounts, EditDistance};
pub use entities::EntityCounts;
