//! A metric's threshold, strictness and cost as parameters: `threshold=0.8`, `strict=true`, `cost="5 sat"`.
//!
//! A metric's own parameter with one of these names takes precedence.

use std::fmt::Display;
use std::sync::Arc;

use async_trait::async_trait;

use crate::contract::{
    Answer, Example, Instance, InstanceSettings, Key, Metric, MetricCall, MetricError, MetricScore,
    MetricSpec, ParamError, Params, Prediction, Requirement, RowAnswer, Scored,
};
use crate::lm::parse_msats;

/// The names of the settings that every metric has.
pub const SETTINGS: [&str; 3] = ["threshold", "strict", "cost"];

const COST: &str = "an amount of money, as in \"5000 msat\" or \"0.005 usd\"";

/// Splits off and reads the settings for a metric with the spec `declared`.
///
/// # Errors
/// Returns [`ParamError::Invalid`] if a value has the wrong type.
pub(super) fn settings(
    params: &Params,
    declared: &MetricSpec<'_>,
) -> Result<(Option<InstanceSettings>, Params), ParamError> {
    let mut rest = params.clone();
    let mut take = |name| match has_param(declared, name) {
        true => None,
        false => rest.remove(name),
    };
    let (threshold, strict, cost) = (take("threshold"), take("strict"), take("cost"));
    let (name, number) = (declared.name, "a number, as in 0.8");
    // The standard library's errors add nothing.
    let settings = InstanceSettings {
        threshold: read(name, "threshold", threshold, number, |text| {
            text.parse().ok().ok_or("")
        })?,
        strict: read(name, "strict", strict, "`true` or `false`", |text| {
            text.parse().ok().ok_or("")
        })?,
        cost_msats: read(name, "cost", cost, COST, parse_msats)?,
    };
    rest.cost_msats = settings.cost_msats;
    let is_set = settings != InstanceSettings::default();
    Ok((is_set.then_some(settings), rest))
}

/// Applies the settings to a metric.
///
/// # Errors
/// Returns [`ParamError::Invalid`] if the metric does not support a setting.
pub(super) fn apply<M>(
    metric: M,
    declared: MetricSpec<'static>,
    settings: InstanceSettings,
) -> Result<Instance<M>, ParamError> {
    let instance = Instance::new(metric, declared, settings).checked();
    instance.map_err(|error| invalid(&declared, error.setting, &error))
}

/// Applies the settings to a metric created in code.
///
/// # Errors
/// Returns [`ParamError::Invalid`] if the metric does not support a setting.
pub(super) fn adjust(
    metric: Arc<dyn Metric>,
    settings: InstanceSettings,
) -> Result<Arc<dyn Metric>, ParamError> {
    let spec = metric.spec();
    if spec.strict && settings.strict == Some(false) {
        return Err(invalid(&spec, "strict", &IS_STRICT));
    }
    if spec.strict && settings.threshold.is_some() {
        return Err(invalid(&spec, "threshold", &IS_STRICT));
    }
    if let Err(error) = settings.apply(spec) {
        return Err(invalid(&spec, error.setting, &error));
    }
    Ok(Arc::new(Adjusted { metric, settings }))
}

fn invalid(spec: &MetricSpec<'_>, setting: &str, reason: &dyn Display) -> ParamError {
    ParamError::Invalid(format!("metric `{}`: `{setting}`: {reason}", spec.name))
}

const IS_STRICT: &str = "this metric was made strict in code, so its scores are already 0 or 1; change the setting in code";

/// A metric created in code, with settings given as text. The settings are applied to its score, because a metric can
/// implement [`Metric::answer`] without reading them.
struct Adjusted {
    metric: Arc<dyn Metric>,
    settings: InstanceSettings,
}

impl Adjusted {
    fn answered(&self, result: Result<RowAnswer, MetricError>) -> Result<RowAnswer, MetricError> {
        match result? {
            RowAnswer::Scored(scored) => Ok(self.adjusted(scored)?.into()),
            counted @ RowAnswer::Counted { .. } => Ok(counted),
        }
    }

