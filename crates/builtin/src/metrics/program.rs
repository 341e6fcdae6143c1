//! Metrics for a program's run: latency, tokens and cost. They measure the program, not its answer.

use crate::contract::{ProgramRun, ProgramUsage};
use dsrs_metrics::metric;

/// Returns the duration of the program's run in seconds.
///
/// The score is in [0, inf), and lower is better.
///
/// A program can return its latency in its `ProgramOutput`. Otherwise, `Evaluate` measures the latency.
///
/// For existing predictions, the metric reads the `latency_s` field.
///
/// ```
/// use dsrs_metrics::metrics::Latency;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let pred = prediction! { "answer" => "Paris", "latency_s" => 1.5 };
/// assert_eq!(Latency.score(&example! {}, &pred)?.value, 1.5);
/// # Ok(())
/// # }
/// ```
#[metric(lower_is_better, explain = |_, _, seconds| format!("{seconds} s"))]
pub fn latency(run: Option<&ProgramRun>, #[pred] latency_s: Option<f64>) -> Result<f64, String> {
    if let Some(latency) = run.and_then(|run| run.latency) {
        return Ok(latency.as_secs_f64());
    }
    match latency_s {
        Some(seconds) if seconds >= 0.0 => Ok(seconds),
        Some(seconds) => Err(format!(
            "expected a non-negative number of seconds in `pred.latency_s`, found {seconds}"
        )),
        None => Err("expected the program's latency, found none; set or map the field `pred.latency_s` (seconds), or run the program with `dsrs_metrics::Evaluate`".to_owned()),
    }
}

/// Returns the number of tokens in the program's prompts and replies.
///
/// The score is in [0, inf), and lower is better.
///
/// A program reports its tokens in the usage of its `ProgramOutput`.
///
/// For existing predictions, the metric adds up the `input_tokens` and `output_tokens` fields. A row needs at least one
/// of these fields.
///
/// ```
/// use dsrs_metrics::metrics::Tokens;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let pred = prediction! { "answer" => "Paris", "input_tokens" => 120, "output_tokens" => 8 };
/// assert_eq!(Tokens.score(&example! {}, &pred)?.value, 128.0);
/// # Ok(())
/// # }
/// ```
#[metric(lower_is_better, explain = |run, input, output, _| {
    let usage = usage(run, input, output)?;
    Some(format!("{} prompt tokens and {} reply tokens", usage.input_tokens, usage.output_tokens))
})]
pub fn tokens(
    run: Option<&ProgramRun>,
    #[pred] input_tokens: Option<u64>,
    #[pred] output_tokens: Option<u64>,
) -> Result<f64, String> {
    match usage(run, input_tokens, output_tokens) {
        Some(usage) => Ok(number(usage.tokens())),
        None => Err("expected the program's token counts, found none; set or map the fields `pred.input_tokens` and `pred.output_tokens`, or run a program that reports its usage".to_owned()),
    }
}

/// Returns the cost of the program's run in millisatoshis.
///
/// The score is in [0, inf), and lower is better.
///
/// A program returns its cost in the usage of its `ProgramOutput`. For existing predictions, the metric reads the
/// `cost_msats` field.
///
/// The cost of metrics is not included.
///
/// ```
/// use dsrs_metrics::metrics::Cost;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let pred = prediction! { "answer" => "Paris", "cost_msats" => 40 };
/// assert_eq!(Cost.score(&example! {}, &pred)?.value, 40.0);
/// # Ok(())
/// # }
/// ```
#[metric(lower_is_better, explain = |_, _, msats| format!("{msats} msat"))]
pub fn cost(run: Option<&ProgramRun>, #[pred] cost_msats: Option<u64>) -> Result<f64, String> {
    match (run.and_then(|run| run.usage), cost_msats) {
        (Some(ProgramUsage { cost_msats: Some(cost_msats), .. }), _) | (_, Some(cost_msats)) => {
            Ok(number(cost_msats))
        }
        (Some(_), None) => Err("expected the program's cost, found usage of unknown cost; set or map the field `pred.cost_msats` (millisatoshis), or set `ProgramUsage::with_cost_msats`".to_owned()),
        (None, None) => Err("expected the program's cost, found none; set or map the field `pred.cost_msats` (millisatoshis), or run a program that reports its cost".to_owned()),
    }
}

/// Returns the usage that the program returned, or the usage in the row.
fn usage(
    run: Option<&ProgramRun>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
) -> Option<ProgramUsage> {
    let of_row = || {
        input_tokens.or(output_tokens)?;
        let [input, output] = [input_tokens, output_tokens].map(Option::unwrap_or_default);
        Some(ProgramUsage::new(input, output))
    };
    run.and_then(|run| run.usage).or_else(of_row)
}

// There are far fewer than 2^52 tokens or msat.
fn number(count: u64) -> f64 {
    count as f64
}
