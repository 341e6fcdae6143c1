//! The provider that isolates the command of a metric.

use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::core::value_type::{TypeHelp, ValueType};
use crate::sandbox::{Bubblewrap, Job, Report, SandboxError, SandboxProvider, Unconfined};

/// The [`SandboxProvider`] that runs the command of a metric; [`Bubblewrap`] by default.
///
/// On the command line, `bubblewrap` is the only choice.
///
/// ```
/// use dsrs_metrics::metrics::{Isolation, Sandbox};
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::sandbox::Bubblewrap;
///
/// let isolation = Isolation::with_provider(Bubblewrap::with_program("/opt/bubblewrap/bwrap"));
/// let metric = Sandbox::builder().command("true").isolation(isolation).build();
/// ```
#[derive(Debug, Clone)]
pub struct Isolation(Arc<dyn SandboxProvider>);

impl Isolation {
    /// Uses another provider.
    pub fn with_provider(provider: impl SandboxProvider + 'static) -> Self {
        Self(Arc::new(provider))
    }

    /// No isolation: the command has all permissions of the current process. See [`Unconfined`].
    pub fn none_because_i_trust_the_code() -> Self {
        Self::with_provider(Unconfined::run_without_isolation_because_i_trust_the_code())
    }

    pub(super) async fn run(&self, job: &Job) -> Result<Report, SandboxError> {
        self.0.run(job).await
    }

    pub(super) async fn preflight(&self, job: &Job) -> Result<(), SandboxError> {
        self.0.preflight(job).await
    }
}

impl Default for Isolation {
    fn default() -> Self {
        Self::with_provider(Bubblewrap::new())
    }
}

impl Serialize for Isolation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl<'de> Deserialize<'de> for Isolation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        match &*name {
            "bubblewrap" => Ok(Self::default()),
            other => Err(D::Error::custom(format!(
                "expected the isolation `bubblewrap`, found `{other}`"
            ))),
        }
    }
}

impl ValueType for Isolation {
    const HELP: TypeHelp = TypeHelp::new("the name of an isolation");
}
