//! Checks and reads the inputs of metrics: size limits, the fields that a metric's configuration names, and the
//! language in a configuration.
//!
//! Quadratic comparisons have limits, so a row that would take minutes fails instead. Linear comparisons need no
//! limits.

use std::borrow::Cow;

use serde::de::value::{Error as UnknownName, StrDeserializer};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::contract::rows::by_name;
use crate::contract::{FieldError, Fields, Side, TypeHelp, Unscored, ValueType};
use crate::json::{TooDeep, is_too_deep};
use crate::syntax::Language;

/// The maximum number of pairs of characters or words compared by an edit distance or a longest common subsequence. At
/// this limit, the comparison takes seconds.
pub(super) const MAX_PAIRS: u64 = 4_000_000_000;

/// The maximum number of item pairs that are compared one by one.
const MAX_COMPARISONS: u64 = 16_000_000;

/// Returns `true` if strings of these byte lengths are within the limit, without counting characters or words.
pub(super) fn are_short(ours: usize, theirs: usize) -> bool {
    (ours as u64).saturating_mul(theirs as u64) <= MAX_PAIRS
}

/// Returns an error if two sides have too many characters, words or items to compare.
pub(super) fn bounded(
    what: &str,
    ours: usize,
    theirs: usize,
    max: u64,
    instead: &str,
) -> Result<(), String> {
    if (ours as u64).saturating_mul(theirs as u64) <= max {
        return Ok(());
    }
    Err(format!(
        "too many {what} to compare: {ours} predicted, {theirs} expected; {instead}"
    ))
}

/// Returns an error if two lists have too many items, or items with too many characters, to compare each item with each
/// other one.
pub(super) fn bounded_lists(
    [what, instead_of_items, instead]: [&str; 3],
    ours: &[impl AsRef<str>],
    theirs: &[impl AsRef<str>],
) -> Result<(), String> {
    let (items, others) = (ours.len(), theirs.len());
    bounded(what, items, others, MAX_COMPARISONS, instead_of_items)?;
    let characters = |text: &str| text.chars().count();
    let ours = ours.iter().map(|text| characters(text.as_ref())).sum();
    let theirs = theirs.iter().map(|text| characters(text.as_ref())).sum();
    let what = format!("characters of {what}");
    bounded(&what, ours, theirs, MAX_PAIRS, instead)
}

/// Returns the lengths of two lists after removing their common prefix and suffix, which an edit distance skips.
pub(super) fn without_common_ends<T: PartialEq>(ours: &[T], theirs: &[T]) -> (usize, usize) {
    let start = ours.iter().zip(theirs).take_while(|(a, b)| a == b).count();
    let (ours, theirs) = (&ours[start..], &theirs[start..]);
    let from_end = ours.iter().rev().zip(theirs.iter().rev());
    let end = from_end.take_while(|(a, b)| a == b).count();
    (ours.len() - end, theirs.len() - end)
}

/// Returns an error if comparing unordered lists would take too long. Each level of lists is visited twice: once to
/// find the pairs, and once to compare them.
pub(super) fn bounded_pairing(pred: &Value, gold: &Value) -> Result<(), String> {
    let ((ours, levels), (theirs, other_levels)) = (size(pred), size(gold));
    let levels = levels.min(other_levels);
    let pairs = (ours as u64).saturating_mul(theirs as u64);
    if pairs.saturating_mul(1_u64.checked_shl(levels).unwrap_or(u64::MAX)) <= MAX_COMPARISONS {
        return Ok(());
    }
    Err(format!(
        "too many values to compare in any order: {ours} predicted, {theirs} expected, in lists up to {levels} deep; \
         set lists=ordered, or compare only some of the fields"
    ))
}

/// Returns the number of values and the nesting depth of lists.
fn size(value: &Value) -> (usize, u32) {
    let (below, own): (Vec<(usize, u32)>, u32) = match value {
        Value::Array(items) => (items.iter().map(size).collect(), 1),
        Value::Object(fields) => (fields.values().map(size).collect(), 0),
        _ => (Vec::new(), 0),
    };
    let deepest = below.iter().map(|(_, levels)| *levels).max().unwrap_or(0);
    let count: usize = below.iter().map(|(count, _)| count).sum();
    (1 + count, own + deepest)
}

/// Returns the field's value, or an error if the value is nested too deep to be written.
pub(super) fn value<'r>(row: &'r Fields, side: Side, field: &str) -> Result<&'r Value, Unscored> {
    let missing = || {
        let error = *FieldError::missing(field.to_owned(), row.keys());
        Unscored::Field { side, error }
    };
    let value = row.get(field).ok_or_else(missing)?;
    match is_too_deep(value) {
        true => Err(Unscored::because(format_args!(
            "field `{side}.{field}` contains {TooDeep}"
        ))),
        false => Ok(value),
    }
}

/// Returns the field as a string: a string unchanged, `null` as an empty string, anything else as JSON. `*` selects all
/// fields.
pub(super) fn text<'r>(row: &'r Fields, side: Side, field: &str) -> Result<Cow<'r, str>, Unscored> {
    let text = by_name::in_fields(row, field);
    text.map_err(|error| Unscored::Field {
        side,
        error: *error,
    })
}

/// Returns a value as a string, as [`text`] does.
pub(super) fn written(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null => Cow::Borrowed(""),
        other => by_name::json(other),
    }
}

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

    /// Returns the language, or an error if this build has no parser for it.
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

/// An unknown name is rejected here, where it was written.
impl<'de> Deserialize<'de> for LanguageSetting {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Option::<Language>::deserialize(from).map(Self::from)
    }
}

impl ValueType for LanguageSetting {
    const HELP: TypeHelp = TypeHelp::new("a language").with_example("python");
}
