//! The gates of a run that ends once they are decided, and their tests.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

use crate::contract::{Outcome, ScoreKind};
use crate::evaluate::row::{MetricEntry, RowResult, counted};
use crate::evaluate::summary::MetricSummary;
use crate::messages::escape;
use crate::stats::{BettingTest, Interval};

/// The maximum share of rows that may have a score in only one of two runs. Above it, a comparison of the runs is not
/// decided.
const MAX_LOST: f64 = 0.05;

/// An upper or lower bound on a quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// The quantity must be at least this value.
    AtLeast(f64),
    /// The quantity must be at most this value.
    AtMost(f64),
}

impl Bound {
    /// Returns `true` if the value is within the bound.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::AtLeast(bound) => value >= bound,
            Self::AtMost(bound) => value <= bound,
        }
    }

    /// Returns the value of the bound.
    pub const fn limit(self) -> f64 {
        match self {
            Self::AtLeast(limit) | Self::AtMost(limit) => limit,
        }
    }
}

/// The part of a score that a gate compares with a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The point estimate.
    Estimate,
    /// The lower end of the 95% interval.
    Lower,
    /// The upper end of the 95% interval.
    Upper,
}

impl End {
    /// Returns this end of the score's interval, or the score itself.
    pub(crate) fn of(self, summary: &MetricSummary) -> Option<f64> {
        let ci95 = summary.uncertainty.ci95();
        match self {
            Self::Estimate => summary.score,
            Self::Lower => ci95.map(|interval| interval.low),
            Self::Upper => ci95.map(|interval| interval.high),
        }
    }
}

/// A gate that can be decided before all rows are evaluated.
#[derive(Debug, Clone)]
pub struct EarlyGate {
    /// The source text of the gate.
    pub text: String,
    /// The quantity that the gate checks.
    pub figure: Figure,
    /// The bound on the quantity.
    pub bound: Bound,
}

/// A quantity that a gate can check.
#[derive(Debug, Clone)]
pub enum Figure {
    /// The score of a metric, or one end of its interval.
    Score {
        /// The metric.
        metric: String,
        /// The score or the end of the interval.
        end: End,
    },
    /// The fraction of rows that failed.
    Failed,
    /// A metric's mean improvement over its earlier scores for the same rows.
    Gain {
        /// The metric.
        metric: String,
        /// `true` if a lower score is better.
        is_lower_better: bool,
        /// Each row's earlier value, by row id.
        earlier: Arc<HashMap<String, f64>>,
    },
}

/// Parses a gate such as `polite >= 0.9`, `lower(polite) >= 90%`, `upper(wer) <= 0.2` or `failed <= 0.02`.
impl FromStr for EarlyGate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            format!(
                "expected a gate such as `polite >= 0.9`, `lower(polite) >= 90%` or `failed <= 0.02`, found `{}`",
                escape::escaped(text)
            )
        };
        let (name, bound, limit) = match (text.split_once(">="), text.split_once("<=")) {
            (Some((name, limit)), None) => (name, Bound::AtLeast as fn(f64) -> Bound, limit),
            (None, Some((name, limit))) => (name, Bound::AtMost as fn(f64) -> Bound, limit),
            _ => return Err(expected()),
        };
        let limit = parse_limit(limit.trim()).ok_or_else(expected)?;
        let (bound, name) = (bound(limit), name.trim());
        let inner = |end: &str| {
            let name = name.strip_prefix(end)?.trim();
            Some(name.strip_prefix('(')?.strip_suffix(')')?.trim())
        };
        let (metric, end) = match (inner("lower"), inner("upper"), bound) {
            (Some(metric), _, Bound::AtLeast(_)) => (metric, End::Lower),
            (_, Some(metric), Bound::AtMost(_)) => (metric, End::Upper),
            (None, None, _) => (name, End::Estimate),
            _ => return Err(expected()),
        };
        let is_name = |c: char| !c.is_whitespace() && !matches!(c, '(' | ')' | '<' | '>' | '=');
        if metric.is_empty() || !metric.chars().all(is_name) {
            return Err(expected());
        }
        let figure = match (metric, end) {
            ("failed", End::Estimate) => Figure::Failed,
            _ => Figure::Score {
                metric: metric.to_owned(),
                end,
            },
        };
        Ok(Self {
            text: text.trim().to_owned(),
            figure,
            bound,
        })
    }
}

