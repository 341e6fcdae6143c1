//! The columns of a result row, for CSV and Parquet: `id`; `gold.FIELD` and `pred.FIELD` if the run made predictions;
//! `latency_s`, `input_tokens`, `output_tokens` and `cost_msats` if the program returned them;
//! `attributes.FIELD` for each attribute; for each metric `NAME` (the value), then
//! `NAME.outcome`, `NAME.passed`, `NAME.confidence`, `NAME.details`, `NAME.feedback`,
//! `NAME.cost_msats`, and keys that only some rows have, such as `NAME.error` and `NAME.parts`; `repeats`.

use std::io;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

pub(super) type Cells = IndexMap<String, Value>;

#[derive(Deserialize)]
pub(super) struct Line {
    id: String,
    gold: Option<Side>,
    pred: Option<Side>,
    latency_s: Option<Value>,
    input_tokens: Option<Value>,
    output_tokens: Option<Value>,
    cost_msats: Option<Value>,
    #[serde(default)]
    attributes: Cells,
    scores: IndexMap<String, Cells>,
    repeats: Option<Value>,
    traceback: Option<String>,
}

/// A gold row or prediction: one with fields has a column for each, any other has one column.
#[derive(Deserialize)]
#[serde(untagged)]
enum Side {
    Fields(Cells),
    Whole(Value),
}

impl Line {
    pub(super) fn read(line: &[u8]) -> io::Result<Self> {
        Ok(serde_json::from_slice(line)?)
    }

    /// Returns all cells by the name of their column, in groups.
    pub(super) fn cells(self) -> IndexMap<String, IndexMap<String, Value>> {
        let mut groups = IndexMap::new();
        groups.insert(String::new(), Cells::from_iter([("id".to_owned(), self.id.into())]));
        for (name, side) in [("gold", self.gold), ("pred", self.pred)] {
            let cells = side.map_or_else(Cells::new, |side| side.cells(name));
            groups.insert(name.to_owned(), cells);
        }
        let run = [
            ("latency_s", self.latency_s),
            ("input_tokens", self.input_tokens),
            ("output_tokens", self.output_tokens),
            ("cost_msats", self.cost_msats),
        ];
        let run = run.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        groups.insert("run".to_owned(), run.collect());
        let attributes = prefixed("attributes", self.attributes);
        groups.insert("attributes".to_owned(), attributes);
        for (name, mut score) in self.scores {
            let mut cells = Cells::new();
            cells.insert(name.clone(), score.shift_remove("value").unwrap_or_default());
            cells.extend(prefixed(&name, score));
            groups.insert(format!("score of {name}"), cells);
        }
        let repeats = self.repeats.map(|repeats| ("repeats".to_owned(), repeats));
        groups.insert("repeats".to_owned(), repeats.into_iter().collect());
        let traceback = self.traceback.map(|text| ("traceback".to_owned(), text.into()));
        groups.insert("traceback".to_owned(), traceback.into_iter().collect());
        groups
    }
}

impl Side {
    fn cells(self, name: &str) -> Cells {
        match self {
            Self::Fields(fields) => prefixed(name, fields),
            Self::Whole(value) => Cells::from_iter([(name.to_owned(), value)]),
        }
    }
}

fn prefixed(name: &str, cells: Cells) -> Cells {
    let named = |(field, value)| (format!("{name}.{field}"), value);
    cells.into_iter().map(named).collect()
}
