//! A language in a metric's configuration: a language, its name, or none.

use serde::de::value::{Error as UnknownName, StrDeserializer};
use serde::{Deserialize, Deserializer, Serialize};

use crate::contract::{TypeHelp, ValueType};
use crate::syntax::Language;

/// An optional language, given as a [`Language`] or by name.
///
/// This setting configures [`Syntax`](crate::metrics::Syntax) and [`Diff`](crate::metrics::Diff).
///
/// If the name is unknown, the run fails before the first row. The error message lists the known names.
///
/// ```
/// use dsrs_metrics::metrics::LanguageSetting;
/// use dsrs_metrics::syntax::Language;
///
/// assert_eq!(LanguageSetting::from("rust"), LanguageSetting::from(Language::Rust));
/// assert_eq!(LanguageSetting::from(Some("rs")).language(), Ok(Some(Language::Rust)));
/// assert_eq!(LanguageSetting::default().language(), Ok(None));
/// assert_eq!(
///     LanguageSetting::from("cobol").language().unwrap_err(),
///     "expected a language, found `cobol`; write `rust`, `python`, `javascript`, `typescript`, `json`, `sql` or `bash`"
/// );
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize)]
pub struct LanguageSetting(Setting);

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
enum Setting {
    #[default]
    None,
    Known(Language),
    /// A name that is not a known language.
    Unknown(String),
}

impl LanguageSetting {
    /// Returns the language, if one is set.
    ///
    /// # Errors
    /// Returns an error if the name is not a supported language.
    pub fn language(&self) -> Result<Option<Language>, String> {
        match &self.0 {
            Setting::None => Ok(None),
            Setting::Known(language) => Ok(Some(*language)),
            Setting::Unknown(name) => Err(format!(
                "expected a language, found `{name}`; write `rust`, `python`, `javascript`, `typescript`, `json`, `sql` \
                 or `bash`"
            )),
        }
    }

    /// Returns the language, and fails if this build has no parser for it.
    pub(super) fn parser(&self) -> Result<Option<Language>, String> {
        let language = self.language()?;
        if let Some(language) = language {
            let parsed = language.first_error("");
            parsed.map_err(|error| error.to_string())?;
        }
        Ok(language)
    }
}

conversions! {
    Language => LanguageSetting: |language| Self(Setting::Known(language));
    &str => LanguageSetting: |name| {
        let language = Language::deserialize(StrDeserializer::<UnknownName>::new(name));
        Self(language.map_or_else(|_| Setting::Unknown(name.to_owned()), Setting::Known))
    };
    String => LanguageSetting: |name| name.as_str().into();
}

impl<T: Into<Self>> From<Option<T>> for LanguageSetting {
    fn from(language: Option<T>) -> Self {
        language.map_or_else(Self::default, Into::into)
    }
}

/// An unknown name already fails here, where it was written.
impl<'de> Deserialize<'de> for LanguageSetting {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Option::<Language>::deserialize(from).map(Self::from)
    }
}

impl ValueType for LanguageSetting {
    const HELP: TypeHelp = TypeHelp::new("a language").with_example("python");
}
