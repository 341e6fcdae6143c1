//! Rows behind a reference, an `Arc`, an `Rc` or a `Box`: they have the fields of the row that they point to.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use crate::core::field_error::FieldError;
use crate::core::rows::by_name::{Given, NamedFields};
use crate::core::rows::dynamic::{Example, Prediction};
use crate::core::rows::fields::{Get, Record, Want};
use crate::core::spec::FieldSpec;

macro_rules! rows_behind {
    ($($pointer:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<'r, N, W: Want<'r>, R: Get<'r, N, W>> Get<'r, N, W> for $pointer {
            fn get(&'r self, field: &FieldSpec<'static>) -> Result<W::Held, Box<FieldError>> {
                R::get(self, field)
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
rows_behind!(&R, Arc<R>, Rc<R>, Box<R>);

macro_rules! dynamic_rows_behind {
    ($($pointer:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl NamedFields for $pointer {
            fn text_of(&self, name: &str) -> Result<Cow<'_, str>, Box<FieldError>> {
                (**self).text_of(name)
            }
        }
    )*};
}
dynamic_rows_behind!(&Example, Arc<Example>, Rc<Example>, Box<Example>);
dynamic_rows_behind!(&Prediction, Arc<Prediction>, Rc<Prediction>, Box<Prediction>);
