//! An internal crate of [dsrs-metrics](https://docs.rs/dsrs-metrics).
//!
//! This crate has no stable API of its own. Use `dsrs-metrics` instead.

#![expect(
    clippy::implied_bounds_in_impls,
    reason = "`IsProgram` determines `Kind` first, so rustc says what the program lacks"
)]

#[macro_use]
extern crate dsrs_metrics_values;

pub mod agreement;
pub mod data;
#[doc(hidden)]
pub mod evals;
#[doc(hidden)]
pub mod evaluate;
pub mod results;
#[doc(hidden)]
pub mod scoring;

use dsrs_metrics_core::{self as contract, composite, lm};
use dsrs_metrics_values::{json, messages, named_files, stats};

#[cfg(feature = "report")]
pub use crate::evaluate::TableRows;
pub use crate::evaluate::report::ProgressDisplay;
#[cfg(feature = "report")]
pub use crate::evaluate::report::ResultTable;
pub use crate::evaluate::{
    BudgetReport, DecidedGate, DevsetRows, EarlyResult, Ending, Evaluate, EvaluateBuilder,
    EvaluateError, EvaluateErrorKind, EvaluationResult, Evaluator, FailureSettings, FileSettings,
    InputNames, JudgedBy, MetricList, MetricSummary, ModelSettings, Observer, ProgramTotals,
    Repeat, RepeatSummary, RolloutNumber, RowResult, RunStart, Running, Sample, Spending,
    StatisticsSettings, StopSettings, StoreUse, TruthMethod, TruthResult, TruthStratum,
    UnknownField,
};
#[doc(hidden)]
pub use crate::evaluate::{ByList, ByName, missing_features};
pub use crate::scoring::{
    AggregationError, AggregationMethod, BoxedMetric, FinalScore, MetricSet, OnMissing, Rank,
    Rollout, Rollouts, RowScore, RowStatus, Scorer, ScorerBuilder, ScorerError, ScoringConfig,
    ScoringResult, ScoringSummary,
};

/// Runs work on all threads, with results in the order of the items.
mod in_order {
    use std::sync::mpsc::{channel, sync_channel};
    use std::thread;

    /// Calls `work` on all threads and `each` with the results in input order. `produce` passes the items to its argument
    /// one by one. An error from `each` or `produce` ends the work.
    pub(crate) fn in_order<T: Send, R: Send, E>(
        work: impl Fn(T) -> R + Sync,
        mut each: impl FnMut(&mut Option<R>) -> Result<(), E>,
        produce: impl FnOnce(&mut dyn FnMut(T) -> Result<(), E>) -> Result<(), E>,
    ) -> Result<(), E> {
        let number = thread::available_parallelism().map_or(1, usize::from);
        let work = &work;
        thread::scope(|scope| {
            let start = |_| {
                let ((items, input), (output, results)) = (sync_channel(1), sync_channel(1));
                // Results to drop: a thread that frees the memory of another one waits for it.
                let (used, to_drop) = channel();
                let work = move || {
                    // `send` fails only after an error in `each`, when nothing receives the results anymore.
                    let _ = input.iter().try_for_each(|item| {
                        to_drop.try_iter().for_each(drop);
                        output.send(work(item))
                    });
                };
                // Fails if the system refuses a thread.
                let thread = thread::Builder::new().spawn_scoped(scope, work);
                thread.ok().map(|_| (items, results, used))
            };
            let workers: Vec<_> = (0..number).map_while(start).collect();
            let number = workers.len();
            let (mut sent, mut received) = (0, 0);
            // A thread ends early only if it panics. Then the scope panics too, with its message.
            let mut receive = |sent: usize, waiting: usize| {
                while sent - received > waiting {
                    let (_, results, used) = &workers[received % number];
                    received += 1;
                    let mut result = results.recv().ok();
                    each(&mut result)?;
                    let _ = used.send(result);
                }
                Ok(())
            };
            if number == 0 {
                return produce(&mut |item| each(&mut Some(work(item))));
            }
            produce(&mut |item| {
                let _ = workers[sent % number].0.send(item);
                sent += 1;
                // A thread has at most one item in progress and one waiting.
                receive(sent, number)
            })?;
            receive(sent, 0)
        })
    }

    #[cfg(test)]
    mod tests {
        use super::in_order;

        #[test]
        fn results_are_taken_in_the_order_of_the_items() {
            let (mut taken, items) = (Vec::new(), 0..1_000_u32);
            let each = |result: &mut Option<u32>| {
                taken.extend(*result);
                Ok::<_, ()>(())
            };
            let produce =
                |pass: &mut dyn FnMut(u32) -> Result<(), ()>| items.clone().try_for_each(pass);
            in_order(|item: u32| 2 * item, each, produce).unwrap();
            assert_eq!(taken, items.map(|item| 2 * item).collect::<Vec<_>>());
        }

        #[test]
        fn an_error_ends_the_work() {
            let mut taken = 0;
            let each = |item: &mut Option<u32>| {
                taken += 1;
                if *item == Some(10) { Err(10) } else { Ok(()) }
            };
            let result = in_order(|item| item, each, |pass| (0..1_000_000).try_for_each(pass));
            assert_eq!((result, taken), (Err(10), 11));
            let result = in_order(
                |item: u32| item,
                |_| Ok(()),
                |pass| pass(1).and(Err("unreadable")),
            );
            assert_eq!(result, Err("unreadable"));
        }
    }
}
