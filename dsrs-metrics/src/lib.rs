//! Typed, compiler-checked metrics for programs built on language models.

pub mod text;
