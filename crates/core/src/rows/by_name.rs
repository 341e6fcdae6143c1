//! Fields with configurable names: `#[pred(named_by = field)]`. They are looked up at run time, in dynamic rows and in
//! rows that derive [`Record`], and returned as strings. A configured metric's spec has their actual names.
//!
//! Names of fields and components are interned, and then live as long as the program. Every score of a composite contains
//! them. With `Arc`, all threads would update one reference count for every row, which takes longer than evaluating a
//! simple component. There are few names, and each distinct list is stored once.
#![allow(
    missing_docs,
    reason = "hidden plumbing; each trait is documented where it is defined"
)]

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use serde_json::Value;

use crate::json::{TooDeep, is_too_deep};
use crate::rows::{Example, FieldError, Fields, Prediction, Record};
use crate::spec::{FieldSpec, MetricSpec, Side};

const EXPECTED: &str = "a string, or a value that can be written as JSON";

/// The name that selects the whole row instead of one field.
pub(crate) const WHOLE: &str = "*";

/// A row whose fields can be read by name as strings.
///
/// Strings are returned as they are, and all other values as JSON. A `null` field counts as missing.
///
/// The name `*` returns the whole row as JSON, unless a field is named `*`.
#[diagnostic::on_unimplemented(
    message = "expected a row with named fields, as the metric's parameters require, found `{Self}`",
    label = "not a row with named fields",
    note = "add `#[derive(Record)]` to the row, or use `Example` and `Prediction`"
)]
pub trait NamedFields {
    /// Returns the field as a string.
    ///
    /// # Errors
    /// Returns [`FieldError`] if the field is missing, `null` or cannot be written as a string.
    fn text_of(&self, name: &str) -> Result<Cow<'_, str>, Box<FieldError>>;
}

/// The value of a record's field, without the field's static type.
#[derive(Debug, Clone, PartialEq)]
pub enum Given<'r> {
    Text(&'r str),
    Value(Value),
    /// A value whose type cannot be serialized.
    Opaque,
    /// A value that could not be serialized, with the reason.
    Failed(String),
}

impl NamedFields for Example {
    fn text_of(&self, name: &str) -> Result<Cow<'_, str>, Box<FieldError>> {
        in_fields(&self.data, name)
    }
}

impl NamedFields for Prediction {
    fn text_of(&self, name: &str) -> Result<Cow<'_, str>, Box<FieldError>> {
        in_fields(&self.data, name)
    }
}

/// Returns a dynamic row's field as a string.
///
/// See [`NamedFields`].
pub fn in_fields<'r>(row: &'r Fields, name: &str) -> Result<Cow<'r, str>, Box<FieldError>> {
    row.check_finite(name)?;
    match row.get(name) {
        Some(Value::Null) => Err(null(name)),
        Some(value) => to_string(value).map_err(|TooDeep| unreadable(name, &TooDeep)),
        None if name == WHOLE => {
            let is_deep = row.iter().any(|(_, value)| is_too_deep(value));
            if is_deep {
                Err(unreadable(name, &TooDeep))
            } else {
                Ok(json(row))
            }
        }
        None => Err(FieldError::missing(name.to_owned(), row.keys())),
    }
}

#[diagnostic::do_not_recommend]
impl<R: Record> NamedFields for R {
    fn text_of(&self, name: &str) -> Result<Cow<'_, str>, Box<FieldError>> {
        if let Some(Given::Text(text)) = self.given(name) {
            return Ok(Cow::Borrowed(text));
        }
        let names = || R::FIELDS.iter().map(|field| field.name);
        let mut row = Fields::default();
        for field in names().filter(|field| name == WHOLE || *field == name) {
            let given = self.given(field).unwrap_or(Given::Value(Value::Null));
            row.insert(field, value(field, given)?);
        }
        match row.is_empty() && name != WHOLE {
            true => Err(FieldError::missing(name.to_owned(), names())),
            false => in_fields(&row, name).map(|text| Cow::Owned(text.into_owned())),
        }
    }
}

