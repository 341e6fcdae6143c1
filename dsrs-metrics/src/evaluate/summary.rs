//! Counts and means over rows, with the denominator of each.

use std::collections::BTreeMap;
use std::fmt;

use indexmap::IndexMap;
use serde::Serialize;

use super::missing::{MissingTally, UnknownField};
use crate::core::corpus::CorpusCounts;
use crate::core::counted::Counted;
use crate::core::outcome::Outcome;
use crate::core::score::Scored;
use crate::core::spec::ScoreKind;
use crate::stats::exact_sum::ExactSum;
use crate::text::shown;

/// The summary of one metric, or of one of its named scores, over all rows.
///
/// Every row is in exactly one of `scored`, `failed`, `gated`, `skipped` and `abstained`.
///
/// | number | sum | divided by |
/// | --- | --- | --- |
/// | `mean_scored` | values of scored rows | `scored` |
/// | `mean` | the same, and `failure_score` for each failed row | `scored + failed` |
///
/// Gated, skipped and abstained rows are in neither mean; the headline counts them. A scored row without
/// a value for a named score counts as abstained for that score. Sums are exact, so no digit depends on
/// the order in which rows finish.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MetricSummary {
    /// The metric's name; `NAME.PART` for one of several named scores.
    #[serde(skip)]
    pub name: String,
    /// The headline: the percentage of true in [0, 100] for a bool, the mean for a number, the score of all
    /// rows for a corpus metric. `None` if no row has a score, if the score of all rows is
    /// [not defined](Self::not_defined), or if no prediction has a field that the metric reads.
    pub score: Option<f64>,
    /// The mean, where a failed row counts as the failure score.
    pub mean: Option<f64>,
    /// The mean over the rows that were scored.
    pub mean_scored: Option<f64>,
    /// Whether scores are bools or numbers.
    pub kind: ScoreKind,
    /// Rows with a score.
    pub scored: u64,
    /// Rows whose program or metric failed.
    pub failed: u64,
    /// Rows rejected by a cheaper metric.
    pub gated: u64,
    /// Rows not covered by the budget.
    pub skipped: u64,
    /// Rows on which the metric abstained; for a named score also the rows without a value for it.
    pub abstained: u64,
    /// Rows that passed: true, or at the good side of the threshold. `None` if the metric has no verdict.
    pub passed: Option<u64>,
    /// The cost of scored and failed rows, in millisatoshis; 0 for a named score.
    pub cost_msats: u64,
    /// Rows scored by the offline lexical judge, because no model is configured.
    #[serde(skip_serializing_if = "is_zero")]
    pub judged_offline: u64,
    /// Scored rows whose prediction lacks a field that the metric reads, or has `null` there; see
    /// [`Scored::missing_fields`].
    #[serde(skip_serializing_if = "is_zero")]
    pub missing: u64,
    /// The number of these rows by field. A row may lack several fields.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub missing_fields: BTreeMap<String, u64>,
    /// The fields that none of the scored predictions has: their names are wrong, so the metric has no headline.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown_fields: Vec<UnknownField>,
    /// Rows with a score from fewer judges than the panel has, because a judge returned no verdict.
    #[serde(skip_serializing_if = "is_zero")]
    pub judged_in_part: u64,
    /// Those of them whose panel sets no `quorum`, so that the loss of a judge is not allowed explicitly.
    #[serde(skip_serializing_if = "is_zero")]
    pub judged_without_quorum: u64,
    /// The corpus-level score over all scored rows, where it differs from the mean and the metric returns
    /// [counts](crate::CorpusCounts): corpus BLEU, micro F1. Rows without a score are not included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corpus: Option<f64>,
    /// The reason why the rows of a corpus metric determine no score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_defined: Option<String>,
    /// The error of the first judge without a verdict, in input order.
    #[serde(skip)]
    pub(crate) first_lost_judge: Option<String>,
    #[serde(skip)]
    failure_score: f64,
    #[serde(skip)]
    ones: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "required by serde")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl MetricSummary {
    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.scored + self.failed + self.gated + self.skipped + self.abstained
    }

    /// Returns [`mean`](Self::mean) times 100, unrounded. It is a percentage if scores are bools or in [0, 1]. `None` if
    /// there is no [`score`](Self::score).
    #[must_use]
    pub fn percent(&self) -> Option<f64> {
        let mean = self.mean.filter(|_| self.unknown_fields.is_empty());
        mean.map(|mean| 100.0 * mean)
    }

    fn headline_bool(&self, mean: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = self.scored + self.failed;
        write!(f, "{:.2}% ({}/{counted}", 100.0 * mean, self.ones)
    }

    fn headline_corpus(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.score, &self.not_defined) {
            (Some(score), _) => write!(f, "{score:.4}")?,
            (None, Some(reason)) => write!(f, "not defined: {}", shown::escaped(reason))?,
            (None, None) => f.write_str("not defined")?,
        }
        write!(f, " (over {}/{} rows", self.scored, self.rows())
    }

    fn headline_number(&self, mean: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{mean:.4} (mean of {}/{}", self.scored, self.rows())
    }
}

