//! Descriptions of value types for users who do not read Rust. They appear in errors about rows and parameters, and in
//! lists of metrics.

use crate::retrieval::{Cutoffs, Relevant, Retrieved};
use crate::trajectory::{ArgsRules, ExpectedTrajectory, Trajectory};
use std::borrow::Cow;
use std::fmt;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

/// A type that can describe its values to users who do not read Rust.
///
/// `#[metric]` uses the description of a field's or parameter's type in error messages and in `dsrs-metrics list`. If a
/// type has no description, its name is shown.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::rows::{TypeHelp, ValueType};
/// use serde::{Deserialize, Serialize};
///
/// /// The largest number of characters.
/// #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
/// struct Limit(u32);
///
/// impl ValueType for Limit {
///     const HELP: TypeHelp = TypeHelp::new("a number of characters").with_example("280");
/// }
///
/// #[metric]
/// fn is_short(#[pred] answer: &str, #[param(default = Limit(140))] limit: Limit) -> bool {
///     answer.chars().count() <= limit.0 as usize
/// }
///
/// assert_eq!(IsShort::SPEC.params[0].help.to_string(), "a number of characters");
/// assert_eq!(IsShort::SPEC.pred[0].help.to_string(), "a string");
/// ```
pub trait ValueType {
    /// The description.
    const HELP: TypeHelp;
}

/// A description of a type's values.
///
/// `Display` writes a phrase for one value, such as `a list of strings`. It writes nothing if there is no description.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct TypeHelp {
    /// The phrase for one value. It is empty for a list, which is described by its items, and if there is no
    /// description.
    one: &'static str,
    /// The phrase for several values, or an empty string if there is none.
    several: &'static str,
    /// The length of a list of fixed length.
    length: Option<usize>,
    example: Option<&'static str>,
    /// An example of a list of such values.
    list: Option<&'static str>,
    /// The kinds of JSON values that the type accepts, or `None` if it accepts all.
    kinds: Option<&'static [ValueKind]>,
}

/// A kind of JSON value that a type can be read from.
///
/// See [`TypeHelp::with_kinds`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ValueKind {
    /// The values `true` and `false`.
    Bool,
    /// Whole numbers.
    Integer,
    /// All numbers.
    Number,
    /// Strings.
    // Not named `String`: for a variant named like a prelude type, rustc writes `std::string::String` in errors.
    Str,
    /// Lists whose items have this type.
    ListOf(&'static TypeHelp),
    /// Objects.
    Object,
}

impl ValueKind {
    fn contains(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Bool, Value::Bool(_))
            | (Self::Number, Value::Number(_))
            | (Self::Str, Value::String(_))
            | (Self::Object, Value::Object(_)) => true,
            (Self::Integer, Value::Number(number)) => !number.is_f64(),
            (Self::ListOf(item), Value::Array(items)) => items.iter().all(|it| item.may_be(it)),
            _ => false,
        }
    }
}

impl TypeHelp {
    /// An empty description.
    ///
    /// If a type uses this description, messages show the type's name.
    pub const NONE: Self = Self::new("");

    /// Creates a description from its singular form, such as `a number`.
    ///
    /// The phrase includes an article: `a rank or list of ranks`.
    pub const fn new(one: &'static str) -> Self {
        Self {
            one,
            several: "",
            length: None,
            example: None,
            list: None,
            kinds: None,
        }
    }

    /// Sets the kinds of JSON values that the type can be read from.
    ///
    /// A column of another kind is then rejected before any row is read.
    ///
    /// ```
    /// use dsrs_metrics::rows::{TypeHelp, ValueKind};
    /// use serde_json::json;
    ///
    /// let help = TypeHelp::new("a string or number").with_kinds(&[ValueKind::Str, ValueKind::Number]);
    /// assert!(help.may_be(&json!(0.5)) && !help.may_be(&json!(["x"])));
    /// ```
    pub const fn with_kinds(mut self, kinds: &'static [ValueKind]) -> Self {
        self.kinds = Some(kinds);
        self
    }

