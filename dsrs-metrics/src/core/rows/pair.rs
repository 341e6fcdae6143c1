//! A gold row with its prediction, as they come from a file or go into a harness.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::core::rows::dynamic::{Example, Fields, Prediction};

/// A gold row, the prediction for it, and what else is known of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair<G = Example, P = Prediction> {
    /// The row's name, unique within a run.
    pub id: String,
    /// The labelled example.
    pub gold: G,
    /// What the program predicted.
    pub pred: P,
    /// Everything else that the row carries, for grouping and labels.
    pub attributes: Fields,
    /// Where the row stands, if it comes from a file.
    pub origin: Option<Origin>,
}

impl<G, P> Pair<G, P> {
    /// A pair without attributes.
    pub fn new(id: impl Into<String>, gold: G, pred: P) -> Self {
        Self { id: id.into(), gold, pred, attributes: Fields::default(), origin: None }
    }
}

/// Where a row stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The file.
    pub file: Arc<Path>,
    /// The line, from 1.
    pub line: u64,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}
