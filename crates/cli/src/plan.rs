//! `plan`: shows how many rows, how many calls and how much money a gate takes.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::options::{Limit, finite};
use super::output::{Result, err, print_report};
use crate::contract::ScoreRange;
use crate::evaluate::{EarlyGate, End, Figure};
use crate::lm::parse_msats;
use crate::messages::escape;
use crate::metrics::Registry;
use crate::results::{FORMAT, Results, aligned};
use crate::stats::{DecisionPlan, plan_rows};

/// How far the true values are from the limit in the metric's range, unless --at sets other values.
const DISTANCES: [f64; 4] = [0.02, 0.05, 0.07, 0.1];

/// Plan how many rows a gate takes, and what they cost
///
/// For each true value of the score, prints how many rows a run takes if it ends once its gate is decided (`score
/// --stop-when`): on average, and in 9 of 10 runs. Next to them is the size of a sample that is large enough in 8 of 10
/// cases if you look once. Scores that are not pass or fail need at most as many rows.
#[derive(Debug, Args)]
pub(super) struct PlanArguments {
    /// The gate, e.g. "polite >= 0.9"
    #[arg(value_name = "GATE")]
    gate: String,
    /// The number of rows; by default, as in --run
    #[arg(long, value_name = "N", required_unless_present = "run", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    rows: Option<u64>,
    /// The result file of an earlier run, used for the number of rows, the score, and the cost of a row
    #[arg(long, value_name = "FILE")]
    run: Option<PathBuf>,
    /// True values of the score, separated by commas; by default, values on both sides of the limit, and the score of
    /// --run
    #[arg(long, value_name = "VALUE", value_delimiter = ',')]
    at: Vec<Limit>,
    /// The maximum probability of a wrong verdict
    #[arg(long, value_name = "P", default_value_t = 0.01, value_parser = finite)]
    alpha: f64,
    /// The cost of a row, e.g. "12 msat"; by default, as in --run
    #[arg(long, value_name = "AMOUNT", value_parser = parse_msats)]
    cost: Option<u64>,
    /// Print one JSON object, with unrounded numbers
    #[arg(long)]
    json: bool,
}

/// What an earlier run shows.
#[derive(Default)]
struct Observed {
    rows: u64,
    score: Option<f64>,
    /// The mean cost per row, in millisatoshis.
    row_msats: Option<f64>,
    /// The number of language model calls per row.
    row_calls: Option<f64>,
}

/// The `--json` output.
#[derive(Serialize)]
struct Plan {
    format: u32,
    gate: String,
    rows: u64,
    alpha: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    row_msats: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row_calls: Option<f64>,
    at: Vec<PlannedValue>,
}

#[derive(Serialize)]
struct PlannedValue {
    passes: bool,
    #[serde(flatten)]
    plan: DecisionPlan,
}

pub(super) fn run(registry: &Registry, args: &PlanArguments) -> Result<ExitCode> {
    let gate: EarlyGate = args.gate.parse().map_err(|error: String| err!("{error}"))?;
    let metric = match &gate.figure {
        Figure::Failed => None,
        Figure::Score {
            metric,
            end: End::Estimate,
        } => Some(&**metric),
        _ => {
            return Err(err!(
                "expected a limit on a mean, found `{}`; write a gate such as `polite >= 0.9`",
                gate.text
            ));
        }
    };
    let alpha = args.alpha;
    if !(alpha > 0.0 && alpha <= 0.5) {
        return Err(err!(
            "--alpha {alpha}: expected a number above 0 and at most 0.5; write 0.01"
        ));
    }
    let observed = match &args.run {
        Some(path) => observed(&Results::read(path)?, metric)?,
        None => Observed::default(),
    };
    let spec = metric.and_then(|metric| Some(registry.get(metric)?.spec().range));
    let range = spec.flatten().unwrap_or(ScoreRange::UNIT);
    let limit = gate.bound.limit();
    let (ScoreRange { min, max }, text) = (range, &gate.text);
    if !(min < limit && limit < max) {
        return Err(err!(
            "gate `{text}`: expected a limit between {min} and {max}, found {limit}"
        ));
    }
    let plan = Plan {
        format: FORMAT,
        rows: args.rows.unwrap_or(observed.rows),
        alpha: args.alpha,
        row_msats: args.cost.map(|cost| cost as f64).or(observed.row_msats),
        row_calls: observed.row_calls,
        at: planned(&gate, range, args, &observed)?,
        gate: gate.text,
    };
    print_report(args.json, &plan, || plan.text())
}