/// Parses a finite number, or a percentage such as `60%`.
pub fn parse_limit(text: &str) -> Option<f64> {
    let limit = match text.strip_suffix('%') {
        // Rounded once, unlike a division by 100.
        Some(percent) => format!("{percent}e-2").parse(),
        None => text.parse(),
    };
    limit.ok().filter(|limit: &f64| limit.is_finite())
}

impl EarlyGate {
    /// Returns `true` if the gate is about the rows of the run itself, and not about the population that they are
    /// sampled from.
    pub(crate) fn is_of_rows(&self) -> bool {
        matches!(
            self.figure,
            Figure::Failed
                | Figure::Score {
                    end: End::Estimate,
                    ..
                }
        )
    }

    pub(super) fn metric(&self) -> Option<&str> {
        match &self.figure {
            Figure::Failed => None,
            Figure::Score { metric, .. } | Figure::Gain { metric, .. } => Some(metric),
        }
    }

    /// Returns the range of the figure if the gate can be decided before all rows are evaluated.
    ///
    /// # Errors
    /// Returns a message if no row can decide the gate.
    pub(super) fn range<G: Sync, P: Sync>(
        &self,
        metrics: &[MetricEntry<'_, G, P>],
        failure_score: f64,
    ) -> Result<Interval, String> {
        let range = |name| score_range(name, metrics, failure_score);
        let (low, high) = match &self.figure {
            Figure::Failed => (0.0, 1.0),
            Figure::Score { metric, .. } => range(metric)?,
            Figure::Gain { metric, .. } => {
                let (low, high) = range(metric)?;
                (low - high, high - low)
            }
        };
        let (range, limit) = (Interval { low, high }, self.bound.limit());
        match range.contains(limit) {
            true => Ok(range),
            false => Err(format!(
                "expected a limit from {low} to {high}, found {limit}"
            )),
        }
    }
}

/// Returns the range of values that a row can contribute to a metric's mean.
fn score_range<G: Sync, P: Sync>(
    name: &str,
    metrics: &[MetricEntry<'_, G, P>],
    failure_score: f64,
) -> Result<(f64, f64), String> {
    let Some(metric) = metrics.iter().find(|metric| metric.name == name) else {
        let names = escape::names(metrics.iter().map(|metric| &*metric.name));
        let name = escape::name(name);
        return Err(format!(
            "expected a metric in the run ({names}), found `{name}`"
        ));
    };
    if metric.kind == ScoreKind::Corpus {
        return Err(format!(
            "`{name}` scores all rows together, so it needs all of them; gate on a metric that scores each row"
        ));
    }
    let range = metric.range_with(failure_score);
    range.map(|range| (range.low, range.high)).ok_or_else(|| format!(
        "`{name}` has no range, so a single row could change any verdict; write `range = 0.0..=1.0` in its `#[metric]`"
    ))
}

/// The test of a gate on the rows evaluated so far.
pub(super) struct GateTest {
    pub(super) gate: EarlyGate,
    /// The position of the metric.
    metric: usize,
    test: BettingTest,
    /// `true` once the gate passes, or `false` once it fails.
    pub(super) passed: Option<bool>,
    rows: u64,
    lost: u64,
    /// `true` once the budget did not cover a row. The order of the rows determines which ones it covers, so later rows
    /// are no evidence.
    has_gap: bool,
}

impl GateTest {
    pub(super) fn new(gate: EarlyGate, metric: usize, range: Interval, rows: u64) -> Self {
        let limit = gate.bound.limit();
        let test = match gate.is_of_rows() {
            true => BettingTest::of_rows(range, limit, rows),
            false => BettingTest::of_population(range, limit),
        };
        Self {
            gate,
            metric,
            test,
            passed: None,
            rows: 0,
            lost: 0,
            has_gap: false,
        }
    }

    /// Records the next row, and decides the gate once the evidence reaches `needed`.
    pub(super) fn record<G, P>(&mut self, row: &RowResult<G, P>, failure_score: f64, needed: f64) {
        self.has_gap |= row.outcomes.iter().any(Outcome::is_skipped);
        if self.passed.is_some() || self.has_gap {
            return;
        }
        let counted = counted(&row.outcomes[self.metric], failure_score);
        let value = match &self.gate.figure {
            Figure::Failed => Some(f64::from(row.is_failure())),
            Figure::Score { .. } => counted,
            Figure::Gain {
                is_lower_better,
                earlier,
                ..
            } => {
                let earlier = earlier.get(&row.id);
                self.lost += u64::from(earlier.is_some() != counted.is_some());
                let gain = counted.zip(earlier).map(|(new, old)| new - old);
                gain.map(|gain| if *is_lower_better { -gain } else { gain })
            }
        };
        self.rows += 1;
        self.test.record(value);
        if self.lost as f64 > MAX_LOST * self.rows as f64 {
            return;
        }
        let is_above = match () {
            () if self.test.above() >= needed => Some(true),
            () if self.test.below() >= needed => Some(false),
            () => self.test.certain(),
        };
        let is_at_least = matches!(self.gate.bound, Bound::AtLeast(_));
        self.passed = is_above.map(|is_above| is_above == is_at_least);
    }

    /// Returns the evidence for the verdict as an e-value, or `None` if no remaining row could change the verdict.
    pub(super) fn evidence(&self) -> Option<f64> {
        let evidence = self.test.above().max(self.test.below());
        (self.test.certain().is_none()).then_some(evidence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Fields;

    /// Returns the verdict if the first `scored` rows score 1 and the budget covers no others.
    fn passed_after(scored: usize, rows: usize) -> Option<bool> {
        let gate: EarlyGate = "polite >= 0.7".parse().unwrap();
        let range = Interval {
            low: 0.0,
            high: 1.0,
        };
        let mut test = GateTest::new(gate, 0, range, 100);
        for number in 0..rows {
            let gold = Arc::new(());
            let mut row = RowResult::<(), ()>::of_parts(String::new(), gold, Fields::default());
            row.outcomes = vec![match number < scored {
                true => serde_json::from_str(r#"{"scored":{"value":1.0}}"#).unwrap(),
                false => Outcome::Skipped {
                    budget: 1,
                    cost_msats: 0,
                },
            }];
            test.record(&row, 0.0, 100.0);
        }
        test.passed
    }

    #[test]
    fn rows_that_the_budget_does_not_cover_decide_nothing() {
        assert_eq!(
            (passed_after(99, 99), passed_after(10, 99)),
            (Some(true), None)
        );
    }

    fn read(text: &str) -> (String, Bound) {
        let gate: EarlyGate = text.parse().unwrap();
        let figure = match gate.figure {
            Figure::Score { metric, end } => format!("{end:?} {metric}"),
            _ => "failed".to_owned(),
        };
        (figure, gate.bound)
    }

    #[test]
    fn a_gate_is_read_as_in_an_eval() {
        let estimate = ("Estimate polite".to_owned(), Bound::AtLeast(0.9));
        assert_eq!(read("polite >= 0.9"), estimate);
        assert_eq!(read(" polite>=90% "), estimate);
        assert_eq!(
            read("lower( f1 ) >= 0.8"),
            ("Lower f1".to_owned(), Bound::AtLeast(0.8))
        );
        assert_eq!(
            read("upper(wer) <= 0.2"),
            ("Upper wer".to_owned(), Bound::AtMost(0.2))
        );
        assert_eq!(
            read("failed <= 2%"),
            ("failed".to_owned(), Bound::AtMost(0.02))
        );
        for text in [
            "polite",
            "polite > 0.9",
            "polite >= x",
            ">= 0.9",
            "lower(f1) <= 0.8",
            "polite >= nan",
            "a b >= 1",
            "f1 >= 0.1 <= 0.2",
        ] {
            let error = text.parse::<EarlyGate>().unwrap_err();
            assert!(error.ends_with(&format!("found `{text}`")), "{error}");
        }
    }
}
