//! Composites whose components all are evaluated and return numbers only: the usual case.
//!
//! The numbers are collected on the stack. A list of results is allocated only if it is read, or if a component returns
//! anything else; `run.rs` then goes on with it.

use std::cell::Cell;
use std::mem;

use super::run::{Row, Run};
use super::tree::Node;
use crate::metric::Metric;
use crate::metric::answer::Answer;
use crate::metric::call::MetricCall;
use crate::metric::shared_answer;
use crate::panic;
use crate::score::Scored;
use crate::score::component_results::{ComponentResult, Number};
use crate::score::row_answer::RowAnswer;

/// The number of components whose scores are collected on the stack.
pub(super) const FEW: usize = 8;

/// A result that is not a number.
enum Other<'a> {
    Answer(Answer<'a>),
    /// A panic with this message.
    Panic(String),
}

/// Evaluates a composite without gates, of at most [`FEW`] components.
#[inline]
pub(super) fn answer<'a, G: Sync, P: Sync>(
    run: Run<'a>,
    leaves: &[&'a dyn Metric<G, P>],
    call: MetricCall<'a, G, P>,
) -> Answer<'a> {
    let mut numbers = [Number::default(); FEW];
    let (numbers, other) = evaluate(&run, leaves, call, &mut numbers);
    if let Some(other) = other {
        return go_on(run, leaves, call, numbers, other);
    }
    if !call.is_explained()
        && let Node::Weighted(weighted) = &run.tree.node
        && let Some(value) = weighted.sum_of_numbers(numbers)
    {
        let cost = numbers
            .iter()
            .fold(0, |cost: u64, it| cost.saturating_add(it.cost_msats));
        return Scored::of_components(value, (cost, 1.0), None, run.name, run.spec).into();
    }
    let results = numbers
        .iter()
        .map(|number| ComponentResult::of_number(*number))
        .collect();
    Row::new(run, results, call.is_explained()).finish().into()
}

/// Evaluates the components up to the first one that is more than a number. Returns the numbers before it, and its
/// answer.
#[inline]
fn evaluate<'a, 'n, G: Sync, P: Sync>(
    run: &Run<'a>,
    leaves: &[&'a dyn Metric<G, P>],
    call: MetricCall<'a, G, P>,
    numbers: &'n mut [Number; FEW],
) -> (&'n [Number], Option<Other<'a>>) {
    let count = Cell::new(0);
    let evaluated = panic::catch(false, || {
        for (index, (&leaf, number)) in leaves.iter().zip(&mut *numbers).enumerate() {
            count.set(index);
            let answer = match call.memo {
                None => leaf.answer(call),
                Some(_) => {
                    shared_answer::answer(leaf, run.keys.get(index).and_then(Option::as_ref), call)
                }
            };
            match answer {
                // Read in place, since moving it takes longer. It has nothing to drop.
                Answer::Ready(Ok(RowAnswer::Scored(ref scored))) if scored.is_plain() => {
                    *number = Number::of(scored);
                    mem::forget(answer);
                }
                other => return Some(Other::Answer(other)),
            }
        }
        count.set(leaves.len());
        None
    });
    // Only a component can panic there.
    let other = evaluated.unwrap_or_else(|panic| Some(Other::Panic(panic.message)));
    (&numbers[..count.get()], other)
}

/// Evaluates the rest of a composite after a component that returned more than a number.
#[cold]
fn go_on<'a, G: Sync, P: Sync>(
    run: Run<'a>,
    leaves: &[&'a dyn Metric<G, P>],
    call: MetricCall<'a, G, P>,
    numbers: &[Number],
    other: Other<'a>,
) -> Answer<'a> {
    let known = numbers
        .iter()
        .map(|number| ComponentResult::of_number(*number));
    let open = std::iter::repeat_with(ComponentResult::default);
    let results = known.chain(open).take(leaves.len()).collect();
    let index = numbers.len();
    let mut row = Row::new(run, results, call.is_explained());
    let mut pending = Vec::new();
    match other {
        Other::Answer(answer) => row.store(answer, index, &mut pending),
        Other::Panic(message) => row.store_panic(index, message),
    }
    row.answer(leaves, call, pending)
}
