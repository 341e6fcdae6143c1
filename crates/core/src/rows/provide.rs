//! Conversions from a record's field types to a metric's parameter types. The target forms are in `fields.rs`.
#![allow(
    missing_docs,
    reason = "hidden plumbing; each trait is documented where it is defined"
)]

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use crate::retrieval::{Relevant, Retrieved};
use crate::rows::{
    Example, FieldError, Given, MaybeOwned, NamedFields, Optional, Owned, Prediction, Raw, ReadAs,
    ReadField, Record, Ref, Slice, Text,
};
use crate::spec::FieldSpec;
use crate::trajectory::{ExpectedTrajectory, Trajectory};

/// Converts a record's field so that it can be read using `W`.
pub trait Provide<'r, W: ReadAs<'r>> {
    fn provide(&'r self) -> W::Output;
}

impl<'r, T: Clone> Provide<'r, Owned<T>> for T {
    fn provide(&'r self) -> T {
        self.clone()
    }
}

impl<'r, T: 'r> Provide<'r, Ref<T>> for T {
    fn provide(&'r self) -> MaybeOwned<'r, T, T> {
        MaybeOwned::Borrowed(self)
    }
}

impl<'r, T: 'r> Provide<'r, Slice<T>> for Vec<T> {
    fn provide(&'r self) -> MaybeOwned<'r, [T], Self> {
        MaybeOwned::Borrowed(self)
    }
}

impl<'r> Provide<'r, Slice<&'r str>> for Vec<String> {
    fn provide(&'r self) -> MaybeOwned<'r, [&'r str], Vec<&'r str>> {
        MaybeOwned::Owned(self.iter().map(String::as_str).collect())
    }
}

impl<'r> Provide<'r, Owned<Vec<&'r str>>> for Vec<String> {
    fn provide(&'r self) -> Vec<&'r str> {
        self.iter().map(String::as_str).collect()
    }
}

impl<'r> Provide<'r, Raw> for Value {
    fn provide(&'r self) -> &'r Value {
        self
    }
}

macro_rules! provide_str {
    ($($text:ty),*) => {$(
        impl<'r> Provide<'r, Text> for $text {
            fn provide(&'r self) -> &'r str {
                self
            }
        }
    )*};
}
provide_str!(String, &'static str, Box<str>, Arc<str>, Cow<'static, str>);

macro_rules! provide_number {
    ($($from:ty => $($into:ty),*;)*) => {$($(
        impl<'r> Provide<'r, Owned<$into>> for $from {
            fn provide(&'r self) -> $into {
                <$into>::from(*self)
            }
        }
    )*)*};
}
provide_number! {
    f32 => f64;
    i8 => i16, i32, i64, f32, f64;
    i16 => i32, i64, f32, f64;
    i32 => i64, f64;
    u8 => u16, u32, u64, i16, i32, i64, f32, f64;
    u16 => u32, u64, i32, i64, f32, f64;
    u32 => u64, i64, f64;
}

impl<'r, W: ReadAs<'r>, T: Provide<'r, W>> Provide<'r, Optional<W>> for Option<T> {
    fn provide(&'r self) -> Option<W::Output> {
        self.as_ref().map(Provide::provide)
    }
}

macro_rules! always_provided {
    ($([$($generics:tt)*] $present:ty),* $(,)?) => {$(
        impl<'r, W: ReadAs<'r>, $($generics)*> Provide<'r, Optional<W>> for $present
        where
            Self: Provide<'r, W>,
        {
            fn provide(&'r self) -> Option<W::Output> {
                Some(Provide::<W>::provide(self))
            }
        }
    )*};
}
always_provided! {
    [] String, [] &'static str, [] Box<str>, [] Arc<str>, [] Cow<'static, str>, [] Value,
    [] bool, [] f32, [] f64, [] i8, [] i16, [] i32, [] i64, [] isize, [] u8, [] u16, [] u32, [] u64,
    [] usize, [T] Vec<T>, [] Trajectory, [] ExpectedTrajectory,
}

impl<'r> Provide<'r, Ref<ExpectedTrajectory>> for Trajectory {
    fn provide(&'r self) -> MaybeOwned<'r, ExpectedTrajectory, ExpectedTrajectory> {
        MaybeOwned::Owned(self.clone().into())
    }
}

impl<'r> Provide<'r, Owned<Relevant<'r>>> for Vec<String> {
    fn provide(&'r self) -> Relevant<'r> {
        Relevant::listed(self.iter().map(String::as_str))
    }
}

impl<'r> Provide<'r, Owned<Retrieved<'r>>> for Vec<String> {
    fn provide(&'r self) -> Retrieved<'r> {
        Retrieved::ranked(self.iter().map(String::as_str))
    }
}

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
