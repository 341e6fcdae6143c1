//! `--estimate`: the calls of language models that a run would make, and the most that they can cost.
//!
//! The rows are evaluated with models that make no call. Nothing is written.

use std::fmt::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use serde::Serialize;

use super::models::RunModels;
use super::report::INTERRUPTED;
use super::{evaluate_rows, of_rows, plan};
use crate::args::ScoreArguments;
use crate::core::metric::Metric;
use crate::data::NamedFile;
use crate::error::Result;
use crate::evaluate::{Ending, Evaluate};
use crate::lm::{CallEstimate, LmEstimate, PROBE_PURPOSE};
use crate::results::FormatVersion;
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
    let evaluate = of_rows(Evaluate::builder().metrics(metrics), args).keep_results(false);
    let result = evaluate_rows(&evaluate.build()?, rows, &models, args)?;
    if result.ending != Ending::Complete {
        print_error(format_args!(
            "stopped after {} rows, so the estimate is incomplete; run the command again",
            result.rows
        ));
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let estimated = Estimated::new(result.rows, &estimate);
    match args.json {
        true => print_json(&estimated)?,
        false => print(&estimated.text(args))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The output of `--json`.
#[derive(Serialize)]
struct Estimated {
    format: FormatVersion,
    rows: u64,
    #[serde(flatten)]
    total: CallEstimate,
    /// The models without a price.
    unpriced: Vec<String>,
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
        let mut unpriced: Vec<String> = by_purpose
            .iter()
            .filter(|it| it.calls.unpriced_calls > 0)
            .map(|it| it.model.clone())
            .collect();
        unpriced.sort_unstable();
        unpriced.dedup();
        Self {
            format: FormatVersion,
            rows,
            total: estimate.total(),
            unpriced,
            by_purpose,
        }
    }

    fn text(&self, args: &ScoreArguments) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text, args);
        text
    }

    fn write(&self, text: &mut String, args: &ScoreArguments) -> fmt::Result {
        if self.by_purpose.is_empty() {
            let why = match args.options.lm.offline {
                true => "with --offline no language model is called",
                false => "no metric of this run calls a language model",
            };
            return writeln!(text, "{why}; the run costs nothing");
        }
        for OfPurpose {
            purpose,
            model,
            calls,
        } in &self.by_purpose
        {
            writeln!(text, "{purpose}, {model}: {}", Calls(calls))?;
        }
        let probes = self
            .by_purpose
            .iter()
            .filter(|it| it.purpose == PROBE_PURPOSE);
        let probes: u64 = probes.map(|it| it.calls.calls).sum();
        let (msats, unpriced) = (self.total.replies_msats, self.total.unpriced_calls);
        writeln!(
            text,
            "{}: {}; of these {}",
            counted(self.rows, "row"),
            Calls(&self.total),
            counted(probes, "probe")
        )?;
        writeln!(
            text,
            "at most {msats} msat if each call is answered at once by a valid reply"
        )?;
        if let Some(budget) = args.options.lm.budget {
            let covers = if budget < msats {
                "does not cover"
            } else {
                "covers"
            };
            writeln!(text, "--budget {budget} msat {covers} this amount")?;
        }
        if !self.unpriced.is_empty() {
            let (models, calls) = (self.unpriced.join(", "), self.total.calls);
            writeln!(
                text,
                "no price for {models}, so that {unpriced} of {calls} calls are in no amount; add it to the price table (DSRS_PRICES=FILE)"
            )?;
        }
        Ok(())
    }
}

/// The numbers of calls as a sentence.
struct Calls<'a>(&'a CallEstimate);

impl fmt::Display for Calls<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CallEstimate {
            calls,
            cached_calls,
            ..
        } = self.0;
        let stored = if *cached_calls == 1 {
            "stored reply"
        } else {
            "stored replies"
        };
        write!(f, "{}, {cached_calls} {stored}", counted(*calls, "call"))
    }
}

fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
