//! Agreement of a metric with labels: the rows of each figure, undefined figures and their notes,
//! and the coverage of the intervals.

mod correction;
pub(crate) mod coverage;
mod kinds;
mod laws;
mod parity;
mod post_stratified;
mod small;

use dsrs_metrics::agreement::{Agreement, Figure, Label, Rating};

fn agreement<R: Into<Rating>, L: Into<Label>>(
    pairs: impl IntoIterator<Item = (R, L)>,
) -> Agreement {
    Agreement::of(pairs).unwrap()
}

/// An agreement without the bootstrap, which is by far the slowest part.
fn quick<R: Into<Rating>, L: Into<Label>>(pairs: impl IntoIterator<Item = (R, L)>) -> Agreement {
    Agreement::builder().resamples(0).of(pairs).unwrap()
}

/// Why a figure has no value or no interval.
#[track_caller]
fn note(figure: &Figure) -> String {
    figure.note.as_ref().expect("a note").to_string()
}

#[track_caller]
fn assert_close(found: Option<f64>, expected: f64) {
    let found = found.expect("a value");
    assert!(
        (found - expected).abs() < 1e-12,
        "{found} is not {expected}"
    );
}
