//! The verdicts on an eval's gates.
//!
//! A gate against the baseline is a test on the differences between rows: `no_worse` tests non-inferiority with the
//! interval of the difference, and `better` tests superiority with p-values that are adjusted together (Holm).

use std::collections::HashSet;
use std::path::Path;

use serde::Serialize;

use super::baseline::Baseline;
use super::condition::{Bound, Condition, End};
use super::eval::Gate;
use super::figures::{Figures, Finished};
use super::findings::{
    Finding, GateVerdict, abstained, chance, favoured, passed_at, relative, scored, share,
};
use crate::evaluate::EvaluationResult;
use crate::messages::escape;
use crate::results::{Comparison, MetricComparison, Results, other_code};
use crate::stats::holm;

/// The maximum number of groups named in a gate's sentence.
const SHOWN_GROUPS: usize = 10;

/// The verdicts on an eval's gates.
pub(super) struct Verdicts {
    pub(super) gates: Vec<GateResult>,
    /// `true` if each undecided gate fails the eval.
    pub(super) is_strict: bool,
}

impl Verdicts {
    /// Returns `true` if this gate fails the eval.
    pub(super) fn fails(&self, gate: &GateResult) -> bool {
        match gate.verdict {
            GateVerdict::Passed | GateVerdict::Unchanged => false,
            GateVerdict::Undecided => self.is_strict,
            GateVerdict::Suspected | GateVerdict::Failed => true,
        }
    }

    pub(super) fn is_failure(&self) -> bool {
        self.gates.iter().any(|gate| self.fails(gate))
    }
}

/// A gate and its verdict.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GateResult {
    pub(super) text: &'static str,
    pub(super) verdict: GateVerdict,
    /// The figure, and why it does not pass.
    pub(super) sentence: String,
    /// The metric whose rows show the reason.
    pub(super) metric: Option<&'static str>,
    /// `true` if the gate compares with the baseline.
    pub(super) is_relative: bool,
}

/// The result of a condition for some rows, before p-values are adjusted: a finding, or a comparison with the margin of
/// `no_worse`.
type Part = Result<(Option<f64>, Box<MetricComparison>), Finding>;

fn p_value(part: &Part) -> Option<f64> {
    let (_, comparison) = part.as_ref().ok()?;
    comparison.overall.p_value
}

/// The parts of a gate: one, or one per group.
struct Parts {
    parts: Vec<(Option<String>, Part)>,
    note: String,
}

/// Decides the gates of a run. `baseline` is the earlier run or the reason it is missing, and `without_baseline` is the
/// verdict in that case.
pub(super) fn decide(
    gates: &[Gate],
    run: &Finished<'_>,
    (baseline, without_baseline): (&Result<Baseline, String>, GateVerdict),
    seed: u64,
    is_strict: bool,
) -> Vec<GateResult> {
    let missing = |reason: &String| Finding(without_baseline, reason.clone());
    let baseline = baseline.as_ref().map_err(missing).and_then(|baseline| {
        let changed = baseline.changed_gold(run.results);
        match changed.is_empty() {
            true => Ok(&baseline.results),
            false => {
                let ids = escape::names(changed.into_iter());
                let reason = format!("the gold rows of {ids} changed since the baseline");
                Err(Finding(GateVerdict::Undecided, reason))
            }
        }
    });
    let decider = Decider {
        run,
        baseline,
        seed,
        is_strict,
    };
    let parts = gates.iter().map(|gate| decider.parts(&gate.condition));
    let parts: Vec<Parts> = parts.collect();
    let p_values: Vec<f64> = parts.iter().flat_map(Parts::p_values).collect();
    let (tests, mut adjusted) = (p_values.len(), holm(&p_values).into_iter());
    let result = |(number, (gate, parts)): (usize, (&Gate, Parts))| {
        let compares = gate.condition.is_relative();
        let is_compared = parts.parts.iter().any(|(_, part)| part.is_ok());
        let early = decider
            .early(number, gate)
            .filter(|_| is_compared || !compares);
        let Finding(mut verdict, mut sentence) = parts.finish(tests, &mut adjusted);
        if let Some(Finding(early, decided)) = early {
            verdict = early;
            sentence = match compares {
                true => format!("{sentence}; {decided}"),
                false => decided,
            };
        }
        let metric = gate.condition.metric();
        let of_baseline = metric.filter(|_| compares);
        if let Some(note) = of_baseline.and_then(|it| decider.code_note(it)) {
            sentence = format!("{sentence}; {note}");
        }
        GateResult {
            text: gate.text,
            verdict,
            sentence,
            metric,
            is_relative: compares,
        }
    };
    gates.iter().zip(parts).enumerate().map(result).collect()
}

