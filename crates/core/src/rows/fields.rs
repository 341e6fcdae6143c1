//! Binds a metric's field parameters to rows. The same traits serve dynamic rows (looked up and type-checked at run
//! time) and rows that derive [`Record`] (read directly, checked by rustc).
//!
//! A [`ReadAs`] (`Text`, `Slice<T>`, ...) is the form that a parameter requires. A field name is encoded as a type, a
//! list of `Name`s, so `derive(Record)` and `#[metric]` agree on it. All items except [`Record`] are hidden:
//! `#[metric]` generates its own diagnostics for them.
//!
//! The file is long because each form has one impl for typed rows and one for dynamic rows, to read side by side.
#![allow(
    missing_docs,
    reason = "hidden plumbing; each trait is documented where it is defined"
)]

use std::borrow::Borrow;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::Deserialize;
use serde_json::Value;

use crate::json::read::is_not_finite;
use crate::json::{TooDeep, found, is_too_deep};
use crate::rows::{Absent, Cell, Example, FieldError, Fields, Given, Prediction, read_fields};
use crate::spec::FieldSpec;

/// A row type whose fields are known at compile time.
///
/// Metrics over dynamic rows can score a record without conversion.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// #[metric]
/// fn same_intent(#[gold] expected_intent: &str, #[pred] intent: &str) -> bool {
///     expected_intent == intent
/// }
///
/// #[derive(Record)]
/// struct Gold {
///     expected_intent: String,
/// }
///
/// #[derive(Record)]
/// struct Answer {
///     intent: String,
/// }
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = Gold { expected_intent: "temporal".to_owned() };
/// let answer = Answer { intent: "temporal".to_owned() };
/// assert_eq!(SameIntent.score(&gold, &answer)?.value, 1.0);
/// # Ok(())
/// # }
/// ```
///
/// If the metric reads a field that the row lacks, the compiler reports an error:
///
/// ```compile_fail
/// use dsrs_metrics::prelude::*;
///
/// #[metric]
/// fn is_short(#[pred] answer: &str) -> bool {
///     answer.len() < 10
/// }
///
/// #[derive(Record)]
/// struct Answer {
///     text: String,
/// }
///
/// let answer = Answer { text: "Paris".to_owned() };
/// // `Answer` has no field `answer` that can be read as `&str`
/// IsShort.score(&example! {}, &answer);
/// ```
pub trait Record {
    /// The fields and their types, in declaration order.
    const FIELDS: &'static [FieldSpec<'static>];

    /// Returns the value of a field whose name is known only at run time.
    #[doc(hidden)]
    fn given(&self, name: &str) -> Option<Given<'_>> {
        let _ = name;
        None
    }
}

/// A type that encodes sixteen bytes of a field's name.
#[derive(Debug)]
pub enum Name<const BYTES: u128> {}

/// A record with a field named `N`.
pub trait Field<N> {
    type Type;
    fn field(&self) -> &Self::Type;
}

/// A row whose field `N` can be read using `W`.
pub trait ReadField<'r, N, W: ReadAs<'r>> {
    fn read_field(&'r self, field: &FieldSpec<'static>) -> Result<W::Output, Box<FieldError>>;

    /// Returns the names of the row's fields.
    ///
    /// Returns `None` for a record, which always has all of its fields.
    fn present(&self) -> Option<Vec<String>> {
        None
    }
}

/// Describes how a parameter reads a field.
///
/// `Output` is the value's type. The value lives as long as the call.
pub trait ReadAs<'r> {
    type Output;
}

/// Marks a parameter that reads a field as `&str`.
#[derive(Debug)]
pub enum Text {}
/// Marks a parameter that reads a field as `&Value`.
#[derive(Debug)]
pub enum Raw {}
/// Marks a parameter that reads a field as `&[T]`.
#[derive(Debug)]
pub struct Slice<T>(PhantomData<T>);
/// Marks a parameter that reads a field as `&T`.
#[derive(Debug)]
pub struct Ref<T>(PhantomData<T>);
/// Marks a parameter that reads a field as `T`.
#[derive(Debug)]
pub struct Owned<T>(PhantomData<T>);

/// Marks a parameter that reads an optional field using `W`.
#[derive(Debug)]
pub struct Optional<W>(PhantomData<W>);

/// A borrowed or owned value that dereferences to `B`.
#[derive(Debug)]
pub enum MaybeOwned<'r, B: ?Sized, O> {
    Borrowed(&'r B),
    Owned(O),
}

impl<B: ?Sized, O: Borrow<B>> Deref for MaybeOwned<'_, B, O> {
    type Target = B;

    fn deref(&self) -> &B {
        match self {
            Self::Borrowed(borrowed) => borrowed,
            Self::Owned(owned) => owned.borrow(),
        }
    }
}

