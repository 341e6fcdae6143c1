//! Which metrics are one and the same, though they are different values: what they are and how they
//! are configured.
//!
//! What follows from it, that they are asked once a row, is in `memo.rs`.

use std::any::TypeId;
use std::fmt::Write as _;

use crate::text::{DecimalMark, Profile};

/// Two metrics of one identity say the same of the same call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[doc(hidden)]
pub struct Identity(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// A type and its configuration.
    Type { id: TypeId, config: String },
    /// A value that several hold, by its address; whoever compares it keeps the value alive.
    Value(usize),
}

impl Identity {
    /// A metric's type with its parameters; `None` if one of them cannot be compared.
    #[must_use]
    pub fn of<M: 'static>(params: &[Option<String>]) -> Option<Self> {
        let mut config = String::new();
        for param in params {
            let param = param.as_ref()?;
            // With its length, so that no two lists of parameters read alike.
            let _ = write!(config, "{}:{param},", param.len());
        }
        Some(Self(Kind::Type { id: TypeId::of::<M>(), config }))
    }

    pub(crate) fn of_shared<T: ?Sized>(value: &std::sync::Arc<T>) -> Self {
        Self(Kind::Value(std::sync::Arc::as_ptr(value).cast::<()>().addr()))
    }
}

/// Parameters that say all that there is to them, so that two of one text are one.
#[doc(hidden)]
pub trait Plain {
    fn tell(&self, into: &mut String);
}

/// A parameter of any type. Of a [`Plain`] one the inherent `text` is called, of any other that of
/// [`Unknown`], so that a macro need not know which it is.
#[derive(Debug)]
#[doc(hidden)]
pub struct Known<'a, T>(pub &'a T);

impl<T: Plain> Known<'_, T> {
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let mut text = String::new();
        self.0.tell(&mut text);
        Some(text)
    }
}

#[doc(hidden)]
pub trait Unknown {
    fn text(&self) -> Option<String> {
        None
    }
}

impl<T> Unknown for Known<'_, T> {}

macro_rules! plain {
    ($($plain:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl Plain for $plain {
            fn tell(&self, into: &mut String) {
                let _ = write!(into, "{self:?}");
            }
        }
    )*};
}
plain!(bool, char, String, &'static str, DecimalMark, Profile);
plain!(i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);

macro_rules! float {
    ($($float:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl Plain for $float {
            fn tell(&self, into: &mut String) {
                let _ = write!(into, "{:x}", self.to_bits());
            }
        }
    )*};
}
float!(f32, f64);

#[diagnostic::do_not_recommend]
impl<T: Plain> Plain for Option<T> {
    fn tell(&self, into: &mut String) {
        match self {
            None => into.push_str("None"),
            Some(value) => {
                into.push_str("Some ");
                value.tell(into);
            }
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T: Plain> Plain for Vec<T> {
    fn tell(&self, into: &mut String) {
        for value in self {
            let mut text = String::new();
            value.tell(&mut text);
            let _ = write!(into, "{}:{text},", text.len());
        }
    }
}
