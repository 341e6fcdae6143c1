//! What a metric needs before it can score a row, and finding out whether it is there.

use std::fmt;
use std::sync::Arc;

use crate::lm::{LanguageModel, LmError, LmErrorKind};

/// A language model that a metric asks, or why it has none; see [`Metric::needs`](crate::Metric::needs).
#[derive(Clone)]
pub struct Need {
    metric: String,
    lm: Result<Arc<dyn LanguageModel>, String>,
}

impl Need {
    /// The metric asks this model.
    pub fn model(metric: impl Into<String>, lm: Arc<dyn LanguageModel>) -> Self {
        Self { metric: metric.into(), lm: Ok(lm) }
    }

    /// The model, if there is one.
    #[cfg(all(feature = "cli", feature = "lm"))]
    pub(crate) fn lm(&self) -> Option<&Arc<dyn LanguageModel>> {
        self.lm.as_ref().ok()
    }

    /// The metric can score no row; `reason` is one line that says what to set.
    pub fn missing(metric: impl Into<String>, reason: impl fmt::Display) -> Self {
        Self { metric: metric.into(), lm: Err(reason.to_string()) }
    }

    /// What keeps the configuration of a metric from scoring any row, if anything does.
    pub(crate) fn unless(
        metric: impl Into<String>,
        configured: Result<(), impl fmt::Display>,
    ) -> Option<Self> {
        configured.err().map(|reason| Self::missing(metric, reason))
    }

    /// The same need of a metric in whose name another one asks.
    pub(crate) fn of(self, metric: &str) -> Self {
        Self { metric: metric.to_owned(), ..self }
    }
}

impl fmt::Debug for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lm = self.lm.as_deref().map(LanguageModel::id);
        f.debug_struct("Need").field("metric", &self.metric).field("lm", &lm).finish()
    }
}

/// A metric that can score no row, and one line that says what to set.
#[derive(Debug)]
pub(crate) struct NotReady {
    pub(crate) metric: String,
    pub(crate) reason: String,
}

/// Asks each model once whether it answers at all, all at the same time.
pub(crate) async fn probe(needs: Vec<Need>) -> Result<(), NotReady> {
    let not_ready = |metric, reason| Err(NotReady { metric, reason });
    let mut models: Vec<(String, Arc<dyn LanguageModel>)> = Vec::new();
    for Need { metric, lm } in needs {
        match lm {
            Err(reason) => return not_ready(metric, reason),
            Ok(lm) if models.iter().any(|(_, known)| is_same(known, &lm)) => {}
            Ok(lm) => models.push((metric, lm)),
        }
    }
    let probes = models.iter().map(|(_, lm)| lm.probe());
    let probes = futures_util::future::join_all(probes).await;
    for ((metric, _), probed) in models.into_iter().zip(probes) {
        match probed {
            Err(error) if !is_passing(&error) => return not_ready(metric, error.to_string()),
            _ => {}
        }
    }
    Ok(())
}

fn is_same(a: &Arc<dyn LanguageModel>, b: &Arc<dyn LanguageModel>) -> bool {
    Arc::ptr_eq(a, b)
}

/// Whether the provider is there, and busy or in trouble just now: nothing to set, and rows are retried.
fn is_passing(error: &LmError) -> bool {
    match error.kind() {
        LmErrorKind::RateLimited { .. } | LmErrorKind::Disconnected { .. } => true,
        LmErrorKind::Status { status, .. } => matches!(status, 408 | 409 | 500..=599),
        _ => false,
    }
}

/// A metric of which the macros know that it needs something.
#[doc(hidden)]
pub trait Needy {
    fn needs(&self, all: &mut Vec<Need>);
}

/// A metric of any kind. Of a [`Needy`] one the inherent `needs` is called, of any other that of
/// [`NeedsNothing`], so that a macro need not know which it is.
#[derive(Debug)]
#[doc(hidden)]
pub struct Asking<'a, M>(pub &'a M);

impl<M: Needy> Asking<'_, M> {
    pub fn needs(&self, all: &mut Vec<Need>) {
        self.0.needs(all);
    }
}

#[doc(hidden)]
pub trait NeedsNothing {
    fn needs(&self, all: &mut Vec<Need>) {
        let _ = all;
    }
}

impl<M> NeedsNothing for Asking<'_, M> {}
