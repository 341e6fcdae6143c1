//! Types of fields that several metrics read: labels, and values that rows write in two ways.

/// Lets fields of typed rows be read as a parameter of a metric.
macro_rules! provide {
    ($($from:ty => $to:ty: |$value:ident| $given:expr;)*) => {$(
        impl<'r> $crate::rows::provide::Provide<'r, $crate::rows::fields::Owned<$to>> for $from {
            fn provide(&'r self) -> $to {
                let $value = self;
                $given
            }
        }
    )*};
}

mod label;
mod str_or_list;
mod text_or_list;

pub use label::{Label, StrOrNumber, Truth};
pub use str_or_list::StrOrList;
pub use text_or_list::{References, TextOrList};
