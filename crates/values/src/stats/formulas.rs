//! Short formulas: the F-beta score, the harmonic mean, and the difference between scores that may differ only by
//! rounding.

/// Returns F-beta computed from counts: `(1 + beta²) hits / ((1 + beta²) hits + beta² missed + wrong)`, in [0, 1].
/// Returns 0 if there are no hits.
///
/// This is the weighted harmonic mean of precision `hits / (hits + wrong)` and recall `hits / (hits + missed)`. Recall
/// counts `beta` times as much as precision (van Rijsbergen 1979).
///
/// ```
/// use dsrs_metrics::stats::f_beta;
///
/// assert_eq!(f_beta(2, 2, 0, 1.0), 2.0 / 3.0); // precision 1/2, recall 1
/// assert_eq!(f_beta(2, 2, 0, 2.0), 5.0 / 6.0);
/// assert_eq!(f_beta(0, 0, 0, 1.0), 0.0);
/// ```
pub fn f_beta(hits: usize, wrong: usize, missed: usize, beta: f64) -> f64 {
    if hits == 0 {
        return 0.0;
    }
    let (hits, wrong, missed) = (hits as f64, wrong as f64, missed as f64);
    let weight = beta * beta;
    let weighted = (1.0 + weight) * hits;
    weighted / (weighted + weight * missed + wrong)
}

/// Returns the harmonic mean of two numbers, `2ab / (a + b)`, or 0 if they sum to 0.
///
/// For precision and recall, this is F1, computed as in `f1_score` from dspy's `auto_evaluation.py`. Arguments are not
/// clamped to [0, 1].
///
/// ```
/// use dsrs_metrics::stats::harmonic_mean;
///
/// assert_eq!((harmonic_mean(1.0, 0.5), harmonic_mean(0.0, 0.0)), (2.0 / 3.0, 0.0));
/// ```
pub fn harmonic_mean(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if sum == 0.0 { 0.0 } else { 2.0 * (a * b) / sum }
}

/// Returns `a - b`, or 0 if the difference is only rounding: at most `2⁻⁵⁰` times the larger score.
///
/// A score is a mean of decimal numbers. Each number and the mean are rounded by at most `2⁻⁵³`, so two scores of equal
/// value differ by at most `4 · 2⁻⁵³`. The bound is twice as large, to allow for a metric's own arithmetic. It never
/// hides a difference between counts, because two different fractions with denominators below 10 million differ by more
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
