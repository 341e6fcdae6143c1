//! `--offline`: a warning if it has no effect, or if it takes precedence over a configured model.

use std::sync::Arc;

use crate::core::declared::requirements::Requirement;
use crate::core::metric::Metric;
use crate::core::metric::settings::Settings;
use crate::judge::Models;

pub(super) fn settings() -> Settings {
    Settings::new().with(Models::offline())
}

/// `chosen` is the model of `DSRS_LM`.
pub(super) fn warning(metrics: &[Arc<dyn Metric>], chosen: Option<&str>) -> Option<String> {
    let mut requirements = Vec::new();
    settings().scope_sync(|| {
        metrics
            .iter()
            .for_each(|metric| metric.requirements(&mut requirements));
    });
    // The run itself reports a judge without a stand-in.
    let is_used = |it: &Requirement| it.is_offline() || it.missing_reason().is_some();
    if !requirements.iter().any(is_used) {
        return Some("warning: --offline: no metric of this run is a judge".to_owned());
    }
    chosen.map(|id| format!("warning: --offline: the model of DSRS_LM, {id}, is not called"))
}
