//! The rows that a typed metric's `score` accepts, and the fields that its parameters read. It accepts rows of its own
//! type, and dynamic rows that can be read as that type.

use std::marker::PhantomData;
use std::ops::Deref;

use crate::rows::{Example, Fields, MaybeOwned, Prediction, RowType};
use crate::score::{MetricError, MetricErrorKind, Result};
use crate::spec::{MetricSpec, Side};

/// A row that can be read as the type `T`.
///
/// `D` is the dynamic row type: `Example` for gold rows, or `Prediction` for predictions. `Kind` distinguishes the
/// impls, and the compiler infers it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a row of type `{T}`",
    label = "expected a `{T}`",
    note = "pass a reference to a `{T}`; to score the dynamic row `{D}`, derive `serde::Deserialize` for `{T}`"
)]
pub trait TypedRow<'r, T, D, Kind> {
    /// Returns the row as the type `T`.
    ///
    /// Returns an error if a dynamic row cannot be read as `T`.
    ///
    /// `expected` is the name of `T` in messages.
    ///
    /// # Errors
    /// Returns the same errors as [`read_row`].
    fn typed(
        &'r self,
        spec: &MetricSpec<'_>,
        side: Side,
        expected: &'static str,
    ) -> Result<MaybeOwned<'r, T, T>>;
}

/// A field of a typed row that can be read as `T` or `&T`.
///
/// `Kind` distinguishes the impls, and the compiler infers it.
#[diagnostic::on_unimplemented(
    message = "a field of type `{Self}` cannot be read as `{T}`",
    label = "the field is a `{Self}`",
    note = "write the field's type for the parameter, `{Self}`, or its borrowed form, such as `&str` for `String` and `Option<&str>` for `Option<String>`"
)]
pub trait TypedField<T: ?Sized, Kind> {
    /// Returns a reference to the field.
    fn typed_field(&self) -> &T;
}

#[diagnostic::do_not_recommend]
impl<T: ?Sized> TypedField<T, Itself> for T {
    fn typed_field(&self) -> &T {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<T: ?Sized, Kind, P: Deref<Target: TypedField<T, Kind>>> TypedField<T, Pointer<Kind>> for P {
    fn typed_field(&self) -> &T {
        (**self).typed_field()
    }
}

/// Marks a row that already has the requested type.
#[derive(Debug)]
pub enum Itself {}

/// Marks a `Box`, `Arc`, `Rc` or reference to a row.
///
/// `Kind` is the kind of the row.
#[derive(Debug)]
pub struct Pointer<Kind>(PhantomData<Kind>);

/// Marks a row whose fields are known only at run time.
#[derive(Debug)]
pub enum Dynamic {}

#[diagnostic::do_not_recommend]
impl<'r, T: 'r, D> TypedRow<'r, T, D, Itself> for T {
    fn typed(
        &'r self,
        _: &MetricSpec<'_>,
        _: Side,
        _: &'static str,
    ) -> Result<MaybeOwned<'r, T, T>> {
        Ok(MaybeOwned::Borrowed(self))
    }
}

#[diagnostic::do_not_recommend]
impl<'r, T, D, Kind, P> TypedRow<'r, T, D, Pointer<Kind>> for P
where
    P: Deref<Target: TypedRow<'r, T, D, Kind> + 'r>,
{
    fn typed(
        &'r self,
        spec: &MetricSpec<'_>,
        side: Side,
        expected: &'static str,
    ) -> Result<MaybeOwned<'r, T, T>> {
        (**self).typed(spec, side, expected)
    }
}

macro_rules! dynamic {
    ($($row:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<'r, T: RowType<'r>> TypedRow<'r, T, $row, Dynamic> for $row {
            fn typed(
                &'r self,
                spec: &MetricSpec<'_>,
                side: Side,
                expected: &'static str,
            ) -> Result<MaybeOwned<'r, T, T>> {
                read_row(&self.data, spec, side, expected).map(MaybeOwned::Owned)
            }
        }
    )*};
}
dynamic!(Example, Prediction);

/// Reads a whole row as a user-defined type.
///
/// # Errors
/// Returns [`MetricErrorKind::Row`] with the deserializer's message.
pub fn read_row<'r, T: RowType<'r>>(
    row: &'r Fields,
    spec: &MetricSpec<'_>,
    side: Side,
    expected: &'static str,
) -> Result<T> {
    T::read(row).map_err(|reason| {
        if let Some(field) = row.special.as_ref().and_then(|it| it.not_finite.first()) {
            let error = *crate::rows::FieldError::not_finite(field);
            return MetricError::field(spec.name, side, error);
        }
        let kind = MetricErrorKind::Row {
            side,
            expected: expected.to_owned(),
            reason: reason.to_string(),
        };
        MetricError::new(spec.name, kind)
    })
}
