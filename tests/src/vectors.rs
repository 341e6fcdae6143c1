//! The committed vectors: compressed files of one JSON value a line.

use std::io::{BufRead as _, BufReader};

use serde::de::DeserializeOwned;

/// The lines of a compressed file.
///
/// # Panics
/// If the file is not readable.
pub fn lines(compressed: &[u8]) -> impl Iterator<Item = String> {
    let lines = BufReader::new(flate2::read::GzDecoder::new(compressed)).lines();
    lines.map(|line| line.expect("readable vectors"))
}

/// The vectors of a compressed file.
///
/// # Panics
/// If a line is not a vector.
pub fn vectors<T: DeserializeOwned>(compressed: &[u8]) -> impl Iterator<Item = T> {
    lines(compressed).map(|line| serde_json::from_str(&line).expect("one vector on each line"))
}
