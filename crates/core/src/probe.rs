//! Autoref specialization: the macros call a method of a wrapper without knowing which traits the wrapped type implements.
//!
//! [`Maybe`] has an inherent method for types that implement the trait, and a fallback trait has a method with the same
//! name for all others. Rust prefers the inherent method; code that calls it imports the fallback trait.

use std::borrow::Cow;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::declared::{Requirement, Requires};
use crate::files::{MetricFile, NamesFiles};
use crate::judge::{ChecksParams, embedder_requirement};
use crate::lm::Embedder;
use crate::messages::hash;
use crate::rows::Given;
use crate::value_type::{TypeHelp, ValueType};

/// A metric, a judge, or the value of a parameter or field.
///
/// Calling `shown` on `&Maybe` selects the inherent method if the type implements `Serialize`, the method of
/// [`FallbackDebug`] if it implements `Debug`, and the method of [`FallbackShown`] otherwise. Calling `given` selects
/// the inherent method if the type is a string, the method of [`FallbackSerialize`] if it implements `Serialize`, and
/// the method of [`FallbackOpaque`] otherwise.
#[derive(Debug)]
pub struct Maybe<'a, T>(pub &'a T);

/// The fallback of [`Maybe`]: values that cannot be compared are different, a metric requires nothing, a judge accepts
/// any parameters, and a parameter names no files, is no embedding model and is not shown.
pub trait Fallback<T> {
    fn equals(&self, _: &T) -> bool {
        false
    }

    fn requires(&self) -> Option<&'static dyn Requires> {
        None
    }

    fn check_params(&self) -> Result<(), String> {
        Ok(())
    }

    fn files(&self, parameter: &str, all: &mut Vec<MetricFile>) {
        let _ = (parameter, all);
    }

    fn embedder(&self, metric: &str, all: &mut Vec<Requirement>) {
        let _ = (metric, all);
    }

    fn text(&self) -> Option<String> {
        None
    }
}

impl<T> Fallback<T> for Maybe<'_, T> {}

impl<T: PartialEq> Maybe<'_, T> {
    pub fn equals(&self, other: &T) -> bool {
        self.0 == other
    }
}

impl<'a, M: Requires> Maybe<'a, M> {
    /// Returns the metric as a trait object.
    pub fn requires(&self) -> Option<&'a dyn Requires> {
        Some(self.0)
    }
}

impl<J: ChecksParams> Maybe<'_, J> {
    /// Checks the parameters of a judge.
    ///
    /// # Errors
    /// Returns a message that says what is wrong and what to write instead.
    pub fn check_params(&self) -> Result<(), String> {
        self.0.check()
    }
}

impl<T: NamesFiles> Maybe<'_, T> {
    /// Adds the files that the parameter names to `all`.
    pub fn files(&self, parameter: &str, all: &mut Vec<MetricFile>) {
        self.0.files(parameter, all);
    }
}

impl Maybe<'_, Embedder> {
    /// Requires the model before the first row.
    pub fn embedder(&self, metric: &str, all: &mut Vec<Requirement>) {
        all.push(embedder_requirement(metric, self.0));
    }
}

impl<T: Serialize> Maybe<'_, T> {
    pub fn text(&self) -> Option<String> {
        shown(self.0)
    }

    pub fn shown(&self) -> Option<String> {
        shown(self.0)
    }
}

/// Returns a value as a user would write it: strings as they are, anything else as JSON. Quotes strings that are empty,
/// or that start or end with whitespace.
pub fn shown<T: Serialize>(value: &T) -> Option<String> {
    match serde_json::to_value(value).ok()? {
        Value::String(text) if !text.is_empty() && text.trim() == text => Some(text),
        value => Some(value.to_string()),
    }
}

/// The first fallback of `shown`: a hash of the `Debug` output, because that output is meant for programmers.
pub trait FallbackDebug {
    fn shown(&self) -> Option<String>;
}

