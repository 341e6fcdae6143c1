//! The running counts and values of one metric.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::missing::MissingTally;
use super::repeats::RepeatTally;
use super::sample::{Failures, IntervalOptions, Place, Sample};
use super::summary::MetricSummary;
use super::thread_rows::PlainTally;
use crate::core::corpus::CorpusCounts;
use crate::core::counted::Counted;
use crate::core::outcome::Outcome;
use crate::core::score::Scored;
use crate::core::spec::{ScoreKind, ScoreRange};
use crate::stats::{Histogram, Uncertainty};

/// The running counts and values of one metric.
pub(super) struct Tally {
    name: String,
    kind: ScoreKind,
    range: Option<ScoreRange>,
    options: TallyOptions,
    counts: Counts,
    values: Sample,
    parts: IndexMap<String, PartTally>,
    /// The failed rows, if the intervals need them.
    failed: Vec<Place>,
    repeats: Option<RepeatTally>,
    /// Of numbers with a finite range.
    histogram: Option<Histogram>,
    corpus: Option<CorpusCounts>,
    counted: Option<Counted>,
    first_lost_judge: Option<(u64, Box<str>)>,
    missing: MissingTally,
}

/// What all tallies of a run have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct TallyOptions {
    pub(super) failure_score: f64,
    /// How often a row is evaluated, if that is set.
    pub(super) repeats: Option<u32>,
    pub(super) intervals: IntervalOptions,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    scored: u64,
    failed: u64,
    gated: u64,
    skipped: u64,
    abstained: u64,
    passed: u64,
    with_verdict: u64,
    ones: u64,
    cost_msats: u64,
    judged_offline: u64,
    judged_in_part: u64,
    judged_without_quorum: u64,
}

struct PartTally {
    scored: u64,
    values: Sample,
    /// Row and position of the first occurrence, which determines the order of the named scores.
    first: (u64, usize),
}