    fn adjusted(&self, scored: Scored) -> Result<Scored, MetricError> {
        let declared = self.metric.spec();
        let is_declared = scored.score.cost_msats == declared.cost_msats;
        let cost = self.settings.cost_msats.filter(|_| is_declared);
        scored.validated_again(cost, &self.settings.shown(declared))
    }
}

#[async_trait]
impl Metric for Adjusted {
    dsrs_metrics::forward_metric!(<Example, Prediction> |this| this.metric);

    fn cost_estimate(&self) -> u64 {
        let cost = self.settings.cost_msats;
        cost.unwrap_or_else(|| self.metric.cost_estimate())
    }

    async fn evaluate(
        &self,
        gold: &Example,
        pred: &Prediction,
    ) -> Result<MetricScore, MetricError> {
        Ok(self.answer(MetricCall::new(gold, pred)).await?.score)
    }

    fn answer<'a>(&'a self, call: MetricCall<'a>) -> Answer<'a> {
        match self.metric.answer(call.with_spec(None)) {
            Answer::Ready(result) => Answer::Ready(self.answered(result)),
            Answer::Pending(future) => Answer::pending(async { self.answered(future.await) }),
        }
    }

    fn spec(&self) -> MetricSpec<'_> {
        self.settings.shown(self.metric.spec())
    }

    async fn evaluate_batch(
        &self,
        pairs: &[(Example, Prediction)],
    ) -> Vec<Result<MetricScore, MetricError>> {
        let declared = self.metric.spec();
        let adjusted = |score: Result<MetricScore, MetricError>| {
            let scored = Scored::validated(score?, &declared)?;
            Ok(self.adjusted(scored)?.score)
        };
        let scores = self.metric.evaluate_batch(pairs).await;
        scores.into_iter().map(adjusted).collect()
    }

    fn batch_size(&self) -> usize {
        self.metric.batch_size()
    }

    fn requirements(&self, all: &mut Vec<Requirement>) {
        self.metric.requirements(all);
    }

    fn key(&self) -> Option<Key> {
        Some(Key::of_instance((*self.metric).key()?, self.settings))
    }
}

/// Returns `true` if the metric declares a parameter with this name.
pub fn has_param(spec: &MetricSpec<'_>, name: &str) -> bool {
    spec.params.iter().any(|param| param.name == name)
}

