//! The harmonic mean of two numbers.

/// Returns the harmonic mean of two numbers, `2ab / (a + b)`, and 0 if they sum to 0.
///
/// The harmonic mean of precision and recall is F1, as `f1_score` of dspy's `auto_evaluation.py`
/// computes it. Arguments are not clamped to [0, 1].
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
