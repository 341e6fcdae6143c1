//! Statistics of plain numbers and counts: intervals, agreement, correction for error rates.
//!
//! All intervals are 95% intervals. A figure that does not exist is `None` or an error with the reason, never a number
//! that means "unknown". To compare a metric with labels, see `dsrs_metrics::agreement`.
//!
//! | figure | estimate | interval |
//! | --- | --- | --- |
//! | mean of rows | [`Moments::mean`] | Student's t or Wilson's, [`Moments::uncertainty_within`]; bootstrap, [`Bootstrap::mean`] |
//! | mean of rows in groups | [`Clusters::mean`] | cluster-robust, [`Clusters::uncertainty_within`] |
//! | share of rows | [`Proportion::rate`] | Wilson's score interval, [`Proportion::wilson`] |
//! | difference of paired shares | [`PairedShares::difference`] | Tango's score interval, [`PairedShares::tango`] |
//! | Cohen's kappa, also weighted | [`cohen_kappa`] | its asymptotic standard error, [`Kappa::interval`] |
//! | Spearman's rank correlation | [`spearman`] | [`Bootstrap::interval`] |
//! | a share, from labels of some rows | [`post_stratified`] | Wilson's, combined by MOVER |
//! | a share, from a metric on some rows | [`sampled_share`] | the same, for the mean of these rows |
//! | a mean, from a metric on some rows | [`prediction_powered`] | Student's t or Wilson's, of what the cheaper metric does not explain |
//! | a difference, from a metric on some rows | [`sampled_difference`] | the same, of a population |
//! | a share, corrected for error rates | [`rogan_gladen`] | Lang and Reiczigel's |
//! | labels of all rows | [`LabelPairs`]: accuracy, F1, Matthews, Cohen, Krippendorff | |
//! | ranks of all rows | [`ValuePairs`], [`ClassScores`]: Spearman, AUROC | |
//! | probabilities of all rows | [`Calibration`], [`Brier`] | |
//! | success in several attempts | [`Proportion::pass_at`], [`Proportion::pass_hat`] | |
//!
//! To compare two systems on the same rows, use [`mcnemar_exact`] (pass or fail), [`permutation_test`] (scores), or
//! [`exchange_test`] and [`Bootstrap::statistic`] (a score computed over all rows). [`BettingTest`] decides while rows
//! arrive, [`confidence_sequence`] is the matching interval, and [`plan_rows`] estimates how many rows a decision
//! takes. [`holm`] adjusts the p-values of several tests, and [`rows_for_power`] returns the number of rows needed to
//! detect a difference.

mod bootstrap;
mod clusters;
mod corrected;
#[doc(hidden)]
pub mod decimals;
#[doc(hidden)]
pub mod exact_sum;
mod formulas;
mod histogram;
mod interval;
mod labels;
mod moments;
mod paired;
mod planned;
mod proportion;
mod ranks;
mod sampled;
mod sequential;
#[cfg(test)]
mod tests;

pub use bootstrap::{Bootstrap, bca_interval};
pub use clusters::Clusters;
pub use corrected::{CorrectedRate, ErrorRates, Stratum, post_stratified, rogan_gladen};
pub use formulas::{f_beta, harmonic_mean, score_difference};
pub use histogram::Histogram;
pub use interval::Interval;
pub use labels::{AlphaLevel, LabelPairs, NotDefined};
pub use labels::{ConfusionMatrix, Kappa, KappaWeights, cohen_kappa};
pub use moments::{Moments, Uncertainty};
pub use paired::{
    PairedShares, PermutationTest, detectable_difference, exchange_test, holm, mcnemar_exact,
    mcnemar_mid_p, permutation_limit, permutation_test, rows_for_power,
};
pub use planned::{DecisionPlan, plan_rows};
pub use proportion::Proportion;
#[doc(hidden)]
pub use ranks::RankPairs;
pub use ranks::{Brier, Calibration};
pub use ranks::{ClassScores, ValuePairs, average_ranks, spearman};
pub use sampled::{SampledMean, prediction_powered, sampled_difference, sampled_share};
#[doc(hidden)]
pub use sampled::{error_and_p_value, least_squares};
pub use sequential::{BettingTest, confidence_sequence, population_sequence};

/// With fewer values than this that differ from the commonest one, Student's t covers the mean of skewed scores too rarely.
const FEW: u64 = 30;
