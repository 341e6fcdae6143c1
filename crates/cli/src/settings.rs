//! The settings that every metric has, as `list` shows them.

use serde::Serialize;

use crate::core::spec::{MetricSpec, ScoreKind};
use crate::metrics::registry::{SETTINGS, has_param};

/// Returns the settings that a metric accepts, as parameters, with their defaults from its spec.
pub(super) fn accepted(spec: &MetricSpec<'_>) -> Vec<Setting> {
    let [threshold, strict, cost] = SETTINGS;
    let direction = if spec.higher_is_better() {
        "smallest"
    } else {
        "largest"
    };
    let number = [
        Setting {
            name: threshold,
            ty: "number",
            default: spec.threshold.map(|threshold| format!("{threshold:?}")),
            doc: format!("The {direction} score that is a pass."),
        },
        Setting {
            name: strict,
            ty: "bool",
            default: Some(spec.strict.to_string()),
            doc: "Whether a score becomes 1 (pass) or 0 (fail).".to_owned(),
        },
    ];
    let cost = Setting {
        name: cost,
        ty: "cost",
        default: Some(format!("{} msat", spec.cost_msats)),
        doc: "The largest expected cost of one call.".to_owned(),
    };
    let number = number
        .into_iter()
        .filter(|_| spec.kind == ScoreKind::Number);
    number
        .chain([cost])
        .filter(|setting| !has_param(spec, setting.name))
        .collect()
}

/// A setting of a metric in `list`.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Setting {
    pub(super) name: &'static str,
    #[serde(rename = "type")]
    pub(super) ty: &'static str,
    pub(super) default: Option<String>,
    pub(super) doc: String,
}

#[cfg(test)]
mod tests {
    use super::accepted;
    use crate::core::spec::{MetricSpec, ParamSpec, ScoreKind};
    use crate::core::value_type::TypeHelp;

    #[test]
    fn a_setting_that_the_metric_does_not_accept_is_not_listed() {
        let threshold = ParamSpec {
            name: "threshold",
            ty: "f64",
            help: TypeHelp::NONE,
            default: None,
            doc: "",
            names: &[],
        };
        let names = |spec: &MetricSpec<'_>| -> Vec<&str> {
            accepted(spec)
                .into_iter()
                .map(|setting| setting.name)
                .collect()
        };
        assert_eq!(
            names(&MetricSpec::new("x")),
            ["threshold", "strict", "cost"]
        );
        assert_eq!(
            names(&MetricSpec::new("x").with_kind(ScoreKind::Bool)),
            ["cost"]
        );
        assert_eq!(
            names(&MetricSpec::new("x").with_params(&[threshold])),
            ["strict", "cost"]
        );
    }
}