/// The headline with its denominators: `74.87% (891/1190, 0 failed)`,
/// `0.8632 (mean of 1190/1190, 0 failed)`.
impl fmt::Display for MetricSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(unknown) = self.unknown_fields.first() {
            return write!(f, "not scored: {unknown} (0/{} rows)", self.rows());
        }
        match (self.mean, self.kind) {
            (_, ScoreKind::Corpus) if self.scored > 0 => self.headline_corpus(f)?,
            (None, _) | (_, ScoreKind::Corpus) => {
                write!(f, "not enough rows (0/{} scored", self.rows())?;
            }
            (Some(mean), ScoreKind::Bool) => self.headline_bool(mean, f)?,
            (Some(mean), ScoreKind::Number) => self.headline_number(mean, f)?,
        }
        write!(f, ", {} failed", self.failed)?;
        if self.failed > 0 && self.mean.is_some() {
            write!(f, " counted as {}", self.failure_score)?;
        }
        let unscored =
            [(self.gated, "gated"), (self.skipped, "skipped"), (self.abstained, "abstained")];
        for (count, what) in unscored.into_iter().filter(|(count, _)| *count > 0) {
            write!(f, ", {count} {what}")?;
        }
        if self.missing > 0 {
            let names = shown::names(self.missing_fields.keys().map(String::as_str));
            write!(f, ", {} without {names}", self.missing)?;
        }
        match self.mean_scored.filter(|_| self.mean != self.mean_scored) {
            Some(mean) if self.kind == ScoreKind::Bool => {
                write!(f, "; {:.2}% of the {} scored", 100.0 * mean, self.scored)?;
            }
            Some(mean) => write!(f, "; {mean:.4} over the {} scored", self.scored)?,
            None => {}
        }
        if self.judged_in_part > 0 {
            write!(f, ", {} judged by part of the panel", self.judged_in_part)?;
        }
        if self.judged_offline > 0 {
            write!(f, "; judge: {}", crate::core::score::OFFLINE_JUDGE)?;
        }
        f.write_str(")")?;
        match self.corpus {
            Some(corpus) if self.failed == 0 => write!(f, "; corpus {corpus:.4}"),
            Some(corpus) => write!(f, "; corpus {corpus:.4} over the {} scored", self.scored),
            None => Ok(()),
        }
    }
}

/// The running counts and sums of one metric.
pub(crate) struct Tally {
    name: String,
    kind: ScoreKind,
    counts: Counts,
    sum: ExactSum,
    parts: IndexMap<String, PartTally>,
    corpus: Option<CorpusCounts>,
    counted: Option<Counted>,
    first_lost_judge: Option<(u64, Box<str>)>,
    missing: MissingTally,
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
    sum: ExactSum,
    /// Row and position of the first occurrence, which determines the order of the named scores.
    first: (u64, usize),
}

