//! A view of the dataset that counts every term that an evaluation processes, so that an expensive
//! query can be stopped.
//!
//! # Why the engine's own cancellation is not enough
//!
//! `spareval` 0.2.9 checks its `CancellationToken` only where an evaluation reads quads from the
//! dataset (`EvalDataset::internal_quads_for_pattern`). Joins, sorts, groups and path closures run
//! on terms that were read before: a product of two patterns reads each once and can then multiply
//! for hours without a check. The upstream report is
//! [oxigraph#1871](https://github.com/oxigraph/oxigraph/issues/1871). Once the evaluator checks its
//! token there too, this module can be replaced by a token and a limit on memory.
//!
//! Whatever those operators compute, they clone, compare or hash terms, and the term type is ours.
//! So [`MeteredTerm`] counts in `Clone`, `PartialEq` and `Hash`. These cannot return an error; at a
//! limit they unwind to [`metered`] with [`panic::resume_unwind`], which does not call the panic
//! hook.
//!
//! # Why unwinding is sound
//!
//! - Memory safety: `spareval` and the crates of its algebra (`spargebra`, `sparopt`, `oxrdf`)
//!   contain no `unsafe` code. Its hash maps are those of the standard library, which stay valid,
//!   though possibly incomplete, if `Hash` or `Eq` panics. So every value on the evaluation's stack
//!   can be dropped.
//! - No double panic: a term that is processed by a destructor during the unwinding does not unwind
//!   again (`thread::panicking`).
//! - No broken state is observed: unwinding drops the iterators and tables of this evaluation, and
//!   nothing of it is reused. The dataset is borrowed immutably and has no interior mutability, so
//!   other evaluations can use it concurrently and afterwards.
//!   [`AssertUnwindSafe`](panic::AssertUnwindSafe) relies on this.
//!
//! In a program that is compiled with `panic = "abort"`, limits are not enforced by this module.
//! There the row fails at its timeout, and the evaluation continues on its detached thread.

use std::cell::Cell;
use std::convert::Infallible;
use std::hash::{Hash, Hasher};
use std::panic;
use std::time::{Duration, Instant};

use oxigraph::model::{Dataset, Literal, Term};
use spareval::{InternalQuad, QueryableDataset};

/// The maximum length of a string that a query computes, in bytes.
pub(super) const MAX_STRING_BYTES: usize = 65_536;

/// The maximum number of terms that an evaluation processes. It bounds memory too, since every
/// stored term was processed.
pub(super) const MAX_TERMS: u64 = 50_000_000;

/// The number of terms between two checks of the clock.
const CLOCK_INTERVAL: u64 = 1024;

/// The limit that stopped an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exceeded {
    Timeout,
    Terms,
    StringLength,
}

thread_local! {
    /// The meter of the evaluation that runs on this thread.
    static METER: Cell<Option<Meter>> = const { Cell::new(None) };
}

#[derive(Clone, Copy)]
struct Meter {
    /// `None` if the timeout exceeds what the clock can represent.
    deadline: Option<Instant>,
    terms: u64,
    next_clock_check: u64,
}

/// Runs an evaluation, and stops it at a limit.
pub(super) fn metered<T>(timeout: Duration, run: impl FnOnce() -> T) -> Result<T, Exceeded> {
    let deadline = Instant::now().checked_add(timeout);
    METER.set(Some(Meter { deadline, terms: 0, next_clock_check: 0 }));
    let result = panic::catch_unwind(panic::AssertUnwindSafe(run));
    METER.set(None);
    result.map_err(|payload| match payload.downcast::<Exceeded>() {
        Ok(exceeded) => *exceeded,
        Err(other) => panic::resume_unwind(other),
    })
}

/// Counts terms, and unwinds to [`metered`] at a limit.
fn charge(terms: u64) {
    let Some(mut meter) = METER.get() else { return };
    meter.terms += terms;
    let exceeded = if meter.terms > MAX_TERMS {
        Some(Exceeded::Terms)
    } else if meter.terms < meter.next_clock_check {
        None
    } else {
        meter.next_clock_check = meter.terms + CLOCK_INTERVAL;
        meter.deadline.filter(|deadline| Instant::now() >= *deadline).map(|_| Exceeded::Timeout)
    };
    METER.set(Some(meter));
    if let Some(exceeded) = exceeded {
        stop(exceeded);
    }
}

fn stop(exceeded: Exceeded) {
    if cfg!(panic = "unwind") && !std::thread::panicking() {
        panic::resume_unwind(Box::new(exceeded));
    }
}

/// The charge for a term that is created. Strings are charged in proportion to their length, since
/// copies of them take memory.
fn creation_charge(term: &Term) -> u64 {
    let length = match term {
        Term::Literal(literal) => Literal::value(literal).len(),
        _ => 0,
    };
    if length > MAX_STRING_BYTES {
        stop(Exceeded::StringLength);
    }
    1 + length as u64 / 64
}

/// A dataset whose terms are counted.
pub(super) struct MeteredDataset<'a>(pub(super) &'a Dataset);

type PlainTerm<'a> = <&'a Dataset as QueryableDataset<'a>>::InternalTerm;

/// A term of a [`MeteredDataset`].
pub(super) struct MeteredTerm<'a>(PlainTerm<'a>);

impl Clone for MeteredTerm<'_> {
    fn clone(&self) -> Self {
        charge(1);
        Self(self.0.clone())
    }
}

impl PartialEq for MeteredTerm<'_> {
    fn eq(&self, other: &Self) -> bool {
        charge(1);
        self.0 == other.0
    }
}

impl Eq for MeteredTerm<'_> {}

impl Hash for MeteredTerm<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        charge(1);
        self.0.hash(state);
    }
}

impl<'a> QueryableDataset<'a> for MeteredDataset<'a> {
    type InternalTerm = MeteredTerm<'a>;
    type Error = Infallible;

    fn internal_quads_for_pattern(
        &self,
        subject: Option<&MeteredTerm<'a>>,
        predicate: Option<&MeteredTerm<'a>>,
        object: Option<&MeteredTerm<'a>>,
        graph_name: Option<Option<&MeteredTerm<'a>>>,
    ) -> impl Iterator<Item = Result<InternalQuad<MeteredTerm<'a>>, Infallible>> + use<'a> {
        let plain = |term: Option<&MeteredTerm<'a>>| term.map(|term| term.0.clone());
        let (subject, predicate, object) = (plain(subject), plain(predicate), plain(object));
        let graph_name = graph_name.map(plain);
        charge(1);
        self.0
            .internal_quads_for_pattern(
                subject.as_ref(),
                predicate.as_ref(),
                object.as_ref(),
                graph_name.as_ref().map(Option::as_ref),
            )
            .map(|quad| {
                charge(1);
                let InternalQuad { subject, predicate, object, graph_name } = quad?;
                Ok(InternalQuad {
                    subject: MeteredTerm(subject),
                    predicate: MeteredTerm(predicate),
                    object: MeteredTerm(object),
                    graph_name: graph_name.map(MeteredTerm),
                })
            })
    }

    fn internalize_term(&self, term: Term) -> Result<MeteredTerm<'a>, Infallible> {
        charge(creation_charge(&term));
        self.0.internalize_term(term).map(MeteredTerm)
    }

    fn externalize_term(&self, term: MeteredTerm<'a>) -> Result<Term, Infallible> {
        let term = self.0.externalize_term(term.0)?;
        charge(1 + creation_charge(&term));
        Ok(term)
    }
}
