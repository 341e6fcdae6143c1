//! A graph whose every term that an evaluation touches is counted, so that one that explodes is stopped.
//!
//! Oxigraph looks at its cancellation token only where it reads the graph. A product of two patterns reads it once and
//! then multiplies for hours; but whatever it makes, it copies, compares or hashes terms.

use std::cell::Cell;
use std::convert::Infallible;
use std::hash::{Hash, Hasher};
use std::panic;
use std::time::{Duration, Instant};

use oxigraph::model::{Dataset, Literal, Term};
use spareval::{InternalQuad, QueryableDataset};

/// The longest text that a query may make, in bytes.
pub(super) const MAX_TEXT_BYTES: usize = 65_536;

/// How many terms an evaluation may touch; what it holds in memory, it has touched.
pub(super) const MAX_TOUCHED: u64 = 50_000_000;

/// How many terms are touched between two looks at the clock.
const BETWEEN_LOOKS: u64 = 1024;

/// Why an evaluation was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    Late,
    TooMuch,
    LongText,
}

thread_local! {
    /// The watch over the evaluation that runs on this thread.
    static WATCH: Cell<Option<Watch>> = const { Cell::new(None) };
}

#[derive(Clone, Copy)]
struct Watch {
    until: Instant,
    touched: u64,
    next_look: u64,
}

/// Runs an evaluation, and ends it when it takes too long or too much.
pub(super) fn watched<T>(limit: Duration, run: impl FnOnce() -> T) -> Result<T, Stopped> {
    WATCH.set(Some(Watch { until: Instant::now() + limit, touched: 0, next_look: 0 }));
    let ran = panic::catch_unwind(panic::AssertUnwindSafe(run));
    WATCH.set(None);
    ran.map_err(|payload| match payload.downcast::<Stopped>() {
        Ok(stopped) => *stopped,
        Err(other) => panic::resume_unwind(other),
    })
}

/// Counts; past a limit it unwinds to [`watched`], since most of what is counted cannot return an error. No panic hook sees
/// that. A program that aborts where others unwind goes without: there the row ends late, and its evaluation later.
fn touch(terms: u64) {
    let Some(mut watch) = WATCH.get() else { return };
    watch.touched += terms;
    let stopped = match () {
        () if watch.touched > MAX_TOUCHED => Some(Stopped::TooMuch),
        () if watch.touched < watch.next_look => None,
        () => {
            watch.next_look = watch.touched + BETWEEN_LOOKS;
            (Instant::now() >= watch.until).then_some(Stopped::Late)
        }
    };
    WATCH.set(Some(watch));
    if let Some(stopped) = stopped {
        stop(stopped);
    }
}

fn stop(stopped: Stopped) {
    if cfg!(panic = "unwind") && !std::thread::panicking() {
        panic::resume_unwind(Box::new(stopped));
    }
}

/// A text weighs what it is long, as copies of it take memory.
fn weight(term: &Term) -> u64 {
    let length = match term {
        Term::Literal(literal) => Literal::value(literal).len(),
        _ => 0,
    };
    if length > MAX_TEXT_BYTES {
        stop(Stopped::LongText);
    }
    1 + length as u64 / 64
}

/// The graph, for one evaluation.
pub(super) struct Watched<'a>(pub(super) &'a Dataset);

type Bare<'a> = <&'a Dataset as QueryableDataset<'a>>::InternalTerm;

/// A term of it.
pub(super) struct WatchedTerm<'a>(Bare<'a>);

impl Clone for WatchedTerm<'_> {
    fn clone(&self) -> Self {
        touch(1);
        Self(self.0.clone())
    }
}

impl PartialEq for WatchedTerm<'_> {
    fn eq(&self, other: &Self) -> bool {
        touch(1);
        self.0 == other.0
    }
}

impl Eq for WatchedTerm<'_> {}

impl Hash for WatchedTerm<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        touch(1);
        self.0.hash(state);
    }
}

impl<'a> QueryableDataset<'a> for Watched<'a> {
    type InternalTerm = WatchedTerm<'a>;
    type Error = Infallible;

    fn internal_quads_for_pattern(
        &self,
        subject: Option<&WatchedTerm<'a>>,
        predicate: Option<&WatchedTerm<'a>>,
        object: Option<&WatchedTerm<'a>>,
        graph_name: Option<Option<&WatchedTerm<'a>>>,
    ) -> impl Iterator<Item = Result<InternalQuad<WatchedTerm<'a>>, Infallible>> + use<'a> {
        let bare = |term: Option<&WatchedTerm<'a>>| term.map(|term| term.0.clone());
        let (subject, predicate, object) = (bare(subject), bare(predicate), bare(object));
        let graph_name = graph_name.map(bare);
        touch(1);
        self.0
            .internal_quads_for_pattern(
                subject.as_ref(),
                predicate.as_ref(),
                object.as_ref(),
                graph_name.as_ref().map(Option::as_ref),
            )
            .map(|quad| {
                touch(1);
                let InternalQuad { subject, predicate, object, graph_name } = quad?;
                Ok(InternalQuad {
                    subject: WatchedTerm(subject),
                    predicate: WatchedTerm(predicate),
                    object: WatchedTerm(object),
                    graph_name: graph_name.map(WatchedTerm),
                })
            })
    }

    fn internalize_term(&self, term: Term) -> Result<WatchedTerm<'a>, Infallible> {
        touch(weight(&term));
        self.0.internalize_term(term).map(WatchedTerm)
    }

    fn externalize_term(&self, term: WatchedTerm<'a>) -> Result<Term, Infallible> {
        let term = self.0.externalize_term(term.0)?;
        touch(1 + weight(&term));
        Ok(term)
    }
}
