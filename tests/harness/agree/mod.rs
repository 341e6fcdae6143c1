//! A metric against labels: what each figure stands on, what is undefined and why, and whether its
//! intervals hold what they promise.

mod correction;
mod coverage;
mod kinds;
mod laws;
mod parity;
mod small;

use dsrs_metrics::agreement::{Agreement, Figure, Label, Rating};

fn agreement<R: Into<Rating>, L: Into<Label>>(
    pairs: impl IntoIterator<Item = (R, L)>,
) -> Agreement {
    Agreement::of(pairs).unwrap()
}

/// Without the bootstrap, which costs more than all the rest.
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
    assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
}
