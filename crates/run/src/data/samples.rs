//! Several samples of one row, given as rows with the same id, as in HumanEval and tau-bench.

use std::collections::HashSet;

use indexmap::IndexMap;
use indexmap::map::Entry;

use super::data_file::DataFiles;
use super::error::DataError;
use super::pairing::Pairing;
use super::reader::Pairs;
use super::row::REPEAT;
use crate::contract::{Metric, Origin, Pair, Prediction};
use crate::json::describe::text;
use crate::messages::escape;
use std::path::Path;
use std::sync::Arc;

/// Rows with several samples each. Returned by [`Pairs::into_samples`]. Rows with the same id in the files are samples
/// of one row. A gold row without a prediction has no samples. All rows are held in memory.
#[derive(Debug)]
pub struct Samples {
    pub(crate) rows: Vec<(Pair, Vec<Prediction>)>,
    pub(crate) files: DataFiles,
    pub(crate) pairing: Arc<Pairing>,
    repeats: u32,
}

impl Samples {
    /// Returns the largest number of samples that any row has. Pass it to
    /// [`EvaluateBuilder::repeats`](crate::EvaluateBuilder::repeats).
    pub fn repeats(&self) -> u32 {
        self.repeats
    }
}

impl Pairs {
    /// Reads all rows and groups those with the same id as samples of one row. Add the mapping `repeat=COLUMN` to name
    /// the column that numbers the samples.
    ///
    /// ```
    /// use dsrs_metrics::data::{DataReader, Format};
    /// use dsrs_metrics::{Evaluate, metrics::Em};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let rows = br#"{"id": "t1", "n": 0, "gold": {"answer": "a"}, "pred": {"answer": "a"}}
    /// {"id": "t1", "n": 1, "gold": {"answer": "a"}, "pred": {"answer": "b"}}"#;
    /// let reader = DataReader::new().with_mapping("repeat=n".parse()?);
    /// let samples = reader.read_from("rows.jsonl", Format::Jsonl, &rows[..]).into_samples()?;
    ///
    /// let em = Em::default();
    /// let evaluate = Evaluate::builder().metric(em).repeats(samples.repeats()).build()?;
    /// let result = evaluate.score_samples(samples).await?;
    /// assert_eq!((result.rows, result.score), (1, Some(0.5)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns a [`DataError`] if a row cannot be read or has no sample number. Also returns it if two samples of a row
    /// have the same number or different gold rows.
    pub fn into_samples(self) -> Result<Samples, DataError> {
        let (files, pairing) = (self.data_files(), Arc::clone(self.pairing()));
        let mut rows: IndexMap<String, (Pair, Vec<Prediction>)> = IndexMap::new();
        let mut seen = HashSet::new();
        for pair in self.with_hashes() {
            let mut pair = pair?;
            if pairing.lacks_pred(&pair) {
                rows.insert(pair.id.clone(), (pair, Vec::new()));
                continue;
            }
            let unknown = || Origin {
                file: Path::new("rows").into(),
                line: 0,
            };
            let at = pair.origin.clone().unwrap_or_else(unknown);
            let number = pair.attributes.remove(REPEAT).and_then(text);
            let number = number.ok_or_else(|| {
                DataError::invalid(&at, "expected the sample's number at the path from --map repeat=PATH, found no value; name the column that numbers the samples of an id")
            })?;
            let id = escape::name(&pair.id).to_string();
            if !seen.insert((pair.id.clone(), number.clone())) {
                let number = escape::name(&number);
                return Err(DataError::invalid(
                    &at,
                    format_args!(
                        "duplicate sample `{number}` for id `{id}`; give each sample of an id a different number, or pass --map id=COLUMN,COLUMN if the id spans several columns"
                    ),
                ));
            }
            match rows.entry(pair.id.clone()) {
                Entry::Vacant(first) => {
                    let pred = std::mem::take(&mut pair.pred);
                    first.insert((pair, vec![pred]));
                }
                Entry::Occupied(mut samples) => {
                    let (first, preds) = samples.get_mut();
                    if first.gold != pair.gold {
                        let first = first.origin.as_ref().map_or(0, |at| at.line);
                        return Err(DataError::invalid(
                            &at,
                            format_args!(
                                "this sample of `{id}` has a different gold row from line {first}; pass --map id=PATH with an id that identifies the row"
                            ),
                        ));
                    }
                    preds.push(pair.pred);
                }
            }
        }
        let most = rows.values().map(|(_, preds)| preds.len()).max();
        Ok(Samples {
            rows: rows.into_values().collect(),
            files,
            pairing,
            repeats: most.and_then(|most| u32::try_from(most).ok()).unwrap_or(0),
        })
    }

    /// Decodes fields the way these metrics read them. Call this method before you read the first row.
    #[doc(hidden)]
    pub fn for_metrics(self, metrics: &[Arc<dyn Metric>]) -> Self {
        self.with_read(metrics.iter().map(|metric| metric.spec()))
    }
}
