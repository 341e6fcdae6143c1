//! Result files, and the comparison of two runs.

mod comparing;
mod corpus;
mod corpus_files;
mod html_rows;
mod invalid;
mod manifest;
mod reading;
mod runs;
mod simulated;

use self::runs::{run, with_attributes};
