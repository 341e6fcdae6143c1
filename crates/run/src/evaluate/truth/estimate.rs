//! Estimates the mean of all rows from the judged ones and the proxy of all.

use super::{RowOfTruth, Truth};
use crate::contract::ScoreKind;
use crate::evaluate::manifest::{TruthMethod, TruthResult};
use crate::stats::{Interval, SampledMean, Stratum, prediction_powered, sampled_share};

/// Returns the estimate; `None` if too few rows are judged.
pub(super) fn estimate(truth: &Truth, name: &str, failure_score: f64) -> Option<TruthResult> {
    let sampled = truth.strata.iter().map(|stratum| stratum.sampled).sum();
    let values = truth.rows.iter().filter_map(|row| row.value);
    let judged = values.clone().count() as u64;
    let is_share = truth.kind == ScoreKind::Bool && values.clone().all(|it| it == 0.0 || it == 1.0);
    let note = note(truth, sampled, judged);
    let uses_proxy = truth.proxy.is_some() && note.is_none();
    let (method, estimated) = match (uses_proxy, is_share) {
        (true, true) => {
            let strata = strata(truth, truth.strata.len());
            (TruthMethod::PostStratified, sampled_share(&strata))
        }
        (false, true) => {
            let mut plain = strata(truth, 1);
            plain[0].rows = answered_rows(truth.rows.len() as u64, sampled, judged);
            (TruthMethod::Sample, sampled_share(&plain))
        }
        (true, false) => (
            TruthMethod::PredictionPowered,
            powered(truth, failure_score, true),
        ),
        (false, false) => (TruthMethod::Sample, powered(truth, failure_score, false)),
    };
    let SampledMean {
        mean,
        interval,
        worth,
    } = estimated.ok()?;
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
        mean: with_failed(mean),
        ci95: [interval.low, interval.high].map(with_failed),
        worth,
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

/// Returns how many of the rows have a score, if as many do as in the sample.
fn answered_rows(rows: u64, sampled: u64, judged: u64) -> u64 {
    let share = judged as f64 / sampled.max(1) as f64;
    ((rows as f64 * share).round() as u64).max(judged)
}

/// Returns the judged rows by stratum; all are in the first one if there is only one.
fn strata(truth: &Truth, number: usize) -> Vec<Stratum> {
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

/// Estimates a mean of numbers. A row whose proxy has no score counts as the mean of its scores.
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
