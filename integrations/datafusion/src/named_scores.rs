//! The column `scores` of the details: a map of the named scores of a metric, and of the scores of a composite's components.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, Float64Builder, MapBuilder, MapFieldNames, StringBuilder,
};
use datafusion::arrow::datatypes::{DataType, Field, Fields};
use dsrs_metrics::Scored;

const ENTRIES: &str = "entries";
const KEY: &str = "key";
const VALUE: &str = "value";

/// Builds the maps of a batch.
pub(crate) struct NamedScores {
    maps: MapBuilder<StringBuilder, Float64Builder>,
}

impl NamedScores {
    pub(crate) fn data_type() -> DataType {
        let entry = Fields::from(vec![
            Field::new(KEY, DataType::Utf8, false),
            Field::new(VALUE, DataType::Float64, true),
        ]);
        let entries = Field::new(ENTRIES, DataType::Struct(entry), false);
        DataType::Map(Arc::new(entries), false)
    }

    pub(crate) fn new() -> Self {
        let [entry, key, value] = [ENTRIES, KEY, VALUE].map(str::to_owned);
        let names = MapFieldNames { entry, key, value };
        let maps = MapBuilder::new(Some(names), StringBuilder::new(), Float64Builder::new());
        Self { maps }
    }

    /// Adds the map of a row: NULL if the row has no score, or the metric no named scores.
    pub(crate) fn append(&mut self, scored: Option<&Scored>) {
        let has_scores = scored.is_some_and(|scored| self.append_scores("", scored));
        // The builder returns an error if there are more keys than values.
        let appended = self.maps.append(has_scores);
        debug_assert!(appended.is_ok(), "each name has a value");
    }

    /// Adds the entries of a score, and returns whether it has any. Those of a component have its name before theirs, with a
    /// dot.
    fn append_scores(&mut self, prefix: &str, scored: &Scored) -> bool {
        for part in scored.parts() {
            self.append_entry(&format!("{prefix}{}", part.name), Some(part.value));
        }
        let mut has_scores = !scored.parts().is_empty();
        for component in scored.components() {
            let name = format!("{prefix}{}", component.name);
            // The value of a component without a score is NULL.
            self.append_entry(&name, component.outcome.value());
            if let Some(scored) = component.outcome.scored() {
                self.append_scores(&format!("{name}."), scored);
            }
            has_scores = true;
        }
        has_scores
    }

    fn append_entry(&mut self, name: &str, value: Option<f64>) {
        self.maps.keys().append_value(name);
        self.maps.values().append_option(value);
    }

    pub(crate) fn finish(mut self) -> ArrayRef {
        Arc::new(self.maps.finish())
    }
}
