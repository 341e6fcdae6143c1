//! Who judges: which models are asked, how many at once, how many must answer. How their answers become
//! one is in `fold.rs`.

#[cfg(feature = "lm")]
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
#[cfg(feature = "lm")]
use std::sync::{Mutex, OnceLock, PoisonError};

use serde::Deserialize;

use super::error::JudgeError;
use super::signature::Signature;
use crate::lm::{LanguageModel, LmError};
use crate::settings::Settings;

/// How the answers of several judges become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Aggregation {
    /// Of yes and no, what more than half of the judges say; a tie is a no. Of grades, the one that most
    /// judges give, and of several such the middle one. The default for judges that say yes or no.
    Majority,
    /// The middle value; of two in the middle, their mean. The default for grades.
    Median,
    /// The mean.
    Average,
}

/// A model that a judge asks.
#[derive(Clone)]
#[non_exhaustive]
pub enum JudgeModel {
    /// The configured one.
    Configured,
    /// The one of this name, as `provider:model`.
    Named(String),
    /// This one.
    Held(Arc<dyn LanguageModel>),
}

impl fmt::Debug for JudgeModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configured => f.write_str("Configured"),
            Self::Named(id) => f.debug_tuple("Named").field(id).finish(),
            Self::Held(lm) => f.debug_tuple("Held").field(&lm.id()).finish(),
        }
    }
}

/// What a judge can be given as a model.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no model that a judge can ask",
    label = "not a language model",
    note = "give a name like `\"openai:gpt-5-mini\"`, or anything that implements `LanguageModel`, also in an `Arc`"
)]
pub trait IntoModel {
    /// The model.
    fn into_model(self) -> JudgeModel;
}

impl IntoModel for JudgeModel {
    fn into_model(self) -> JudgeModel {
        self
    }
}

impl IntoModel for &str {
    fn into_model(self) -> JudgeModel {
        if self == "default" { JudgeModel::Configured } else { JudgeModel::Named(self.to_owned()) }
    }
}

impl IntoModel for String {
    fn into_model(self) -> JudgeModel {
        self.as_str().into_model()
    }
}

#[diagnostic::do_not_recommend]
impl<L: LanguageModel + 'static> IntoModel for L {
    fn into_model(self) -> JudgeModel {
        JudgeModel::Held(Arc::new(self))
    }
}

/// The models of a scope: what judges ask that are given none, and how a named one is found. Part of
/// [`Settings`], so that every judge that runs within the scope sees it.
///
/// ```
/// use dsrs_metrics::Settings;
/// use dsrs_metrics::judge::Models;
/// use dsrs_metrics::lm::ScriptedLm;
///
/// let lm = ScriptedLm::new().otherwise(r#"{ "relevant": true }"#);
/// let settings = Settings::new().with(Models::new(lm));
/// # drop(settings);
/// ```
#[derive(Clone, Default)]
pub struct Models {
    configured: Option<Arc<dyn LanguageModel>>,
    connect: Option<Arc<Connect>>,
}

type Connect = dyn Fn(&str) -> Result<Arc<dyn LanguageModel>, LmError> + Send + Sync;

impl Models {
    /// Asks `lm` wherever a judge names no model.
    pub fn new(lm: impl LanguageModel + 'static) -> Self {
        Self { configured: Some(Arc::new(lm)), connect: None }
    }

    /// Finds a model by its name, as `provider:model`. It is asked for each row, so it keeps what it has
    /// connected to.
    #[must_use]
    pub fn connecting(
        mut self,
        connect: impl Fn(&str) -> Result<Arc<dyn LanguageModel>, LmError> + Send + Sync + 'static,
    ) -> Self {
        self.connect = Some(Arc::new(connect));
        self
    }

