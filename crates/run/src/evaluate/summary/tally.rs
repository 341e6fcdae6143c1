//! The running counts and values of one metric.

use indexmap::IndexMap;

use super::judged_by::JudgedByTally;
use super::metric_summary::MetricSummary;
use super::missing::MissingTally;
use super::repeats::RepeatTally;
use super::sample::{Failures, IntervalOptions, Place, Sample};
use crate::contract::{CorpusCounts, Counted, Outcome, ScoreKind, ScoreRange, Scored};
use crate::stats::{Histogram, Moments, Uncertainty};

/// The running counts and values of one metric.
pub(crate) struct Tally {
    /// The counts of the rows so far. Mean and interval are computed at the end of the run.
    counts: MetricSummary,
    range: Option<ScoreRange>,
    options: TallyOptions,
    values: Sample,
    parts: IndexMap<String, PartTally>,
    /// The failed rows, if the intervals need them.
    failed: Vec<Place>,
    repeats: Option<RepeatTally>,
    corpus: Option<CorpusCounts>,
    counted: Option<Counted>,
    first_lost_judge: Option<(u64, Box<str>)>,
    missing: MissingTally,
    judged_by: JudgedByTally,
}

/// The settings of all tallies of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TallyOptions {
    pub(crate) failure_score: f64,
    /// How often a row is evaluated, if set.
    pub(crate) repeats: Option<u32>,
    pub(crate) intervals: IntervalOptions,
}

struct PartTally {
    scored: u64,
    values: Sample,
    /// Row and position of the first occurrence; they determine the order of the named scores.
    first: (u64, usize),
}

