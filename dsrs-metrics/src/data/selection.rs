//! The fields of a row that a run reads, and decoding a line of JSON without the others.

use super::mapping::{Mapping, Target};
use super::row::RowObject;
use crate::core::interned_names::intern;
use crate::core::rows::dynamic::Fields;
use crate::core::rows::pair::Pair;
use crate::core::spec::Side;
use crate::json::scanner::Scanner;
use crate::json::size::MAX_VALUES;
use crate::json::unique_keys::Shape;
use serde_json::Value;

/// The fields to decode. All others are validated and skipped.
#[derive(Debug, Clone, Default)]
pub(crate) struct FieldSelection {
    gold: Vec<&'static str>,
    pred: Vec<&'static str>,
    attributes: Vec<&'static str>,
    all_attributes: bool,
    /// The fields without which a row is decoded as a whole, since an error or a suggestion may name its other fields.
    required: Vec<(Side, String)>,
}

impl FieldSelection {
    /// Adds a field that a metric reads.
    #[cfg(any(feature = "cli", test, fuzzing))]
    pub(crate) fn add_field(&mut self, side: Side, name: &str, is_required: bool) {
        add(self.side_mut(side), name);
        if is_required {
            self.required.push((side, name.to_owned()));
        }
    }

    /// Adds all attributes.
    #[cfg(any(feature = "cli", test))]
    pub(crate) fn add_attributes(&mut self) {
        self.all_attributes = true;
    }

    /// Adds what a dotted path may lead through: a key that is the whole path, or the one of its first segment.
    pub(crate) fn add_path(&mut self, path: &str) {
        add_both(&mut self.attributes, path);
        match path.split_once('.') {
            Some(("gold", rest)) => add_both(&mut self.gold, rest),
            Some(("pred", rest)) => add_both(&mut self.pred, rest),
            _ => {}
        }
    }

    fn side_mut(&mut self, side: Side) -> &mut Vec<&'static str> {
        match side {
            Side::Gold => &mut self.gold,
            Side::Pred => &mut self.pred,
        }
    }

    /// Decodes a row in its common shape; `None` if it has another one, or may be invalid.
    pub(super) fn decode(&self, text: &str) -> Option<RowObject> {
        // More bytes may be more values than the limit.
        if text.len() > 2 * MAX_VALUES {
            return None;
        }
        let mut row = RowObject::default();
        let mut scanner = Scanner::new(text)?;
        scanner.object(|scanner, key| {
            match key {
                "id" => row.id = Some(id(scanner)?),
                "gold" => row.gold = Some(Shape::Map(fields(scanner, &self.gold)?)),
                "pred" => row.pred = Some(Shape::Map(fields(scanner, &self.pred)?)),
                _ => match find(&self.attributes, key) {
                    Some(name) => _ = row.attributes.insert_static(name, scanner.value()?),
                    None if self.all_attributes => {
                        row.attributes.insert(key, scanner.value()?);
                    }
                    None => scanner.skip()?,
                },
            }
            Some(())
        })?;
        scanner.is_at_end().then_some(row)
    }

    /// Returns whether the row, after the mappings, has a value in every required field.
    pub(super) fn is_satisfied(&self, row: &Pair) -> bool {
        self.required.iter().all(|(side, name)| {
            let value = match side {
                Side::Gold => row.gold.get(name),
                Side::Pred => row.pred.get(name),
            };
            value.is_some_and(|value| !value.is_null())
        })
    }
}

impl<'m> Extend<&'m Mapping> for FieldSelection {
    fn extend<I: IntoIterator<Item = &'m Mapping>>(&mut self, mappings: I) {
        for mapping in mappings {
            self.add_path(mapping.path());
            // Without a value at the path, the field of the same name is removed.
            if let Target::Field(side, name) = mapping.target() {
                add(self.side_mut(*side), name);
            }
        }
    }
}

/// Reads an id that is written as it is shown; other numbers need care.
fn id(scanner: &mut Scanner<'_>) -> Option<Value> {
    let id = scanner.value()?;
    (id.is_string() || id.is_i64() || id.is_u64()).then_some(id)
}

fn fields(scanner: &mut Scanner<'_>, selected: &[&'static str]) -> Option<Fields> {
    let mut fields = Fields::with_capacity(selected.len());
    scanner.object(|scanner, key| {
        match find(selected, key) {
            Some(name) => _ = fields.insert_static(name, scanner.value()?),
            None => scanner.skip()?,
        }
        Some(())
    })?;
    Some(fields)
}

/// Names are interned: they are few, and every row has them.
fn add(names: &mut Vec<&'static str>, name: &str) {
    if find(names, name).is_none() {
        names.push(intern(name));
    }
}

fn add_both(names: &mut Vec<&'static str>, path: &str) {
    add(names, path);
    if let Some((first, _)) = path.split_once('.') {
        add(names, first);
    }
}

fn find(names: &[&'static str], name: &str) -> Option<&'static str> {
    names.iter().copied().find(|it| *it == name)
}
