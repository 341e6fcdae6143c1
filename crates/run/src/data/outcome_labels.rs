//! Reads labelled training data from files.

use std::path::Path;

use serde::de::DeserializeOwned;
use tokio::runtime::Handle;

use super::error::invalid;
use super::object_rows::until_error;
use super::{DataError, DataErrorKind, Format, ObjectRow, ObjectRows};
use crate::contract::{Example, Fields, Origin, Pair, Prediction};
use crate::json::found;
use dsrs_metrics_values::outcome_coupled::{
    OutcomeCoupledLabels, OutcomeCoupledScorer, StepOutcome,
};

/// A row of training data and its labels.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledExample {
    /// The row as a gold row and a prediction.
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

fn example(row: ObjectRow, scorer: &OutcomeCoupledScorer) -> Result<LabelledExample, DataError> {
    let at = row.at.clone();
    let pair = row.into_pair();
    let fields = &pair.attributes;
    let labels = LabelledRow { fields, at }.labels(scorer)?;
    Ok(LabelledExample {
        pair: split(pair, &labels),
        labels,
    })
}

/// The fields of a row that hold its labels.
struct LabelledRow<'a> {
    fields: &'a Fields,
    at: Origin,
}

impl LabelledRow<'_> {
    fn labels(&self, scorer: &OutcomeCoupledScorer) -> Result<OutcomeCoupledLabels, DataError> {
        const COUNT: &str = "a number of tests";
        const FLAG: &str = "true or false";
        let step = StepOutcome {
            step_utility: self.label("step_utility", "a number in -1..=1")?,
            tests_before: self.label("tests_before", COUNT)?,
            tests_after: self.label("tests_after", COUNT)?,
            was_repeated: self.label("was_repeated", FLAG)?,
            params_valid: self.label("params_valid", FLAG)?,
        };
        let delta = self.optional("verification_delta", "a whole number")?;
        let score = self.optional("outcome_score", "a number in 0..=1")?;
        let labels = scorer
            .label(&step)
            .and_then(|labels| labels.check(delta, score).map(|()| labels));
        labels.map_err(|error| DataError::invalid(&self.at, error))
    }

    fn label<T: DeserializeOwned>(
        &self,
        label: &'static str,
        expected: &'static str,
    ) -> Result<T, DataError> {
        let missing = || {
            let present: Vec<_> = self.fields.keys().collect();
            let present = present.join("`, `");
            invalid!(&self.at, "no label `{label}`; the row has `{present}`")
        };
        self.optional(label, expected)?.ok_or_else(missing)
    }

    fn optional<T: DeserializeOwned>(
        &self,
        label: &'static str,
        expected: &'static str,
    ) -> Result<Option<T>, DataError> {
        let Some(value) = self.fields.get(label).filter(|value| !value.is_null()) else {
            return Ok(None);
        };
        let wrong = |_| {
            invalid!(
                &self.at,
                "label `{label}`: expected {expected}, found {}",
                found(value)
            )
        };
        T::deserialize(value).map(Some).map_err(wrong)
    }
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
