//! Counts predictions that lack a field, and finds the fields that no prediction has: their names are wrong.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::contract::rows::field_error::MissingFields;
use crate::messages::{escape, suggest};

/// A field that a metric reads but no prediction has.
///
/// `Display` says what to correct: `` no prediction has a field `anwser`; did you mean `answer`? ``
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UnknownField {
    /// The name of the field.
    pub name: String,
    /// The most similar field name in the first row, if there is one.
    pub nearest: Option<String>,
    /// The fields of the first prediction.
    #[serde(skip)]
    present: Vec<String>,
}

impl fmt::Display for UnknownField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let present = self.present.iter().map(String::as_str);
        let hint = suggest::known_fields("the first prediction", &self.name, present);
        let name = escape::name(&self.name);
        write!(f, "no prediction has a field `{name}`{hint}")
    }
}

/// The running counts of one metric.
#[derive(Default)]
pub(crate) struct MissingTally {
    /// Rows that lack any field.
    rows: u64,
    fields: BTreeMap<String, Rows>,
    /// The first row without a field, and the fields that it has.
    first: Option<(u64, Vec<String>)>,
}

#[derive(Default)]
struct Rows {
    /// Rows without a value.
    missing: u64,
    /// Rows without the field; the rest have `null`.
    absent: u64,
}

impl MissingTally {
    /// Counts the fields that a row lacks, as yielded by `each_missing`. A field that several components read counts
    /// once.
    pub(crate) fn record<'a>(
        &mut self,
        row: u64,
        each_missing: impl FnOnce(&mut dyn FnMut(&'a MissingFields)),
    ) {
        let mut seen: Vec<&str> = Vec::new();
        each_missing(&mut |missing| {
            let is_first = self.first.as_ref().is_none_or(|(first, _)| row < *first);
            if is_first && missing.iter().any(|field| !field.is_null) {
                self.first = Some((row, missing.present().to_vec()));
            }
            for field in missing.iter().filter(|field| !seen.contains(&&*field.name)) {
                if !self.fields.contains_key(&*field.name) {
                    self.fields.insert(field.name.to_string(), Rows::default());
                }
                let Some(rows) = self.fields.get_mut(&*field.name) else {
                    continue;
                };
                rows.missing += 1;
                rows.absent += u64::from(!field.is_null);
            }
            seen.extend(missing.iter().map(|field| &*field.name));
        });
        self.rows += u64::from(!seen.is_empty());
    }

    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of rows without a value, by field.
    pub(crate) fn by_field(&self) -> BTreeMap<String, u64> {
        self.fields
            .iter()
            .map(|(name, rows)| (name.clone(), rows.missing))
            .collect()
    }

    /// Returns the fields that no scored row has.
    pub(crate) fn unknown(&self, scored: u64) -> Vec<UnknownField> {
        let absent = self
            .fields
            .iter()
            .filter(|(_, rows)| scored > 0 && rows.absent == scored);
        let present = self.first.as_ref().map_or(&[][..], |(_, present)| present);
        let unknown = absent.map(|(name, _)| UnknownField {
            name: name.clone(),
            nearest: suggest::nearest(name, present.iter().map(String::as_str)).map(str::to_owned),
            present: present.to_vec(),
        });
        unknown.collect()
    }
}