    /// The model that `DSRS_LM` names, if it names one, and any other by its name, with what the
    /// environment says of their keys and addresses; see [`Lm`](crate::lm::Lm). Judges see these without being
    /// told, unless their scope has models of its own.
    ///
    /// # Errors
    /// [`LmError`], if what `DSRS_LM` names is no model.
    #[cfg(feature = "lm")]
    pub fn from_env() -> Result<Self, LmError> {
        use crate::lm::Lm;

        let configured: Option<Arc<dyn LanguageModel>> = match Lm::from_env() {
            Ok(lm) => Some(Arc::new(lm)),
            Err(LmError::NotChosen { .. }) => None,
            Err(error) => return Err(error),
        };
        let known: Mutex<HashMap<String, Arc<dyn LanguageModel>>> = Mutex::default();
        let models = Self { configured, connect: None };
        Ok(models.connecting(move |id| {
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(lm) = known.get(id) {
                return Ok(Arc::clone(lm));
            }
            let lm: Arc<dyn LanguageModel> = Arc::new(Lm::from_id(id)?);
            known.insert(id.to_owned(), Arc::clone(&lm));
            Ok(lm)
        }))
    }

    /// The models of the scope, or else those of the environment.
    fn of_scope() -> Result<Option<Arc<Self>>, JudgeError> {
        if let Some(models) = Settings::get::<Self>() {
            return Ok(Some(models));
        }
        #[cfg(feature = "lm")]
        {
            static OF_ENVIRONMENT: OnceLock<Result<Arc<Models>, LmError>> = OnceLock::new();
            let models = OF_ENVIRONMENT.get_or_init(|| Self::from_env().map(Arc::new));
            Ok(Some(models.clone()?))
        }
        #[cfg(not(feature = "lm"))]
        Ok(None)
    }

    fn named(&self, id: &str) -> Result<Arc<dyn LanguageModel>, JudgeError> {
        if let Some(lm) = self.configured.as_ref().filter(|lm| lm.id() == id) {
            return Ok(Arc::clone(lm));
        }
        match &self.connect {
            Some(connect) => Ok(connect(id)?),
            None => Err(JudgeError::NoConnection { id: id.to_owned() }),
        }
    }
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let configured = self.configured.as_deref().map(LanguageModel::id);
        f.debug_struct("Models").field("configured", &configured).finish_non_exhaustive()
    }
}

/// Which models a judge asks, where that differs from what `#[judge]` says.
///
/// As text (`--param NAME.panel=..`) it is an object:
/// `{"models": ["openai:gpt-4.1-mini", "default"], "aggregation": "median", "quorum": 1}`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Panel {
    #[serde(skip)]
    lm: Option<JudgeModel>,
    #[serde(deserialize_with = "by_name")]
    models: Vec<JudgeModel>,
    aggregation: Option<Aggregation>,
    max_concurrent_judges: Option<usize>,
    quorum: Option<usize>,
}

/// Two panels of one text ask the same: models that are held are told apart by where they lie.
impl crate::identity::Plain for Panel {
    fn tell(&self, into: &mut String) {
        let Self { lm, models, aggregation, max_concurrent_judges: _, quorum } = self;
        for model in lm.iter().chain(models) {
            into.push_str(&match model {
                JudgeModel::Configured => "configured,".to_owned(),
                JudgeModel::Named(id) => format!("{id:?},"),
                JudgeModel::Held(lm) => format!("{:x},", Arc::as_ptr(lm).cast::<()>().addr()),
            });
        }
        into.push_str(&format!("{} {aggregation:?} {quorum:?}", lm.is_some()));
    }
}

fn by_name<'de, D: serde::Deserializer<'de>>(names: D) -> Result<Vec<JudgeModel>, D::Error> {
    let names = Vec::<String>::deserialize(names)?;
    Ok(names.into_iter().map(IntoModel::into_model).collect())
}

impl Panel {
    /// What `#[judge]` says.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks this model wherever the judge names none.
    #[must_use]
    pub fn with_lm(mut self, lm: impl IntoModel) -> Self {
        self.lm = Some(lm.into_model());
        self
    }

    /// Asks each of these models; one that stands twice is asked twice.
    #[must_use]
    pub fn models<M: IntoModel>(mut self, models: impl IntoIterator<Item = M>) -> Self {
        self.models = models.into_iter().map(IntoModel::into_model).collect();
        self
    }