impl Tally {
    pub(crate) fn new(
        name: &str,
        kind: ScoreKind,
        range: Option<ScoreRange>,
        options: TallyOptions,
    ) -> Self {
        // Only for numbers with a finite range.
        let histogram = range
            .filter(|_| kind == ScoreKind::Number)
            .and_then(|range| Histogram::new(range.min, range.max));
        let (name, failure_score) = (name.to_owned(), options.failure_score);
        Self {
            counts: MetricSummary {
                name,
                kind,
                failure_score,
                histogram,
                ..Default::default()
            },
            range,
            options,
            values: Sample::new(options.intervals),
            parts: IndexMap::new(),
            failed: Vec::new(),
            repeats: options.repeats.map(RepeatTally::new),
            corpus: None,
            counted: None,
            first_lost_judge: None,
            missing: MissingTally::default(),
            judged_by: JudgedByTally::default(),
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
                if self.options.intervals.needs_places() {
                    self.failed.push(place);
                }
            }
        }
    }

    /// Returns an empty tally of plain rows for this metric.
    pub(crate) fn plain(&self) -> PlainTally {
        PlainTally::new(self.counts.histogram.as_ref().map(Histogram::emptied))
    }

    /// Adds plain rows.
    pub(crate) fn add(&mut self, plain: &PlainTally) {
        let counts = &mut self.counts;
        counts.scored += plain.scored;
        add_passed(&mut counts.passed, plain.passed);
        counts.ones += plain.ones;
        counts.cost_msats = counts.cost_msats.saturating_add(plain.cost_msats);
        self.values.add(&plain.moments);
        if let (Some(histogram), Some(more)) = (&mut counts.histogram, &plain.histogram) {
            histogram.merge(more);
        }
    }

    /// Adds the repeats of a row. Its reduced outcome is recorded separately.
    pub(crate) fn record_repeats(&mut self, outcomes: &[&Outcome]) {
        if let Some(repeats) = &mut self.repeats {
            repeats.record(outcomes, self.options.failure_score);
        }
    }

    fn record_scored(&mut self, place: Place, scored: &Scored) {
        let row = place.row;
        let counts = &mut self.counts;
        counts.scored += 1;
        add_passed(&mut counts.passed, scored.passed.map(u64::from));
        counts.judged_offline += u64::from(scored.is_judged_offline());
        counts.ones += u64::from(scored.score.value >= 1.0);
        if let Some(histogram) = &mut counts.histogram {
            histogram.record(scored.score.value);
        }
        self.values.record(place, scored.score.value);
        self.record_lost_judges(row, scored);
        self.missing.record(row, |each| scored.each_missing(each));
        scored.each_replied_by(&mut |replied_by| self.judged_by.add(replied_by));
        match (&mut self.corpus, scored.corpus()) {
            (Some(sums), Some(counts)) => sums.merge(counts),
            (sums @ None, Some(counts)) => *sums = Some(counts.clone()),
            (_, None) => {}
        }
        for (position, part) in scored.parts().iter().enumerate() {
            if !self.parts.contains_key(&part.name) {
                let values = Sample::new(self.options.intervals);
                let tally = PartTally {
                    scored: 0,
                    values,
                    first: (row, position),
                };
                self.parts.insert(part.name.clone(), tally);
            }
            let tally = &mut self.parts[&part.name];
            tally.scored += 1;
            tally.values.record(place, part.value);
            tally.first = tally.first.min((row, position));
        }
    }

    fn record_counted(&mut self, row: u64, counted: &Counted) {
        self.counts.scored += 1;
        self.missing.record(row, |each| {
            counted.missing.as_deref().into_iter().for_each(each);
        });
        match &mut self.counted {
            Some(all) => all.merge(counted),
            None => self.counted = Some(counted.clone()),
        }
    }

    /// Returns the number of rows of a corpus metric, whose score is computed only at the end.
    pub(crate) fn counted(&self) -> Option<u64> {
        (self.counts.kind == ScoreKind::Corpus).then_some(self.counts.scored)
    }

    fn record_lost_judges(&mut self, row: u64, scored: &Scored) {
        let Some(lost) = scored.lost_judges() else {
            return;
        };
        self.counts.judged_in_part += 1;
        self.counts.judged_without_quorum += u64::from(!lost.is_allowed);
        if self
            .first_lost_judge
            .as_ref()
            .is_none_or(|(first, _)| row < *first)
        {
            self.first_lost_judge = Some((row, lost.first_error.clone()));
        }
    }

    pub(crate) fn failed(&self) -> u64 {
        self.counts.failed
    }

    /// Returns the metric's summary, then one for each named score in order of first occurrence.
    pub(crate) fn summaries(&self) -> Vec<MetricSummary> {
        let (counts, failures) = (&self.counts, self.failures());
        let all = self.values.with_failures(&failures);
        let own = MetricSummary {
            uncertainty: self.uncertainty(&all),
            groups: all.groups().filter(|_| counts.kind != ScoreKind::Corpus),
            has_few: all.has_few(),
            repeats: self
                .repeats
                .as_ref()
                .map(|repeats| Box::new(repeats.summary())),
            judged_by: self.judged_by.named(),
            judged_by_others: self.judged_by.others(),
            has_interval: true,
            ..self.running_summary()
        };
        let mut parts: Vec<_> = self.parts.iter().collect();
        parts.sort_by_key(|(_, part)| part.first);
        let summary_of = |(name, part): (&String, &PartTally)| {
            let all = part.values.with_failures(&failures);
            let (mean, mean_scored) = means(&part.values, &failures);
            MetricSummary {
                name: format!("{}.{name}", counts.name),
                kind: ScoreKind::Number,
                score: mean.filter(|_| own.unknown_fields.is_empty()),
                // A named score has the range of its metric.
                uncertainty: all.uncertainty(ScoreKind::Number, self.range()),
                groups: all.groups(),
                has_few: all.has_few(),
                mean,
                mean_scored,
                scored: part.scored,
                failed: counts.failed,
                gated: counts.gated,
                skipped: counts.skipped,
                abstained: counts.abstained + counts.scored - part.scored,
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
    pub(crate) fn running_summary(&self) -> MetricSummary {
        let counts = &self.counts;
        let (mean, mean_scored) = means(&self.values, &self.failures());
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
            first_lost_judge: self
                .first_lost_judge
                .as_ref()
                .map(|(_, error)| error.to_string()),
            not_defined: counted.err().map(|reason| reason.to_string()),
            missing: self.missing.rows(),
            missing_fields: self.missing.by_field(),
            unknown_fields,
            ..counts.clone()
        }
    }

    fn failures(&self) -> Failures<'_> {
        let (score, count) = (self.counts.failure_score, self.counts.failed);
        Failures {
            score,
            count,
            places: &self.failed,
        }
    }

    /// Returns the uncertainty of the score. `all` includes the failed rows.
    fn uncertainty(&self, all: &Sample) -> Uncertainty {
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
        all.uncertainty(kind, self.range())
    }

    /// Returns `true` if a row is evaluated more than once.
    fn has_repeats(&self) -> bool {
        self.options.repeats.is_some_and(|repeats| repeats > 1)
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

/// Returns the mean with the failed rows and the mean without them.
fn means(values: &Sample, failures: &Failures<'_>) -> (Option<f64>, Option<f64>) {
    let mean_scored = values.mean();
    (
        mean_scored.and_then(|_| values.mean_with(failures)),
        mean_scored,
    )
}

/// The counts and values of one metric.
#[derive(Default)]
pub(crate) struct PlainTally {
    pub(crate) scored: u64,
    pub(crate) passed: Option<u64>,
    pub(crate) ones: u64,
    pub(crate) cost_msats: u64,
    pub(crate) moments: Moments,
    pub(crate) histogram: Option<Histogram>,
}

impl PlainTally {
    pub(crate) fn new(histogram: Option<Histogram>) -> Self {
        Self {
            histogram,
            ..Self::default()
        }
    }

    pub(crate) fn record(&mut self, scored: &Scored) {
        let value = scored.score.value;
        self.scored += 1;
        add_passed(&mut self.passed, scored.passed.map(u64::from));
        self.ones += u64::from(value >= 1.0);
        self.cost_msats = self.cost_msats.saturating_add(scored.score.cost_msats);
        self.moments.record(value);
        if let Some(histogram) = &mut self.histogram {
            histogram.record(value);
        }
    }
}

/// Adds rows that passed; `None` if the rows have no verdict.
pub(crate) fn add_passed(passed: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *passed.get_or_insert(0) += more;
    }
}
