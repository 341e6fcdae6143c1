use crate::contract::ScoreKind;
use crate::results::figures::{Unit, number};
use crate::stats::Interval;

#[test]
fn a_figure_that_rounds_to_zero_has_no_sign() {
    let (share, interval) = (
        Unit(ScoreKind::Bool),
        Interval {
            low: -0.000_01,
            high: -0.0,
        },
    );
    assert_eq!(
        [
            share.figure(-0.0),
            share.change(-0.000_01),
            share.size(-0.0),
            share.interval(interval)
        ],
        ["0.00%", "0.00", "0.00 percentage points", "[0.00, 0.00]"]
    );
    let plain = Unit(ScoreKind::Number);
    assert_eq!(
        [plain.figure(-0.0), plain.change(-0.0)],
        ["0.0000", "0.0000"]
    );
}

#[test]
fn a_small_difference_is_not_shown_as_zero() {
    assert_eq!(
        [0.0, 0.25, 0.000_01, 2e12].map(number),
        ["0.0000", "0.2500", "1.00e-5", "2.00e12"]
    );
}
