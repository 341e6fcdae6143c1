//! Cost and time of the runs, and what gates saved.

use serde::Serialize;

use super::facts::{Fact, facts};
use super::labels::plural;
use super::run::ReportRun;
use super::totals::Evaluations;
use crate::results::run_scores::Usage as RowUsage;
use crate::results::thousands;

#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Usage {
    facts: Vec<Fact>,
    notes: Vec<String>,
}

impl Usage {
    /// `None` if the rows contain neither cost nor time nor gated rows.
    pub(super) fn new(runs: &[&ReportRun<'_>]) -> Option<Self> {
        let has_gates = runs.iter().any(|run| {
            facts_of(run)
                .iter()
                .any(|(name, _)| name.starts_with(GATED))
        });
        let line = |(name, value)| (name, vec![value]);
        let facts = facts(runs, |run| facts_of(run).into_iter().map(line).collect());
        let note = "A gate saves the mean cost of an evaluated row for each row that it rejects.";
        let notes = has_gates.then(|| note.to_owned()).into_iter().collect();
        (!facts.is_empty()).then_some(Self { facts, notes })
    }
}

fn facts_of(run: &ReportRun<'_>) -> Vec<(String, String)> {
    let mut facts = program(run);
    facts.extend(latency(run));
    facts.extend(metrics(run));
    facts
}

/// The sum over the rows that have the value, and their number if others do not.
fn sum(
    run: &ReportRun<'_>,
    name: &str,
    unit: &str,
    of: impl Fn(RowUsage) -> Option<u64>,
) -> Option<(String, String)> {
    let values: Vec<u64> = usage(run).filter_map(of).collect();
    let total: u64 = values
        .iter()
        .fold(0, |total, value| total.saturating_add(*value));
    let all = values.len() == run.len();
    let of = if all {
        String::new()
    } else {
        format!(" in {}", plural(values.len() as u64, "row"))
    };
    let shown = format!("{}{unit}{of}", thousands(total));
    (!values.is_empty()).then(|| (name.to_owned(), shown))
}

fn usage(run: &ReportRun<'_>) -> impl Iterator<Item = RowUsage> {
    (0..run.len()).map(|row| run.scores.usage(row))
}

fn program(run: &ReportRun<'_>) -> Vec<(String, String)> {
    [
        sum(run, "Program: cost", " msat", |row| row.cost_msats),
        sum(run, "Program: tokens read", "", |row| row.input_tokens),
        sum(run, "Program: tokens written", "", |row| row.output_tokens),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn latency(run: &ReportRun<'_>) -> Vec<(String, String)> {
    let mut seconds: Vec<f64> = usage(run).filter_map(|row| row.latency_s).collect();
    seconds.sort_by(f64::total_cmp);
    let Some(last) = seconds.len().checked_sub(1) else {
        return Vec::new();
    };
    // The nearest rank: the smallest latency that at least this share of the rows does not exceed.
    let quantile =
        |percent: usize| seconds[(seconds.len() * percent).div_ceil(100).clamp(1, last + 1) - 1];
    let shown = |seconds: f64| format!("{seconds:.3} s");
    let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
    vec![
        ("Program: mean latency".to_owned(), shown(mean)),
        ("Program: median latency".to_owned(), shown(quantile(50))),
        (
            "Program: 95th percentile of latency".to_owned(),
            shown(quantile(95)),
        ),
    ]
}

const GATED: &str = "Gated: ";

fn metrics(run: &ReportRun<'_>) -> Vec<(String, String)> {
    let by_name = &run.totals.evaluations;
    let own = |name: &&String| run.metrics().any(|metric| metric == *name);
    let cost = by_name
        .iter()
        .filter(|(name, it)| it.cost_msats > 0 && own(name));
    let cost = cost.map(|(name, it)| {
        (
            format!("{name}: cost"),
            format!("{} msat", thousands(it.cost_msats)),
        )
    });
    let gated = by_name.iter().filter(|(_, it)| it.gated > 0);
    let gated = gated.map(|(name, it)| (format!("{GATED}{name}"), it.savings()));
    cost.chain(gated).collect()
}

impl Evaluations {
    /// `412 rows, 20,600 msat saved`
    fn savings(&self) -> String {
        let rows = plural(self.gated, "row");
        if self.evaluated == 0 || self.cost_msats == 0 {
            return rows;
        }
        let saved =
            u128::from(self.gated) * u128::from(self.cost_msats) / u128::from(self.evaluated);
        format!(
            "{rows}, {} msat saved",
            thousands(u64::try_from(saved).unwrap_or(u64::MAX))
        )
    }
}
