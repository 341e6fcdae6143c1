//! The builder that the expansion of `#[eval]` calls.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::baseline::{Rescore, rescore};
use super::condition::Condition;
use super::environment::Environment;
use crate::contract::__private::ReadValue;
use crate::contract::{
    Example, FieldError, FieldSpec, Metric, Prediction, ProgramOutput, ProgramReturn,
    ProgramRunError,
};
use crate::evaluate::{DevsetRows, EvaluateBuilder, Sample};
#[cfg(feature = "store")]
use crate::lm::Store;
use crate::messages::escape;

/// The time limit for a row if `timeout` is not set. A program that never answers fails its row.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// The location of an eval in the source code.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    /// The name of the function that defines the eval.
    pub name: &'static str,
    /// The path of the module that contains the function.
    pub module: &'static str,
    /// The path of the source file that contains the `#[eval]` attribute.
    ///
    /// This is the path that rustc reports.
    pub file: &'static str,
    /// The line number of the `#[eval]` attribute.
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

/// An evaluation with gates that runs as a test.
pub struct Eval<G = Example, P = Prediction> {
    pub(super) environment: Environment,
    pub(super) source: Source,
    pub(super) evaluate: EvaluateBuilder<G, P>,
    pub(super) gates: Vec<Gate>,
    pub(super) settings: Settings,
    /// Scores the predictions of the baseline again. This requires rows that can be deserialized.
    pub(super) rescore: Option<Rescore<G, P>>,
}

