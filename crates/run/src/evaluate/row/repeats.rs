//! A row that is evaluated several times, and how its outcomes are reduced to one.

use crate::contract::{MetricScore, Outcome, Part, ProgramRun, Scored};
use crate::stats::Moments;

/// One repeat of a row: the prediction, the record of the program's run, and the outcomes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Repeat<P> {
    pub(crate) pred: RepeatPred<P>,
    /// The trace, usage and latency of the program; `None` if the row came with a prediction or the program failed.
    pub run: Option<Box<ProgramRun>>,
    /// The outcome of each metric, in the order of the metrics.
    pub outcomes: Vec<Outcome>,
}

/// The prediction that a repeat evaluated.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RepeatPred<P> {
    /// The prediction of the row.
    OfRow,
    Own(P),
    /// The program failed.
    None,
}

/// Returns the outcome of each metric over the repeats of a row.
pub(crate) fn reduced<P>(
    repeats: &[Repeat<P>],
    metrics: usize,
    failure_score: f64,
) -> Vec<Outcome> {
    let of_metric = |metric: usize| {
        let outcomes: Vec<_> = repeats
            .iter()
            .map(|repeat| &repeat.outcomes[metric])
            .collect();
        reduce(&outcomes, failure_score)
    };
    (0..metrics).map(of_metric).collect()
}

/// Returns a row's outcome over its repeats: the mean, with each failed repeat as the failure score. Without a score,
/// returns the first failure; without a failure, the first outcome.
fn reduce(outcomes: &[&Outcome], failure_score: f64) -> Outcome {
    let scored: Vec<&Scored> = outcomes
        .iter()
        .filter_map(|outcome| outcome.scored())
        .collect();
    let Some(first) = scored.first() else {
        let failure = outcomes.iter().find(|outcome| outcome.is_failure());
        return failure
            .or(outcomes.first())
            .map_or(Outcome::Abstained, |it| (*it).clone());
    };
    let values: Moments = counted(outcomes, failure_score).collect();
    let confidences: Moments = scored
        .iter()
        .map(|scored| scored.score.confidence)
        .collect();
    let costs = outcomes.iter().map(|outcome| outcome.cost_msats());
    let score = MetricScore {
        value: values.mean().unwrap_or(first.score.value),
        confidence: confidences.mean().unwrap_or(1.0).clamp(0.0, 1.0),
        details: Some(details(outcomes)),
        cost_msats: costs.fold(0, u64::saturating_add),
    };
    Outcome::Scored(Scored::over_repeats(score, &scored, parts(&scored)))
}

/// Returns the scores, with the failure score for failed repeats.
pub(crate) fn counted(outcomes: &[&Outcome], failure_score: f64) -> impl Iterator<Item = f64> {
    outcomes.iter().filter_map(move |outcome| {
        outcome
            .value()
            .or(outcome.is_failure().then_some(failure_score))
    })
}

/// Returns `mean of 5 repeats: 1, 0, failed, 1, 1`.
fn details(outcomes: &[&Outcome]) -> String {
    let one = |outcome: &&Outcome| match outcome.value() {
        Some(value) => value.to_string(),
        None if outcome.is_failure() => "failed".to_owned(),
        None => outcome.name().to_owned(),
    };
    let all: Vec<_> = outcomes.iter().map(one).collect();
    format!("mean of {} repeats: {}", outcomes.len(), all.join(", "))
}

/// Returns the mean of each named score over the repeats that have it.
fn parts(scored: &[&Scored]) -> Vec<Part> {
    let mut parts: Vec<(String, Moments)> = Vec::new();
    for part in scored.iter().flat_map(|scored| scored.parts()) {
        match parts.iter_mut().find(|(name, _)| *name == part.name) {
            Some((_, values)) => values.record(part.value),
            None => parts.push((part.name.clone(), [part.value].into_iter().collect())),
        }
    }
    let mean = |(name, values): (String, Moments)| {
        Some(Part {
            name,
            value: values.mean()?,
            feedback: None,
        })
    };
    parts.into_iter().filter_map(mean).collect()
}
