//! An internal crate of [dsrs-metrics](https://docs.rs/dsrs-metrics).
//!
//! This crate has no stable API of its own. Use `dsrs-metrics` instead.

/// Generates builder methods: `=> field = value` sets a field, and `in field.method` replaces a field with the result
/// of its method.
#[doc(hidden)]
#[macro_export]
macro_rules! setters {
    ($($(#[$doc:meta])* pub fn $name:ident($($arg:ident: $type:ty),*) => $($field:tt).+ = $value:expr;)*) => {$(
        $(#[$doc])*
        #[must_use = "the method returns the changed value"]
        pub fn $name(mut self $(, $arg: $type)*) -> Self {
            self.$($field).+ = $value;
            self
        }
    )*};
    ($($(#[$doc:meta])* pub const fn $name:ident($($arg:ident: $type:ty),*) => $($field:tt).+ = $value:expr;)*) => {$(
        $(#[$doc])*
        #[must_use = "the method returns the changed value"]
        pub const fn $name(mut self $(, $arg: $type)*) -> Self {
            self.$($field).+ = $value;
            self
        }
    )*};
    ($($(#[$doc:meta])* pub fn $name:ident($($arg:ident: $type:ty),*) in $field:ident.$method:ident;)*) => {$(
        $(#[$doc])*
        #[must_use = "the method returns the changed value"]
        pub fn $name(mut self $(, $arg: $type)*) -> Self {
            self.$field = self.$field.$method($($arg),*);
            self
        }
    )*};
}

/// Generates conversions: `Source => Target: |value| expression;`.
#[doc(hidden)]
#[macro_export]
macro_rules! conversions {
    ($($(#[$doc:meta])* $from:ty => $to:ty: |$value:ident| $made:expr;)*) => {$(
        $(#[$doc])*
        impl From<$from> for $to {
            fn from($value: $from) -> Self {
                $made
            }
        }
    )*};
}

/// Implements `Debug` for a struct with fields that cannot or should not be shown: `Type: |value| "field" => value.field`.
#[doc(hidden)]
#[macro_export]
macro_rules! debug_fields {
    ($type:ident $(<$($param:tt),*>)?: |$this:ident| $($name:literal => $value:expr),*) => {
        impl $(<$($param),*>)? ::std::fmt::Debug for $type $(<$($param),*>)? {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let $this = self;
                f.debug_struct(stringify!($type))$(.field($name, &$value))*.finish_non_exhaustive()
            }
        }
    };
}

/// Generates trait methods that forward to an inner value.
#[doc(hidden)]
#[macro_export]
macro_rules! forward_methods {
    (|$this:ident| $inner:expr; $($(#[$cfg:meta])* fn $name:ident(&self $(, $arg:ident: $type:ty)*) $(-> $output:ty)?;)*) => {$(
        $(#[$cfg])*
        fn $name(&self $(, $arg: $type)*) $(-> $output)? {
            let $this = self;
            $inner.$name($($arg),*)
        }
    )*};
}

mod bipartite;
#[doc(hidden)]
pub mod files;
pub mod json;
pub mod messages;
#[doc(hidden)]
pub mod named_files;
pub mod outcome_coupled;
pub mod retrieval;
pub mod stats;
pub mod text;
pub mod trajectory;
#[doc(hidden)]
pub mod value_type;
#[doc(hidden)]
pub mod weights;