/// The settings besides those of the evaluation.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    /// Why the eval cannot run.
    pub(super) mistake: Option<String>,
    pub(super) budget_msats: Option<u64>,
    pub(super) limit: Option<usize>,
    pub(super) seed: u64,
    pub(super) group: Option<&'static str>,
    pub(super) baseline: Option<String>,
    pub(super) baseline_has_rows: bool,
    pub(super) is_strict: bool,
    pub(super) is_live: bool,
    pub(super) model: Option<&'static str>,
    pub(super) replay: Option<&'static str>,
    pub(super) is_current_thread: bool,
    /// Set if the eval ends once its gates are decided. The inner value is the maximum probability of a wrong verdict,
    /// or `None` for 0.
    pub(super) early: Option<Option<f64>>,
}

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> Eval<G, P> {
    /// Creates an eval for the given source location.
    pub fn new(source: Source) -> Self {
        let evaluate = EvaluateBuilder::new().timeout(DEFAULT_TIMEOUT);
        let (settings, environment) = (Settings::default(), Environment::of_process(&source));
        let (gates, rescore) = (Vec::new(), None);
        Self {
            environment,
            source,
            evaluate,
            gates,
            settings,
            rescore,
        }
    }

    setters! {
        /// Adds a metric to the eval.
        pub fn metric(metric: impl Metric<G, P> + 'static) in evaluate.metric;

        /// Sets how many times each row is evaluated.
        pub fn repeats(repeats: u32) in evaluate.repeats;

        /// Sets how many rows are evaluated concurrently.
        pub fn concurrency(rows: usize) in evaluate.concurrency;

        /// Sets the time limit for one row.
        pub fn timeout(each_row: Duration) in evaluate.timeout;
    }

    /// Adds a metric that judges only a sample of the rows, because it is too expensive for all of them.
    ///
    /// If `by` names another metric, the sample is stratified by that metric's scores.
    pub fn truth(
        mut self,
        metric: impl Metric<G, P> + 'static,
        rows: u64,
        by: Option<&'static str>,
    ) -> Self {
        let by = by.map(str::to_owned);
        let sample = Sample { rows, by };
        self.evaluate = self.evaluate.truth(metric, sample);
        self
    }

    /// Sets the rows to run the program on.
    pub fn devset<Kind>(mut self, rows: impl DevsetRows<G, Kind>) -> Self {
        self.evaluate = self.evaluate.devset(rows);
        self
    }

    /// Sets the score that a failed row contributes to a mean.
    pub fn failure_score(mut self, score: f64) -> Self {
        self.evaluate = self.evaluate.failures(|failures| failures.score(score));
        self
    }

    setters! {
        /// Sets the seed for sampling rows and for statistical tests.
        pub fn seed(seed: u64) => settings.seed = seed;

        /// Sets the maximum cost of language model calls, in millisatoshis.
        pub fn budget(msats: u64) => settings.budget_msats = Some(msats);

        /// Limits the eval to a sample of this many rows.
        pub fn limit(rows: usize) => settings.limit = Some(rows);

        /// Sets the field to group rows by.
        pub fn group(field: &'static str) => settings.group = Some(field);

        /// Includes gold rows and predictions in the baseline.
        pub fn baseline_rows() => settings.baseline_has_rows = true;

        /// Makes the test fail if a gate is undecided.
        pub fn strict() => settings.is_strict = true;

        /// Sets the file that holds recorded model calls.
        ///
        /// The path is relative to the package.
        pub fn replay(path: &'static str) => settings.replay = Some(path);

        /// Ends the eval once its gates are decided.
        ///
        /// `alpha` is the maximum probability of a wrong verdict. With `None`, the eval continues until no remaining
        /// row can change a verdict.
        pub fn early(alpha: Option<f64>) => settings.early = Some(alpha);

        /// Runs the eval on a single-threaded runtime.
        pub fn current_thread() => settings.is_current_thread = true;
    }

    /// Adds a gate to the eval.
    pub fn gate(mut self, text: &'static str, condition: Condition) -> Self {
        self.gates.push(Gate { text, condition });
        self
    }

    /// Sets the path of the baseline file.
    ///
    /// The path is relative to the package. The default is `evals/NAME.baseline.jsonl`.
    pub fn baseline(mut self, path: Option<&'static str>) -> Self {
        let default = || format!("evals/{}.baseline.jsonl", self.source.name);
        self.settings.baseline = Some(path.map_or_else(default, str::to_owned));
        self
    }

    /// Declares that the eval calls a language model.
    ///
    /// The name of the model is optional.
    pub fn live(mut self, model: Option<&'static str>) -> Self {
        self.settings.is_live = true;
        self.settings.model = model;
        self
    }

    /// Uses the user's store to keep results that cost money.
    ///
    /// If a run is killed, the next run resumes it. Later runs pay only for what changed.
    pub fn store(mut self) -> Self
    where
        G: Serialize,
        P: Serialize + DeserializeOwned,
    {
        #[cfg(feature = "store")]
        match Store::chosen_dir() {
            Ok(dir) => self.evaluate = self.evaluate.models(|models| models.store(dir)),
            Err(error) => self.settings.mistake = Some(error.to_string()),
        }
        #[cfg(not(feature = "store"))]
        {
            self.settings.mistake = Some("`live` and `store` need the `lm` feature; add `features = [\"lm\"]` to the `dsrs-metrics` dependency in Cargo.toml".to_owned());
        }
        self
    }

    /// Scores the baseline's predictions again with this run's metrics.
    ///
    /// Gates then compare scores from the same code.
    pub fn rescore(mut self) -> Self
    where
        G: Serialize + DeserializeOwned,
        P: Serialize + DeserializeOwned,
    {
        self.rescore = Some(rescore);
        self
    }
}

impl<P: Send + Sync + 'static> Eval<Example, P> {
    /// Sets which fields of a row the program receives.
    ///
    /// Call this method after you set the rows.
    ///
    /// Rows can omit the optional fields.
    pub fn inputs(self, required: &[&'static str], optional: &[&'static str]) -> Self {
        let evaluate = match optional {
            [] => self.evaluate.inputs(required.iter().copied()),
            _ => self.evaluate.inputs_of_rows(required, optional),
        };
        Self { evaluate, ..self }
    }
}

impl<G: DeserializeOwned + Send + Sync + 'static, P: Send + Sync + 'static> Eval<G, P> {
    /// Sets the file to read rows from.
    ///
    /// The path is relative to the package.
    pub fn devset_file(mut self, path: &'static str) -> Self {
        match self.source.in_package("devset", path) {
            Ok(file) if file.is_file() => self.evaluate = self.evaluate.devset(file),
            Ok(file) => {
                self.settings.mistake = Some(format!(
                    "missing devset `{path}`: expected the file {}, because the path is relative to the package; write it there, or correct `devset`",
                    file.display()
                ));
            }
            Err(error) => self.settings.mistake = Some(error),
        }
        self
    }
}

/// Reads one of a row's inputs as the type of a parameter.
///
/// Error messages show `ty`, which is the type as written in the source code.
///
/// # Errors
/// Returns an error message if the row lacks the input, or if the input has another type.
pub fn input<'r, W: ReadValue<'r>>(
    row: &'r Example,
    name: &'static str,
    ty: &'static str,
) -> Result<W::Output, String> {
    let read = W::read_from(&row.data, &FieldSpec::new(name, ty, true));
    read.map_err(|error| match *error {
        FieldError::WrongType {
            expected, found, ..
        } => {
            format!("input `{name}`: expected {expected}, found {found}")
        }
        FieldError::Null { expected, .. } => {
            format!("input `{name}`: expected {expected}, found null")
        }
        _ => format!("no input `{name}`"),
    })
}

/// Deserializes all inputs into a single value.
///
/// # Errors
/// Returns an error message if the inputs cannot be deserialized as the type.
pub fn inputs_as<T: DeserializeOwned>(row: Example) -> Result<T, String> {
    let inputs: serde_json::Map<String, Value> = row.data.into_iter().collect();
    let names = escape::names(inputs.keys().map(String::as_str));
    serde_json::from_value(Value::Object(inputs))
        .map_err(|error| format!("cannot read the inputs {names}: {error}"))
}

/// Converts a program's return value into its output.
///
/// # Errors
/// Returns the program's error.
pub fn returned<P, R: ProgramReturn<P>>(output: R) -> Result<ProgramOutput<P>, ProgramRunError> {
    output.into_output()
}