impl<'r> ReadAs<'r> for Text {
    type Output = &'r str;
}
impl<'r> ReadAs<'r> for Raw {
    type Output = &'r Value;
}
impl<'r, T: 'r> ReadAs<'r> for Slice<T> {
    type Output = MaybeOwned<'r, [T], Vec<T>>;
}
impl<'r, T: 'r> ReadAs<'r> for Ref<T> {
    type Output = MaybeOwned<'r, T, T>;
}
impl<'r, T> ReadAs<'r> for Owned<T> {
    type Output = T;
}
impl<'r, W: ReadAs<'r>> ReadAs<'r> for Optional<W> {
    type Output = Option<W::Output>;
}

/// A type that can be read from a field in a dynamic row.
///
/// This trait is implemented for every type that implements `serde::Deserialize`.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// #[derive(serde::Deserialize, PartialEq)]
/// #[serde(rename_all = "snake_case")]
/// enum Label {
///     Spam,
///     Ham,
/// }
///
/// #[metric]
/// fn same_label(#[gold] label: Label, #[pred("label")] predicted: Label) -> bool {
///     label == predicted
/// }
///
/// let (gold, pred) = (example! { "label" => "spam" }, prediction! { "label" => "ham" });
/// assert_eq!(SameLabel.score(&gold, &pred)?.value, 0.0);
/// # Ok::<(), dsrs_metrics::MetricError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a row's field",
    label = "not a field type",
    note = "a field parameter is `&str`, `String`, `bool`, a number, `&[String]`, `Vec<_>`, `&Value`,\nor any type that derives `serde::Deserialize` (a type parameter: `T: serde::de::DeserializeOwned`);\nan `Option` of these makes the field optional"
)]
pub trait FieldType<'r>: Sized {
    /// Reads a value from a row.
    ///
    /// `textual` is true if the value comes from an untyped format such as CSV.
    #[doc(hidden)]
    fn read(value: &'r Value, textual: bool) -> serde_json::Result<Self>;
}

#[diagnostic::do_not_recommend]
impl<'r, T: Deserialize<'r>> FieldType<'r> for T {
    fn read(value: &'r Value, textual: bool) -> serde_json::Result<Self> {
        match value {
            Value::String(text) if textual => T::deserialize(Cell::new(text)),
            deep if is_too_deep(deep) => Err(serde::de::Error::custom(TooDeep)),
            value => T::deserialize(value),
        }
    }
}

/// Describes how to read a value from a dynamic row.
pub trait ReadValue<'r>: ReadAs<'r> + Sized {
    fn read(value: &'r Value, textual: bool) -> serde_json::Result<Self::Output>;

    /// Reads a field from a row.
    fn read_from(
        row: &'r Fields,
        field: &FieldSpec<'static>,
    ) -> Result<Self::Output, Box<FieldError>> {
        let Some(value) = row.get(field.name) else {
            return Err(FieldError::missing(field.name, row.keys()));
        };
        read_value::<Self>(value, row.is_cell(field.name), field)
    }
}

impl<'r, W: ReadValue<'r>> ReadValue<'r> for Optional<W> {
    fn read(value: &'r Value, textual: bool) -> serde_json::Result<Option<W::Output>> {
        W::read(value, textual).map(Some)
    }

    fn read_from(
        row: &'r Fields,
        field: &FieldSpec<'static>,
    ) -> Result<Option<W::Output>, Box<FieldError>> {
        match row.get(field.name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if row.textual && text.is_empty() => Ok(None),
            Some(value) => read_value::<W>(value, row.is_cell(field.name), field).map(Some),
        }
    }
}

impl<'r> ReadValue<'r> for Text {
    fn read(value: &'r Value, _: bool) -> serde_json::Result<&'r str> {
        <&str>::deserialize(value)
    }
}

impl<'r> ReadValue<'r> for Raw {
    fn read(value: &'r Value, _: bool) -> serde_json::Result<&'r Value> {
        Ok(value)
    }
}

impl<'r, T: 'r> ReadValue<'r> for Slice<T>
where
    Vec<T>: FieldType<'r>,
{
    fn read(value: &'r Value, textual: bool) -> serde_json::Result<Self::Output> {
        FieldType::read(value, textual).map(MaybeOwned::Owned)
    }
}

impl<'r, T: FieldType<'r> + 'r> ReadValue<'r> for Ref<T> {
    fn read(value: &'r Value, textual: bool) -> serde_json::Result<Self::Output> {
        FieldType::read(value, textual).map(MaybeOwned::Owned)
    }
}

impl<'r, T: FieldType<'r>> ReadValue<'r> for Owned<T> {
    fn read(value: &'r Value, textual: bool) -> serde_json::Result<T> {
        FieldType::read(value, textual)
    }
}

/// A type that can be read from a whole dynamic row.
///
/// This trait is implemented for every type that implements `serde::Deserialize`.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// #[derive(serde::Deserialize)]
/// struct Sum {
///     terms: [i64; 2],
/// }
///
/// #[derive(serde::Deserialize)]
/// struct Total {
///     total: i64,
/// }
///
/// #[metric]
/// fn adds_up(gold: &Sum, pred: &Total) -> bool {
///     gold.terms[0] + gold.terms[1] == pred.total
/// }
///
/// let gold = example! { "terms" => [1, 2] };
/// assert_eq!(AddsUp.score(&gold, &prediction! { "total" => 3 })?.value, 1.0);
/// let error = AddsUp.score(&gold, &prediction! {}).unwrap_err().to_string();
/// assert_eq!(error, "metric `adds_up`: the pred row is not a `Total`: missing field `total`");
/// # Ok::<(), dsrs_metrics::MetricError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "a metric over rows of type `{Self}` cannot score an `Example` or `Prediction`, because `{Self}` cannot be read from one",
    label = "scores only rows of type `{Self}`",
    note = "derive `serde::Deserialize` for `{Self}`, or ask for a metric over its row types: `Metric<Gold, Pred>`"
)]
pub trait RowType<'r>: Sized {
    #[doc(hidden)]
    fn read(row: &'r Fields) -> serde_json::Result<Self>;
}

