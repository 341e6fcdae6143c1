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
//! ([`MeteredTerm`]). These bytes include its slot in a tuple, its own string if the string was computed, and its share
//! of the tuple and of the table that stores the tuple. A tuple has a slot for every variable in the query, even for
//! variables without a value; [`Limits::slots`] accounts for them. The engine stores the values of aggregates and the
//! triples of a `CONSTRUCT` without our terms. In such queries, each term that leaves the dataset stays counted, and
//! [`Limits::weight_of_stored`] accounts for constants. [`limits`](super::analysis::limits) rewrites queries so that no
//! operator works on tuples without any term.
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

use std::cell::Cell;
use std::convert::Infallible;
use std::hash::{Hash, Hasher};
use std::panic;
use std::time::{Duration, Instant};

use oxigraph::model::{Dataset, Term};
use spareval::{InternalQuad, QueryableDataset};

/// The maximum length of a string that a query computes, in bytes.
pub(super) const MAX_STRING_BYTES: usize = 65_536;

/// The maximum amount of memory that an evaluation can store at a time, in MiB.
const MAX_MEBIBYTES: usize = 256;

/// The maximum number of terms that an evaluation can process.
const MAX_TERMS: u64 = 50_000_000;

/// The number of terms between two checks of the clock. The number is small because an expression can compute for
/// several milliseconds per row.
const CLOCK_INTERVAL: u64 = 64;

/// The bytes that a stored tuple takes besides its slots, per term: the tuple's allocation, and its entry in a table or
/// list with free capacity. Measured with `ORDER BY`, `DISTINCT` and joins.
const SHARE_OF_TUPLE: usize = 64;

/// Describes the limit that an evaluation has reached.
struct Exceeded(String);

/// Returns the message for an evaluation that exceeds its timeout.
pub(super) fn timed_out(timeout: Duration) -> String {
    format!("timed out after {} s", timeout.as_secs_f64())
}

/// An evaluation's limits that depend on the query or the caller.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) timeout: Duration,
    /// The number of slots in a tuple: the number of variables in the query, plus anything else that grows with each
    /// tuple.
    pub(super) slots: usize,
    /// The factor by which terms count in a query with aggregates or a `CONSTRUCT`, whose values the engine stores. One
    /// of the query's constants may be stored with each term.
    pub(super) weight_of_stored: Option<u64>,
}

/// Counts what an evaluation processes and stores.
pub(super) struct Meter {
    limits: Limits,
    started: Instant,
    /// The number of bytes that a term takes besides its own string.
    bytes_of_term: usize,
    terms: Cell<u64>,
    next_clock_check: Cell<u64>,
    bytes: Cell<usize>,
}

impl Meter {
    pub(super) fn new(limits: Limits) -> Self {
        // A tuple is charged in full if at least every fourth slot has a value.
        let slots = limits.slots.max(4);
        let bytes_of_slots = slots.saturating_mul(size_of::<MeteredTerm<'_>>()) / 4;
        Self {
            limits,
            started: Instant::now(),
            bytes_of_term: bytes_of_slots.saturating_add(SHARE_OF_TUPLE),
            terms: Cell::default(),
            next_clock_check: Cell::default(),
            bytes: Cell::default(),
        }
    }

    /// Counts terms, and unwinds to [`metered`] when a limit is reached.
    fn charge(&self, terms: u64) {
        let weight = self.limits.weight_of_stored.unwrap_or(1);
        let terms = self.terms.get() + terms.saturating_mul(weight);
        self.terms.set(terms);
        if terms > MAX_TERMS {
            stop(format!("stopped after processing {MAX_TERMS} terms"));
        }
        if terms >= self.next_clock_check.get() {
            self.next_clock_check.set(terms + CLOCK_INTERVAL);
            if self.started.elapsed() >= self.limits.timeout {
                stop(timed_out(self.limits.timeout));
            }
        }
    }

    /// Counts bytes that are stored, and unwinds when the limit is reached.
    fn retain(&self, bytes: usize) {
        let total = self.bytes.get().saturating_add(bytes);
        self.bytes.set(total);
        if total > MAX_MEBIBYTES << 20 {
            stop(format!("stopped after storing {MAX_MEBIBYTES} MiB"));
        }
    }

    /// Counts a new term, and returns the length of its strings in bytes. Strings are charged in proportion to their
    /// length, because copying them takes time.
    fn create(&self, term: &Term) -> usize {
        let (text, suffix) = match term {
            Term::NamedNode(node) => (node.as_str(), ""),
            Term::BlankNode(node) => (node.as_str(), ""),
            Term::Literal(literal) => {
                let tag = literal.language();
                (literal.value(), tag.unwrap_or(literal.datatype().as_str()))
            }
            #[allow(unreachable_patterns, reason = "a feature of oxrdf adds a variant")]
            _ => return MAX_STRING_BYTES,
        };
        if text.len() > MAX_STRING_BYTES {
            stop(format!(
                "stopped at a string of more than {MAX_STRING_BYTES} bytes"
            ));
        }
        self.charge(1 + text.len() as u64 / 64);
        text.len() + suffix.len()
    }
}

/// Runs an evaluation, and stops it when it reaches a limit. The limit's message is the error.
pub(super) fn metered<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    let result = panic::catch_unwind(panic::AssertUnwindSafe(run));
    result.map_err(|payload| match payload.downcast::<Exceeded>() {
        Ok(exceeded) => exceeded.0,
        Err(other) => panic::resume_unwind(other),
    })
}