/// Plans for each true value, in ascending order.
fn planned(
    gate: &EarlyGate,
    range: ScoreRange,
    args: &PlanArguments,
    observed: &Observed,
) -> Result<Vec<PlannedValue>> {
    let (limit, size) = (gate.bound.limit(), range.max - range.min);
    let mut values: Vec<f64> = args.at.iter().map(|at| at.score).collect();
    if let Some(outside) = values.iter().find(|at| !range.contains(**at)) {
        let ScoreRange { min, max } = range;
        return Err(err!("--at {outside}: expected a score from {min} to {max}"));
    }
    if values.is_empty() {
        let around = DISTANCES
            .iter()
            .flat_map(|it| [limit - it * size, limit + it * size]);
        // Rounding removes the digits that adding decimals introduces.
        let around = around.map(|it| (it * 1e9).round() / 1e9);
        values.extend(around.filter(|it| range.contains(*it)));
        values.extend(observed.score);
    }
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    let unit = |value: f64| (value - range.min) / size;
    let rows = args.rows.unwrap_or(observed.rows);
    let plan = |truth: f64| PlannedValue {
        passes: gate.bound.holds(truth),
        plan: DecisionPlan {
            truth,
            ..plan_rows(unit(limit), unit(truth), rows, args.alpha)
        },
    };
    Ok(values.into_iter().map(plan).collect())
}

/// Returns what a run shows about a gate's metric, or about failed rows.
fn observed(run: &Results, metric: Option<&str>) -> Result<Observed> {
    let is_named = |name: &&str| metric.is_none_or(|it| it == *name);
    let metrics = || run.metrics().filter(is_named);
    if metrics().next().is_none() {
        let (name, known) = (run.name(), escape::names(run.metrics()));
        let found = escape::name(metric.unwrap_or_default());
        return Err(err!(
            "{name}: expected a metric in the run ({known}), found `{found}`"
        ));
    }
    let (mut sum, mut evaluated, mut msats) = (0.0, 0_u64, 0_u64);
    for row in run.rows() {
        let scores = || metrics().filter_map(|name| row.scores.get(name));
        let has_failed = scores().any(|score| score.outcome.is_failure());
        msats += scores().map(|score| score.cost_msats).sum::<u64>();
        let value = scores().find_map(|score| score.value);
        let in_mean = match metric {
            Some(_) => value.or(has_failed.then_some(run.failure_score())),
            None => (value.is_some() || has_failed).then_some(f64::from(has_failed)),
        };
        sum += in_mean.unwrap_or_default();
        evaluated += u64::from(in_mean.is_some());
    }
    let per_row = |total: u64| (total > 0).then(|| total as f64 / evaluated.max(1) as f64);
    let judged_by = run.manifest().map(|it| &it.run.judged_by);
    let replies = metrics().filter_map(|name| judged_by?.get(name)).flatten();
    Ok(Observed {
        rows: run.rows().len() as u64,
        score: (evaluated > 0).then(|| sum / evaluated as f64),
        row_msats: per_row(msats),
        row_calls: per_row(replies.map(|it| it.replies).sum()),
    })
}

impl Plan {
    fn text(&self) -> String {
        let header = "true value,verdict,rows,9 of 10,one look,all".split(',');
        let mut header: Vec<String> = header.map(str::to_owned).collect();
        let mut columns: Vec<f64> = Vec::new();
        for (name, per_row) in [("calls", self.row_calls), ("msat", self.row_msats)] {
            if let Some(per_row) = per_row {
                header.extend([name, "all"].map(str::to_owned));
                columns.push(per_row);
            }
        }
        let mut lines = vec![header];
        for PlannedValue { passes, plan } in &self.at {
            let mut line = vec![
                format!("{:.4}", plan.truth),
                if *passes { "passes" } else { "fails" }.to_owned(),
                format!("{:.0}", plan.early),
                plan.early_90.to_string(),
                plan.fixed.map_or("-".to_owned(), |rows| rows.to_string()),
                self.rows.to_string(),
            ];
            for per_row in &columns {
                line.push(format!("{:.0}", per_row * plan.early));
                line.push(format!("{:.0}", per_row * self.rows as f64));
            }
            lines.push(line);
        }
        let percent = (1e6 * self.alpha).round() / 1e4;
        let (gate, rows, table) = (&self.gate, self.rows, aligned(&lines, 0));
        format!("{gate}, {rows} rows, wrong in at most {percent}%\n\n{table}")
    }
}
