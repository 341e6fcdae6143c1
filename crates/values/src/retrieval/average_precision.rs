//! Average precision of a ranking whose items are judged one by one.

/// Returns the mean of the precisions at the ranks of the relevant items, in [0, 1]; 0 if no item is relevant.
///
/// The sum of `precision at r` over the ranks `r` of relevant items, divided by their number: the context precision of ragas.
/// Unlike [`Ranking::average_precision`](super::Ranking::average_precision) it does not know relevant items that were not retrieved.
///
/// ```
/// use dsrs_metrics::retrieval::average_precision;
///
/// assert_eq!(average_precision([true, false, true, false]), (1.0 + 2.0 / 3.0) / 2.0);
/// assert_eq!(average_precision([false, false]), 0.0);
/// ```
pub fn average_precision(relevant: impl IntoIterator<Item = bool>) -> f64 {
    let (mut hits, mut sum) = (0_u32, 0.0);
    for (rank, is_relevant) in (1_u32..).zip(relevant) {
        if is_relevant {
            hits += 1;
            sum += f64::from(hits) / f64::from(rank);
        }
    }
    if hits == 0 {
        0.0
    } else {
        sum / f64::from(hits)
    }
}