/// Unwinds to [`metered`].
fn stop(exceeded: String) {
    if cfg!(panic = "unwind") && !std::thread::panicking() {
        panic::resume_unwind(Box::new(Exceeded(exceeded)));
    }
}

/// A dataset whose terms are counted.
pub(super) struct MeteredDataset<'a> {
    pub(super) dataset: &'a Dataset,
    pub(super) meter: &'a Meter,
}

type PlainTerm<'a> = <&'a Dataset as QueryableDataset<'a>>::InternalTerm;

/// A term of a [`MeteredDataset`].
pub(super) struct MeteredTerm<'a> {
    plain: PlainTerm<'a>,
    /// The bytes that are counted until the term is dropped.
    bytes: usize,
    meter: &'a Meter,
}

impl<'a> MeteredTerm<'a> {
    /// Counts a term that owns a string of this length. The length is 0 for a term from the dataset.
    fn new(plain: PlainTerm<'a>, own_string: usize, meter: &'a Meter) -> Self {
        let bytes = meter.bytes_of_term.saturating_add(own_string);
        meter.retain(bytes);
        Self {
            plain,
            bytes,
            meter,
        }
    }
}

impl Clone for MeteredTerm<'_> {
    fn clone(&self) -> Self {
        self.meter.charge(1);
        self.meter.retain(self.bytes);
        let plain = self.plain.clone();
        Self { plain, ..*self }
    }
}

impl Drop for MeteredTerm<'_> {
    fn drop(&mut self) {
        let bytes = &self.meter.bytes;
        bytes.set(bytes.get().saturating_sub(self.bytes));
    }
}

impl PartialEq for MeteredTerm<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.meter.charge(1);
        self.plain == other.plain
    }
}

impl Eq for MeteredTerm<'_> {}

impl Hash for MeteredTerm<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.meter.charge(1);
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
        fn plain<'t, 'a>(term: Option<&'t MeteredTerm<'a>>) -> Option<&'t PlainTerm<'a>> {
            term.map(|term| &term.plain)
        }
        let meter = self.meter;
        meter.charge(1);
        let quads = self.dataset.internal_quads_for_pattern(
            plain(subject),
            plain(predicate),
            plain(object),
            graph_name.map(plain),
        );
        let metered = move |term| MeteredTerm::new(term, 0, meter);
        quads.map(move |quad| {
            meter.charge(1);
            let quad = quad?;
            Ok(InternalQuad {
                subject: metered(quad.subject),
                predicate: metered(quad.predicate),
                object: metered(quad.object),
                graph_name: quad.graph_name.map(metered),
            })
        })
    }

    fn internalize_term(&self, term: Term) -> Result<MeteredTerm<'a>, Infallible> {
        let own_string = self.meter.create(&term);
        let plain = self.dataset.internalize_term(term)?;
        Ok(MeteredTerm::new(plain, own_string, self.meter))
    }

    fn externalize_term(&self, term: MeteredTerm<'a>) -> Result<Term, Infallible> {
        let term = self.dataset.externalize_term(term.plain.clone())?;
        self.meter.charge(1);
        let own_string = self.meter.create(&term);
        if self.meter.limits.weight_of_stored.is_some() {
            self.meter.retain(own_string.saturating_add(SHARE_OF_TUPLE));
        }
        Ok(term)
    }
}
