//! The fields of a row that a run reads, and decoding a line of JSON without the others. Parquet columns are selected in
//! `parquet/schema.rs`.

use super::mapping::{Mapping, Target};
use crate::core::interned_names::intern;
use crate::core::rows::dynamic::{Example, Prediction};
use crate::core::rows::named_values::Fields;
use crate::core::rows::pair::Pair;
use crate::core::spec::Side;
use crate::json::scanner::Scanner;
use crate::json::size::{MAX_VALUES, is_too_large};
use serde_json::Value;

/// Which keys a decoded row has.
#[derive(Default)]
pub(super) struct DecodedKeys {
    pub(super) has_id: bool,
    /// Whether it has `gold` or `pred`.
    pub(super) has_sides: bool,
}

/// The fields to decode. All others are validated and skipped.
#[derive(Debug, Clone, Default)]
pub(crate) struct FieldSelection {
    gold: Vec<&'static str>,
    pred: Vec<&'static str>,
    attributes: Vec<&'static str>,
    all_attributes: bool,
    all_sides: bool,
    /// The fields without which a row is decoded as a whole, since an error or a suggestion may name its other fields.
    required: Vec<(Side, String)>,
}

impl FieldSelection {
    /// Adds a field that a metric reads.
    pub(crate) fn add_field(&mut self, side: Side, name: &str, is_required: bool) {
        add(self.side_mut(side), name);
        if is_required
            && !self
                .required
                .iter()
                .any(|other| (other.0, &*other.1) == (side, name))
        {
            self.required.push((side, name.to_owned()));
        }
    }

    /// Adds all attributes.
    pub(crate) fn add_attributes(&mut self) {
        self.all_attributes = true;
    }

    /// Adds the whole gold row and the whole prediction.
    pub(crate) fn add_sides(&mut self) {
        self.all_sides = true;
    }

    /// Selects the keys that a dotted path can name: the whole path, and its first segment.
    pub(crate) fn add_path(&mut self, path: &str) {
        add_both(&mut self.attributes, path);
        match path.split_once('.') {
            Some(("gold", rest)) => add_both(&mut self.gold, rest),
            Some(("pred", rest)) => add_both(&mut self.pred, rest),
            _ => {}
        }
    }

    /// Returns the fields with their sides, as `gold.answer`.
    pub(super) fn fields(&self) -> Vec<String> {
        let fields = |side| {
            self.names(side)
                .iter()
                .map(move |name| format!("{side}.{name}"))
        };
        fields(Side::Gold).chain(fields(Side::Pred)).collect()
    }

    fn names(&self, side: Side) -> &[&'static str] {
        match side {
            Side::Gold => &self.gold,
            Side::Pred => &self.pred,
        }
    }