struct Decider<'a> {
    run: &'a Finished<'a>,
    /// The results to compare with, or the reason they are missing.
    baseline: Result<&'a Results, Finding>,
    seed: u64,
    /// `true` if a metric whose code changed counts as a different metric.
    is_strict: bool,
}

impl Decider<'_> {
    fn parts(&self, kind: &Condition) -> Parts {
        let Condition::Each(field, condition) = kind else {
            return Parts::of_all_rows(self.part(kind, &self.run.whole));
        };
        let (groups, without) = self.run.by(field);
        if groups.is_empty() {
            let reason = format!("no row has the field `{}`", escape::name(field));
            return Parts::of_all_rows(Err(Finding(GateVerdict::Failed, reason)));
        }
        let part = |(name, group)| (Some(name), self.part(condition, &group));
        let field = escape::name(field);
        let note = match without {
            0 => String::new(),
            rows => format!("; {rows} rows lack `{field}` and belong to no group"),
        };
        Parts {
            parts: groups.into_iter().map(part).collect(),
            note,
        }
    }

    fn part(&self, kind: &Condition, figures: &Figures) -> Part {
        let ids = figures.ids.as_ref();
        let finding = match kind {
            Condition::Score(metric, end, bound) => self.score(figures, metric, *end, *bound)?,
            Condition::PassedAt(metric, k, bound) => passed_at(figures, *metric, *k, *bound)?,
            Condition::Failed(bound) => share(figures.failed_rows, figures.rows, "failed", *bound),
            Condition::Abstained(bound) => abstained(figures, *bound),
            Condition::Latency(seconds) => self.latency(figures, *seconds)?,
            Condition::NoWorse(metric, by) => {
                return Ok((Some(*by), self.comparison(metric, ids)?));
            }
            Condition::Better(metric) => return Ok((None, self.comparison(metric, ids)?)),
            // The macro rejects a nested `each`.
            Condition::Each(..) => Finding(GateVerdict::Failed, "`each` within `each`".to_owned()),
        };
        Err(finding)
    }

    fn score(
        &self,
        figures: &Figures,
        metric: &str,
        end: End,
        bound: Bound,
    ) -> Result<Finding, Finding> {
        let summary = scored(figures, metric)?;
        favoured(self.run, figures, summary).map_or(Ok(()), Err)?;
        let no_interval = || Finding(GateVerdict::Undecided, format!("no interval: {summary}"));
        let value = end.of(summary).ok_or_else(no_interval)?;
        let verdict = GateVerdict::of(bound.holds(value));
        let chance = chance(summary, end, bound);
        Ok(Finding(verdict, format!("{summary}{chance}")))
    }

    /// Returns the verdict that ended the run before all rows were evaluated.
    fn early(&self, gate: usize, Gate { condition, .. }: &Gate) -> Option<Finding> {
        let early = self.run.early?;
        let verdict = GateVerdict::of(early.gates.get(gate)?.passed?);
        let (decided, figures) = (early.sentence(), &self.run.whole);
        let sentence = match &condition {
            Condition::Score(metric, ..) => {
                let summary = figures.metric(metric)?;
                if favoured(self.run, figures, summary).is_some() {
                    return None;
                }
                format!("{summary}; {decided}")
            }
            _ => decided,
        };
        Some(Finding(verdict, sentence))
    }

    fn latency(&self, figures: &Figures, seconds: f64) -> Result<Finding, Finding> {
        // What a metric of this name measures is up to its author.
        if figures.metric("latency").is_some() {
            return self.score(figures, "latency", End::Estimate, Bound::AtMost(seconds));
        }
        let unknown = "no program was run, so the latency is unknown";
        let unknown = || Finding(GateVerdict::Failed, unknown.to_owned());
        let mean = figures.latency_s.ok_or_else(unknown)?;
        let sentence = format!("{mean:.3} s per row (mean of {} rows)", figures.rows);
        Ok(Finding(GateVerdict::of(mean <= seconds), sentence))
    }

    /// Returns a sentence if the metric is compared although its code changed.
    fn code_note(&self, metric: &str) -> Option<String> {
        (!self.is_strict && self.has_other_code(metric)).then(|| other_code(metric, "the baseline"))
    }

    fn has_other_code(&self, metric: &str) -> bool {
        let identity = |of: &Results| of.manifest()?.run.metrics.get(metric).cloned();
        let old = self.baseline.as_ref().ok().and_then(|old| identity(old));
        let identities = old.zip(identity(self.run.results));
        identities.is_some_and(|(old, new)| old.has_other_code(&new))
    }

    /// Compares the rows with the baseline.
    fn comparison(
        &self,
        metric: &str,
        ids: Option<&HashSet<String>>,
    ) -> Result<Box<MetricComparison>, Finding> {
        let (mut old, mut new) = (self.baseline.clone()?, self.run.results);
        let of_group;
        if let Some(ids) = ids {
            of_group = [old, new].map(|it| it.only(|row| ids.contains(&row.id)));
            [old, new] = of_group.each_ref();
        }
        let places = ["in the baseline", "now"];
        let mut builder = Comparison::builder()
            .metrics([metric])
            .only_paired(true)
            .seed(self.seed)
            .listed_rows(0)
            .places(places)
            .strict_identity(self.is_strict);
        if let Some(group) = &self.run.group {
            builder = builder.group(group);
        }
        let undecided = |reason: String| Finding(GateVerdict::Undecided, reason);
        let name = metric.split_once('.').map_or(metric, |(name, _)| name);
        if old.metrics().all(|known| known != name) {
            let metric = escape::name(metric);
            return Err(undecided(format!(
                "the baseline has no score for `{metric}`"
            )));
        }
        let different = old.identity_differences(new, metric, self.is_strict, places);
        if !different.is_empty() {
            let advice = match self.has_other_code(metric) {
                true => {
                    "; write `baseline_rows, rescore` to score the old predictions with this code if it calls no model, or accept a new baseline"
                }
                false => "",
            };
            return Err(undecided(different.join("; ") + advice));
        }
        let comparison = builder
            .of(old, new)
            .map_err(|error| undecided(error.to_string()))?;
        let found = comparison.metrics.into_iter().next();
        found
            .map(Box::new)
            .ok_or_else(|| undecided("it is not compared".to_owned()))
    }
}