impl Tally {
    pub(super) fn new(
        name: &str,
        kind: ScoreKind,
        range: Option<ScoreRange>,
        options: TallyOptions,
    ) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            range,
            options,
            counts: Counts::default(),
            values: Sample::new(options.intervals),
            failed: Vec::new(),
            repeats: options.repeats.map(RepeatTally::new),
            histogram: range
                .filter(|_| kind == ScoreKind::Number)
                .and_then(|range| Histogram::new(range.min, range.max)),
            parts: IndexMap::new(),
            corpus: None,
            counted: None,
            first_lost_judge: None,
            missing: MissingTally::default(),
        }
    }

    pub(super) fn record(&mut self, place: Place, outcome: &Outcome) {
        self.counts.cost_msats = self.counts.cost_msats.saturating_add(outcome.cost_msats());
        match outcome {
            Outcome::Scored(scored) => self.record_scored(place, scored),
            Outcome::Gated { .. } => self.counts.gated += 1,
            Outcome::Skipped { .. } => self.counts.skipped += 1,
            Outcome::Counted(counted) => self.record_counted(place.row, counted),
            Outcome::Abstained => self.counts.abstained += 1,
            Outcome::MetricFailed { .. } | Outcome::ProgramFailed { .. } => {
                self.counts.failed += 1;
                if self.options.intervals.needs_places() {
                    self.failed.push(place);
                }
            }
        }
    }

    /// An empty tally of plain rows of this metric.
    pub(super) fn plain(&self) -> PlainTally {
        PlainTally::new(self.histogram.as_ref().map(Histogram::emptied))
    }

    /// Adds plain rows.
    pub(super) fn add(&mut self, plain: &PlainTally) {
        let counts = &mut self.counts;
        counts.scored += plain.scored;
        counts.passed += plain.passed;
        counts.with_verdict += plain.with_verdict;
        counts.ones += plain.ones;
        counts.cost_msats = counts.cost_msats.saturating_add(plain.cost_msats);
        self.values.add(&plain.moments);
        if let (Some(histogram), Some(more)) = (&mut self.histogram, &plain.histogram) {
            histogram.merge(more);
        }
    }

    /// Adds the repeats of a row, whose reduced outcome is recorded as well.
    pub(super) fn record_repeats(&mut self, outcomes: &[&Outcome]) {
        if let Some(repeats) = &mut self.repeats {
            repeats.record(outcomes, self.options.failure_score);
        }
    }

    fn record_scored(&mut self, place: Place, scored: &Scored) {
        let row = place.row;
        let counts = &mut self.counts;
        counts.scored += 1;
        counts.passed += u64::from(scored.passed == Some(true));
        counts.with_verdict += u64::from(scored.passed.is_some());
        counts.judged_offline += u64::from(scored.is_judged_offline());
        counts.ones += u64::from(scored.score.value >= 1.0);
        self.values.record(place, scored.score.value);
        if let Some(histogram) = &mut self.histogram {
            histogram.record(scored.score.value);
        }
        self.record_lost_judges(row, scored);
        self.missing.record(row, |each| scored.each_missing(each));
        match (&mut self.corpus, scored.corpus()) {
            (Some(sums), Some(counts)) => sums.merge(counts),
            (sums @ None, Some(counts)) => *sums = Some(counts.clone()),
            (_, None) => {}
        }
        for (position, part) in scored.parts().iter().enumerate() {
            if !self.parts.contains_key(&part.name) {
                let values = Sample::new(self.options.intervals);
                let tally = PartTally { scored: 0, values, first: (row, position) };
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
        self.missing.record(row, |each| counted.missing.as_deref().into_iter().for_each(each));
        match &mut self.counted {
            Some(all) => all.merge(counted),
            None => self.counted = Some(counted.clone()),
        }
    }

    /// The number of rows of a corpus metric, whose score is computed at the end only.
    pub(super) fn counted(&self) -> Option<u64> {
        (self.kind == ScoreKind::Corpus).then_some(self.counts.scored)
    }

    fn record_lost_judges(&mut self, row: u64, scored: &Scored) {
        let Some(lost) = scored.lost_judges() else { return };
        self.counts.judged_in_part += 1;
        self.counts.judged_without_quorum += u64::from(!lost.is_allowed);
        if self.first_lost_judge.as_ref().is_none_or(|(first, _)| row < *first) {
            self.first_lost_judge = Some((row, lost.first_error.clone()));
        }
    }

    pub(super) fn failed(&self) -> u64 {
        self.counts.failed
    }

    /// Returns the metric's summary, then one for each named score, by first occurrence.
    pub(super) fn summaries(&self) -> Vec<MetricSummary> {
        let all = self.values.with_failures(&self.failures());
        let uncertainty = self.uncertainty(&all);
        let groups = all.groups().filter(|_| self.kind != ScoreKind::Corpus);
        let own = self.running_summary();
        let repeats = self.repeats.as_ref().map(|repeats| Box::new(repeats.summary()));
        let own = MetricSummary { uncertainty, groups, repeats, has_interval: true, ..own };
        let own = MetricSummary { histogram: self.histogram.clone(), ..own };
        let unknown_fields = own.unknown_fields.clone();
        let mut parts: Vec<_> = self.parts.iter().collect();
        parts.sort_by_key(|(_, part)| part.first);
        let mut summaries = vec![own];
        for (name, part) in parts {
            let counts = Counts {
                scored: part.scored,
                abstained: self.counts.abstained + self.counts.scored - part.scored,
                ones: 0,
                passed: 0,
                with_verdict: 0,
                cost_msats: 0,
                judged_in_part: 0,
                judged_without_quorum: 0,
                ..self.counts
            };
            let name = format!("{}.{name}", self.name);
            let all = part.values.with_failures(&self.failures());
            let summary = self.summary(name, ScoreKind::Number, counts, &part.values);
            summaries.push(MetricSummary {
                score: summary.score.filter(|_| unknown_fields.is_empty()),
                unknown_fields: unknown_fields.clone(),
                uncertainty: all.uncertainty(ScoreKind::Number, None),
                groups: all.groups(),
                has_interval: true,
                ..summary
            });
        }
        summaries
    }

    /// Returns the metric's own summary without its interval, which takes longer.
    pub(super) fn running_summary(&self) -> MetricSummary {
        let corpus = self.corpus.as_ref().and_then(CorpusCounts::score);
        let own = self.summary(self.name.clone(), self.kind, self.counts, &self.values);
        let first_lost_judge = self.first_lost_judge.as_ref().map(|(_, error)| error.to_string());
        let unknown_fields = match self.counts.abstained {
            0 => self.missing.unknown(self.counts.scored),
            // The row of an abstention may have the field.
            _ => Vec::new(),
        };
        let counted = self.counted.as_ref().map(Counted::score).transpose();
        let score = counted.as_ref().map_or(None, |counted| *counted).or(own.score);
        MetricSummary {
            corpus,
            first_lost_judge,
            score: score.filter(|_| unknown_fields.is_empty()),
            not_defined: counted.err().map(|reason| reason.to_string()),
            missing: self.missing.rows(),
            missing_fields: self.missing.by_field(),
            unknown_fields,
            ..own
        }
    }

    fn failures(&self) -> Failures<'_> {
        let (score, count) = (self.options.failure_score, self.counts.failed);
        Failures { score, count, places: &self.failed }
    }

    /// Returns the uncertainty of the score. `all` has the failed rows too.
    fn uncertainty(&self, all: &Sample) -> Uncertainty {
        if self.kind == ScoreKind::Corpus {
            return Uncertainty::NotComputed;
        }
        if self.counts.scored == 0 {
            return Uncertainty::NotEnoughRows { found: 0, needed: 1 };
        }
        let failure_score = self.options.failure_score;
        let has_failures = self.counts.failed > 0;
        // Repeats, and a failure score between 0 and 1, make the mean of a bool a mean of numbers.
        let has_shares = has_failures && ![0.0, 1.0].contains(&failure_score);
        let kind = match self.kind {
            ScoreKind::Bool if has_shares || self.repeats.is_some() => ScoreKind::Number,
            kind => kind,
        };
        let range = self.range.map(|range| match has_failures {
            true => {
                ScoreRange { min: range.min.min(failure_score), max: range.max.max(failure_score) }
            }
            false => range,
        });
        all.uncertainty(kind, range)
    }

    /// Returns a summary without the properties that only the metric itself has.
    fn summary(
        &self,
        name: String,
        kind: ScoreKind,
        counts: Counts,
        values: &Sample,
    ) -> MetricSummary {
        let mean_scored = values.mean();
        let mean = mean_scored.and_then(|_| values.mean_with(&self.failures()));
        MetricSummary {
            name,
            score: mean.filter(|_| kind != ScoreKind::Corpus),
            uncertainty: Uncertainty::NotEnoughRows { found: 0, needed: 1 },
            groups: None,
            repeats: None,
            mean,
            mean_scored,
            kind,
            scored: counts.scored,
            failed: counts.failed,
            gated: counts.gated,
            skipped: counts.skipped,
            abstained: counts.abstained,
            passed: (counts.with_verdict > 0).then_some(counts.passed),
            cost_msats: counts.cost_msats,
            judged_offline: counts.judged_offline,
            judged_in_part: counts.judged_in_part,
            judged_without_quorum: counts.judged_without_quorum,
            first_lost_judge: None,
            missing: 0,
            missing_fields: BTreeMap::new(),
            unknown_fields: Vec::new(),
            corpus: None,
            not_defined: None,
            failure_score: self.options.failure_score,
            ones: counts.ones,
            histogram: None,
            has_interval: false,
        }
    }
}
