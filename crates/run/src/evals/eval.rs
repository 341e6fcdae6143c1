//! The builder that the expansion of `#[eval]` calls.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::condition::Condition;
use super::environment::Environment;
use crate::core::metric::Metric;
use crate::core::rows::dynamic::{Example, Prediction};
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
    pub(super) environment: Environment,
    pub(super) source: Source,
    pub(super) evaluate: EvaluateBuilder<G, P>,
    pub(super) gates: Vec<Gate>,
    pub(super) settings: Settings,
    /// Adds a journal, if there is one, which requires that predictions can be read again.
    pub(super) journal: Option<AddJournal<G, P>>,
}

type AddJournal<G, P> = fn(EvaluateBuilder<G, P>, PathBuf) -> EvaluateBuilder<G, P>;

/// The settings apart from those of the evaluation.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    /// Why the eval cannot run.
    pub(super) mistake: Option<String>,
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
    pub(super) is_current_thread: bool,
}

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> Eval<G, P> {
    /// Creates the eval of a function.
    #[must_use]
    pub fn new(source: Source) -> Self {
        let evaluate = EvaluateBuilder::new();
        let (settings, environment) = (Settings::default(), Environment::of_process(&source));
        Self { environment, source, evaluate, gates: Vec::new(), settings, journal: None }
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
        self.journal = Some(EvaluateBuilder::journal);
        self
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
    pub fn devset_file(mut self, path: &'static str) -> Self {
        if let Some(file) = self.devset_path(path) {
            self.evaluate = self.evaluate.devset_file(file);
        }
        self
    }

    /// Sets which fields of the rows set before the program receives. A row may lack the optional ones.
    #[must_use]
    pub fn inputs(self, required: &[&'static str], optional: &[&'static str]) -> Self {
        let evaluate = match optional {
            [] => self.evaluate.inputs(required.iter().copied()),
            _ => self.evaluate.inputs_of_rows(required, optional),
        };
        Self { evaluate, ..self }
    }
}

impl<G: DeserializeOwned + Send + Sync + 'static, P: Send + Sync + 'static> Eval<G, P> {
    /// Reads rows of a type of the user from a file, relative to the package.
    #[must_use]
    pub fn typed_devset_file(mut self, path: &'static str) -> Self {
        if let Some(file) = self.devset_path(path) {
            self.evaluate = self.evaluate.typed_devset_file(&file);
        }
        self
    }
}

impl<G, P> Eval<G, P> {
    /// Returns the path of the devset, or notes why it cannot be read.
    fn devset_path(&mut self, path: &str) -> Option<PathBuf> {
        let found = self.source.in_package("devset", path).and_then(|file| match file.is_file() {
            true => Ok(file),
            false => Err(format!(
                "there is no devset `{path}`: expected the file {}, since the path is relative to the package; write it there, or correct `devset`",
                file.display()
            )),
        });
        found.map_err(|error| self.settings.mistake = Some(error)).ok()
    }
}
