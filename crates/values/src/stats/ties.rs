//! Scores that are equal but for rounding.

/// Returns `a - b`, or 0 if the scores are equal but for rounding: if they differ by at most `2⁻⁵⁰` of the larger one.
///
/// A score is a mean of numbers that were written with decimals. Each of them, and the mean, is rounded by at most `2⁻⁵³`,
/// so that two scores of equal value differ by at most `4 · 2⁻⁵³`; the bound leaves as much again for the arithmetic of a
/// metric. It hides no difference between counts: two different fractions with denominators below 10 million differ by more
/// than `10⁻¹⁴`.
///
/// ```
/// use dsrs_metrics::stats::score_difference;
///
/// assert_ne!((0.1 + 0.2 + 0.3) / 3.0, 0.2_f64.next_down());
/// assert_eq!(score_difference(0.1 + 0.2, 0.3), 0.0);
/// assert_eq!(score_difference(0.75, 0.5), 0.25);
/// ```
pub fn score_difference(a: f64, b: f64) -> f64 {
    /// `2⁻⁵⁰`.
    const BOUND: f64 = 4.0 * f64::EPSILON;
    let difference = a - b;
    if difference.abs() <= BOUND * a.abs().max(b.abs()) {
        0.0
    } else {
        difference
    }
}
