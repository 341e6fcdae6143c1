//! The shipped judges.
