//! The rules that a composite must follow, as `const` functions for the compiler and as errors of the builder.

pub(super) mod check;
pub(super) mod derived;
pub(super) mod error;
pub(super) mod fields;
pub(super) mod rules;
mod sentence;
