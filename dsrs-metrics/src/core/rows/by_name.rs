//! Fields whose name is configured: `#[pred(named_by = field)]`. They are found while a metric runs, in dynamic rows
//! and in rows that derive [`Record`], and given as text; the spec of a metric names the ones that it was told to read.
#![allow(missing_docs, reason = "hidden plumbing; what each trait promises is said at the trait")]

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::core::error::FieldError;
use crate::core::rows::dynamic::{Example, Fields, Prediction};
use crate::core::rows::fields::Record;
use crate::core::spec::{FieldSpec, MetricSpec, Side};
use crate::json::depth::{self, TooDeep};

/// What stands for the whole row instead of one of its fields.
pub(crate) const WHOLE: &str = "*";

/// A row gives the field of a name as text: text as it is, `null` as nothing, anything else as the JSON that it is.
/// `*` is the whole row as JSON, unless a field is called so.
#[diagnostic::on_unimplemented(
    message = "the fields of `{Self}` cannot be found by their names, which a metric's parameter says",
    label = "not a row with named fields",
    note = "give the row `#[derive(Record)]`, or use `Example` and `Prediction`"
)]
pub trait NamedFields {
    /// # Errors
    /// [`FieldError`] if there is no such field, or none that can be said as text.
    fn text_of(&self, name: &str) -> Result<Cow<'_, str>, Box<FieldError>>;
}

/// A record's field, as it can be had without knowing its type.
#[derive(Debug, Clone, PartialEq)]
pub enum Given<'r> {
    Text(&'r str),
    Value(Value),
    /// Its type cannot be serialized.
    Opaque,
    /// Serializing it failed, for this reason.
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

pub(crate) fn in_fields<'r>(row: &'r Fields, name: &str) -> Result<Cow<'r, str>, Box<FieldError>> {
    match row.get(name) {
        Some(value) => written(value).map_err(|TooDeep| unreadable(name, &TooDeep)),
        None if name == WHOLE => {
            let is_deep = row.iter().any(|(_, value)| depth::is_too_deep(value));
            if is_deep { Err(unreadable(name, &TooDeep)) } else { Ok(json(row)) }
        }
        None => Err(missing(name, row.keys().map(str::to_owned).collect())),
    }
}

#[diagnostic::do_not_recommend]
impl<R: Record> NamedFields for R {
    fn text_of(&self, name: &str) -> Result<Cow<'_, str>, Box<FieldError>> {
        match self.given(name) {
            Some(Given::Text(text)) => Ok(Cow::Borrowed(text)),
            Some(given) => {
                let value = value(name, given)?;
                written(&value)
                    .map(|text| Cow::Owned(text.into_owned()))
                    .map_err(|TooDeep| unreadable(name, &TooDeep))
            }
            None if name == WHOLE => whole(self),
            None => Err(missing(name, names::<R>().map(str::to_owned).collect())),
        }
    }
}

fn names<R: Record>() -> impl Iterator<Item = &'static str> {
    R::FIELDS.iter().map(|field| field.name)
}

fn whole<R: Record>(row: &R) -> Result<Cow<'static, str>, Box<FieldError>> {
    let mut fields = Map::new();
    for name in names::<R>() {
        let given = row.given(name).unwrap_or(Given::Value(Value::Null));
        let value = value(name, given)?;
        if depth::is_too_deep(&value) {
            return Err(unreadable(name, &TooDeep));
        }
        fields.insert(name.to_owned(), value);
    }
    Ok(json(&fields))
}

fn value(name: &str, given: Given<'_>) -> Result<Value, Box<FieldError>> {
    match given {
        Given::Text(text) => Ok(text.into()),
        Given::Value(value) => Ok(value),
        Given::Opaque => {
            Err(unreadable(name, &"a value whose type does not implement `Serialize`"))
        }
        Given::Failed(reason) => Err(unreadable(name, &reason)),
    }
}

fn missing(name: &str, present: Vec<String>) -> Box<FieldError> {
    Box::new(FieldError::Missing { field: name.to_owned().into(), present })
}

