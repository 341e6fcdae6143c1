//! Settings of one instance of a metric: threshold, strictness and cost, which override the settings of its declaration.
//!
//! `Instance` applies them to any metric. A judge stores them in its panel, since they are part of its configuration.

use crate::spec::{Direction, MetricSpec, ScoreKind, ScoreRange};

/// Threshold, strictness and cost of one instance; `None` is the value of the declaration.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct InstanceSettings {
    pub threshold: Option<f64>,
    pub strict: Option<bool>,
    pub cost_msats: Option<u64>,
}

/// A setting of an instance that its metric does not support.
#[derive(Clone, Copy, PartialEq, thiserror::Error)]
pub enum SettingError {
    #[error(
        "expected no threshold for a metric that returns `bool`, found {0:?}; remove the threshold"
    )]
    ThresholdOfBool(f64),
    #[error(
        "expected no threshold for a metric that scores all rows together; remove the threshold, or compare the score of the run"
    )]
    ThresholdOfCorpus,
    #[error("expected no `strict` for a metric that scores all rows together; remove `strict`")]
    StrictCorpus,
    #[error("expected a finite threshold, found {0:?}; write a number such as 0.5")]
    NotFinite(f64),
    #[error("expected a threshold in the range {range}, found {threshold:?}; write one within it")]
    OutOfRange { threshold: f64, range: ScoreRange },
    #[error(
        "expected a threshold that some scores fail, found {threshold:?}, which every score in the range {range} passes; write a {other} one"
    )]
    CannotFail {
        threshold: f64,
        range: ScoreRange,
        other: &'static str,
    },
    #[error(
        "expected a number for `strict`, found a metric that returns `bool`, whose scores are 0 and 1; remove `strict`"
    )]
    StrictBool,
    #[error(
        "expected a threshold for `strict`, found none; set a threshold as well, such as {0:?}"
    )]
    StrictWithoutThreshold(f64),
}

dsrs_metrics_values::debug_as_display!(SettingError);

impl SettingError {
    /// Returns the setting to change, as on the command line.
    #[doc(hidden)]
    pub const fn setting(&self) -> &'static str {
        match self {
            Self::StrictBool | Self::StrictCorpus | Self::StrictWithoutThreshold(_) => "strict",
            _ => "threshold",
        }
    }
}

impl InstanceSettings {
    /// Returns the spec with these settings.
    ///
    /// # Errors
    /// A setting that a metric with this spec does not support.
    #[doc(hidden)]
    pub fn apply<'a>(
        &self,
        mut spec: MetricSpec<'a>,
    ) -> std::result::Result<MetricSpec<'a>, SettingError> {
        if let Some(threshold) = self.threshold {
            validate(threshold, &spec)?;
            spec.threshold = Some(threshold);
        }
        match self.strict {
            Some(true) if spec.kind == ScoreKind::Bool => return Err(SettingError::StrictBool),
            Some(true) if spec.kind == ScoreKind::Corpus => return Err(SettingError::StrictCorpus),
            Some(true) if spec.threshold.is_none() => {
                let middle = spec
                    .range
                    .map_or(0.5, |range| range.min / 2.0 + range.max / 2.0);
                return Err(SettingError::StrictWithoutThreshold(middle));
            }
            Some(strict) => spec.strict = strict,
            None => {}
        }
        spec.cost_msats = self.cost_msats.unwrap_or(spec.cost_msats);
        Ok(spec)
    }

    /// Returns the spec with these settings, or unchanged if a setting is invalid.
    #[doc(hidden)]
    pub fn shown<'a>(&self, spec: MetricSpec<'a>) -> MetricSpec<'a> {
        self.apply(spec).unwrap_or(spec)
    }
}

/// Applies the rules that the macros apply to a threshold.
#[expect(
    clippy::float_cmp,
    reason = "only the end of the range itself is passed by every score"
)]
fn validate(threshold: f64, spec: &MetricSpec<'_>) -> std::result::Result<(), SettingError> {
    if spec.kind == ScoreKind::Bool {
        return Err(SettingError::ThresholdOfBool(threshold));
    }
    if spec.kind == ScoreKind::Corpus {
        return Err(SettingError::ThresholdOfCorpus);
    }
    if !threshold.is_finite() {
        return Err(SettingError::NotFinite(threshold));
    }
    let Some(range) = spec.range else {
        return Ok(());
    };
    if !range.contains(threshold) {
        return Err(SettingError::OutOfRange { threshold, range });
    }
    let (always, other) = match spec.direction {
        Direction::HigherIsBetter => (range.min, "larger"),
        Direction::LowerIsBetter => (range.max, "smaller"),
    };
    if threshold == always {
        return Err(SettingError::CannotFail {
            threshold,
            range,
            other,
        });
    }
    Ok(())
}