    /// How the judges' answers become one.
    #[must_use]
    pub fn aggregation(mut self, aggregation: Aggregation) -> Self {
        self.aggregation = Some(aggregation);
        self
    }

    /// How many judges are asked about a row at the same time; all of them, unless this is called.
    #[must_use]
    pub fn max_concurrent_judges(mut self, limit: usize) -> Self {
        self.max_concurrent_judges = Some(limit);
        self
    }

    /// How many judges must answer for a score; more than half of them, unless this is called.
    #[must_use]
    pub fn quorum(mut self, quorum: usize) -> Self {
        self.quorum = Some(quorum);
        self
    }

    /// How many judges are asked about a row.
    #[must_use]
    pub fn num_judges(&self, signature: &Signature) -> usize {
        self.members(signature).len().max(1)
    }

    fn members<'a>(&'a self, signature: &'a Signature) -> &'a [JudgeModel] {
        if self.models.is_empty() { &signature.models } else { &self.models }
    }

    pub(super) fn aggregation_of(&self, signature: &Signature, is_bool: bool) -> Aggregation {
        let default = if is_bool { Aggregation::Majority } else { Aggregation::Median };
        self.aggregation.or(signature.aggregation).unwrap_or(default)
    }

    pub(super) fn limit(&self, signature: &Signature) -> usize {
        let limit = self.max_concurrent_judges.or(signature.max_concurrent);
        limit.unwrap_or(usize::MAX).clamp(1, 1024)
    }

    /// How many judges must answer: more than half, unless said otherwise.
    pub(super) fn quorum_of(&self, signature: &Signature) -> usize {
        let asked = self.num_judges(signature);
        self.quorum.or(signature.quorum).unwrap_or(asked / 2 + 1)
    }

    /// Whether the panel can give a score at all.
    pub(super) fn check(&self, signature: &Signature, is_bool: bool) -> Result<(), JudgeError> {
        let (asked, quorum) = (self.num_judges(signature), self.quorum_of(signature));
        if !(1..=asked).contains(&quorum) {
            return Err(JudgeError::Panel(format!(
                "a quorum of {quorum} makes no sense for {asked} judges: set one from 1 to {asked}"
            )));
        }
        let aggregation = self.aggregation_of(signature, is_bool);
        if is_bool && aggregation != Aggregation::Majority {
            return Err(JudgeError::Panel(format!(
                "judges that say yes or no vote, and {aggregation:?} gives neither: take Aggregation::Majority"
            )));
        }
        Ok(())
    }

    /// The models in order. None at all where nothing is configured and none is named.
    pub(super) fn resolve(
        &self,
        signature: &Signature,
    ) -> Result<Option<Vec<Arc<dyn LanguageModel>>>, JudgeError> {
        let members = match self.members(signature) {
            [] => &[JudgeModel::Configured],
            members => members,
        };
        let is_own = |member: &JudgeModel| match (member, &self.lm) {
            (JudgeModel::Configured, lm) => matches!(lm, Some(JudgeModel::Held(_))),
            (member, _) => matches!(member, JudgeModel::Held(_)),
        };
        let scope = if members.iter().all(is_own) { None } else { Models::of_scope()? };
        let named = |id: &str| match &scope {
            Some(models) => models.named(id),
            None => Err(JudgeError::NoConnection { id: id.to_owned() }),
        };
        let mut lms = Vec::with_capacity(members.len());
        for member in members {
            let member = match (member, &self.lm) {
                (JudgeModel::Configured, Some(lm)) => lm,
                (member, _) => member,
            };
            match member {
                JudgeModel::Held(lm) => lms.push(Arc::clone(lm)),
                JudgeModel::Named(id) => lms.push(named(id)?),
                JudgeModel::Configured => {
                    match scope.as_ref().and_then(|models| models.configured.clone()) {
                        Some(lm) => lms.push(lm),
                        None if members.iter().all(|m| matches!(m, JudgeModel::Configured)) => {
                            return Ok(None);
                        }
                        None => return Err(JudgeError::NoModel),
                    }
                }
            }
        }
        Ok(Some(lms))
    }
}
