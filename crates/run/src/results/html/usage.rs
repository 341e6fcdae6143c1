//! Cost and time of the runs, and what gates saved.

use indexmap::IndexMap;
use serde::Serialize;

use super::facts::{Fact, facts};
use super::figures::thousands;
use super::labels::plural;
use crate::results::{ResultOutcome, ResultScore, Results};

#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Usage {
    facts: Vec<Fact>,
    notes: Vec<String>,
}

impl Usage {
    /// `None` if the rows contain neither cost nor time nor gated rows.
    pub(super) fn new(runs: &[&Results]) -> Option<Self> {
        let has_gates =
            runs.iter().any(|run| facts_of(run).iter().any(|(name, _)| name.starts_with(GATED)));
        let line = |(name, value)| (name, vec![value]);
        let facts = facts(runs, |run| facts_of(run).into_iter().map(line).collect());
        let note = "A gate saves the mean cost of an evaluated row for each row that it rejects.";
        let notes = has_gates.then(|| note.to_owned()).into_iter().collect();
        (!facts.is_empty()).then_some(Self { facts, notes })
    }
}

fn facts_of(run: &Results) -> Vec<(String, String)> {
    let mut facts = program(run);
    facts.extend(latency(run));
    facts.extend(metrics(run));
    facts
}

/// The sum over the rows that have the value, and their number if others do not.
fn sum(
    run: &Results,
    name: &str,
    unit: &str,
    of: impl Fn(usize) -> Option<u64>,
) -> Option<(String, String)> {
    let values: Vec<u64> = (0..run.rows().len()).filter_map(of).collect();
    let total: u64 = values.iter().fold(0, |total, value| total.saturating_add(*value));
    let all = values.len() == run.rows().len();
    let of =
        if all { String::new() } else { format!(" in {}", plural(values.len() as u64, "row")) };
    let shown = format!("{}{unit}{of}", thousands(total));
    (!values.is_empty()).then(|| (name.to_owned(), shown))
}

fn program(run: &Results) -> Vec<(String, String)> {
    let rows = run.rows();
    [
        sum(run, "Program: cost", " msat", |row| rows[row].cost_msats),
        sum(run, "Program: tokens read", "", |row| rows[row].input_tokens),
        sum(run, "Program: tokens written", "", |row| rows[row].output_tokens),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn latency(run: &Results) -> Vec<(String, String)> {
    let mut seconds: Vec<f64> = run.rows().iter().filter_map(|row| row.latency_s).collect();
    seconds.sort_by(f64::total_cmp);
    let Some(last) = seconds.len().checked_sub(1) else { return Vec::new() };
    // The nearest rank: the smallest latency that at least this share of the rows does not exceed.
    let quantile =
        |percent: usize| seconds[(seconds.len() * percent).div_ceil(100).clamp(1, last + 1) - 1];
    let shown = |seconds: f64| format!("{seconds:.3} s");
    let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
    vec![
        ("Program: mean latency".to_owned(), shown(mean)),
        ("Program: median latency".to_owned(), shown(quantile(50))),
        ("Program: 95th percentile of latency".to_owned(), shown(quantile(95))),
    ]
}

const GATED: &str = "Gated: ";

/// The evaluations of a metric or component.
#[derive(Default)]
struct Evaluations {
    evaluated: u64,
    cost_msats: u64,
    gated: u64,
}

fn metrics(run: &Results) -> Vec<(String, String)> {
    let mut by_name: IndexMap<String, Evaluations> = IndexMap::new();
    for (name, score) in run.rows().iter().flat_map(|row| &row.scores) {
        record(&mut by_name, name, score);
    }
    let own = |name: &&String| run.metrics().any(|metric| metric == *name);
    let cost = by_name.iter().filter(|(name, it)| it.cost_msats > 0 && own(name));
    let cost = cost
        .map(|(name, it)| (format!("{name}: cost"), format!("{} msat", thousands(it.cost_msats))));
    let gated = by_name.iter().filter(|(_, it)| it.gated > 0);
    let gated = gated.map(|(name, it)| (format!("{GATED}{name}"), it.savings()));
    cost.chain(gated).collect()
}

fn record(by_name: &mut IndexMap<String, Evaluations>, name: &str, score: &ResultScore) {
    if !by_name.contains_key(name) {
        by_name.insert(name.to_owned(), Evaluations::default());
    }
    let it = &mut by_name[name];
    it.cost_msats = it.cost_msats.saturating_add(score.cost_msats);
    match score.outcome {
        ResultOutcome::Scored | ResultOutcome::Counted | ResultOutcome::MetricFailed => {
            it.evaluated += 1;
        }
        ResultOutcome::Gated => it.gated += 1,
        _ => {}
    }
    for (component, score) in &score.components {
        record(by_name, &format!("{name}.{component}"), score);
    }
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
        format!("{rows}, {} msat saved", thousands(u64::try_from(saved).unwrap_or(u64::MAX)))
    }
}
