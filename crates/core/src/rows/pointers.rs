//! Rows behind a reference, an `Arc`, an `Rc` or a `Box`: they have the fields of the row that they point to.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use crate::rows::by_name::{Given, NamedFields};
use crate::rows::dynamic::{Example, Prediction};
use crate::rows::field_error::FieldError;
use crate::rows::fields::{ReadAs, ReadField, Record};
use crate::spec::FieldSpec;

macro_rules! pointers_to_rows {
    ($($pointer:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<'r, N, W: ReadAs<'r>, R: ReadField<'r, N, W>> ReadField<'r, N, W> for $pointer {
            fn read_field(&'r self, field: &FieldSpec<'static>) -> Result<W::Output, Box<FieldError>> {
                R::read_field(self, field)
            }

            fn present(&self) -> Option<Vec<String>> {
                R::present(self)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<R: Record> Record for $pointer {
            const FIELDS: &'static [FieldSpec<'static>] = R::FIELDS;

            fn given(&self, name: &str) -> Option<Given<'_>> {
                R::given(self, name)
            }
        }
    )*};
}
pointers_to_rows!(&R, Arc<R>, Rc<R>, Box<R>);

macro_rules! pointers_to_dynamic_rows {
    ($($pointer:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl NamedFields for $pointer {
            fn text_of(&self, name: &str) -> Result<Cow<'_, str>, Box<FieldError>> {
                (**self).text_of(name)
            }
        }
    )*};
}
pointers_to_dynamic_rows!(&Example, Arc<Example>, Rc<Example>, Box<Example>);
pointers_to_dynamic_rows!(
    &Prediction,
    Arc<Prediction>,
    Rc<Prediction>,
    Box<Prediction>
);
