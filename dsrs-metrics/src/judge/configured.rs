//! A panel from text: what `--param` can say of who judges. The panel itself is in `panel.rs`.

use std::num::NonZeroUsize;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::models::{IntoModel as _, JudgeModel};
use super::panel::{Aggregation, Panel};
use crate::core::params::{ParamError, Params, read_param};
use crate::core::spec::{MetricSpec, ParamSpec, ScoreKind};

/// The parameters that a panel is on a command line.
pub const PANEL: [ParamSpec<'static>; 4] = [
    ParamSpec {
        name: "models",
        ty: "provider:model,..",
        default: Some("default"),
        doc: "Who judges: models with commas between them. `default` is the configured one; one that stands twice is asked twice.",
        names: &[],
    },
    ParamSpec {
        name: "aggregation",
        ty: "majority | median | average",
        default: Some("majority of yes and no, median of grades"),
        doc: "How the answers of several judges become one.",
        names: &[],
    },
    ParamSpec {
        name: "max_concurrent_judges",
        ty: "number | all",
        default: Some("all"),
        doc: "How many judges are asked about a row at the same time.",
        names: &[],
    },
    ParamSpec {
        name: "quorum",
        ty: "number | majority",
        default: Some("majority"),
        doc: "How many judges must answer for a score; `majority` is more than half.",
        names: &[],
    },
];

/// The default of a panel's parameter where it depends on the metric: how answers become one.
#[must_use]
pub fn panel_default(index: usize, spec: &MetricSpec<'_>) -> Option<String> {
    let param = &PANEL[index];
    let said = spec.params.iter().find(|said| said.name == param.name);
    let depends =
        param.name == "aggregation" && said.is_some_and(|said| said.default == param.default);
    let aggregation = match spec.kind {
        ScoreKind::Bool => "majority",
        ScoreKind::Number => "median",
    };
    depends.then(|| aggregation.to_owned())
}

/// The panel that these parameters describe.
///
/// # Errors
/// [`ParamError::WrongType`].
pub fn read_panel(params: &Params, spec: &MetricSpec<'static>) -> Result<Panel, ParamError> {
    let [models, aggregation, limit, quorum] = &PANEL;
    let mut panel = Panel::new();
    if let Some(Models(models)) = read(params, spec, models)? {
        panel = panel.models(models);
    }
    if let Some(aggregation) = read::<Aggregation>(params, spec, aggregation)? {
        panel = panel.aggregation(aggregation);
    }
    if let Some(judges) = judges(params, spec, limit)? {
        panel = panel.max_concurrent_judges(judges);
    }
    if let Some(judges) = judges(params, spec, quorum)? {
        panel = panel.quorum(judges);
    }
    Ok(panel)
}

fn read<T: serde::de::DeserializeOwned>(
    params: &Params,
    spec: &MetricSpec<'static>,
    param: &ParamSpec<'static>,
) -> Result<Option<T>, ParamError> {
    params.has(param.name).then(|| read_param(params, spec, param, None)).transpose()
}

/// A number of judges; none if nothing is given, or the word that is the default.
fn judges(
    params: &Params,
    spec: &MetricSpec<'static>,
    param: &ParamSpec<'static>,
) -> Result<Option<usize>, ParamError> {
    if params.is(param.name, param.default) {
        return Ok(None);
    }
    Ok(read(params, spec, param)?.map(|Judges(number)| number.get()))
}

/// A number of judges.
struct Judges(NonZeroUsize);

impl<'de> Deserialize<'de> for Judges {
    fn deserialize<D: Deserializer<'de>>(number: D) -> Result<Self, D::Error> {
        let number = NonZeroUsize::deserialize(number);
        number
            .map(Self)
            .map_err(|_| D::Error::custom("a number of judges is a whole number from 1 on"))
    }
}

/// Names of models, in a JSON list or with commas between them.
struct Models(Vec<JudgeModel>);

#[derive(Deserialize)]
#[serde(untagged, expecting = "names of models")]
enum Written {
    Text(String),
    List(Vec<String>),
}

impl<'de> Deserialize<'de> for Models {
    fn deserialize<D: Deserializer<'de>>(names: D) -> Result<Self, D::Error> {
        let names = match Written::deserialize(names)? {
            Written::Text(text) => text.split(',').map(str::to_owned).collect(),
            Written::List(names) => names,
        };
        if names.is_empty() {
            return Err(D::Error::custom("the list is empty: name a model, or `default`"));
        }
        let model = |name: &String| match name.trim() {
            "default" => Ok("default".into_model()),
            name if is_whole(name) => Ok(name.into_model()),
            name => Err(D::Error::custom(format!(
                "`{name}` does not name a model with its provider, as in `openai:gpt-5-mini`"
            ))),
        };
        names.iter().map(model).collect::<Result<_, _>>().map(Self)
    }
}

fn is_whole(name: &str) -> bool {
    name.split_once(':').is_some_and(|(provider, model)| !provider.is_empty() && !model.is_empty())
}
