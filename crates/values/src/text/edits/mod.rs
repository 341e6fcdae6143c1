//! Edit distances between strings and between lists of words, and entities matched by them.

mod bits;
mod distance;
mod entities;
mod sequences;
#[cfg(test)]
mod tests;

pub use distance::{EditCounts, EditDistance};
pub use entities::EntityCounts;
pub(in crate::text) use sequences::Numbers;
