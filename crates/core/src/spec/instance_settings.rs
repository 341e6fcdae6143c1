//! Settings of one instance of a metric (threshold, strictness and cost), which override its declaration.
//!
//! `Instance` applies them to any metric. A judge stores them in its panel, because they are part of its configuration.

use crate::spec::{Direction, MetricSpec, ScoreKind, ScoreRange};

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
        if let Some(threshold) = self.threshold {
            validate(threshold, &spec)?;
            spec.threshold = Some(threshold);
        }
        let strict = |message: String| {
            let setting = "strict";
            Err(SettingError { setting, message })
        };
        match self.strict {
            Some(true) if spec.kind == ScoreKind::Bool => return strict(STRICT_BOOL.to_owned()),
            Some(true) if spec.kind == ScoreKind::Corpus => {
                return strict(STRICT_CORPUS.to_owned());
            }
            Some(true) if spec.threshold.is_none() => {
                let middle = spec
                    .range
                    .map_or(0.5, |range| range.min / 2.0 + range.max / 2.0);
                return strict(format!(
                    "expected a threshold for `strict`, found none; set a threshold as well, such as {middle:?}"
                ));
            }
            Some(is_strict) => spec.strict = is_strict,
            None => {}
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

const STRICT_BOOL: &str = "a metric that returns `bool` is always strict, because its scores are 0 and 1; remove `strict`";
const STRICT_CORPUS: &str =
    "`strict` is not supported for a metric that scores all rows together; remove it";

/// Applies the macros' rules for a threshold.
#[expect(
    clippy::float_cmp,
    reason = "only the end of the range itself is passed by every score"
)]
fn validate(threshold: f64, spec: &MetricSpec<'_>) -> std::result::Result<(), SettingError> {
    let fails = match (spec.kind, spec.range, spec.direction) {
        (ScoreKind::Bool, ..) => format!(
            "a metric that returns `bool` takes no threshold, found {threshold:?}; remove the threshold"
        ),
        (ScoreKind::Corpus, ..) => "a metric that scores all rows together takes no threshold; remove the threshold, or compare the run's score".to_owned(),
        _ if !threshold.is_finite() => format!(
            "expected a finite threshold, found {threshold:?}; write a number such as 0.5"
        ),
        (_, Some(range), _) if !range.contains(threshold) => format!(
            "expected a threshold in the range {range}, found {threshold:?}; write one within it"
        ),
        (_, Some(range), Direction::HigherIsBetter) if threshold == range.min => {
            cannot_fail(threshold, range, "larger")
        }
        (_, Some(range), Direction::LowerIsBetter) if threshold == range.max => {
            cannot_fail(threshold, range, "smaller")
        }
        _ => return Ok(()),
    };
    Err(SettingError {
        setting: "threshold",
        message: fails,
    })
}

fn cannot_fail(threshold: f64, range: ScoreRange, other: &str) -> String {
    format!(
        "every score in the range {range} passes the threshold {threshold:?}; write a {other} one"
    )
}
