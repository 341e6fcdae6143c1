//! The entries of the tables of a metric: its parts, or the groups of the rows.

use serde::Serialize;

use super::change::GroupChange;
use super::chart::{Range, Track};
use super::labels::{LABELS, plural};
use crate::results::figures::Figures;

/// A part or a group.
#[derive(Debug, Serialize)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) runs: Vec<EntryFigures>,
    pub(super) change: Option<GroupChange>,
}

/// The figures of a run.
#[derive(Debug, Serialize)]
pub(super) struct EntryFigures {
    label: &'static str,
    class: &'static str,
    rows: String,
    value: String,
    interval: String,
    scale: Track,
}

impl EntryFigures {
    /// `reference` is the mean over all groups.
    pub(super) fn new(
        run: usize,
        rows: u64,
        figures: &Figures,
        range: &Range,
        reference: Option<f64>,
    ) -> Self {
        let (label, class) = LABELS[run];
        Self {
            label,
            class,
            rows: plural(rows, "row"),
            value: figures.value(),
            interval: figures.interval(),
            scale: range.track(figures, reference),
        }
    }
}
