//! The selection of the row fields that a run reads.

use super::mapping::{Mapping, Target};
use crate::contract::rows::by_name::intern;
use crate::contract::{Pair, Side, TypeHelp};
use crate::json::path;

/// A field that a metric of the run reads.
#[derive(Debug, Clone)]
pub(super) struct ReadField {
    pub(super) side: Side,
    pub(super) name: String,
    pub(super) help: TypeHelp,
}

impl ReadField {
    /// Returns the field with its side: `gold.answer`.
    pub(super) fn path(&self) -> String {
        format!("{}.{}", self.side, self.name)
    }
}

/// The fields to decode. All other fields are skipped.
#[derive(Debug, Clone, Default)]
pub(crate) struct FieldSelection {
    gold: Vec<&'static str>,
    pred: Vec<&'static str>,
    attributes: Vec<&'static str>,
    pub(crate) all_attributes: bool,
    pub(crate) all_sides: bool,
    /// The fields that a row must have. A row without one is decoded completely, because an error or suggestion may
    /// name its other fields.
    required: Vec<(Side, String)>,
}

impl FieldSelection {
    /// Adds a field that a metric reads.
    pub(crate) fn add_field(&mut self, side: Side, name: &str, is_required: bool) {
        add(self.side_mut(side), name);
        if is_required {
            self.required.push((side, name.to_owned()));
        }
    }

    /// Selects the keys that a dotted path can name: the whole path, and its first segment.
    pub(crate) fn add_path(&mut self, path: &str) {
        add_both(&mut self.attributes, path);
        match path::split_first(path) {
            (_, "") => {}
            ("gold", rest) => add_both(&mut self.gold, rest),
            ("pred", rest) => add_both(&mut self.pred, rest),
            _ => {}
        }
    }

    /// Returns the fields of a side, or `None` if all are read.
    pub(super) fn names(&self, side: Side) -> Option<&[&'static str]> {
        let names = match side {
            Side::Gold => &self.gold,
            Side::Pred => &self.pred,
        };
        (!self.all_sides).then_some(&**names)
    }

    /// Returns the attributes, or `None` if all are read.
    pub(super) fn attribute_names(&self) -> Option<&[&'static str]> {
        (!self.all_attributes).then_some(&*self.attributes)
    }

    fn side_mut(&mut self, side: Side) -> &mut Vec<&'static str> {
        match side {
            Side::Gold => &mut self.gold,
            Side::Pred => &mut self.pred,
        }
    }

    /// Returns `true` if, after the mappings, the row has a value in every required field.
    pub(super) fn has_required(&self, row: &Pair) -> bool {
        self.required.iter().all(|(side, name)| {
            let value = match side {
                Side::Gold => row.gold.get(name),
                Side::Pred => row.pred.get(name),
            };
            value.is_some_and(|value| !value.is_null())
        })
    }

    /// Returns the required fields. A row that lacks one of them is decoded completely.
    #[cfg(feature = "parquet")]
    pub(super) fn required(&self) -> impl Iterator<Item = (Side, &str)> {
        self.required.iter().map(|(side, name)| (*side, &**name))
    }

    #[cfg(feature = "csv")]
    pub(super) fn reads_column(&self, name: &str) -> bool {
        match name.split_once('.') {
            _ if name == "id" => true,
            Some(("gold", field)) => self.reads_field(Side::Gold, field),
            Some(("pred", field)) => self.reads_field(Side::Pred, field),
            _ => {
                let names = self.attribute_names();
                names.is_none_or(|names| names.contains(&name))
            }
        }
    }

    /// Returns `true` if the run reads this field.
    #[cfg(feature = "csv")]
    pub(super) fn reads_field(&self, side: Side, name: &str) -> bool {
        self.names(side).is_none_or(|names| names.contains(&name))
    }
}

impl<'m> Extend<&'m Mapping> for FieldSelection {
    fn extend<I: IntoIterator<Item = &'m Mapping>>(&mut self, mappings: I) {
        for mapping in mappings {
            mapping.paths().for_each(|path| self.add_path(path));
            // Without a value at the path, the field with the same name is removed.
            if let Target::Field(side, name) = mapping.target() {
                add(self.side_mut(*side), name);
            }
        }
    }
}

/// Adds a name. Names are interned, because they are few and every row has them.
fn add(names: &mut Vec<&'static str>, name: &str) {
    if !names.contains(&name) {
        names.push(intern(name));
    }
}

fn add_both(names: &mut Vec<&'static str>, path: &str) {
    add(names, path);
    add(names, path::split_first(path).0);
}
