//! Metrics for ranked retrieval over rows: `gold.relevant` and `pred.retrieved`.
//!
//! If a row has no relevant documents, it cannot rank them well or badly, so these metrics abstain. `trec_eval` scores
//! such a row 0.

use std::num::NonZeroUsize;

use crate::contract::Scores;
use crate::metric;
use crate::metrics::explained::compared_ids;
use crate::retrieval::{Cutoffs, Gain, Ranking, Relevant, Retrieved};

/// Returns the score at each rank; the first one is the headline. Returns `None` if there are no relevant documents.
fn at_each(
    retrieved: &Retrieved<'_>,
    relevant: &Relevant<'_>,
    k: &Cutoffs,
    score: impl Fn(&Ranking, usize) -> f64,
) -> Option<Scores> {
    let ranking = Ranking::new(retrieved, relevant)?;
    let named = |k: usize| format!("at_{k}");
    let mut ranks = k.iter();
    let first = ranks.next()?;
    let scores = Scores::new(named(first), score(&ranking, first));
    Some(ranks.fold(scores, |all, k| all.with(named(k), score(&ranking, k))))
}

/// Declares a metric over the first k ranks. All these metrics have the same fields and the `k` parameter.
macro_rules! metric_at_k {
    ($(#[$($attribute:tt)*])* fn $name:ident = $score:expr;) => {
        $(#[$($attribute)*])*
        #[metric(range = 0.0..=1.0, explain = |relevant, retrieved, k, _| compared_ids(&relevant, &retrieved, k.iter().next()))]
        pub fn $name(
            #[gold] relevant: Relevant<'_>,
            #[pred(missing)] retrieved: Retrieved<'_>,
            /// The cutoff ranks, `[10,1,3,5]` by default. The value at the first rank is the metric's score.
            #[param(default = Cutoffs::default())]
            k: Cutoffs,
        ) -> Option<Scores> {
            at_each(&retrieved, &relevant, &k, $score)
        }
    };
}

metric_at_k! {
    /// Computes the fraction of the first k retrieved documents that are relevant.
    ///
    /// This metric is equivalent to `P_k` in `trec_eval`.
    ///
    /// `relevant` is a list of ids, or a map from id to grade. `retrieved` is a ranked list of ids, or a map from id to
    /// score. Ranks beyond the end of the list and repeated ids count as not relevant.
    ///
    /// The metric abstains if a row has no relevant documents.
    ///
    /// ```
    /// use dsrs_metrics::metrics::PrecisionAtK;
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::retrieval::Cutoffs;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let gold = example! { "relevant" => ["d1", "d2"] };
    /// let pred = prediction! { "retrieved" => ["d7", "d2", "d5", "d1"] };
    /// let metric = PrecisionAtK::builder().k(Cutoffs::new([4, 1])?).build();
    /// assert_eq!(metric.score(&gold, &pred)?.value, 0.5);
    /// # Ok(())
    /// # }
    /// ```
    fn precision_at_k = Ranking::precision_at;
}

metric_at_k! {
    /// Computes the fraction of the relevant documents among the first k retrieved.
    ///
    /// This metric is equivalent to `recall_k` in `trec_eval`.
    ///
    /// The fields are the same as in `precision_at_k`. The metric abstains if a row has no relevant documents.
    ///
    /// ```
    /// use dsrs_metrics::metrics::RecallAtK;
    /// use dsrs_metrics::prelude::*;
    ///
    /// # fn main() -> dsrs_metrics::Result<()> {
    /// let gold = example! { "relevant" => ["d1", "d2"] };
    /// let pred = prediction! { "retrieved" => ["d7", "d2"] };
    /// assert_eq!(RecallAtK::default().score(&gold, &pred)?.value, 0.5);
    /// # Ok(())
    /// # }
    /// ```
    fn recall_at_k = Ranking::recall_at;
}

metric_at_k! {
    /// Scores 1 if a relevant document is among the first k retrieved, and 0 otherwise.
    ///
    /// This metric is also called top-k accuracy. It is equivalent to `success_k` in `trec_eval`.
    ///
    /// The fields are the same as in `precision_at_k`. The metric abstains if a row has no relevant documents.
    ///
    /// ```
    /// use dsrs_metrics::metrics::HitRate;
    /// use dsrs_metrics::prelude::*;
    ///
    /// # fn main() -> dsrs_metrics::Result<()> {
    /// let gold = example! { "relevant" => ["d1"] };
    /// let scored = HitRate::default().score(&gold, &prediction! { "retrieved" => ["d7", "d1"] })?;
    /// assert_eq!(scored.value, 1.0); // at 10
    /// # Ok(())
    /// # }
    /// ```
    fn hit_rate = |ranking, k| f64::from(u8::from(ranking.hit_at(k)));
}

/// Computes the reciprocal rank of the first relevant document.
///
/// The score is one divided by the rank, or 0 if no relevant document was retrieved. The mean over all rows is called
/// MRR.
///
/// The fields are the same as in `precision_at_k`. The metric abstains if a row has no relevant documents.
///
/// ```
/// use dsrs_metrics::metrics::ReciprocalRank;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "relevant" => [7, 9] };
/// let pred = prediction! { "retrieved" => [4, 9, 7] };
/// assert_eq!(ReciprocalRank::default().score(&gold, &pred)?.value, 0.5);
/// # Ok(())
/// # }
/// ```
#[metric(name = "mrr", range = 0.0..=1.0, explain = |relevant, retrieved, depth, _| {
    compared_ids(&relevant, &retrieved, depth.map(NonZeroUsize::get))
})]
pub fn reciprocal_rank(
    #[gold] relevant: Relevant<'_>,
    #[pred(missing)] retrieved: Retrieved<'_>,
    /// The last rank that counts. By default, all ranks count.
    #[param]
    depth: Option<NonZeroUsize>,
) -> Option<f64> {
    let ranking = Ranking::new(&retrieved, &relevant)?;
    Some(ranking.reciprocal_rank(depth.map(NonZeroUsize::get)))
}

