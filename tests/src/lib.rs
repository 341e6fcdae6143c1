//! Whole-library tests live in this package; it exports nothing.
