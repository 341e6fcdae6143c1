//! Asking a store a query, within bounds of time and results.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use oxigraph::model::Dataset;
use oxigraph::sparql::{QueryEvaluationError, QueryResults, SparqlEvaluator};
use spargebra::Query;

use super::query::{QueryError, check_size, read};
use super::stack::STACK_BYTES;
use super::store::{Source, SparqlStore};
use super::survey::refusal;
use super::watched::{MAX_TEXT_BYTES, MAX_TOUCHED, Stopped, Watched, watched};

/// How long after its time an evaluation that cannot be stopped (planning, a program that aborts on panics) is waited for.
const GRACE: Duration = Duration::from_secs(5);

/// How much of an answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// How long it may take.
    pub time: Duration,
    /// How many solutions or triples are read, after which the rest is left.
    pub results: usize,
}

/// What a store answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// To a `SELECT`: how many solutions were read.
    Solutions(usize),
    /// To an `ASK`.
    Boolean(bool),
    /// To a `CONSTRUCT` or a `DESCRIBE`: how many triples were read.
    Triples(usize),
}

impl Answer {
    /// Whether there is something in it. `true` and `false` both are something, and so is a count of 0, which is one solution.
    #[must_use]
    pub const fn has_results(self) -> bool {
        match self {
            Self::Solutions(read) | Self::Triples(read) => read > 0,
            Self::Boolean(_) => true,
        }
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The text is no query, or was not looked at.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The query must not run.
    #[error("{0}")]
    Refused(String),
    /// The query ran into an error, or into a bound.
    #[error("{0}")]
    Failed(String),
    /// What should have answered did not.
    #[error("{0}")]
    Broken(String),
}

impl AskError {
    /// Whether it is the query's fault; otherwise nothing can be said of the query.
    #[must_use]
    pub const fn is_the_querys(&self) -> bool {
        match self {
            Self::Query(error) => error.is_the_querys(),
            Self::Refused(_) | Self::Failed(_) => true,
            Self::Broken(_) => false,
        }
    }
}

impl SparqlStore {
    /// Asks a query that nobody vouches for.
    ///
    /// It cannot change the data, nor reach the network (`SERVICE`), nor take more time, memory or results than `bounds` and the
    /// limits of this module give it: a query that does is an error of its own.
    ///
    /// # Errors
    /// [`AskError`].
    ///
    /// ```
    /// use std::time::Duration;
    /// use dsrs_metrics::sparql::{Answer, Bounds, SparqlStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let store = SparqlStore::from_turtle("<a:louvre> <a:city> 'Paris' .")?;
    /// let bounds = Bounds { time: Duration::from_secs(10), results: 10_000 };
    /// assert_eq!(store.ask("SELECT ?c { ?m <a:city> ?c }", bounds).await?, Answer::Solutions(1));
    /// assert_eq!(store.ask("ASK { ?m <a:river> ?r }", bounds).await?, Answer::Boolean(false));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn ask(&self, query: &str, bounds: Bounds) -> Result<Answer, AskError> {
        check_size(query)?;
        match &self.0 {
            Source::Loaded(dataset) => {
                let (dataset, query) = (Arc::clone(dataset), query.to_owned());
                elsewhere(bounds.time, move || evaluate(&dataset, &query, bounds)).await
            }
            #[cfg(feature = "sparql-http")]
            Source::Endpoint(endpoint) => endpoint.ask(query, bounds).await,
        }
    }
}

/// Runs on a thread with a deep stack, which is left behind if it does not end in time.
async fn elsewhere(
    time: Duration,
    run: impl FnOnce() -> Result<Answer, AskError> + Send + 'static,
) -> Result<Answer, AskError> {
    let (send, receive) = tokio::sync::oneshot::channel();
    let started = thread::Builder::new()
        .name("sparql".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || drop(send.send(run())));
    started.map_err(QueryError::NoThread)?;
    match tokio::time::timeout(time + GRACE, receive).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) => Err(AskError::Broken("the SPARQL engine panicked".to_owned())),
        Err(_) => Err(AskError::Broken("the SPARQL engine did not stop in time".to_owned())),
    }
}

fn evaluate(dataset: &Dataset, text: &str, bounds: Bounds) -> Result<Answer, AskError> {
    let query = read(text)?;
    if let Some(reason) = refusal(&query) {
        return Err(AskError::Refused(reason));
    }
    match watched(bounds.time, || run(dataset, query, bounds.results)) {
        Ok(answer) => answer.map_err(|error| AskError::Failed(error.to_string())),
        Err(stopped) => Err(AskError::Failed(describe(stopped, bounds.time))),
    }
}

fn run(dataset: &Dataset, query: Query, results: usize) -> Result<Answer, QueryEvaluationError> {
    let evaluator = SparqlEvaluator::new();
    match evaluator.for_query(query).on_queryable_dataset(Watched(dataset)).execute()? {
        QueryResults::Boolean(value) => Ok(Answer::Boolean(value)),
        QueryResults::Solutions(solutions) => counted(solutions, results).map(Answer::Solutions),
        QueryResults::Graph(triples) => counted(triples, results).map(Answer::Triples),
    }
}

fn counted<T, E>(items: impl Iterator<Item = Result<T, E>>, most: usize) -> Result<usize, E> {
    items.take(most).try_fold(0, |read, item| item.map(|_| read + 1))
}

fn describe(stopped: Stopped, time: Duration) -> String {
    match stopped {
        Stopped::Late => format!("stopped after {} s", time.as_secs_f64()),
        Stopped::TooMuch => format!("stopped after {MAX_TOUCHED} terms"),
        Stopped::LongText => format!("stopped at a text of more than {MAX_TEXT_BYTES} bytes"),
    }
}
