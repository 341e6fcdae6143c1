//! Conversions from the field types of a record to the parameter types of a metric. The target forms are in `fields.rs`.
#![allow(missing_docs, reason = "hidden plumbing; what each trait promises is said at the trait")]

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use crate::core::rows::fields::{Lent, Optional, Owned, Raw, Ref, Slice, Text, Want};
use crate::retrieval::{Relevant, Retrieved};

/// Converts a record's field to the form `W`.
pub trait Give<'r, W: Want<'r>> {
    fn give(&'r self) -> W::Held;
}

impl<'r, T: Clone> Give<'r, Owned<T>> for T {
    fn give(&'r self) -> T {
        self.clone()
    }
}

impl<'r, T: 'r> Give<'r, Ref<T>> for T {
    fn give(&'r self) -> Lent<'r, T, T> {
        Lent::Borrowed(self)
    }
}

impl<'r, T: 'r> Give<'r, Slice<T>> for Vec<T> {
    fn give(&'r self) -> Lent<'r, [T], Self> {
        Lent::Borrowed(self)
    }
}

impl<'r> Give<'r, Slice<&'r str>> for Vec<String> {
    fn give(&'r self) -> Lent<'r, [&'r str], Vec<&'r str>> {
        Lent::Owned(self.iter().map(String::as_str).collect())
    }
}

impl<'r> Give<'r, Owned<Vec<&'r str>>> for Vec<String> {
    fn give(&'r self) -> Vec<&'r str> {
        self.iter().map(String::as_str).collect()
    }
}

impl<'r> Give<'r, Raw> for Value {
    fn give(&'r self) -> &'r Value {
        self
    }
}

macro_rules! give_str {
    ($($text:ty),*) => {$(
        impl<'r> Give<'r, Text> for $text {
            fn give(&'r self) -> &'r str {
                self
            }
        }
    )*};
}
give_str!(String, &'static str, Box<str>, Arc<str>, Cow<'static, str>);

macro_rules! give_number {
    ($($from:ty => $($into:ty),*;)*) => {$($(
        impl<'r> Give<'r, Owned<$into>> for $from {
            fn give(&'r self) -> $into {
                <$into>::from(*self)
            }
        }
    )*)*};
}
give_number! {
    f32 => f64;
    i8 => i16, i32, i64, f32, f64;
    i16 => i32, i64, f32, f64;
    i32 => i64, f64;
    u8 => u16, u32, u64, i16, i32, i64, f32, f64;
    u16 => u32, u64, i32, i64, f32, f64;
    u32 => u64, i64, f64;
}

impl<'r, W: Want<'r>, T: Give<'r, W>> Give<'r, Optional<W>> for Option<T> {
    fn give(&'r self) -> Option<W::Held> {
        self.as_ref().map(Give::give)
    }
}

macro_rules! always_given {
    ($([$($generics:tt)*] $present:ty),* $(,)?) => {$(
        impl<'r, W: Want<'r>, $($generics)*> Give<'r, Optional<W>> for $present
        where
            Self: Give<'r, W>,
        {
            fn give(&'r self) -> Option<W::Held> {
                Some(Give::<W>::give(self))
            }
        }
    )*};
}
always_given! {
    [] String, [] &'static str, [] Box<str>, [] Arc<str>, [] Cow<'static, str>, [] Value,
    [] bool, [] f32, [] f64, [] i8, [] i16, [] i32, [] i64, [] isize, [] u8, [] u16, [] u32, [] u64,
    [] usize, [T] Vec<T>,
}

impl<'r> Give<'r, Owned<Relevant<'r>>> for Vec<String> {
    fn give(&'r self) -> Relevant<'r> {
        Relevant::listed(self.iter().map(String::as_str))
    }
}

impl<'r> Give<'r, Owned<Retrieved<'r>>> for Vec<String> {
    fn give(&'r self) -> Retrieved<'r> {
        Retrieved::ranked(self.iter().map(String::as_str))
    }
}
