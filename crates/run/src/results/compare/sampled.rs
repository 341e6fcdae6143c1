//! Estimates the difference over all rows for a metric that judged only a sample of the rows.

use serde::Serialize;

use super::difference::{DifferenceTest, PairedDifference};
use super::metric::MetricComparison;
use super::pairs::Pairs;
use crate::evaluate::report::ResultOutcome;
use crate::messages::escape;
use crate::results::run_scores::{RunScores, Score, Selected};
use crate::results::thousands;
use crate::stats::{
    Interval, error_and_p_value, least_squares, sampled_difference, score_difference,
};

/// The minimum number of rows that both runs judged.
const MIN_ROWS: usize = 10;

/// A sample of rows that the difference between two runs is estimated from.
///
/// The difference is estimated if at least one run judged only a sample of its rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SampledRows {
    /// The number of rows that both runs have.
    ///
    /// The field `n` counts only the rows that both runs judged.
    pub rows: u64,
    /// The proxy metric that the estimate uses, if any.
    ///
    /// The estimate uses the difference in the proxy's scores over all rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The effective sample size: how many judged rows would give an interval this narrow without the proxy.
    ///
    /// Each of the two runs would have to judge this many rows.
    pub worth: f64,
}

impl SampledRows {
    /// Formats the counts as `100 of 1,000 rows judged in both, worth 180`.
    pub(crate) fn found(&self, judged: u64) -> String {
        let worth = match self.worth.round() > judged as f64 {
            true => format!(", worth {:.0}", self.worth),
            false => String::new(),
        };
        let (judged, rows) = (thousands(judged), thousands(self.rows));
        format!("{judged} of {rows} rows judged in both{worth}")
    }
}

/// A row's scores in both runs, and its proxy scores. A proxy score is 0 if a run has none.
struct Row {
    scores: [f64; 2],
    proxies: [f64; 2],
}

/// The rows of both runs.
#[derive(Default)]
struct Rows {
    judged: Vec<Row>,
    /// The proxy scores of the rows that a run did not judge.
    others: Vec<[f64; 2]>,
    /// The number of rows whose program failed in both runs. These rows are known to be equal.
    failed: f64,
    /// The number of sampled rows without a score.
    silent: u64,
}

impl Rows {
    fn of(metric: &str, proxy: Option<&str>, pairs: &Pairs<'_>, failure_score: f64) -> Self {
        let [of_a, of_b] = pairs.runs.map(|run| run.scores_of(metric));
        let proxy = proxy.unwrap_or_default();
        let [proxy_a, proxy_b] = pairs.runs.map(|run| run.scores_of(proxy));
        let value = |score: Score| score.counted(failure_score);
        let mut rows = Self::default();
        for [a, b] in &pairs.rows {
            let scores = [of_a(*a), of_b(*b)];
            let proxies = match [proxy_a(*a), proxy_b(*b)].map(value) {
                [Some(a), Some(b)] => [a, b],
                _ => [0.0; 2],
            };
            let is_program = |score: &Score| score.outcome == Some(ResultOutcome::ProgramFailed);
            match scores.map(value) {
                _ if scores.iter().all(is_program) => rows.failed += 1.0,
                _ if scores.iter().any(Score::is_not_sampled) => rows.others.push(proxies),
                [Some(a), Some(b)] => rows.judged.push(Row {
                    scores: [a, b],
                    proxies,
                }),
                _ => rows.silent += 1,
            }
        }
        rows
    }

