//! Draws a sample from a proxy's strata, in proportion to their sizes. Estimates the mean over all rows from the judged
//! rows and the proxy's scores for all rows.

use super::{RowOfTruth, Truth};
use crate::contract::ScoreKind;
use crate::evaluate::manifest::{TruthMethod, TruthResult, TruthStratum};
use crate::stats::{Interval, SampledMean, Stratum, prediction_powered, sampled_share};

/// The maximum number of strata of a proxy.
const MAX_STRATA: u64 = 5;

/// The minimum share of the sample, in rows, for a stratum of its own. A smaller stratum joins its neighbour.
const MIN_SHARE: f64 = 2.0;

/// Draws `size` rows: the first ones of each stratum, in their random order.
pub(super) fn draw(rows: &mut [RowOfTruth], size: u64) -> Vec<TruthStratum> {
    let size = size.min(rows.len() as u64);
    let mut strata = stratify(rows, size);
    allocate(&mut strata, size);
    let mut left: Vec<u64> = strata.iter().map(|stratum| stratum.sampled).collect();
    let mut order: Vec<&mut RowOfTruth> = rows.iter_mut().collect();
    // Stable, so rows with the same key stay in order.
    order.sort_by_key(|row| row.order);
    for row in order {
        let left = &mut left[row.stratum];
        row.is_sampled = *left > 0;
        *left = left.saturating_sub(1);
    }
    strata
}

/// Assigns each row to a stratum, and returns the strata. Rows with equal scores are in the same stratum, and rows
/// without a score come last.
fn stratify(rows: &mut [RowOfTruth], size: u64) -> Vec<TruthStratum> {
    let all = rows.len() as u64;
    let score = |row: &RowOfTruth| row.proxy.unwrap_or(f64::INFINITY);
    let is_same = |a: &&mut RowOfTruth, b: &&mut RowOfTruth| score(a) == score(b);
    let share = |rows: u64| rows as f64 * size as f64 / all as f64;
    let mut order: Vec<&mut RowOfTruth> = rows.iter_mut().collect();
    order.sort_by(|a, b| score(a).total_cmp(&score(b)));
    let has_few_scores = order.chunk_by(is_same).count() as u64 <= MAX_STRATA;
    let mut strata: Vec<TruthStratum> = Vec::new();
    let (mut rank, mut fifth) = (0, 0);
    for same in order.chunk_by_mut(is_same) {
        let of_rank = MAX_STRATA * rank / all;
        let is_new = of_rank > fifth || has_few_scores || score(same[0]) == f64::INFINITY;
        let is_large = |last: &TruthStratum| share(last.rows.min(all - rank)) >= MIN_SHARE;
        if strata.last().is_none_or(|last| is_new && is_large(last)) {
            strata.push(TruthStratum::default());
            fifth = of_rank;
        }
        let stratum = strata.len() - 1;
        strata[stratum].rows += same.len() as u64;
        same.iter_mut().for_each(|row| row.stratum = stratum);
        rank += same.len() as u64;
    }
    strata
}

/// Divides a sample among the strata in proportion to their sizes, by the largest remainder.
fn allocate(strata: &mut [TruthStratum], size: u64) {
    let all = strata.iter().map(|stratum| stratum.rows).sum::<u64>();
    let all = u128::from(all.max(1));
    let exact = |stratum: &TruthStratum| u128::from(stratum.rows) * u128::from(size);
    let mut missing = size;
    for stratum in strata.iter_mut() {
        stratum.sampled = u64::try_from(exact(stratum) / all).unwrap_or(u64::MAX);
        missing -= stratum.sampled;
    }
    let mut order: Vec<&mut TruthStratum> = strata.iter_mut().collect();
    order.sort_by_key(|stratum| std::cmp::Reverse(exact(stratum) % all));
    let missing = usize::try_from(missing).unwrap_or(usize::MAX);
    let largest = order.into_iter().take(missing);
    largest.for_each(|stratum| stratum.sampled += 1);
}

/// Returns the estimate, or `None` if too few rows are judged.
pub(super) fn estimate(truth: &Truth, name: &str, failure_score: f64) -> Option<TruthResult> {
    let sampled = truth.strata.iter().map(|stratum| stratum.sampled).sum();
    let values = truth.rows.iter().filter_map(|row| row.value);
    let judged = values.clone().count() as u64;
    let is_share = truth.kind == ScoreKind::Bool && values.clone().all(|it| it == 0.0 || it == 1.0);
    let note = note(truth, sampled, judged);
    let uses_proxy = truth.proxy.is_some() && note.is_none();
    let (method, estimated) = match (uses_proxy, is_share) {
        (true, true) => {
            let strata = judged_strata(truth, truth.strata.len());
            (TruthMethod::PostStratified, sampled_share(&strata))
        }
        (false, true) => {
            let mut plain = judged_strata(truth, 1);
            plain[0].rows = answered_rows(truth.rows.len() as u64, sampled, judged);
            (TruthMethod::Sample, sampled_share(&plain))
        }
        (true, false) => (
            TruthMethod::PredictionPowered,
            powered(truth, failure_score, true),
        ),
        (false, false) => (TruthMethod::Sample, powered(truth, failure_score, false)),
    };
    let estimated = estimated.ok()?;
    let ci95 = [estimated.interval.low, estimated.interval.high];
    let rows = truth.rows.len() as u64;
    let share = rows as f64 / (rows + truth.failed) as f64;
    // Rows whose program failed are known to count as the failure score.
    let with_failed = |value: f64| share * value + (1.0 - share) * failure_score;
    Some(TruthResult {
        metric: name.to_owned(),
        by: truth.sample.by.clone(),
        method,
        rows,
        sampled,
        judged,
        mean: with_failed(estimated.mean),
        ci95: ci95.map(with_failed),
        worth: estimated.worth,
        strata: truth.strata.clone(),
        note,
    })
}