fn value(name: &str, given: Given<'_>) -> Result<Value, Box<FieldError>> {
    match given {
        Given::Text(text) => Ok(text.into()),
        Given::Value(value) => Ok(value),
        Given::Opaque => Err(unreadable(
            name,
            &"a value whose type does not implement `Serialize`",
        )),
        Given::Failed(reason) => Err(unreadable(name, &reason)),
    }
}

fn null(name: &str) -> Box<FieldError> {
    FieldError::wrong_type(name.to_owned(), EXPECTED, None)
}

fn unreadable(name: &str, found: &dyn std::fmt::Display) -> Box<FieldError> {
    FieldError::wrong_type(name.to_owned(), EXPECTED, Some(found.to_string()))
}

/// Returns a value as a string.
fn to_string(value: &Value) -> Result<Cow<'_, str>, TooDeep> {
    match value {
        Value::String(text) => Ok(Cow::Borrowed(text)),
        Value::Null => Ok(Cow::Borrowed("")),
        deep if is_too_deep(deep) => Err(TooDeep),
        other => Ok(json(other)),
    }
}

/// Converts a value or row to JSON.
///
/// Serialization is recursive, so callers must check the depth first.
pub fn json(value: &impl Serialize) -> Cow<'static, str> {
    // Values and rows contain only what JSON can represent.
    Cow::Owned(serde_json::to_string(value).unwrap_or_default())
}

/// Returns the spec with the configured field names.
///
/// `names` identifies each field by its side of the row and its position on that side.
pub fn configured(
    spec: MetricSpec<'static>,
    names: &[((Side, usize), &str)],
) -> MetricSpec<'static> {
    let side = |side, fields: &'static [FieldSpec<'static>]| {
        let named = |index| {
            let name = names.iter().find(|(field, _)| *field == (side, index));
            name.map(|(_, name)| *name)
        };
        let is_own = |(index, field): (usize, &FieldSpec<'_>)| {
            named(index).is_none_or(|name| name == field.name)
        };
        if fields.iter().enumerate().all(is_own) {
            return fields;
        }
        let field = |(index, field): (usize, &FieldSpec<'static>)| match named(index) {
            Some(WHOLE) => None,
            name => Some(FieldSpec {
                name: name.map_or(field.name, intern),
                ..*field
            }),
        };
        let fields = fields.iter().enumerate().filter_map(field);
        intern_fields(&fields.collect::<Vec<_>>())
    };
    let (gold, pred) = (side(Side::Gold, spec.gold), side(Side::Pred, spec.pred));
    let only_fields = spec.only_fields && names.iter().all(|(_, name)| *name != WHOLE);
    MetricSpec {
        only_fields,
        ..spec.with_fields(gold, pred)
    }
}

/// Values that live as long as the process, without duplicates. There are few of them.
type Interned<T> = Mutex<Option<HashSet<&'static T>>>;

fn interned<T: Eq + Hash + ?Sized>(
    all: &Interned<T>,
    value: &T,
    leak: impl FnOnce() -> &'static T,
) -> &'static T {
    // A panic cannot leave the set inconsistent, so a poisoned lock is safe to use.
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    let all = all.get_or_insert_default();
    all.get(value).copied().unwrap_or_else(|| {
        let leaked = leak();
        all.insert(leaked);
        leaked
    })
}

/// Interns a list of fields, because a spec contains `'static` references.
pub(crate) fn intern_fields(fields: &[FieldSpec<'static>]) -> &'static [FieldSpec<'static>] {
    static FIELDS: Interned<[FieldSpec<'static>]> = Mutex::new(None);
    interned(&FIELDS, fields, || fields.to_vec().leak())
}

/// Interns a name and returns it as a static string.
pub fn intern(name: &str) -> &'static str {
    static NAMES: Interned<str> = Mutex::new(None);
    interned(&NAMES, name, || name.to_owned().leak())
}

#[cfg(test)]
mod tests {
    use super::intern;

    #[test]
    fn equal_names_are_interned_once() {
        let (first, again) = (intern("format"), intern(&String::from("format")));
        assert!(std::ptr::eq(first, again));
        assert_eq!([first, intern("length")], ["format", "length"]);
    }
}
