//! Sampling parameters that a model does not take: they are left out from then on, and every score says so.
//! OpenAI's reasoning models, for one, refuse any temperature but their own.

use std::collections::{BTreeSet, HashMap};
use std::sync::{OnceLock, PoisonError, RwLock};

use crate::lm::{LanguageModel, LmError, LmErrorKind, Sampling};

/// A parameter that a judge can do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Parameter {
    Seed,
    Temperature,
}

impl Parameter {
    /// The one that the model refused, if a judge can do without it.
    pub(super) fn refused(error: &LmError) -> Option<Self> {
        match error.kind() {
            LmErrorKind::ParameterUnsupported { parameter, .. } => match parameter.as_str() {
                "temperature" => Some(Self::Temperature),
                "seed" => Some(Self::Seed),
                _ => None,
            },
            _ => None,
        }
    }

    /// As providers call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::Temperature => "temperature",
        }
    }

    /// Leaves it out; false if it was not there.
    pub(super) fn leave_out(self, sampling: &mut Sampling) -> bool {
        match self {
            Self::Seed => sampling.seed.take().is_some(),
            Self::Temperature => sampling.temperature.take().is_some(),
        }
    }
}

pub(super) type LeftOut = BTreeSet<Parameter>;

/// By model and address: what a model takes does not depend on who asks.
type Known = RwLock<HashMap<(String, Option<String>), LeftOut>>;

fn known() -> &'static Known {
    static KNOWN: OnceLock<Known> = OnceLock::new();
    KNOWN.get_or_init(Known::default)
}

fn key(lm: &dyn LanguageModel) -> (String, Option<String>) {
    (lm.id().to_owned(), lm.endpoint().map(str::to_owned))
}

/// What the model is known not to take.
pub(super) fn of(lm: &dyn LanguageModel) -> LeftOut {
    let known = known().read().unwrap_or_else(PoisonError::into_inner);
    // Nearly always nothing is known of any model.
    if known.is_empty() {
        return LeftOut::new();
    }
    known.get(&key(lm)).cloned().unwrap_or_default()
}

/// Remembers that the model does not take it.
pub(super) fn remember(lm: &dyn LanguageModel, parameter: Parameter) {
    let mut known = known().write().unwrap_or_else(PoisonError::into_inner);
    known.entry(key(lm)).or_default().insert(parameter);
}