#[diagnostic::do_not_recommend]
impl<'r, T: Deserialize<'r>> RowType<'r> for T {
    fn read(row: &'r Fields) -> serde_json::Result<Self> {
        if row.iter().any(|(_, value)| is_too_deep(value)) {
            return Err(serde::de::Error::custom(TooDeep));
        }
        read_fields(row)
    }
}

/// Reads the field `N` from a row using `W`.
///
/// # Errors
/// Returns [`FieldError`] if the field is missing or has the wrong type.
pub fn read<'r, N, W: ReadAs<'r>, R: ReadField<'r, N, W>>(
    row: &'r R,
    field: &FieldSpec<'static>,
) -> Result<W::Output, Box<FieldError>> {
    row.read_field(field)
}

/// Reads an optional field from a prediction.
///
/// The field is `N`, and `W` is an [`Optional`]. A missing or null field is added to `absent`.
///
/// `is_visible` is `true` if the metric's function receives `None` for a missing field.
///
/// # Errors
/// Returns [`FieldError`] if the field has the wrong type.
pub fn read_or_note<'r, N, W: ReadAs<'r, Output = Option<T>>, T, R: ReadField<'r, N, W>>(
    row: &'r R,
    field: &FieldSpec<'static>,
    absent: &mut Absent,
    is_visible: bool,
) -> Result<Option<T>, Box<FieldError>> {
    let held = row.read_field(field)?;
    if held.is_none() {
        absent.add(field, row.present(), is_visible);
    }
    Ok(held)
}

fn read_value<'r, W: ReadValue<'r>>(
    value: &'r Value,
    textual: bool,
    field: &FieldSpec<'static>,
) -> Result<W::Output, Box<FieldError>> {
    W::read(value, textual).map_err(|error| unreadable(value, textual, field, &error))
}

/// Returns the error for a value that the deserializer rejects.
#[cold]
fn unreadable(
    value: &Value,
    textual: bool,
    field: &FieldSpec<'static>,
    error: &serde_json::Error,
) -> Box<FieldError> {
    let expected = field.help.or_type(field.ty);
    let found = match value {
        Value::Null => return FieldError::wrong_type(field.name, expected, None),
        // The deserializer's message names the wrong element.
        Value::Array(_) | Value::Object(_) => format!("{} ({error})", found(value)),
        Value::String(text) if textual && is_not_finite(text) => {
            return FieldError::not_finite(field.name);
        }
        Value::String(text) => {
            let found = found(value);
            match Cell::new(text).hint().filter(|_| textual) {
                Some(hint) => format!("{found}, {hint}"),
                None if textual && field.help.is_list() => {
                    let example = field.help.example().map(|it| it.trim_matches('\''));
                    let example = example
                        .map(|it| format!(" such as `{it}`"))
                        .unwrap_or_default();
                    format!("{found}; write a list as JSON{example}")
                }
                None if is_specific(error) => format!("{found} ({error})"),
                None => found,
            }
        }
        _ => found(value),
    };
    FieldError::wrong_type(field.name, expected, Some(found))
}

/// Returns `true` if the deserializer's message says more than that a string has the wrong type.
fn is_specific(error: &serde_json::Error) -> bool {
    !error.to_string().starts_with("invalid type: ")
}

macro_rules! dynamic_row {
    ($($row:ty),*) => {$(
        impl<'r, N, W: ReadValue<'r>> ReadField<'r, N, W> for $row {
            fn read_field(&'r self, field: &FieldSpec<'static>) -> Result<W::Output, Box<FieldError>> {
                self.data.check_finite(field.name)?;
                W::read_from(&self.data, field)
            }

            fn present(&self) -> Option<Vec<String>> {
                Some(self.keys().map(str::to_owned).collect())
            }
        }
    )*};
}
dynamic_row!(Example, Prediction);
