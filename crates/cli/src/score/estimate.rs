//! `--estimate`: the language model calls that a run would make, and the maximum they can cost.
//!
//! The rows are evaluated with models that make no calls. Nothing is written.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;

use serde::Serialize;

use super::models::RunModels;
use super::report::INTERRUPTED;
use super::{Rows, evaluate_rows, of_rows, plan, with_metrics};
use crate::args::{LmArguments, ScoreArguments};
use crate::contract::{Metric, ScoreRange};
use crate::data::NamedFile;
use crate::error::{Result, err};
use crate::evaluate::{EarlyGate, Ending, Evaluate, Figure};
use crate::lm::{CallEstimate, LmEstimate, PROBE_PURPOSE};
use crate::results::FORMAT;
use crate::stats::plan_rows;
use crate::stdio::{print, print_error, print_json};

pub(crate) fn run(
    metrics: Vec<Arc<dyn Metric>>,
    args: &ScoreArguments,
    inputs: &[NamedFile<'_>],
) -> Result<ExitCode> {
    let estimate = LmEstimate::new();
    let models = RunModels::estimated(&args.options.lm, estimate.clone());
    args.options
        .warn(models.unused_warnings(&args.options.lm, &metrics));
    let rows = plan::open(args, inputs, &metrics)?;
    let gates = gates(args, &metrics)?;
    let evaluate = with_metrics(Evaluate::builder(), metrics, args);
    let evaluate = of_rows(evaluate, args).keep_results(false);
    let result = evaluate_rows(&evaluate.build()?, Rows::Pairs(rows), &models, args, inputs)?;
    if result.ending != Ending::Complete {
        print_error(format_args!(
            "stopped after {} rows, so the estimate is incomplete; run the command again",
            result.rows
        ));
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let estimated = Estimated {
        early: early(&gates, args.alpha, result.rows),
        ..Estimated::new(result.rows, &estimate)
    };
    match args.json {
        true => print_json(&estimated)?,
        false => print(&estimated.text(&args.options.lm))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The output of `--json`.
#[derive(Serialize)]
struct Estimated {
    format: u32,
    rows: u64,
    #[serde(flatten)]
    total: CallEstimate,
    /// The rows of a run with `--stop-when`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    early: Vec<EarlyRows>,
    /// The models without a price.
    unpriced: BTreeSet<String>,
    by_purpose: Vec<OfPurpose>,
}

/// How far the true scores are assumed to be from the limits of `--stop-when`, in the range of the metric.
const DISTANCES: [f64; 4] = [-0.1, -0.05, 0.05, 0.1];

/// The mean number of rows of a run with `--stop-when`, if each score is this far from its limit.
#[derive(Serialize)]
struct EarlyRows {
    distance: f64,
    rows: f64,
}

/// Returns the limit of each gate of `--stop-when`, as a share of the metric's range.
fn gates(args: &ScoreArguments, metrics: &[Arc<dyn Metric>]) -> Result<Vec<f64>> {
    let limit = |text: &String| {
        let gate: EarlyGate = text.parse().map_err(|error: String| err!("{error}"))?;
        let metric = match &gate.figure {
            Figure::Score { metric, .. } => metrics.iter().find(|it| it.name() == metric),
            _ => None,
        };
        let range = metric.and_then(|metric| metric.spec().range);
        let range = range.unwrap_or(ScoreRange::UNIT);
        Ok((gate.bound.limit() - range.min) / (range.max - range.min))
    };
    args.stop_when.iter().map(limit).collect()
}

/// Returns the rows that the slowest gate takes. A certain stop may need all rows, which is the estimate itself.
fn early(gates: &[f64], alpha: Option<f64>, rows: u64) -> Vec<EarlyRows> {
    let alpha = alpha.map(|alpha| alpha / gates.len() as f64);
    let at = |distance: f64| {
        let alpha = alpha.filter(|_| rows > 0)?;
        let slowest = gates.iter().map(|limit| {
            let truth = (limit + distance).clamp(0.0, 1.0);
            plan_rows(*limit, truth, rows, alpha).early
        });
        let rows = slowest.reduce(f64::max)?;
        Some(EarlyRows { distance, rows })
    };
    DISTANCES.into_iter().filter_map(at).collect()
}

/// The calls of one judge to one model.
#[derive(Serialize)]
struct OfPurpose {
    purpose: String,
    model: String,
    #[serde(flatten)]
    calls: CallEstimate,
}

impl Estimated {
    fn new(rows: u64, estimate: &LmEstimate) -> Self {
        let by_purpose = estimate.by_purpose().into_iter();
        let by_purpose: Vec<OfPurpose> = by_purpose
            .map(|((purpose, model), calls)| OfPurpose {
                purpose,
                model,
                calls,
            })
            .collect();
        let unpriced = by_purpose.iter().filter(|it| it.calls.unpriced_calls > 0);
        Self {
            format: FORMAT,
            rows,
            total: estimate.total(),
            early: Vec::new(),
            unpriced: unpriced.map(|it| it.model.clone()).collect(),
            by_purpose,
        }
    }

    fn text(&self, args: &LmArguments) -> String {
        if self.by_purpose.is_empty() {
            let why = match args.offline {
                true => "with --offline no language model is called",
                false => "no metric in this run calls a language model",
            };
            return format!("{why}; the run costs nothing\n");
        }
        let mut lines = Vec::new();
        let mut probes = 0;
        for OfPurpose {
            purpose,
            model,
            calls,
        } in &self.by_purpose
        {
            lines.push(format!("{purpose}, {model}: {}", sentence(calls)));
            probes += if purpose == PROBE_PURPOSE {
                calls.calls
            } else {
                0
            };
        }
        let (calls, msats) = (self.total.calls, self.total.replies_msats);
        lines.push(format!(
            "{}: {}; of these {}",
            counted(self.rows, "row"),
            sentence(&self.total),
            counted(probes, "probe")
        ));
        lines.push(format!(
            "at most {msats} msat if every call gets a valid reply on the first attempt"
        ));
        for EarlyRows { distance, rows } in &self.early {
            let side = if *distance > 0.0 { "above" } else { "below" };
            let share = rows / self.rows as f64;
            lines.push(format!(
                "with --stop-when about {rows:.0} rows, {:.0} calls and {:.0} msat if the true scores are {:.0} points {side} their limits",
                share * calls as f64,
                share * msats as f64,
                100.0 * distance.abs()
            ));
        }
        if let Some(budget) = args.budget {
            let covers = if budget < msats {
                "does not cover"
            } else {
                "covers"
            };
            lines.push(format!("--budget {budget} msat {covers} this amount"));
        }
        if !self.unpriced.is_empty() {
            let models = Vec::from_iter(self.unpriced.iter().map(String::as_str)).join(", ");
            lines.push(format!(
                "no price for {models}, so the amounts exclude {} of {calls} calls; add it to the price table (DSRS_PRICES=FILE)",
                self.total.unpriced_calls
            ));
        }
        lines.join("\n") + "\n"
    }
}

/// Returns the numbers of calls as a sentence.
fn sentence(calls: &CallEstimate) -> String {
    let stored = match calls.cached_calls {
        1 => "1 stored reply".to_owned(),
        replies => format!("{replies} stored replies"),
    };
    format!("{}, {stored}", counted(calls.calls, "call"))
}

fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
