//! The counts and values of one group of rows: what is recorded, merged, and computed at the end.

use dsrs_metrics::contract::{ScoreKind, ScoreRange};
use dsrs_metrics::stats::{Interval, Moments, Proportion, Uncertainty};

/// The score of a failed row, as in the harness by default.
const FAILURE_SCORE: f64 = 0.0;

/// The length of the counts and the range before the values.
const HEADER: usize = 5 * 8 + 1 + 2 * 8;

/// The counts and values of a group.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    zeros: u64,
    ones: u64,
    /// Values other than 0 and 1. They take a kilobyte, which a group of verdicts does not need.
    others: Option<Box<Moments>>,
    failed: u64,
    abstained: u64,
    skipped: u64,
    range: Option<ScoreRange>,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Row {
    Scored(f64),
    Failed,
    Abstained,
    /// Not evaluated, because of a gate or a budget.
    Skipped,
}

/// The figures of a group, as in the summary of the harness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Figures {
    /// The mean, in which a failed row counts as 0.
    pub(crate) mean: Option<f64>,
    /// The mean of the rows with a score.
    pub(crate) mean_scored: Option<f64>,
    pub(crate) stderr: Option<f64>,
    pub(crate) ci95: Option<Interval>,
    pub(crate) scored: u64,
    pub(crate) failed: u64,
    pub(crate) abstained: u64,
    pub(crate) skipped: u64,
}

impl Tally {
    pub(crate) fn new(range: Option<ScoreRange>) -> Self {
        Self {
            range,
            ..Self::default()
        }
    }

    pub(crate) fn record(&mut self, row: Row) {
        match row {
            Row::Scored(0.0) => self.zeros += 1,
            Row::Scored(1.0) => self.ones += 1,
            Row::Scored(value) => self.others.get_or_insert_default().record(value),
            Row::Failed => self.failed += 1,
            Row::Abstained => self.abstained += 1,
            Row::Skipped => self.skipped += 1,
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.zeros += other.zeros;
        self.ones += other.ones;
        self.failed += other.failed;
        self.abstained += other.abstained;
        self.skipped += other.skipped;
        self.range = self.range.or(other.range);
        if let Some(values) = &other.others {
            self.others.get_or_insert_default().merge(values);
        }
    }

    /// The bytes on the heap.
    pub(crate) fn heap_size(&self) -> usize {
        self.others
            .as_ref()
            .map_or(0, |moments| size_of_val(&**moments))
    }

    /// Returns the tally as bytes, for another partition or another machine.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER);
        for count in [
            self.zeros,
            self.ones,
            self.failed,
            self.abstained,
            self.skipped,
        ] {
            bytes.extend(count.to_le_bytes());
        }
        bytes.push(u8::from(self.range.is_some()));
        let ScoreRange { min, max } = self.range.unwrap_or(ScoreRange { min: 0.0, max: 0.0 });
        bytes.extend(min.to_le_bytes());
        bytes.extend(max.to_le_bytes());
        if let Some(others) = &self.others {
            bytes.extend(others.to_bytes());
        }
        bytes
    }

