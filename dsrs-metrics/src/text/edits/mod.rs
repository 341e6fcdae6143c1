//! Edit distances between strings and between lists of words, and entities matched by them.

mod distance;
mod entities;

pub use distance::{EditCounts, EditDistance};
pub use entities::EntityCounts;
