//! The running counts and values of one metric.

use indexmap::IndexMap;

use super::counts::{MissingTally, RepeatTally};
use super::metric_summary::MetricSummary;
use super::{Place, Sample};
use crate::contract::{CorpusCounts, Counted, Outcome, ScoreKind, ScoreRange, Scored};
use crate::evaluate::manifest::{JudgedByTally, RunManifest};
use crate::evaluate::row::RowResult;
use crate::stats::{Bootstrap, Histogram, Moments, Uncertainty};

/// The running counts and values of one metric.
#[derive(Default)]
pub(crate) struct Tally {
    /// The counts of the rows so far. The mean and the interval are computed at the end of the run.
    counts: MetricSummary,
    range: Option<ScoreRange>,
    scored: Moments,
    /// The scores, and the failure score for each failed row.
    values: Sample,
    /// The failure score for each failed row. A named score starts with these values when it first occurs.
    failures: Sample,
    parts: IndexMap<String, PartTally>,
    repeats: Option<RepeatTally>,
    corpus: Option<CorpusCounts>,
    counted: Option<Counted>,
    first_lost_judge: Option<(u64, Box<str>)>,
    missing: MissingTally,
    judged_by: JudgedByTally,
}

struct PartTally {
    scored: Moments,
    values: Sample,
    /// The row and position of the first occurrence, which determine the order of the named scores.
    first: (u64, usize),
}

impl Tally {
    pub(crate) fn new(
        name: &str,
        kind: ScoreKind,
        range: Option<ScoreRange>,
        run: &RunManifest,
        by_group: bool,
    ) -> Self {
        let seed = run.seed;
        let bootstrap = run.bootstrap.map(|resamples| Bootstrap { resamples, seed });
        let values = Sample::new(by_group, bootstrap);
        // Only for numbers with a finite range.
        let histogram = range
            .filter(|_| kind == ScoreKind::Number)
            .and_then(|range| Histogram::new(range.min, range.max));
        Self {
            counts: MetricSummary {
                name: name.to_owned(),
                kind,
                failure_score: run.failure_score,
                histogram,
                ..Default::default()
            },
            range,
            failures: values.clone(),
            values,
            repeats: run.repeats.map(RepeatTally::new),
            ..Self::default()
        }
    }

    pub(crate) fn record(&mut self, place: Place, outcome: &Outcome) {
        self.counts.cost_msats = self.counts.cost_msats.saturating_add(outcome.cost_msats());
        match outcome {
            Outcome::Scored(scored) => self.record_scored(place, scored),
            Outcome::Gated { .. } => self.counts.gated += 1,
            Outcome::Skipped { .. } => self.counts.skipped += 1,
            Outcome::Counted(counted) => self.record_counted(place.row, counted),
            Outcome::Abstained => self.counts.abstained += 1,
            Outcome::NotNeeded => self.counts.not_needed += 1,
            Outcome::NotSampled { .. } => self.counts.not_sampled += 1,
            Outcome::MetricFailed { .. } | Outcome::ProgramFailed { .. } => {
                self.counts.failed += 1;
                let parts = self.parts.values_mut().map(|part| &mut part.values);
                for sample in parts.chain([&mut self.values, &mut self.failures]) {
                    sample.record(place, self.counts.failure_score);
                }
            }
        }
    }

    /// Records a row in the tallies of all metrics.
    pub(crate) fn record_row<G, P>(tallies: &mut [Self], place: Place, row: &RowResult<G, P>) {
        for (metric, (tally, outcome)) in tallies.iter_mut().zip(&row.outcomes).enumerate() {
            tally.record(place, outcome);
            if let Some(repeats) = &mut tally.repeats
                && !row.repeats.is_empty()
            {
                let outcomes = row.repeats.iter().map(|repeat| &repeat.outcomes[metric]);
                repeats.record(&Vec::from_iter(outcomes), tally.counts.failure_score);
            }
        }
    }

    fn record_scored(&mut self, place: Place, scored: &Scored) {
        let row = place.row;
        let counts = &mut self.counts;
        counts.scored += 1;
        if let Some(passed) = scored.passed {
            *counts.passed.get_or_insert(0) += u64::from(passed);
        }
        counts.judged_offline += u64::from(scored.is_judged_offline());
        counts.ones += u64::from(scored.score.value >= 1.0);
        if let Some(histogram) = &mut counts.histogram {
            histogram.record(scored.score.value);
        }
        self.scored.record(scored.score.value);
        self.values.record(place, scored.score.value);
        self.record_lost_judges(row, scored);
        self.missing.record(row, scored.missing());
        let replied_by = scored.replied_by().into_iter();
        replied_by.for_each(|replied_by| self.judged_by.add(replied_by));
        match (&mut self.corpus, scored.corpus()) {
            (Some(sums), Some(counts)) => sums.merge(counts),
            (sums @ None, Some(counts)) => *sums = Some(counts.clone()),
            (_, None) => {}
        }
        for (position, part) in scored.parts().iter().enumerate() {
            if !self.parts.contains_key(&part.name) {
                let tally = PartTally {
                    scored: Moments::default(),
                    values: self.failures.clone(),
                    first: (row, position),
                };
                self.parts.insert(part.name.clone(), tally);
            }
            let tally = &mut self.parts[&part.name];
            tally.scored.record(part.value);
            tally.values.record(place, part.value);
            tally.first = tally.first.min((row, position));
        }
    }

    fn record_counted(&mut self, row: u64, counted: &Counted) {
        self.counts.scored += 1;
        self.missing.record(row, counted.missing.as_deref());
        match &mut self.counted {
            Some(all) => all.merge(counted),
            None => self.counted = Some(counted.clone()),
        }
    }