fn unreadable(name: &str, found: &dyn std::fmt::Display) -> Box<FieldError> {
    let (field, found) = (name.to_owned().into(), found.to_string());
    Box::new(FieldError::WrongType {
        field,
        expected: "a string, or a value that can be written as JSON".into(),
        found,
    })
}

/// A value as text.
fn written(value: &Value) -> Result<Cow<'_, str>, TooDeep> {
    match value {
        Value::String(text) => Ok(Cow::Borrowed(text)),
        Value::Null => Ok(Cow::Borrowed("")),
        deep if depth::is_too_deep(deep) => Err(TooDeep),
        other => Ok(json(other)),
    }
}

/// A value or row as JSON. It is written by recursion, so it is not too deep.
pub(crate) fn json(value: &impl Serialize) -> Cow<'static, str> {
    // Values and rows hold only what JSON can say.
    Cow::Owned(serde_json::to_string(value).unwrap_or_default())
}

/// A record's field of any type. `(&Shown(..)).given()` is that of the first of three that the type allows: text, what
/// can be serialized, anything; so a macro need not know which it is.
#[derive(Debug)]
pub struct Shown<'r, T>(pub &'r T);

impl<'r, T: AsText> Shown<'r, T> {
    #[must_use]
    pub fn given(&self) -> Given<'r> {
        Given::Text(self.0.as_text())
    }
}

/// A text, wherever it is kept.
pub trait AsText {
    fn as_text(&self) -> &str;
}

macro_rules! as_text {
    ($($text:ty),*) => {$(
        impl AsText for $text {
            fn as_text(&self) -> &str {
                self
            }
        }
    )*};
}
as_text!(String, &str, Box<str>, Arc<str>, Cow<'_, str>);

pub trait Serialized<'r> {
    fn given(&self) -> Given<'r>;
}

impl<'r, T: Serialize> Serialized<'r> for Shown<'r, T> {
    fn given(&self) -> Given<'r> {
        match serde_json::to_value(self.0) {
            Ok(value) => Given::Value(value),
            Err(error) => Given::Failed(format!("a value that cannot be serialized: {error}")),
        }
    }
}

pub trait Opaque<'r> {
    fn given(&self) -> Given<'r>;
}

impl<'r, T> Opaque<'r> for &Shown<'r, T> {
    fn given(&self) -> Given<'r> {
        Given::Opaque
    }
}

/// The spec of a metric whose parameters name these fields, each by half of the row and place among its fields.
#[must_use]
pub fn configured(
    spec: MetricSpec<'static>,
    names: &[((Side, usize), &str)],
) -> MetricSpec<'static> {
    let side = |side, fields: &'static [FieldSpec<'static>]| {
        let named = |index| {
            let name = names.iter().find(|((of, place), _)| (*of, *place) == (side, index));
            name.map(|(_, name)| *name)
        };
        if fields
            .iter()
            .enumerate()
            .all(|(index, it)| named(index).is_none_or(|name| name == it.name))
        {
            return fields;
        }
        let fields = fields.iter().enumerate().filter_map(|(index, field)| match named(index) {
            Some(WHOLE) => None,
            Some(name) => {
                Some(FieldSpec { name: crate::core::interned_names::word(name), ..*field })
            }
            None => Some(*field),
        });
        kept(fields.collect())
    };
    let (gold, pred) = (side(Side::Gold, spec.gold), side(Side::Pred, spec.pred));
    spec.with_fields(gold, pred)
}

/// A list of fields, kept as long as the program runs: a spec lends what it says. There are few, and each is kept once.
fn kept(fields: Vec<FieldSpec<'static>>) -> &'static [FieldSpec<'static>] {
    static KNOWN: Mutex<Option<HashSet<&'static [FieldSpec<'static>]>>> = Mutex::new(None);
    // A set is whole between any two of its operations.
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    known.get(&*fields).copied().unwrap_or_else(|| {
        let fields: &'static [FieldSpec<'static>] = fields.leak();
        known.insert(fields);
        fields
    })
}
