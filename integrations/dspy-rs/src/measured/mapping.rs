//! Fields of other names: the mappings of a [`Measured`](super::Measured) module.

use dsrs_metrics::data::{Mapping, MappingError};
use dsrs_metrics::{Example, Prediction, contract::Side};
use serde_json::Value;

use crate::rows::ConvertedExample;

/// A list of mappings, each of one field.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mappings(Vec<Mapping>);

impl Mappings {
    pub(crate) fn add(&mut self, mapping: &str) -> Result<(), MappingError> {
        self.0.push(mapping.parse()?);
        Ok(())
    }

    /// Returns the gold row as the metric reads it. All paths are read before a field is set.
    pub(crate) fn gold(&self, row: ConvertedExample) -> Example {
        let mut example = row.example;
        let get = |key: &str| example.get(key);
        for (field, value) in self.values(Side::Gold, get) {
            match value {
                Some(value) => _ = example.data.insert(field, value),
                None => _ = example.data.remove(&field),
            }
        }
        example
    }

    /// Returns the prediction as the metric reads it.
    pub(crate) fn pred(&self, mut prediction: Prediction) -> Prediction {
        let get = |key: &str| prediction.get(key);
        for (field, value) in self.values(Side::Pred, get) {
            match value {
                Some(value) => _ = prediction.data.insert(field, value),
                None => _ = prediction.data.remove(&field),
            }
        }
        prediction
    }

    /// Returns the value at the path of the id, or else the field `id`.
    pub(crate) fn id(&self, example: &dspy_rs::Example) -> Option<String> {
        let path = self
            .0
            .iter()
            .find(|mapping| mapping.field() == "id")
            .map_or("id", Mapping::path);
        match at(path, |key| example.data.get(key))? {
            Value::String(id) => Some(id.clone()),
            id @ Value::Number(_) => Some(id.to_string()),
            _ => None,
        }
    }

    /// Returns the fields that are set on one side, with the values at their paths.
    fn values<'a>(
        &self,
        side: Side,
        get: impl Fn(&str) -> Option<&'a Value> + Copy,
    ) -> Vec<(String, Option<Value>)> {
        let prefix = format!("{side}.");
        let fields = self.0.iter().filter_map(|mapping| {
            let field = mapping.field().strip_prefix(&prefix)?.to_owned();
            Some((field, at(mapping.path(), get).cloned()))
        });
        fields.collect()
    }
}

/// Returns the value at a dotted path. A key that contains dots is found if it is the whole path.
fn at<'a>(path: &str, get: impl Fn(&str) -> Option<&'a Value>) -> Option<&'a Value> {
    if let Some(value) = get(path) {
        return Some(value);
    }
    let mut segments = path.split('.');
    let start = get(segments.next()?)?;
    segments.try_fold(start, |value, segment| match value {
        Value::Array(items) => items.get(segment.parse::<usize>().ok()?),
        value => value.get(segment),
    })
}