impl Tally {
    pub(crate) fn new(name: &str, kind: ScoreKind) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            counts: Counts::default(),
            sum: ExactSum::default(),
            parts: IndexMap::new(),
            corpus: None,
            counted: None,
            first_lost_judge: None,
            missing: MissingTally::default(),
        }
    }

    pub(crate) fn record(&mut self, row: u64, outcome: &Outcome) {
        self.counts.cost_msats = self.counts.cost_msats.saturating_add(outcome.cost_msats());
        match outcome {
            Outcome::Scored(scored) => self.record_scored(row, scored),
            Outcome::Gated { .. } => self.counts.gated += 1,
            Outcome::Skipped { .. } => self.counts.skipped += 1,
            Outcome::Counted(counted) => self.record_counted(row, counted),
            Outcome::Abstained => self.counts.abstained += 1,
            Outcome::MetricFailed { .. } | Outcome::ProgramFailed { .. } => self.counts.failed += 1,
        }
    }

    fn record_scored(&mut self, row: u64, scored: &Scored) {
        let counts = &mut self.counts;
        counts.scored += 1;
        counts.passed += u64::from(scored.passed == Some(true));
        counts.with_verdict += u64::from(scored.passed.is_some());
        counts.judged_offline += u64::from(scored.is_judged_offline());
        counts.ones += u64::from(scored.score.value >= 1.0);
        self.sum.add(scored.score.value);
        self.record_lost_judges(row, scored);
        self.missing.record(row, |each| scored.each_missing(each));
        match (&mut self.corpus, scored.corpus()) {
            (Some(sums), Some(counts)) => sums.merge(counts),
            (sums @ None, Some(counts)) => *sums = Some(counts.clone()),
            (_, None) => {}
        }
        for (place, part) in scored.parts().iter().enumerate() {
            if !self.parts.contains_key(&part.name) {
                let tally = PartTally { scored: 0, sum: ExactSum::default(), first: (row, place) };
                self.parts.insert(part.name.clone(), tally);
            }
            let tally = &mut self.parts[&part.name];
            tally.scored += 1;
            tally.sum.add(part.value);
            tally.first = tally.first.min((row, place));
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
    pub(crate) fn counted(&self) -> Option<u64> {
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

    pub(crate) fn failed(&self) -> u64 {
        self.counts.failed
    }

    /// Returns the metric's summary, then one for each named score, by first occurrence.
    pub(crate) fn summaries(&self, failure_score: f64) -> Vec<MetricSummary> {
        let own = self.summary(failure_score);
        let unknown_fields = own.unknown_fields.clone();
        let mut parts: Vec<_> = self.parts.iter().collect();
        parts.sort_by_key(|(_, part)| part.first);
        let part = |(name, part): (&String, &PartTally)| {
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
            let part = summary(name, ScoreKind::Number, counts, &part.sum, failure_score);
            let score = part.score.filter(|_| unknown_fields.is_empty());
            MetricSummary { score, unknown_fields: unknown_fields.clone(), ..part }
        };
        let mut summaries = vec![own];
        summaries.extend(parts.into_iter().map(part));
        summaries
    }

    /// Returns the metric's own summary, without its named scores.
    pub(crate) fn summary(&self, failure_score: f64) -> MetricSummary {
        let corpus = self.corpus.as_ref().and_then(CorpusCounts::score);
        let own = summary(self.name.clone(), self.kind, self.counts, &self.sum, failure_score);
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
}

fn summary(
    name: String,
    kind: ScoreKind,
    counts: Counts,
    sum: &ExactSum,
    failure_score: f64,
) -> MetricSummary {
    let has_mean = counts.scored > 0 && kind != ScoreKind::Corpus;
    let mean_scored = has_mean.then(|| sum.mean(counts.scored));
    let mean = has_mean.then(|| {
        let mut with_failures = sum.clone();
        with_failures.add_times(failure_score, counts.failed);
        with_failures.mean(counts.scored + counts.failed)
    });
    MetricSummary {
        name,
        score: match kind {
            ScoreKind::Bool => mean.map(|mean| 100.0 * mean),
            ScoreKind::Number => mean,
            ScoreKind::Corpus => None,
        },
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
        failure_score,
        ones: counts.ones,
    }
}