impl<T: Debug> FallbackDebug for Maybe<'_, T> {
    fn shown(&self) -> Option<String> {
        let hash = hash::of_bytes(format!("{:?}", self.0).as_bytes());
        Some(format!("a value with the hash {hash}"))
    }
}

/// The second fallback of `shown`: a value that is not shown.
pub trait FallbackShown {
    fn shown(&self) -> Option<String> {
        None
    }
}

impl<T> FallbackShown for &Maybe<'_, T> {}

/// The type of a field or parameter that may implement [`ValueType`].
#[derive(Debug)]
pub struct MaybeValueType<T: ?Sized>(PhantomData<T>);

impl<T: ValueType + ?Sized> MaybeValueType<T> {
    /// The description of the type.
    pub const HELP: TypeHelp = T::HELP;
}

/// Provides a fallback for [`MaybeValueType`] if a type has no description.
pub trait FallbackValueType {
    const HELP: TypeHelp = TypeHelp::NONE;
}

impl<T: ?Sized> FallbackValueType for MaybeValueType<T> {}

impl<'r, T: AsText> Maybe<'r, T> {
    /// Returns the field as a string.
    pub fn given(&self) -> Given<'r> {
        Given::Text(self.0.as_text())
    }
}

/// An owned or borrowed string type.
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

/// The first fallback of `given`: the field as JSON.
pub trait FallbackSerialize<'r> {
    fn given(&self) -> Given<'r>;
}

impl<'r, T: Serialize> FallbackSerialize<'r> for Maybe<'r, T> {
    fn given(&self) -> Given<'r> {
        match serde_json::to_value(self.0) {
            Ok(value) => Given::Value(value),
            Err(error) => Given::Failed(format!("a value that cannot be serialized: {error}")),
        }
    }
}

/// The second fallback of `given`: a field that cannot be read by name.
pub trait FallbackOpaque<'r> {
    fn given(&self) -> Given<'r>;
}

impl<'r, T> FallbackOpaque<'r> for &Maybe<'r, T> {
    fn given(&self) -> Given<'r> {
        Given::Opaque
    }
}

#[cfg(test)]
mod tests {
    use super::{FallbackValueType as _, MaybeValueType};
    use crate::value_type::TypeHelp;
    use serde_json::Value;

    struct Limits;

    #[test]
    fn known_types_are_described_and_others_are_not() {
        let lists = "a list of strings";
        for (help, phrase, example) in [
            (MaybeValueType::<&str>::HELP, "a string", None),
            (
                MaybeValueType::<Option<u64>>::HELP,
                "a whole number, 0 or more",
                None,
            ),
            (
                MaybeValueType::<&[String]>::HELP,
                lists,
                Some(r#"'["x", "y"]'"#),
            ),
            (
                MaybeValueType::<Option<Vec<String>>>::HELP,
                lists,
                Some(r#"'["x", "y"]'"#),
            ),
            (
                MaybeValueType::<[f64; 4]>::HELP,
                "a list of 4 numbers",
                Some("'[0.4, 0.3, 0.2, 0.1]'"),
            ),
            (
                MaybeValueType::<[f64; 2]>::HELP,
                "a list of 2 numbers",
                None,
            ),
            (
                MaybeValueType::<&[&Value]>::HELP,
                "a list of JSON values",
                None,
            ),
            (MaybeValueType::<Vec<Vec<String>>>::HELP, "", None),
            (MaybeValueType::<Limits>::HELP, "", None),
            (MaybeValueType::<Vec<Limits>>::HELP, "", None),
        ] {
            assert_eq!(
                (help.to_string().as_str(), help.example()),
                (phrase, example)
            );
            assert_eq!(help.is_some(), !phrase.is_empty());
        }
    }

    /// A user's own type is not described like the library's type with the same name.
    #[test]
    fn a_type_is_described_by_itself_and_not_by_its_name() {
        assert_eq!(MaybeValueType::<Limits>::HELP, TypeHelp::NONE);
        assert_eq!(MaybeValueType::<Limits>::HELP.or_type("Limits"), "`Limits`");
    }
}