    /// Restores a tally; `None` if the bytes are not those of one.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (header, others) = bytes.split_at_checked(HEADER)?;
        let (counts, rest) = header.split_at(5 * 8);
        let mut counts = counts
            .chunks_exact(8)
            .map(|it| it.try_into().map(u64::from_le_bytes));
        let mut count = || counts.next()?.ok();
        let (zeros, ones, failed) = (count()?, count()?, count()?);
        let (abstained, skipped) = (count()?, count()?);
        let (has_range, range) = rest.split_first()?;
        let (min, max) = range.split_at(8);
        let min = f64::from_le_bytes(min.try_into().ok()?);
        let max = f64::from_le_bytes(max.try_into().ok()?);
        let range = (*has_range == 1).then_some(ScoreRange { min, max });
        let others = match others {
            [] => None,
            bytes => Some(Box::new(Moments::from_bytes(bytes)?)),
        };
        Some(Self {
            zeros,
            ones,
            others,
            failed,
            abstained,
            skipped,
            range,
        })
    }

    pub(crate) fn figures(&self, kind: ScoreKind) -> Figures {
        let mut scored = self.others.as_deref().cloned().unwrap_or_default();
        scored.record_times(0.0, self.zeros);
        scored.record_times(1.0, self.ones);
        let mut all = scored.clone();
        all.record_times(FAILURE_SCORE, self.failed);
        let mean_scored = scored.mean();
        let uncertainty = match scored.count() {
            0 => Uncertainty::default(),
            _ => self.uncertainty(&all, kind),
        };
        Figures {
            mean: mean_scored.and_then(|_| all.mean()),
            mean_scored,
            stderr: uncertainty.stderr(),
            ci95: uncertainty.ci95(),
            scored: scored.count(),
            failed: self.failed,
            abstained: self.abstained,
            skipped: self.skipped,
        }
    }

    /// The uncertainty of the mean of all rows, within the range of scores, to which failures belong.
    fn uncertainty(&self, all: &Moments, kind: ScoreKind) -> Uncertainty {
        let range = self.range.map(|ScoreRange { min, max }| match self.failed {
            0 => (min, max),
            _ => (min.min(FAILURE_SCORE), max.max(FAILURE_SCORE)),
        });
        match (kind, range) {
            (ScoreKind::Bool, _) => Proportion {
                successes: self.ones,
                trials: all.count(),
            }
            .uncertainty(),
            (_, Some((min, max))) => all.uncertainty_within(min, max),
            (_, None) => all.uncertainty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[Row]) -> Tally {
        let mut tally = Tally::new(Some(ScoreRange::UNIT));
        rows.iter().for_each(|row| tally.record(*row));
        tally
    }

    #[test]
    fn failures_count_as_zero_and_abstentions_do_not_count() {
        let rows = [
            Row::Scored(1.0),
            Row::Scored(0.5),
            Row::Failed,
            Row::Abstained,
            Row::Skipped,
        ];
        let figures = of(&rows).figures(ScoreKind::Number);
        assert_eq!((figures.mean, figures.mean_scored), (Some(0.5), Some(0.75)));
        assert_eq!((figures.scored, figures.failed), (2, 1));
        assert_eq!((figures.abstained, figures.skipped), (1, 1));
        let failed = of(&[Row::Failed, Row::Failed]).figures(ScoreKind::Bool);
        assert_eq!((failed.mean, failed.ci95, failed.failed), (None, None, 2));
    }

    #[test]
    fn bytes_and_merging_do_not_change_a_bit() {
        let rows: Vec<Row> = (0..60_u32)
            .map(|row| {
                if row % 7 == 0 {
                    Row::Failed
                } else {
                    Row::Scored(f64::from(row) / 60.0)
                }
            })
            .collect();
        let mut merged = Tally::default();
        for part in rows.chunks(11).rev() {
            merged.merge(&Tally::from_bytes(&of(part).to_bytes()).unwrap());
        }
        assert_eq!(
            merged.figures(ScoreKind::Number),
            of(&rows).figures(ScoreKind::Number)
        );
        assert_eq!(merged.to_bytes(), of(&rows).to_bytes());
        assert!(Tally::from_bytes(b"other").is_none());
        assert!(Tally::from_bytes(&[of(&rows).to_bytes(), vec![0]].concat()).is_none());
    }

    #[test]
    fn the_interval_of_a_share_is_that_of_wilson() {
        let figures =
            of(&[Row::Scored(1.0), Row::Scored(0.0), Row::Failed]).figures(ScoreKind::Bool);
        let share = Proportion {
            successes: 1,
            trials: 3,
        };
        assert_eq!(
            (figures.ci95, figures.mean),
            (share.wilson(), Some(1.0 / 3.0))
        );
    }
}