impl Parts {
    fn of_all_rows(part: Part) -> Self {
        let (parts, note) = (vec![(None, part)], String::new());
        Self { parts, note }
    }

    fn p_values(&self) -> impl Iterator<Item = f64> {
        self.parts.iter().filter_map(|(_, part)| p_value(part))
    }

    /// Decides the gate with the adjusted p-values, and reduces the groups to the worst one.
    fn finish(self, tests: usize, adjusted: &mut impl Iterator<Item = f64>) -> Finding {
        let finding = |(group, part): (Option<String>, Part)| {
            let p_adjusted = p_value(&part).and_then(|_| adjusted.next());
            let decide = |(by, comparison): (_, Box<MetricComparison>)| {
                relative(&comparison, by, p_adjusted, tests)
            };
            (group, part.map_or_else(|finding| finding, decide))
        };
        let findings = Vec::from_iter(self.parts.into_iter().map(finding));
        let verdicts = findings.iter().map(|(_, Finding(verdict, _))| *verdict);
        let worst = verdicts.max().unwrap_or(GateVerdict::Passed);
        if let [(None, Finding(_, sentence))] = &*findings {
            return Finding(worst, format!("{sentence}{}", self.note));
        }
        let of_worst = findings.iter().filter(|(_, it)| it.0 == worst);
        let (count, groups) = (of_worst.clone().count(), findings.len());
        let shown = of_worst.take(SHOWN_GROUPS).filter_map(|(group, finding)| {
            let (group, Finding(_, sentence)) = (escape::name(group.as_deref()?), finding);
            Some(format!("{group}: {sentence}"))
        });
        let shown = shown.collect::<Vec<_>>().join("; ");
        let (name, note) = (worst.name(), self.note);
        let sentence = format!("{name} in {count} of {groups} groups: {shown}{note}");
        Finding(worst, sentence)
    }
}

/// Compares a run with an earlier run and decides whether the gates pass.
///
/// The result contains each gate's verdict and a sentence that explains it.
///
/// # Errors
/// Returns an error message if either run kept no rows.
pub fn verdicts<G: Serialize, P: Serialize>(
    gates: &[(&'static str, Condition)],
    old: &EvaluationResult<G, P>,
    new: &EvaluationResult<G, P>,
    group: Option<&str>,
) -> Result<Vec<(&'static str, String)>, String> {
    let results = |of| Results::of(of).map_err(|error| error.to_string());
    let (old, results) = (results(old)?, results(new)?);
    let content = Baseline::render("runs", &old, false).map_err(|error| error.to_string())?;
    let baseline = Baseline::parse(Path::new("baseline"), &content);
    let gate = |(text, condition): &(&'static str, Condition)| Gate {
        text,
        condition: condition.clone(),
    };
    let gates: Vec<Gate> = gates.iter().map(gate).collect();
    let run = Finished::new(new, &results, group);
    let baseline = (&baseline, GateVerdict::Undecided);
    let decided = decide(&gates, &run, baseline, 0, false);
    let decided = decided.into_iter();
    Ok(decided
        .map(|gate| (gate.verdict.name(), gate.sentence))
        .collect())
}
