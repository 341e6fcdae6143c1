//! Reads labelled training data from files.

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::runtime::Handle;

use super::object_rows::until_error;
use super::{DataError, DataErrorKind, Format, ObjectRow, ObjectRows};
use crate::contract::{Example, Fields, Origin, Pair, Prediction};
use dsrs_metrics_values::outcome_coupled::{
    OutcomeCoupledLabels, OutcomeCoupledScorer, StepOutcome,
};

/// A row of training data and its labels.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledExample {
    /// The row's gold row and prediction.
    ///
    /// If the row in the file has `gold` or `pred`, the labels become attributes. Otherwise, all seven labels become
    /// the prediction.
    pub pair: Pair,
    /// The labels of the row.
    ///
    /// `verification_delta` and `outcome_score` are computed from the other labels.
    pub labels: OutcomeCoupledLabels,
}

/// Reads all rows from a JSON Lines file of training data with outcome labels.
///
/// The default [`OutcomeCoupledScorer`] computes `outcome_score`.
///
/// To use other weights, or to read one row at a time, use [`load_jsonl`].
///
/// Inside a Tokio runtime, the file is read on a blocking thread.
///
/// ```
/// use dsrs_metrics::outcome_coupled::load_jsonl_with_labels;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("dsrs-metrics-labels-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let file = folder.join("tool_calls.jsonl");
/// std::fs::write(&file, r#"{"tool": "edit", "step_utility": 1, "tests_before": 3, "tests_after": 3, "was_repeated": false, "params_valid": true}"#)?;
///
/// let examples = load_jsonl_with_labels(&file).await?;
/// assert_eq!(examples[0].pair.gold.get("tool").unwrap(), "edit");
/// assert!((examples[0].labels.outcome_score - 0.9).abs() < 1e-12);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Returns the same errors as [`load_jsonl`].
pub async fn load_jsonl_with_labels(
    file: impl AsRef<Path>,
) -> Result<Vec<LabelledExample>, DataError> {
    let file = file.as_ref().to_owned();
    let read = move || load_jsonl(file, &OutcomeCoupledScorer::default())?.collect();
    let Ok(runtime) = Handle::try_current() else {
        return read();
    };
    match runtime.spawn_blocking(read).await {
        Ok(examples) => examples,
        Err(error) => Err(DataError::new(
            DataErrorKind::Unreadable,
            format!("reading the rows stopped: {error}"),
        )),
    }
}

/// Returns an iterator over the rows of a JSON Lines file with outcome labels.
///
/// Each row must have the labels `step_utility`, `tests_before`, `tests_after`, `was_repeated` and `params_valid`.
///
/// `verification_delta` and `outcome_score` are computed. If a row already has one of these labels, its value must
/// match the computed value.
///
/// A row with a `gold` or `pred` field is read as usual. Otherwise, the labels become the prediction, which
/// `dsrs_metrics::metrics::OutcomeCoupled` can score. All other fields except `id` become the gold row.
///
/// If the path is `-`, the rows are read from standard input.
///
/// # Errors
/// Returns a [`DataError`] if the file does not exist.
///
/// The iterator ends with its first error, which names the file and line.
///
/// A file without rows is an error.
pub fn load_jsonl(
    file: impl AsRef<Path>,
    scorer: &OutcomeCoupledScorer,
) -> Result<Box<dyn Iterator<Item = Result<LabelledExample, DataError>> + Send>, DataError> {
    let rows = ObjectRows::open(file.as_ref(), Some(Format::Jsonl))?;
    let scorer = *scorer;
    let examples = rows.map(move |row| row.and_then(|row| example(row, &scorer)));
    Ok(Box::new(until_error(examples)))
}

/// Labels that are computed from the step's labels. If a file has them, they must match.
#[derive(Deserialize)]
struct ComputedLabels {
    verification_delta: Option<i64>,
    outcome_score: Option<f64>,
}

fn example(row: ObjectRow, scorer: &OutcomeCoupledScorer) -> Result<LabelledExample, DataError> {
    let at = row.at.clone();
    let pair = row.into_pair();
    let fields = pair.attributes.iter();
    let fields: Value = fields.map(|(name, it)| (name, it.clone())).collect();
    let step: StepOutcome = read(&fields, &at)?;
    let computed: ComputedLabels = read(&fields, &at)?;
    let labels = scorer.label(&step).and_then(|labels| {
        labels.check(computed.verification_delta, computed.outcome_score)?;
        Ok(labels)
    });
    let labels = labels.map_err(|error| DataError::invalid(&at, error))?;
    Ok(LabelledExample {
        pair: split(pair, &labels),
        labels,
    })
}

fn read<T: DeserializeOwned>(labels: &Value, at: &Origin) -> Result<T, DataError> {
    serde_path_to_error::deserialize(labels)
        .map_err(|error| DataError::invalid(at, format_args!("invalid label: {error}")))
}

/// Splits a row without `gold` and `pred`: the labels become the prediction and the other fields the gold row.
fn split(mut pair: Pair, labels: &OutcomeCoupledLabels) -> Pair {
    if !pair.gold.data.is_empty() || !pair.pred.data.is_empty() {
        return pair;
    }
    // Numbers and booleans can always be serialized.
    pair.pred = Prediction::from(Fields::from_serialize(labels).unwrap_or_default());
    let mut rest = std::mem::take(&mut pair.attributes);
    for label in pair.pred.keys() {
        rest.remove(label);
    }
    pair.gold = Example::from(rest);
    pair
}