    /// Returns `true` if the type can be read from values of the same kind as `value`.
    ///
    /// The result is also `true` if the type declares no kinds, or if `value` is `null`. The value itself can still be
    /// invalid.
    pub fn may_be(&self, value: &Value) -> bool {
        let is_kind =
            |kinds: &[ValueKind]| value.is_null() || kinds.iter().any(|kind| kind.contains(value));
        self.kinds.is_none_or(is_kind)
    }

    /// Returns `true` if the type can be read from lists but not from strings.
    #[doc(hidden)]
    pub fn is_list(&self) -> bool {
        self.may_be(&Value::Array(Vec::new())) && !self.may_be(&Value::String(String::new()))
    }

    const fn with_list(mut self, example: &'static str) -> Self {
        self.list = Some(example);
        self
    }

    /// Sets the phrase for several values, which is used to describe lists.
    ///
    /// The phrase has no article: `whole numbers`.
    pub const fn with_plural(mut self, several: &'static str) -> Self {
        self.several = several;
        self
    }

    /// Sets an example value as it would appear on the command line.
    ///
    /// Quote the example if the shell requires it.
    pub const fn with_example(mut self, example: &'static str) -> Self {
        self.example = Some(example);
        self
    }

    /// Returns the example value, if there is one.
    pub fn example(&self) -> Option<&'static str> {
        match self.item() {
            Some(item) => item.list.filter(|_| self.length.is_none()),
            None => self.example,
        }
    }

    /// Returns `true` if the type has a description.
    pub fn is_some(&self) -> bool {
        !self.one.is_empty() || self.item().is_some_and(|item| !item.several.is_empty())
    }

    /// Returns the description of a list's items.
    fn item(&self) -> Option<&'static Self> {
        match self.kinds? {
            [ValueKind::ListOf(item)] if self.one.is_empty() => Some(item),
            _ => None,
        }
    }

    /// Returns the type's description, or the type's name if there is no description.
    ///
    /// The name is shown as its author wrote it.
    #[doc(hidden)]
    pub fn or_type(&self, ty: &str) -> String {
        match ty {
            _ if self.is_some() => self.to_string(),
            // Not a type but words, in a hand-written spec.
            ty if ty.contains(' ') && !ty.contains(['<', '&', '(']) => ty.to_owned(),
            ty => format!("`{ty}`"),
        }
    }
}

impl fmt::Display for TypeHelp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let several = self.item().map_or("", |item| item.several);
        match self.length {
            _ if several.is_empty() => f.write_str(self.one),
            Some(length) => write!(f, "a list of {length} {several}"),
            None => write!(f, "a list of {several}"),
        }
    }
}

macro_rules! value_types {
    ($($ty:ty),* => $one:literal, $several:literal, $kind:ident) => {$(
        impl ValueType for $ty {
            const HELP: TypeHelp =
                TypeHelp::new($one).with_plural($several).with_kinds(&[ValueKind::$kind]);
        }
    )*};
}

value_types!(bool => "true or false", "true or false", Bool);
value_types!(u8, u16, u32, u64, u128, usize => "a whole number, 0 or more", "whole numbers", Integer);
value_types!(NonZeroU32, NonZeroU64, NonZeroUsize => "a whole number, 1 or more", "whole numbers", Integer);
value_types!(i8, i16, i32, i64, i128, isize => "a whole number", "whole numbers", Integer);

impl ValueType for Value {
    const HELP: TypeHelp = TypeHelp::new("a JSON value").with_plural("JSON values");
}

