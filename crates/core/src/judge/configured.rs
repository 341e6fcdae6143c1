//! The command-line parameters of a panel. `panel.rs` has the panel itself.

use std::num::NonZeroUsize;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};

use super::signature::PanelSettings;
use super::{JudgeBuilder, Panel};
use crate::lm::{IntoModel as _, JudgeModel};
use crate::metric::params::{Configures, ParamError, ParamType as _, Params};
use crate::rows::field_types::TextOrList;
use crate::spec::{MetricSpec, ParamSpec, ScoreKind};

/// The command-line parameters that configure a panel of judges.
pub const PANEL: [ParamSpec<'static>; 4] = [
    ParamSpec::new(
        "models",
        "provider:model,..",
        Some("default"),
        "The models that judge, separated by commas. `default` is the configured model; a model listed twice is called twice.",
    ),
    ParamSpec::new(
        "aggregation",
        "majority | median | average",
        Some("majority of verdicts, median of grades"),
        "How the answers of several judges are aggregated.",
    ),
    ParamSpec::new(
        "max_concurrent_judges",
        "number | all",
        Some("all"),
        "How many judges are called concurrently per row.",
    ),
    ParamSpec::new(
        "quorum",
        "number | majority",
        Some("majority"),
        "How many judges must return a verdict for a score; `majority` is more than half. With a number, the other judges may fail; otherwise, the exit code is 1 if any judge fails.",
    ),
];

/// Returns the command-line parameters of a panel with the given defaults.
///
/// `None` keeps the default of [`PANEL`].
pub const fn panel_params(defaults: [Option<&'static str>; 4]) -> [ParamSpec<'static>; 4] {
    let mut params = PANEL;
    let mut index = 0;
    while index < params.len() {
        if defaults[index].is_some() {
            params[index].default = defaults[index];
        }
        index += 1;
    }
    params
}

/// A judge whose panel is its only parameter.
impl<J> Configures<J> for JudgeBuilder<J> {
    fn configure(self, params: &Params, spec: &MetricSpec<'static>) -> Result<J, ParamError> {
        Ok(self.panel(read_panel(params, spec)?).build())
    }

    fn param_texts(spec: &MetricSpec<'static>) -> Vec<Option<String>> {
        let defaults = (0..PANEL.len()).map(|index| panel_default(index, spec));
        defaults.collect()
    }
}

/// Returns a panel parameter's default if the default depends on the metric.
///
/// For example, the default aggregation depends on the metric.
pub fn panel_default(index: usize, spec: &MetricSpec<'_>) -> Option<String> {
    let param = &PANEL[index];
    let declared = spec.params.iter().find(|it| it.name == param.name);
    let depends = param.name == "aggregation"
        && declared.is_some_and(|declared| declared.default == param.default);
    let aggregation = match spec.kind {
        ScoreKind::Bool => "majority",
        ScoreKind::Number | ScoreKind::Corpus => "median",
    };
    depends.then(|| aggregation.to_owned())
}

/// Reads a panel from its parameters.
///
/// # Errors
/// Returns [`ParamError::Invalid`] if a value has the wrong type.
pub fn read_panel(params: &Params, spec: &MetricSpec<'static>) -> Result<Panel, ParamError> {
    let [models, aggregation, limit, quorum] = &PANEL;
    let number = |param: &'static ParamSpec<'static>| match params.is(param.name, param.default) {
        true => Ok(None),
        false => read(params, spec, param).map(|number| number.map(|Judges(number)| number.get())),
    };
    let mut panel = Panel::new();
    if let Some(cost_msats) = params.cost_msats {
        panel = panel.cost_msats(cost_msats);
    }
    panel.settings = PanelSettings {
        models: read(params, spec, models)?.map_or_else(Vec::new, |Models(models)| models),
        aggregation: read(params, spec, aggregation)?,
        max_concurrent_judges: number(limit)?,
        quorum: number(quorum)?,
    };
    Ok(panel)
}

fn read<T: DeserializeOwned>(
    params: &Params,
    spec: &MetricSpec<'static>,
    param: &'static ParamSpec<'static>,
) -> Result<Option<T>, ParamError> {
    <_>::read(params, spec, param, Some(|| None))
}

/// The number of judges.
struct Judges(NonZeroUsize);

impl<'de> Deserialize<'de> for Judges {
    fn deserialize<D: Deserializer<'de>>(number: D) -> Result<Self, D::Error> {
        let number = NonZeroUsize::deserialize(number).map(Self);
        number.map_err(|_| D::Error::custom("expected an integer of at least 1"))
    }
}

/// Model names, as a JSON list or separated by commas.
struct Models(Vec<JudgeModel>);

impl<'de> Deserialize<'de> for Models {
    fn deserialize<D: Deserializer<'de>>(names: D) -> Result<Self, D::Error> {
        let names = match TextOrList::deserialize(names)? {
            TextOrList::Text(text) => text.split(',').map(str::to_owned).collect(),
            TextOrList::List(names) => names,
        };
        if names.is_empty() {
            return Err(D::Error::custom(
                "expected at least one model, found an empty list; write a model, or `default`",
            ));
        }
        let model = |name: &String| match name.trim().split_once(':') {
            None if name.trim() == "default" => Ok("default".into_model()),
            Some((provider, model)) if !provider.is_empty() && !model.is_empty() => {
                Ok(name.trim().into_model())
            }
            _ => Err(D::Error::custom(format!(
                "expected `provider:model`, found `{}`; write, for example, `openai:gpt-6-luna`",
                name.trim()
            ))),
        };
        names.iter().map(model).collect::<Result<_, _>>().map(Self)
    }
}