/// Computes the average precision of the retrieved documents.
///
/// The score is the sum of the precisions at the ranks of the relevant documents, divided by the number of relevant
/// documents. The mean over all rows is called MAP.
///
/// This metric is equivalent to `map` and `map_cut_k` in `trec_eval`.
///
/// A relevant document that was not retrieved adds 0 to the sum. All grades above 0 count the same.
///
/// The fields are the same as in `precision_at_k`. The metric abstains if a row has no relevant documents.
///
/// ```
/// use dsrs_metrics::metrics::AveragePrecision;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "relevant" => ["d1", "d2"] };
/// let pred = prediction! { "retrieved" => ["d1", "d7", "d8", "d2"] };
/// assert_eq!(AveragePrecision::default().score(&gold, &pred)?.value, 0.75);
/// # Ok(())
/// # }
/// ```
#[metric(name = "map", range = 0.0..=1.0, explain = |relevant, retrieved, depth, _| {
    compared_ids(&relevant, &retrieved, depth.map(NonZeroUsize::get))
})]
pub fn average_precision(
    #[gold] relevant: Relevant<'_>,
    #[pred(missing)] retrieved: Retrieved<'_>,
    /// The last rank that counts. By default, all ranks count.
    #[param]
    depth: Option<NonZeroUsize>,
) -> Option<f64> {
    let ranking = Ranking::new(&retrieved, &relevant)?;
    Some(ranking.average_precision(depth.map(NonZeroUsize::get)))
}

/// Computes the normalized discounted cumulative gain (NDCG) of the retrieved documents.
///
/// Use this metric for graded relevance. It is equivalent to `trec_eval`'s `ndcg_cut_k` and scores only the first k
/// documents.
///
/// Each of the first k documents has a gain, which is divided by `log2(rank + 1)`. The score is the sum of these gains,
/// divided by the same sum for the ideal ranking of the relevant documents (Järvelin and Kekäläinen 2002).
///
/// The fields are the same as in `precision_at_k`. If `relevant` is a list of ids, all grades are 1.
///
/// The metric abstains if a row has no relevant documents.
///
/// ```
/// use dsrs_metrics::metrics::Ndcg;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::retrieval::Cutoffs;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let gold = example! { "relevant" => serde_json::json!({"d1": 3, "d2": 1}) };
/// let pred = prediction! { "retrieved" => ["d2", "d1"] };
/// let metric = Ndcg::builder().k(Cutoffs::new([1, 10])?).build();
/// assert_eq!(metric.score(&gold, &pred)?.value, 1.0 / 3.0);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0, explain = |relevant, retrieved, k, _, _| {
    compared_ids(&relevant, &retrieved, k.iter().next())
})]
pub fn ndcg(
    #[gold] relevant: Relevant<'_>,
    #[pred(missing)] retrieved: Retrieved<'_>,
    /// The cutoff ranks, `[10,1,3,5]` by default. The value at the first rank is the metric's score.
    #[param(default = Cutoffs::default())]
    k: Cutoffs,
    /// The gain of a grade: `linear` (the grade) or `exponential` (`2^grade - 1`).
    #[param(default = Gain::Linear)]
    gain: Gain,
) -> Option<Scores> {
    at_each(&retrieved, &relevant, &k, |ranking, k| {
        ranking.ndcg_at(k, gain)
    })
}
