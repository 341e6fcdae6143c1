//! Result files, and the comparison of two runs.

mod reading;