/// Returns why the proxy is not used.
fn note(truth: &Truth, sampled: u64, judged: u64) -> Option<String> {
    let by = truth.sample.by.as_deref()?;
    if judged < sampled {
        let without = sampled - judged;
        return Some(format!(
            "{without} of {sampled} sampled rows have no score, so `{by}` is not used"
        ));
    }
    let mut scores = truth.rows.iter().map(|row| row.proxy);
    let first = scores.next()?;
    let is_constant = scores.all(|it| it == first);
    let is_one = truth.kind == ScoreKind::Bool && truth.strata.len() == 1;
    (is_constant || is_one)
        .then(|| format!("`{by}` is the same for nearly all rows, so it is not used"))
}

/// Estimates how many of the rows have a score, assuming the same fraction as in the sample.
fn answered_rows(rows: u64, sampled: u64, judged: u64) -> u64 {
    let share = judged as f64 / sampled.max(1) as f64;
    ((rows as f64 * share).round() as u64).max(judged)
}

/// Returns the judged rows by stratum. If there is only one stratum, all rows are in it.
fn judged_strata(truth: &Truth, number: usize) -> Vec<Stratum> {
    let mut strata = vec![Stratum::default(); number];
    for row in &truth.rows {
        let stratum = &mut strata[row.stratum.min(number - 1)];
        stratum.rows += 1;
        if let Some(value) = row.value {
            stratum.labelled.record(value >= 1.0);
        }
    }
    strata
}

/// Estimates the mean of numeric scores. If the proxy has no score for a row, the mean of the proxy's scores is used
/// instead.
fn powered(
    truth: &Truth,
    failure_score: f64,
    uses_proxy: bool,
) -> Result<SampledMean, crate::stats::NotDefined> {
    let known = truth.rows.iter().filter_map(|row| row.proxy);
    let mean = known.clone().sum::<f64>() / known.count().max(1) as f64;
    let proxy = |row: &RowOfTruth| match uses_proxy {
        true => row.proxy.unwrap_or(mean),
        false => 0.0,
    };
    let (judged, others): (Vec<_>, Vec<_>) = truth.rows.iter().partition(|row| row.value.is_some());
    let sample = judged
        .iter()
        .filter_map(|row| Some((row.value?, proxy(row))));
    let sample: Vec<(f64, f64)> = sample.collect();
    let sampled = truth.strata.iter().map(|stratum| stratum.sampled).sum();
    let answered = answered_rows(truth.rows.len() as u64, sampled, sample.len() as u64);
    let others = others.into_iter().map(proxy);
    let rest = usize::try_from(answered).unwrap_or(usize::MAX) - sample.len();
    let others: Vec<f64> = others.take(rest).collect();
    let (mut low, mut high) = (truth.range.min, truth.range.max);
    if sample.iter().any(|(value, _)| *value == failure_score) {
        (low, high) = (low.min(failure_score), high.max(failure_score));
    }
    prediction_powered(&sample, &others, Interval { low, high })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(proxies: impl IntoIterator<Item = Option<f64>>, size: u64) -> Vec<(u64, u64)> {
        let row = |(order, proxy)| RowOfTruth {
            order,
            proxy,
            ..RowOfTruth::default()
        };
        let mut rows: Vec<_> = (0..).zip(proxies).map(row).collect();
        let strata = draw(&mut rows, size);
        let sampled = rows.iter().filter(|row| row.is_sampled).count() as u64;
        assert_eq!(sampled, size.min(rows.len() as u64));
        strata.iter().map(|it| (it.rows, it.sampled)).collect()
    }

    #[test]
    fn verdicts_and_fifths_of_scores_are_strata() {
        let verdicts =
            |passed: u32| (0..1000).map(move |row| Some(f64::from(u8::from(row < passed))));
        assert_eq!(drawn(verdicts(700), 100), [(300, 30), (700, 70)]);
        assert_eq!(drawn(verdicts(950), 100), [(50, 5), (950, 95)]);
        assert_eq!(
            drawn(verdicts(995), 100),
            [(1000, 100)],
            "5 rows have a share below 2"
        );
        assert_eq!(drawn(verdicts(1000), 100), [(1000, 100)]);
        let scores = (0..1000).map(|row| Some(f64::from(row)));
        assert_eq!(
            drawn(scores, 101),
            [(200, 21), (200, 20), (200, 20), (200, 20), (200, 20)]
        );
        let scores = (0..1000).map(|row| Some(f64::from(row.max(500))));
        assert_eq!(
            drawn(scores, 100),
            [(501, 50), (99, 10), (200, 20), (200, 20)]
        );
    }

    #[test]
    fn rows_without_a_score_are_a_stratum_and_a_large_sample_takes_all_rows() {
        let rows = (0..100).map(|row| (row < 60).then(|| f64::from(row % 2)));
        assert_eq!(drawn(rows, 20), [(30, 6), (30, 6), (40, 8)]);
        assert_eq!(drawn([Some(1.0); 7], 100), [(7, 7)]);
        assert_eq!(drawn([], 100), []);
    }
}
