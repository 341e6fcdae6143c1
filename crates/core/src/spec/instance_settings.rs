//! Settings for one metric instance (threshold, strictness and cost), which override the metric's declaration.
//!
//! `Instance` applies them to any metric. A judge stores them in its panel, because they are part of its configuration.

use crate::sentence::bound_fits;
use crate::spec::{Direction, MetricSpec, ScoreKind};

/// The threshold, strictness and cost of one metric instance.
///
/// If a setting is `None`, the declared value applies.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct InstanceSettings {
    pub threshold: Option<f64>,
    pub strict: Option<bool>,
    pub cost_msats: Option<u64>,
}

/// The error returned when an instance has a setting that its metric does not support.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SettingError {
    /// The name of the unsupported setting.
    pub setting: &'static str,
    message: String,
}

dsrs_metrics_values::debug_as_display!(SettingError);

impl InstanceSettings {
    /// Returns the spec with these settings applied.
    ///
    /// # Errors
    /// Returns [`SettingError`] if a metric with this spec does not support one of the settings.
    pub fn apply<'a>(
        &self,
        mut spec: MetricSpec<'a>,
    ) -> std::result::Result<MetricSpec<'a>, SettingError> {
        let check = |setting, fails: Option<String>| {
            fails.map_or(Ok(()), |message| Err(SettingError { setting, message }))
        };
        if let Some(threshold) = self.threshold {
            check("threshold", invalid_threshold(threshold, &spec))?;
            spec.threshold = Some(threshold);
        }
        if let Some(is_strict) = self.strict {
            check("strict", is_strict.then(|| not_strict(&spec)).flatten())?;
            spec.strict = is_strict;
        }
        spec.cost_msats = self.cost_msats.unwrap_or(spec.cost_msats);
        Ok(spec)
    }

    /// Returns the spec with these settings applied.
    ///
    /// If a setting is invalid, returns the spec unchanged.
    pub fn shown<'a>(&self, spec: MetricSpec<'a>) -> MetricSpec<'a> {
        self.apply(spec).unwrap_or(spec)
    }
}

/// Returns why a threshold is invalid. The macros have the same rules.
fn invalid_threshold(threshold: f64, spec: &MetricSpec<'_>) -> Option<String> {
    match spec.kind {
        ScoreKind::Bool => Some(format!(
            "a metric that returns `bool` takes no threshold, found {threshold:?}; remove the threshold"
        )),
        ScoreKind::Corpus => Some(
            "a metric that scores all rows together takes no threshold; remove the threshold, or compare the run's score".to_owned(),
        ),
        ScoreKind::Number => {
            let is_at_least = spec.direction == Direction::HigherIsBetter;
            let of = "of the metric";
            let broken = bound_fits("threshold", of, spec.range, is_at_least, threshold);
            broken.map(|broken| broken.as_str().to_owned())
        }
    }
}

/// Returns why a metric cannot be strict.
fn not_strict(spec: &MetricSpec<'_>) -> Option<String> {
    match (spec.kind, spec.range) {
        (ScoreKind::Bool, _) => Some(
            "a metric that returns `bool` is always strict, because its scores are 0 and 1; remove `strict`".to_owned(),
        ),
        (ScoreKind::Corpus, _) => Some(
            "`strict` is not supported for a metric that scores all rows together; remove it".to_owned(),
        ),
        (ScoreKind::Number, _) if spec.threshold.is_some() => None,
        (ScoreKind::Number, range) => {
            let middle = range.map_or(0.5, |range| range.min / 2.0 + range.max / 2.0);
            Some(format!(
                "expected a threshold for `strict`, found none; set a threshold as well, such as {middle:?}"
            ))
        }
    }
}