    fn side_mut(&mut self, side: Side) -> &mut Vec<&'static str> {
        match side {
            Side::Gold => &mut self.gold,
            Side::Pred => &mut self.pred,
        }
    }

    /// Decodes these fields, or all, of a row in its common shape, in the memory of another row; `None` if it has another shape, or may be invalid.
    /// A row without an id keeps the other row's id.
    pub(super) fn decode(
        selection: Option<&Self>,
        text: &str,
        row: &mut Pair,
    ) -> Option<DecodedKeys> {
        if is_too_large(text, MAX_VALUES) {
            return None;
        }
        let Pair {
            id,
            gold,
            pred,
            attributes,
            run,
            ..
        } = row;
        (attributes.textual, *run) = (false, None);
        let names = |side| {
            selection
                .filter(|it| !it.all_sides)
                .map(|it| it.names(side))
        };
        let attribute_names = selection
            .filter(|it| !it.all_attributes)
            .map(|it| &*it.attributes);
        let mut keys = DecodedKeys::default();
        let (mut gold_len, mut pred_len, mut attributes_len) = (0, 0, 0);
        let mut scanner = Scanner::new(text)?;
        scanner.object(|scanner, key| {
            match key {
                "id" => {
                    id_into(scanner, id)?;
                    keys.has_id = true;
                }
                "gold" => {
                    gold_len = fields_into(scanner, names(Side::Gold), &mut gold.data)?;
                    keys.has_sides = true;
                }
                "pred" => {
                    pred_len = fields_into(scanner, names(Side::Pred), &mut pred.data)?;
                    keys.has_sides = true;
                }
                // The row may be of a result file.
                "scores" => return None,
                key if may_be_field_twice(key) => return None,
                _ => field_into(
                    scanner,
                    attribute_names,
                    key,
                    (attributes, &mut attributes_len),
                )?,
            }
            Some(())
        })?;
        gold.data.truncate(gold_len);
        pred.data.truncate(pred_len);
        attributes.truncate(attributes_len);
        scanner.is_at_end().then_some(keys)
    }

    /// Returns whether the row, after the mappings, has a value in every required field.
    pub(super) fn has_required(&self, gold: &Example, pred: &Prediction) -> bool {
        self.all_required(|side, name| {
            let value = match side {
                Side::Gold => gold.get(name),
                Side::Pred => pred.get(name),
            };
            value.is_some_and(|value| !value.is_null())
        })
    }

    fn all_required(&self, has_value: impl Fn(Side, &str) -> bool) -> bool {
        self.required
            .iter()
            .all(|(side, name)| has_value(*side, name))
    }

    /// The fields without which a row is decoded as a whole.
    #[cfg(feature = "parquet")]
    pub(super) fn required(&self) -> impl Iterator<Item = (Side, &str)> {
        self.required.iter().map(|(side, name)| (*side, &**name))
    }

    /// Whether the run reads any attribute.
    #[cfg(feature = "csv")]
    pub(super) fn reads_attributes(&self) -> bool {
        self.all_attributes || !self.attributes.is_empty()
    }

    /// Whether the run reads this column.
    #[cfg(feature = "csv")]
    pub(super) fn reads_column(&self, name: &str) -> bool {
        match name.split_once('.') {
            _ if name == "id" => true,
            Some(("gold", field)) => self.field(Side::Gold, field).is_some(),
            Some(("pred", field)) => self.field(Side::Pred, field).is_some(),
            _ => self.reads_attribute(name),
        }
    }

    /// Whether the run reads this attribute.
    #[cfg(feature = "csv")]
    pub(super) fn reads_attribute(&self, name: &str) -> bool {
        self.all_attributes || find(&self.attributes, name).is_some()
    }

    /// The name of this field, if the run reads it.
    #[cfg(feature = "csv")]
    pub(super) fn field(&self, side: Side, name: &str) -> Option<&'static str> {
        find(self.names(side), name).or_else(|| self.all_sides.then(|| intern(name)))
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

/// Whether a row that has `gold` or `pred` too is invalid.
fn may_be_field_twice(key: &str) -> bool {
    key.starts_with("gold.") || key.starts_with("pred.")
}

/// Reads an id that is written as it is shown; other numbers need care.
fn id(scanner: &mut Scanner<'_>) -> Option<Value> {
    let id = scanner.value()?;
    (id.is_string() || id.is_i64() || id.is_u64()).then_some(id)
}

/// As [`id`], in the memory of another one.
fn id_into(scanner: &mut Scanner<'_>, text: &mut String) -> Option<()> {
    if scanner.peek()? == b'"' {
        scanner.string_into(text)?;
        return (!text.is_empty()).then_some(());
    }
    let id = id(scanner)?;
    text.clear();
    text.push_str(&id.to_string());
    Some(())
}

/// Overwrites the fields of another row, and returns the number of fields that this row has.
fn fields_into(
    scanner: &mut Scanner<'_>,
    names: Option<&[&'static str]>,
    fields: &mut Fields,
) -> Option<usize> {
    let mut len = 0;
    fields.textual = false;
    scanner.object(|scanner, key| field_into(scanner, names, key, (fields, &mut len)))?;
    Some(len)
}

/// Overwrites the next field of another row, if it has one of these names, or any. Otherwise skips the value.
fn field_into(
    scanner: &mut Scanner<'_>,
    names: Option<&[&'static str]>,
    key: &str,
    (fields, len): (&mut Fields, &mut usize),
) -> Option<()> {
    let value = match names {
        None => fields.rewrite(*len, key)?,
        Some(names) => match find(names, key) {
            Some(name) => fields.rewrite_static(*len, name)?,
            None => return scanner.skip(),
        },
    };
    *len += 1;
    scanner.value_into(value)
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
