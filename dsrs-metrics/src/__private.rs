//! What the macros' expansions name. No promise is made about anything here.

pub use crate::error::FieldError;
pub use crate::metric::Declared;
pub use crate::params::read_param;
pub use crate::record::{
    Char, Field, FieldType, Get, GetOptional, Give, GiveOptional, Owned, Raw, ReadValue, Ref,
    Slice, Text, Want,
};
pub use crate::score::{Decided, Undecided};
pub use async_trait::async_trait;
pub use bon;
pub use serde::Deserialize;
pub use serde::de::DeserializeOwned;
pub use serde_json::{Value, json};
pub use std::{boxed, string, vec};
