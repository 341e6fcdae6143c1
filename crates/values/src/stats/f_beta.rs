//! The F-beta score.

/// F-beta of counts: `(1 + beta²) hits / ((1 + beta²) hits + beta² missed + wrong)`, in [0, 1]; 0 without hits.
///
/// The weighted harmonic mean of precision `hits / (hits + wrong)` and recall `hits / (hits + missed)`, in which recall counts
/// `beta` times as much (van Rijsbergen 1979).
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
