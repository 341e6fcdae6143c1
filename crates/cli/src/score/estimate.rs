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
use crate::lm::{CallEstimate, LmEstimate};
use crate::output::{CliError, Result, print_error, print_report};
use crate::results::FORMAT;

impl Run<'_> {
    pub(crate) fn estimate(&self) -> Result<ExitCode> {
        let args = self.args;
        args.options.warn(self.unused_warnings());
        let rows = self.open()?;
        for gate in &args.stop_when {
            gate.parse::<EarlyGate>().map_err(CliError::new)?;
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

/// The `--json` output.
#[derive(Serialize)]
struct Estimated {
    format: u32,
    rows: u64,
    #[serde(flatten)]
    total: CallEstimate,
    /// The models that have no price.
    unpriced: BTreeSet<String>,
}

impl Estimated {
    fn new(rows: u64, estimate: &LmEstimate) -> Self {
        let by_purpose = estimate.by_purpose().into_iter();
        let unpriced = by_purpose.filter(|(_, calls)| calls.unpriced_calls > 0);
        Self {
            format: FORMAT,
            rows,
            total: estimate.total(),
            unpriced: unpriced.map(|((_, model), _)| model).collect(),
        }
    }

    fn text(&self, args: &LmArguments) -> String {
        let total = &self.total;
        if total.calls + total.cached_calls == 0 {
            return "this run calls no language model, so it costs nothing\n".to_owned();
        }
        let (calls, msats) = (total.calls, total.replies_msats);
        let (rows, stored) = (self.rows, total.cached_calls);
        let mut lines = vec![
            format!("{rows} rows: {calls} calls, {stored} stored replies"),
            format!("at most {msats} msat if every call gets a valid reply on the first attempt"),
        ];
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
                total.unpriced_calls
            ));
        }
        lines.join("\n") + "\n"
    }
}
