//! A view of the dataset that stops expensive queries. It counts every term that an evaluation processes, and the bytes
//! of the terms that the evaluation stores.
//!
//! # Why the engine's own cancellation is not enough
//!
//! `spareval` 0.2.9 checks its `CancellationToken` only where an evaluation reads quads from the dataset
//! (`EvalDataset::internal_quads_for_pattern`). Joins, sorts, groups and path closures run on terms that were read
//! before. A product of two patterns, for example, reads each once and can then multiply for hours without a check. The
//! upstream report is [oxigraph#1871](https://github.com/oxigraph/oxigraph/issues/1871). Once the evaluator checks its
//! token there too, a token and a memory limit can replace this module.
//!
//! All those operators clone, compare or hash terms, and the term type is ours. So [`MeteredTerm`] counts in `Clone`,
//! `PartialEq` and `Hash`. These methods cannot return an error. When they reach a limit, they unwind to [`metered`]
//! with [`panic::resume_unwind`], which does not call the panic hook.
//!
//! # Memory
//!
//! Each term adds its bytes to a total when it is created or cloned, and subtracts them when it is dropped
//! ([`MeteredTerm`]). These are the bytes of its slot in a tuple, of its own string if the string was computed, and of its
//! share of the tuple and of the table that stores the tuple. A tuple has a slot for every variable of the query, even
//! for variables without a value; [`Limits::slots`] accounts for them. The engine stores the values of aggregates and
//! the triples of a `CONSTRUCT` without our terms. In such queries, each term that leaves the dataset stays counted,
//! and [`Limits::weight_of_stored`] accounts for constants. The module [`instrument`](super::instrument) rewrites
//! queries so that no operator works on tuples without any term.
//!
//! # Why unwinding is sound
//!
//! - Memory safety: `spareval` and the crates of its algebra (`spargebra`, `sparopt`, `oxrdf`) contain no `unsafe`
//!   code. Their hash maps are those of the standard library, which stay valid, though possibly incomplete, if `Hash`
//!   or `Eq` panics. So every value on the evaluation's stack can be dropped.
//! - No double panic: a term processed by a destructor during unwinding does not unwind again (`thread::panicking`).
//! - No broken state is observed: unwinding drops the iterators and tables of this evaluation, and nothing reuses
//!   them. The dataset is borrowed immutably and has no interior mutability, so other evaluations can use it
//!   concurrently and afterwards. [`AssertUnwindSafe`](panic::AssertUnwindSafe) relies on this.
//!
//! In a program compiled with `panic = "abort"`, this module does not enforce limits. A row whose query is too
//! expensive then fails at its timeout, and the evaluation continues on its detached thread.

use std::cell::RefCell;
use std::convert::Infallible;
use std::hash::{Hash, Hasher};
use std::panic;
use std::time::{Duration, Instant};

use oxigraph::model::{Dataset, Literal, Term};
use spareval::{InternalQuad, QueryableDataset};

/// The maximum length of a string that a query computes, in bytes.
pub(super) const MAX_STRING_BYTES: usize = 65_536;

/// The maximum memory that an evaluation stores at a time, in MiB.
const MAX_MEBIBYTES: usize = 256;

/// The maximum number of terms that an evaluation processes.
const MAX_TERMS: u64 = 50_000_000;

/// The number of terms between two checks of the clock. It is small because an expression may compute for several
/// milliseconds per row.
const CLOCK_INTERVAL: u64 = 64;

/// The bytes that a stored tuple takes besides its slots, per term: the allocation of the tuple, and
/// its entry in a table or list with free capacity. Measured with `ORDER BY`, `DISTINCT` and joins.
const SHARE_OF_TUPLE: usize = 64;

/// The limit that an evaluation has reached, in words.
struct Exceeded(String);

/// Returns the message for an evaluation that takes longer than its timeout.
pub(super) fn timed_out(timeout: Duration) -> String {
    format!("timed out after {} s", timeout.as_secs_f64())
}

/// The limits on an evaluation that depend on the query or the caller.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) timeout: Duration,
    /// The slots of a tuple: the number of variables in the query, and of anything else that grows with each tuple.
    pub(super) slots: usize,
    /// For a query with aggregates or a `CONSTRUCT`, whose values the engine stores: how much more a term counts,
    /// because a constant of the query may be stored with it.
    pub(super) weight_of_stored: Option<u64>,
}

thread_local! {
    /// The meter of the evaluation on this thread.
    static METER: RefCell<Meter> = RefCell::new(Meter::new(Limits {
        timeout: Duration::MAX,
        slots: 0,
        weight_of_stored: None,
    }));
}

struct Meter {
    limits: Limits,
    started: Instant,
    terms: u64,
    next_clock_check: u64,
    bytes: usize,
    bytes_of_term: usize,
}

