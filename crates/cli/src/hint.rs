//! The end of an error message about an unknown name: the name that was meant, or what to do.

use std::fmt;

use crate::messages::escape;
use crate::messages::suggest::nearest;

/// A suggestion for an unknown name.
#[derive(Debug)]
pub(super) enum Hint {
    /// The known name that is most similar.
    DidYouMean(String),
    /// A correction.
    Instead(&'static str),
    /// All known names.
    Only(Vec<String>),
    /// No suggestion.
    None,
}

impl Hint {
    /// Suggests the known name that is most similar to `name`, if one is.
    pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let nearest = nearest(name, known).filter(|nearest| *nearest != name);
        Self::from(nearest.map(str::to_owned))
    }

    /// Replaces a missing suggestion.
    pub(super) fn or(self, otherwise: Self) -> Self {
        match self {
            Self::None => otherwise,
            hint => hint,
        }
    }
}

impl From<Option<String>> for Hint {
    /// Suggests this name, if one is near.
    fn from(nearest: Option<String>) -> Self {
        nearest.map_or(Self::None, Self::DidYouMean)
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DidYouMean(nearest) => write!(f, "; did you mean `{nearest}`?"),
            Self::Instead(what) => write!(f, "; {what}"),
            Self::Only(names) if names.is_empty() => Ok(()),
            Self::Only(names) => {
                write!(
                    f,
                    ", only {}",
                    escape::names(names.iter().map(String::as_str))
                )
            }
            Self::None => Ok(()),
        }
    }
}
