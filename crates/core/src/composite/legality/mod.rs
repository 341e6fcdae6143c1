//! The rules for composites, as `const` functions for compile-time checks and as errors of the builder.

pub(super) mod check;
pub(super) mod derived;
pub(super) mod fields;
pub(super) mod rules;

#[cfg(test)]
mod tests;
