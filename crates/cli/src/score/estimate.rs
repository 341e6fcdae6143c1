//! `--estimate`: the language model calls that a run would make, and the maximum they can cost.
//!
//! The rows are evaluated with models that make no calls. Nothing is written.

use std::collections::BTreeSet;
use std::process::ExitCode;

use serde::Serialize;

use super::report::INTERRUPTED;
use super::{Rows, Run, of_rows};
use crate::args::LmArguments;
use crate::evaluate::{EarlyGate, Ending, Evaluate};
use crate::lm::{CallEstimate, LmEstimate, PROBE_PURPOSE};
use crate::output::{Result, err, print_error, print_report};
use crate::results::FORMAT;

impl Run<'_> {
    pub(crate) fn estimate(&self) -> Result<ExitCode> {
        let args = self.args;
        args.options.warn(self.unused_warnings());
        let rows = self.open()?;
        for gate in &args.stop_when {
            gate.parse::<EarlyGate>().map_err(|error| err!("{error}"))?;
        }
        let builder = of_rows(self.with_metrics(Evaluate::builder()), args);
        let evaluate = builder.keep_results(false).build()?;
        let result = self.evaluate_rows(&evaluate, Rows::Pairs(rows))?;
        if result.ending != Ending::Complete {
            print_error(format_args!(
                "stopped after {} rows, so the estimate is incomplete; run the command again",
                result.rows
            ));
            return Ok(ExitCode::from(INTERRUPTED));
        }
        let estimated = Estimated::new(result.rows, &self.estimate.clone().unwrap_or_default());
        print_report(args.json, &estimated, || estimated.text(&args.options.lm))
    }
}

/// The output of `--json`.
#[derive(Serialize)]
struct Estimated {
    format: u32,
    rows: u64,
    #[serde(flatten)]
    total: CallEstimate,
    /// The models without a price.
    unpriced: BTreeSet<String>,
    by_purpose: Vec<OfPurpose>,
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
        for it in &self.by_purpose {
            let calls = sentence(&it.calls);
            lines.push(format!("{}, {}: {calls}", it.purpose, it.model));
            if it.purpose == PROBE_PURPOSE {
                probes += it.calls.calls;
            }
        }
        let (calls, msats) = (self.total.calls, self.total.replies_msats);
        let (rows, total) = (counted(self.rows, "row"), sentence(&self.total));
        let probes = counted(probes, "probe");
        lines.push(format!("{rows}: {total}; of these {probes}"));
        lines.push(format!(
            "at most {msats} msat if every call gets a valid reply on the first attempt"
        ));
        if let Some(budget) = args.budget {
            let covers = match budget < msats {
                true => "does not cover",
                false => "covers",
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