    /// Estimates the difference. Also returns how many judged rows would be as informative without the proxy.
    fn difference(&self, largest: f64, failure_score: f64) -> Option<(PairedDifference, f64)> {
        let change = |[a, b]: [f64; 2]| score_difference(b, a);
        let judged = self.judged.iter();
        let sample = judged.map(|row| (change(row.scores), change(row.proxies)));
        let sample: Vec<(f64, f64)> = sample.collect();
        let others: Vec<f64> = self.others.iter().map(|proxies| change(*proxies)).collect();
        let estimate = sampled_difference(&sample, &others, largest).ok()?;
        let weight = least_squares(&sample);
        let n = sample.len() as f64;
        let rows = n + others.len() as f64;
        let share = rows / (rows + self.failed);
        let mean = |side: usize| {
            let score = self.judged.iter().map(|row| row.scores[side]).sum::<f64>();
            let of_sample = self.judged.iter().map(|row| row.proxies[side]).sum::<f64>();
            let of_others = self.others.iter().map(|proxies| proxies[side]).sum::<f64>();
            let shift = (of_sample + of_others) / rows - of_sample / n;
            share * (score / n + weight * shift) + (1.0 - share) * failure_score
        };
        let ci95 = Interval {
            low: share * estimate.interval.low,
            high: share * estimate.interval.high,
        };
        let difference = share * estimate.mean;
        let (stderr, p_value) = error_and_p_value(difference, ci95);
        let difference = PairedDifference {
            n: sample.len() as u64,
            clusters: None,
            a: Some(mean(0)),
            b: Some(mean(1)),
            difference: Some(difference),
            stderr: Some(stderr),
            ci95: Some(ci95),
            p_value: Some(p_value),
            test: DifferenceTest::PredictionPowered,
            wins: 0,
            losses: 0,
            ties: 0,
        };
        Some((difference, estimate.worth))
    }

    /// Drops the proxy, which says nothing about the rows that the metric has no score for.
    fn without_proxy(&mut self) {
        let judged = self.judged.len() as f64;
        let answered = judged / (judged + self.silent as f64);
        let others = (self.others.len() as f64 * answered).round();
        self.others = vec![[0.0; 2]; others as usize];
        self.judged
            .iter_mut()
            .for_each(|row| row.proxies = [0.0; 2]);
    }
}

impl MetricComparison {
    /// Replaces the difference over the judged rows with an estimate for all rows. `largest` is the maximum difference
    /// between two scores.
    pub(super) fn of_sample(
        mut self,
        metric: Selected<'_>,
        pairs: &Pairs<'_>,
        largest: f64,
    ) -> Self {
        self.groups.clear();
        self.scored_in_both = None;
        let by = proxy(metric.metric, pairs.runs);
        let mut rows = Rows::of(metric.name, by, pairs, self.failure_score);
        let by = by.filter(|_| rows.silent == 0);
        if by.is_none() {
            rows.without_proxy();
        }
        let judged = rows.judged.len();
        self.not_tested = match &pairs.groups {
            Some(_) => Some(format!(
                "no test by group, because `{}` judged only a sample of the rows; leave out the group, or judge all rows",
                escape::name(metric.metric)
            )),
            None if judged < MIN_ROWS => Some(format!(
                "no test, because only {judged} rows were judged in both runs, and a test needs {MIN_ROWS}; sample them with the same seed, or sample more rows"
            )),
            None => None,
        };
        let estimate = || rows.difference(largest, self.failure_score);
        let Some((difference, worth)) = self.not_tested.is_none().then(estimate).flatten() else {
            self.overall.p_value = None;
            return self;
        };
        let PairedDifference { wins, losses, .. } = self.overall;
        self.overall = PairedDifference {
            wins,
            losses,
            ties: difference.n - wins - losses,
            ..difference
        };
        self.sampled = Some(SampledRows {
            rows: pairs.rows.len() as u64,
            by: by.map(str::to_owned),
            worth,
        });
        self
    }
}

/// Returns the sample's proxy, if both runs have it for all rows.
fn proxy<'r>(metric: &str, runs: [&'r RunScores; 2]) -> Option<&'r str> {
    let truths = runs.into_iter().filter_map(|run| run.truth(metric));
    let has = |run: &RunScores, name| run.metrics().any(|metric| metric == name);
    let mut proxies = truths.filter_map(|truth| truth.by.as_deref());
    proxies.find(|name| runs.iter().all(|run| has(run, *name)))
}