impl Meter {
    fn new(limits: Limits) -> Self {
        // A tuple with a value in at least every fourth slot is charged in full.
        let slots = limits.slots.max(4);
        let bytes_of_slots = slots.saturating_mul(size_of::<MeteredTerm<'_>>()) / 4;
        Self {
            limits,
            started: Instant::now(),
            terms: 0,
            next_clock_check: 0,
            bytes: 0,
            bytes_of_term: bytes_of_slots.saturating_add(SHARE_OF_TUPLE),
        }
    }
}

/// Runs an evaluation and stops it at a limit, whose message is the error.
pub(super) fn metered<T>(limits: Limits, run: impl FnOnce() -> T) -> Result<T, String> {
    METER.set(Meter::new(limits));
    let result = panic::catch_unwind(panic::AssertUnwindSafe(run));
    result.map_err(|payload| match payload.downcast::<Exceeded>() {
        Ok(exceeded) => exceeded.0,
        Err(other) => panic::resume_unwind(other),
    })
}

/// Counts terms, and unwinds to [`metered`] at a limit.
fn charge(terms: u64) {
    let exceeded = METER.with_borrow_mut(|meter| {
        meter.terms += terms.saturating_mul(meter.limits.weight_of_stored.unwrap_or(1));
        if meter.terms > MAX_TERMS {
            return Some(format!("stopped after processing {MAX_TERMS} terms"));
        }
        if meter.terms < meter.next_clock_check {
            return None;
        }
        meter.next_clock_check = meter.terms + CLOCK_INTERVAL;
        let timeout = meter.limits.timeout;
        (meter.started.elapsed() >= timeout).then(|| timed_out(timeout))
    });
    exceeded.into_iter().for_each(stop);
}

/// Counts bytes that stay stored until the evaluation ends, and unwinds at the limit.
fn retain(bytes: usize) {
    let total = METER.with_borrow_mut(|meter| {
        meter.bytes = meter.bytes.saturating_add(bytes);
        meter.bytes
    });
    if total > MAX_MEBIBYTES << 20 {
        stop(format!("stopped after storing {MAX_MEBIBYTES} MiB"));
    }
}

/// Unwinds to [`metered`].
fn stop(exceeded: String) {
    if cfg!(panic = "unwind") && !std::thread::panicking() {
        panic::resume_unwind(Box::new(Exceeded(exceeded)));
    }
}

/// Returns the length of a term's strings, in bytes.
fn string_bytes(term: &Term) -> usize {
    match term {
        Term::NamedNode(node) => node.as_str().len(),
        Term::BlankNode(node) => node.as_str().len(),
        Term::Literal(literal) => {
            let tag = literal.language().map_or(0, str::len);
            Literal::value(literal).len() + literal.datatype().as_str().len().max(tag)
        }
        #[allow(unreachable_patterns, reason = "a feature of oxrdf adds a variant")]
        _ => MAX_STRING_BYTES,
    }
}

/// Returns the charge for creating a term. Strings are charged in proportion to their length, because copying them
/// takes time.
fn creation_charge(term: &Term) -> u64 {
    let Term::Literal(literal) = term else {
        return 1;
    };
    let length = Literal::value(literal).len();
    if length > MAX_STRING_BYTES {
        stop(format!(
            "stopped at a string of more than {MAX_STRING_BYTES} bytes"
        ));
    }
    1 + length as u64 / 64
}

/// A dataset whose terms are counted.
pub(super) struct MeteredDataset<'a>(pub(super) &'a Dataset);

type PlainTerm<'a> = <&'a Dataset as QueryableDataset<'a>>::InternalTerm;

/// A term of a [`MeteredDataset`].
pub(super) struct MeteredTerm<'a> {
    plain: PlainTerm<'a>,
    /// The bytes that are counted until the term is dropped.
    bytes: usize,
}

impl<'a> MeteredTerm<'a> {
    /// Counts a term that owns a string of this length.
    fn new(plain: PlainTerm<'a>, own_string: usize) -> Self {
        let bytes_of_term = METER.with_borrow(|meter| meter.bytes_of_term);
        let bytes = bytes_of_term.saturating_add(own_string);
        retain(bytes);
        Self { plain, bytes }
    }

    /// Counts a term of the dataset, whose strings are not copied.
    fn borrowed(plain: PlainTerm<'a>) -> Self {
        Self::new(plain, 0)
    }
}

impl Clone for MeteredTerm<'_> {
    fn clone(&self) -> Self {
        charge(1);
        retain(self.bytes);
        let (plain, bytes) = (self.plain.clone(), self.bytes);
        Self { plain, bytes }
    }
}

impl Drop for MeteredTerm<'_> {
    fn drop(&mut self) {
        METER.with_borrow_mut(|meter| meter.bytes = meter.bytes.saturating_sub(self.bytes));
    }
}

impl PartialEq for MeteredTerm<'_> {
    fn eq(&self, other: &Self) -> bool {
        charge(1);
        self.plain == other.plain
    }
}

impl Eq for MeteredTerm<'_> {}

impl Hash for MeteredTerm<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        charge(1);
        self.plain.hash(state);
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
        let plain = |term: Option<&MeteredTerm<'a>>| term.map(|term| term.plain.clone());
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
                let quad = quad?;
                Ok(InternalQuad {
                    subject: MeteredTerm::borrowed(quad.subject),
                    predicate: MeteredTerm::borrowed(quad.predicate),
                    object: MeteredTerm::borrowed(quad.object),
                    graph_name: quad.graph_name.map(MeteredTerm::borrowed),
                })
            })
    }

    fn internalize_term(&self, term: Term) -> Result<MeteredTerm<'a>, Infallible> {
        charge(creation_charge(&term));
        let own_string = string_bytes(&term);
        Ok(MeteredTerm::new(self.0.internalize_term(term)?, own_string))
    }

    fn externalize_term(&self, term: MeteredTerm<'a>) -> Result<Term, Infallible> {
        let term = self.0.externalize_term(term.plain.clone())?;
        charge(1 + creation_charge(&term));
        if METER.with_borrow(|meter| meter.limits.weight_of_stored.is_some()) {
            retain(string_bytes(&term).saturating_add(SHARE_OF_TUPLE));
        }
        Ok(term)
    }
}