fn read<T, E: Display>(
    metric: &str,
    setting: &str,
    text: Option<String>,
    expected: &str,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<Option<T>, ParamError> {
    let Some(text) = text else { return Ok(None) };
    let invalid = |error: E| {
        // The standard library's errors add nothing.
        let reason = match setting {
            "cost" => format!(" ({error})"),
            _ => String::new(),
        };
        ParamError::Invalid(format!(
            "metric `{metric}`: parameter `{setting}`: expected {expected}, found `{text}`{reason}"
        ))
    };
    parse(text.trim()).map(Some).map_err(invalid)
}

/// A metric's parameter that has the same name as a setting.
#[cfg(test)]
pub(crate) const THRESHOLD: crate::contract::spec::ParamSpec<'static> =
    crate::contract::spec::ParamSpec::new("threshold", "f64", None, "");

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{THRESHOLD, adjust, settings};
    use crate::contract::MetricScore;
    use crate::contract::metric::Metric;
    use crate::contract::metric::fn_metric::metric_fn;
    use crate::contract::metric::params::Params;
    use crate::contract::rows::dynamic::{Example, Prediction};
    use crate::contract::spec::MetricSpec;
    use crate::contract::spec::instance_settings::InstanceSettings;

    fn params(name: &str, value: &str) -> Params {
        let mut params = Params::default();
        params.insert(name, value);
        params
    }

    #[test]
    fn a_parameter_of_the_metric_takes_precedence_over_a_setting() {
        let spec = MetricSpec::new("x").with_params(&[THRESHOLD]);
        let given = params("threshold", "0.5");
        let (none, rest) = settings(&given, &spec).unwrap();
        assert!(none.is_none() && rest.has("threshold"));
        let (some, rest) = settings(&given, &MetricSpec::new("x")).unwrap();
        assert_eq!(some.unwrap().threshold, Some(0.5));
        assert!(!rest.has("threshold"));
    }

    #[test]
    fn a_cost_may_be_in_dollars() {
        let cost = |text| settings(&params("cost", text), &MetricSpec::new("x"));
        assert_eq!(cost("0.005 usd").unwrap().0.unwrap().cost_msats, Some(5000));
        assert_eq!(
            cost("5 EUR").unwrap_err().to_string(),
            "metric `x`: parameter `cost`: expected an amount of money, as in \"5000 msat\" or \"0.005 usd\", found `5 EUR` (expected an amount in `msat`, `sat` or `usd` (1 usd = 1000000 msat), found `5 EUR`; write `100 msat`)"
        );
    }

    /// Returns the value and cost of a row's score, which are the same alone and in a batch.
    fn score_of(metric: &Arc<dyn Metric>) -> (f64, u64) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let row = (Example::default(), Prediction::default());
        let score = runtime.block_on(metric.evaluate(&row.0, &row.1)).unwrap();
        let mut batch = runtime.block_on(metric.evaluate_batch(&[row]));
        let score = (score.value, score.cost_msats);
        let of_batch = batch.pop().unwrap().unwrap();
        assert_eq!((of_batch.value, of_batch.cost_msats), score);
        score
    }

    /// A metric that reads none of the settings it is called with.
    struct Half;

    #[async_trait::async_trait]
    impl Metric for Half {
        async fn evaluate(
            &self,
            _: &Example,
            _: &Prediction,
        ) -> crate::contract::Result<MetricScore> {
            Ok(MetricScore::new(0.5).with_cost_msats(7))
        }

        fn name(&self) -> &str {
            "half"
        }

        fn spec(&self) -> MetricSpec<'_> {
            MetricSpec::new("half")
                .with_range(0.0, 1.0)
                .with_cost_msats(7)
        }
    }

    #[test]
    fn settings_apply_to_a_metric_that_ignores_them() {
        let settings = InstanceSettings {
            threshold: Some(0.5),
            strict: Some(true),
            cost_msats: Some(9),
        };
        let metric = adjust(Arc::new(Half), settings).unwrap();
        assert_eq!(score_of(&metric), (1.0, 9));
    }

    #[test]
    fn settings_apply_to_a_metric_that_was_created_in_code() {
        let half = || -> Arc<dyn Metric> {
            Arc::new(
                metric_fn("half", |_, _| 0.5)
                    .with_range(0.0, 1.0)
                    .with_cost_msats(7),
            )
        };
        let strict = |threshold| InstanceSettings {
            threshold: Some(threshold),
            strict: Some(true),
            cost_msats: Some(9),
        };
        assert_eq!(score_of(&half()), (0.5, 7));
        for (threshold, value) in [(0.5, 1.0), (0.6, 0.0)] {
            let metric = adjust(half(), strict(threshold)).unwrap();
            assert_eq!(score_of(&metric), (value, 9));
            let spec = metric.spec();
            assert_eq!(
                (spec.threshold, spec.strict, spec.cost_msats),
                (Some(threshold), true, 9)
            );
        }
        let error = adjust(half(), strict(1.5)).err().unwrap().to_string();
        assert_eq!(
            error,
            "metric `half`: `threshold`: the threshold 1.5 is outside the range of the metric, 0.0..=1.0; write a threshold within it"
        );
        let is_strict = metric_fn("half", |_, _| 0.5)
            .with_range(0.0, 1.0)
            .with_threshold(0.5)
            .strict();
        let error = adjust(Arc::new(is_strict), strict(0.6))
            .err()
            .unwrap()
            .to_string();
        assert!(
            error.starts_with("metric `half`: `threshold`: this metric was made strict in code")
        );
    }
}