    /// Returns the score so far. A score over all rows is computed only at the end.
    pub(crate) fn running_score(&self) -> String {
        let MetricSummary { scored, failed, .. } = self.counts;
        match self.counts.kind {
            ScoreKind::Corpus => format!("{scored} rows counted, {failed} failed"),
            ScoreKind::Bool | ScoreKind::Number => self.running_summary().to_string(),
        }
    }

    fn record_lost_judges(&mut self, row: u64, scored: &Scored) {
        let Some(lost) = scored.lost_judges() else {
            return;
        };
        self.counts.judged_in_part += 1;
        self.counts.judged_without_quorum += u64::from(!lost.is_allowed);
        let first = self.first_lost_judge.as_ref().map(|(first, _)| *first);
        if first.is_none_or(|first| row < first) {
            self.first_lost_judge = Some((row, lost.first_error.clone()));
        }
    }

    /// Returns the metric's summary, then one for each named score in order of first occurrence.
    pub(crate) fn summaries(&self) -> Vec<MetricSummary> {
        let (counts, all, repeats) = (&self.counts, &self.values, self.repeats.as_ref());
        let own = MetricSummary {
            uncertainty: self.uncertainty(),
            groups: all.groups().filter(|_| counts.kind != ScoreKind::Corpus),
            has_few: all.has_few(),
            repeats: repeats.map(|repeats| Box::new(repeats.summary())),
            judged_by: self.judged_by.named(),
            judged_by_others: self.judged_by.others(),
            has_interval: true,
            ..self.running_summary()
        };
        let mut parts: Vec<_> = self.parts.iter().collect();
        parts.sort_by_key(|(_, part)| part.first);
        let summary_of = |(name, part): (&String, &PartTally)| {
            let (all, scored) = (&part.values, part.scored.count());
            let mean = all.mean().filter(|_| scored > 0);
            MetricSummary {
                name: format!("{}.{name}", counts.name),
                kind: ScoreKind::Number,
                score: mean.filter(|_| own.unknown_fields.is_empty()),
                // A named score has the range of its metric.
                uncertainty: all.uncertainty(ScoreKind::Number, self.range()),
                groups: all.groups(),
                has_few: all.has_few(),
                mean,
                mean_scored: part.scored.mean(),
                scored,
                failed: counts.failed,
                gated: counts.gated,
                skipped: counts.skipped,
                abstained: counts.abstained + counts.scored - scored,
                not_needed: counts.not_needed,
                not_sampled: counts.not_sampled,
                judged_offline: counts.judged_offline,
                unknown_fields: own.unknown_fields.clone(),
                failure_score: counts.failure_score,
                has_interval: true,
                ..Default::default()
            }
        };
        let parts: Vec<_> = parts.into_iter().map(summary_of).collect();
        std::iter::once(own).chain(parts).collect()
    }

    /// Returns the metric's own summary without its interval, which would take longer.
    fn running_summary(&self) -> MetricSummary {
        let (counts, first_lost_judge) = (&self.counts, self.first_lost_judge.as_ref());
        let mean_scored = self.scored.mean();
        let mean = mean_scored.and_then(|_| self.values.mean());
        let unknown_fields = match counts.abstained {
            0 => self.missing.unknown(counts.scored),
            // A row with an abstention may have the field.
            _ => Vec::new(),
        };
        let counted = self.counted.as_ref().map(Counted::score).transpose();
        let score = counted.as_ref().map_or(None, |counted| *counted);
        let score = score.or(mean.filter(|_| counts.kind != ScoreKind::Corpus));
        MetricSummary {
            score: score.filter(|_| unknown_fields.is_empty()),
            mean,
            mean_scored,
            corpus: self.corpus.as_ref().and_then(CorpusCounts::score),
            first_lost_judge: first_lost_judge.map(|(_, error)| error.to_string()),
            not_defined: counted.err().map(|reason| reason.to_string()),
            missing: self.missing.rows,
            missing_fields: self.missing.by_field(),
            unknown_fields,
            ..counts.clone()
        }
    }

    fn uncertainty(&self) -> Uncertainty {
        if self.counts.kind == ScoreKind::Corpus {
            return Uncertainty::NotComputed;
        }
        if self.counts.scored == 0 {
            return Uncertainty::NotEnoughRows {
                found: 0,
                needed: 1,
            };
        }
        let failure_score = self.counts.failure_score;
        // With several repeats, or a failure score between 0 and 1, the mean of a bool is a mean of numbers.
        let has_shares = self.counts.failed > 0 && ![0.0, 1.0].contains(&failure_score);
        let kind = match self.counts.kind {
            ScoreKind::Bool if has_shares || self.has_repeats() => ScoreKind::Number,
            kind => kind,
        };
        self.values.uncertainty(kind, self.range())
    }

    /// Returns `true` if a row is evaluated more than once.
    fn has_repeats(&self) -> bool {
        self.repeats.as_ref().is_some_and(|it| it.repeats > 1)
    }

    /// Returns the range of the values, extended by the failure score if needed.
    fn range(&self) -> Option<ScoreRange> {
        let unit = (self.counts.kind == ScoreKind::Bool).then_some(ScoreRange::UNIT);
        let failure = self.counts.failure_score;
        self.range.or(unit).map(|range| match self.counts.failed {
            0 => range,
            _ => ScoreRange {
                min: range.min.min(failure),
                max: range.max.max(failure),
            },
        })
    }
}
