//! Sampling parameters that a model does not support: they are omitted from then on, which every score
//! reports. OpenAI's reasoning models, for example, reject any temperature but the default.

use std::collections::{BTreeSet, HashMap};
use std::sync::{OnceLock, PoisonError, RwLock};

use crate::lm::{LanguageModel, LmError, LmErrorKind, Sampling};

/// A parameter that a judge can omit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Parameter {
    Seed,
    Temperature,
}

impl Parameter {
    /// Returns the parameter that the model rejected, if a judge can omit it.
    pub(super) fn unsupported(error: &LmError) -> Option<Self> {
        match error.kind() {
            LmErrorKind::ParameterUnsupported { parameter, .. } => match parameter.as_str() {
                "temperature" => Some(Self::Temperature),
                "seed" => Some(Self::Seed),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the name in the provider's API.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::Temperature => "temperature",
        }
    }

    /// Removes the parameter; returns whether it was set.
    pub(super) fn remove_from(self, sampling: &mut Sampling) -> bool {
        match self {
            Self::Seed => sampling.seed.take().is_some(),
            Self::Temperature => sampling.temperature.take().is_some(),
        }
    }
}

pub(super) type UnsupportedParams = BTreeSet<Parameter>;

/// By model and endpoint, since the supported parameters do not depend on the judge.
type Known = RwLock<HashMap<(String, Option<String>), UnsupportedParams>>;

fn known() -> &'static Known {
    static KNOWN: OnceLock<Known> = OnceLock::new();
    KNOWN.get_or_init(Known::default)
}

fn key(lm: &dyn LanguageModel) -> (String, Option<String>) {
    (lm.id().to_owned(), lm.endpoint().map(str::to_owned))
}

/// Returns the parameters that the model is known not to support.
pub(super) fn known_for(lm: &dyn LanguageModel) -> UnsupportedParams {
    let known = known().read().unwrap_or_else(PoisonError::into_inner);
    // Usually the map is empty.
    if known.is_empty() {
        return UnsupportedParams::new();
    }
    known.get(&key(lm)).cloned().unwrap_or_default()
}

/// Records that the model does not support the parameter.
pub(super) fn remember(lm: &dyn LanguageModel, parameter: Parameter) {
    let mut known = known().write().unwrap_or_else(PoisonError::into_inner);
    known.entry(key(lm)).or_default().insert(parameter);
}