impl ValueType for str {
    const HELP: TypeHelp = TypeHelp::new("a string")
        .with_plural("strings")
        .with_list(r#"'["x", "y"]'"#)
        .with_kinds(&[ValueKind::Str]);
}

impl ValueType for String {
    const HELP: TypeHelp = str::HELP;
}

impl ValueType for (String, String) {
    const HELP: TypeHelp = TypeHelp::new("a pair of strings")
        .with_plural("pairs of strings")
        .with_kinds(&[ValueKind::ListOf(&str::HELP)])
        .with_list(r#"'[["x", "y"]]'"#);
}

impl ValueType for f64 {
    const HELP: TypeHelp = TypeHelp::new("a number")
        .with_plural("numbers")
        .with_kinds(&[ValueKind::Number]);
}

impl ValueType for f32 {
    const HELP: TypeHelp = f64::HELP;
}

macro_rules! same_as_inner {
    ($($ty:ty),*) => {$(
        impl<T: ValueType + ?Sized> ValueType for $ty {
            const HELP: TypeHelp = T::HELP;
        }
    )*};
}

same_as_inner!(&T, Box<T>, Rc<T>, Arc<T>);

/// Optional values are described elsewhere.
impl<T: ValueType> ValueType for Option<T> {
    const HELP: TypeHelp = T::HELP;
}

impl<T: ValueType + ToOwned + ?Sized> ValueType for Cow<'_, T> {
    const HELP: TypeHelp = T::HELP;
}

impl<T: ValueType> ValueType for [T] {
    const HELP: TypeHelp = TypeHelp::NONE.with_kinds(&[ValueKind::ListOf(&T::HELP)]);
}

impl<T: ValueType> ValueType for Vec<T> {
    const HELP: TypeHelp = <[T]>::HELP;
}

impl<T: ValueType, const N: usize> ValueType for [T; N] {
    const HELP: TypeHelp = TypeHelp {
        length: Some(N),
        ..<[T]>::HELP
    };
}

impl ValueType for Cutoffs {
    const HELP: TypeHelp = TypeHelp::new("a rank or list of ranks").with_example("'[1, 5, 10]'");
}

impl ValueType for Relevant<'_> {
    const HELP: TypeHelp = TypeHelp::new("a list of ids, or a map from ids to grades")
        .with_kinds(&[ValueKind::ListOf(&TypeHelp::NONE), ValueKind::Object]);
}

impl ValueType for Retrieved<'_> {
    const HELP: TypeHelp = TypeHelp::new("a ranked list of ids, or a map from ids to scores")
        .with_kinds(&[ValueKind::ListOf(&TypeHelp::NONE), ValueKind::Object]);
}

impl ValueType for ArgsRules {
    const HELP: TypeHelp =
        TypeHelp::new("a rule for arguments, or an object that maps tools to rules")
            .with_example("superset");
}

impl ValueType for Trajectory {
    const HELP: TypeHelp = TypeHelp::new("a trajectory").with_kinds(&[
        ValueKind::Str,
        ValueKind::ListOf(&TypeHelp::NONE),
        ValueKind::Object,
    ]);
}

impl ValueType for ExpectedTrajectory {
    const HELP: TypeHelp = Trajectory::HELP;
}

#[cfg(test)]
mod tests {
    use super::{TypeHelp, ValueType as _};
    use serde_json::{Value, json};

    #[test]
    fn kinds_are_those_that_the_type_is_read_from() {
        let strings = <Vec<String>>::HELP;
        for (help, of_kind, others) in [
            (
                <&str>::HELP,
                vec![json!("x"), json!(null)],
                vec![json!(1), json!(["x"])],
            ),
            (
                f64::HELP,
                vec![json!(1), json!(0.5)],
                vec![json!("1"), json!(true)],
            ),
            (u8::HELP, vec![json!(1)], vec![json!(1.0), json!({})]),
            (bool::HELP, vec![json!(false)], vec![json!(0)]),
            (
                strings,
                vec![json!([]), json!(["x", null])],
                vec![json!("x"), json!([1])],
            ),
            (<[f64; 2]>::HELP, vec![json!([1, 0.5])], vec![json!(["x"])]),
            (Value::HELP, vec![json!({}), json!([1])], vec![]),
            (TypeHelp::NONE, vec![json!(1), json!("x")], vec![]),
        ] {
            assert!(
                of_kind.iter().all(|value| help.may_be(value)),
                "{help} {of_kind:?}"
            );
            assert!(
                !others.iter().any(|value| help.may_be(value)),
                "{help} {others:?}"
            );
        }
    }

    #[test]
    fn a_type_without_a_description_is_written_as_in_the_source() {
        assert_eq!(u8::HELP.or_type("u8"), "a whole number, 0 or more");
        assert_eq!(TypeHelp::NONE.or_type("number | all"), "number | all");
    }
}
