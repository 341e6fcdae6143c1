//! Where a judge's models come from: given to it, or found in the scope or the environment. How several judge
//! together is in `panel.rs`.

#[cfg(feature = "lm")]
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
#[cfg(feature = "lm")]
use std::sync::{Mutex, OnceLock, PoisonError};

use super::error::JudgeError;
use crate::core::settings::Settings;
use crate::lm::{LanguageModel, Ledger, LmError};
#[cfg(feature = "lm")]
use crate::lm::{Lm, LmBuilder};

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

impl PartialEq for JudgeModel {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Configured, Self::Configured) => true,
            (Self::Named(one), Self::Named(other)) => one == other,
            (Self::Held(one), Self::Held(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
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
    /// Held or named.
    configured: Option<JudgeModel>,
    connect: Option<Arc<Connect>>,
    ledger: Option<Ledger>,
}

type Connect = dyn Fn(&str) -> Result<Arc<dyn LanguageModel>, LmError> + Send + Sync;

impl Models {
    /// Asks `lm` wherever a judge names no model.
    pub fn new(lm: impl LanguageModel + 'static) -> Self {
        Self { configured: Some(JudgeModel::Held(Arc::new(lm))), ..Self::default() }
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
    /// environment says of their keys and addresses; see [`Lm`](crate::lm::Lm). All count in one
    /// [ledger](Self::ledger), and those of one account keep to its limits together. Judges see these without being
    /// told, unless their scope has models of its own.
    ///
    /// # Errors
    /// [`LmError`], if what `DSRS_LM` names is no model.
    #[cfg(feature = "lm")]
    pub fn from_env() -> Result<Self, LmError> {
        let id = Self::chosen();
        let models = Self::built_by(id.clone(), |builder| builder);
        if let (Some(id), Some(connect)) = (id, &models.connect) {
            connect(&id)?;
        }
        Ok(models)
    }

    /// What `DSRS_LM` names.
    #[cfg(feature = "lm")]
    pub(crate) fn chosen() -> Option<String> {
        let id = std::env::var("DSRS_LM").ok()?;
        Some(id.trim().to_owned()).filter(|id| !id.is_empty())
    }

    /// Models that are built when a judge first asks for them, each once and all by the same settings; `id` is
    /// the one that is asked where a judge names none.
    #[cfg(feature = "lm")]
    pub(crate) fn built_by(
        id: Option<String>,
        set_up: impl Fn(LmBuilder) -> LmBuilder + Send + Sync + 'static,
    ) -> Self {
        let known: Mutex<HashMap<String, Arc<dyn LanguageModel>>> = Mutex::default();
        let ledger = Ledger::new();
        let configured = id.map(JudgeModel::Named);
        let models = Self { configured, connect: None, ledger: Some(ledger.clone()) };
        models.connecting(move |id| {
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(lm) = known.get(id) {
                return Ok(Arc::clone(lm));
            }
            let builder = Lm::builder(id).ledger(ledger.clone());
            let lm: Arc<dyn LanguageModel> = Arc::new(set_up(builder).build()?);
            known.insert(id.to_owned(), Arc::clone(&lm));
            Ok(lm)
        })
    }

    /// What all calls took so far, if these models are those of the environment; a model that was given counts for
    /// itself.
    #[must_use]
    pub fn ledger(&self) -> Option<&Ledger> {
        self.ledger.as_ref()
    }

    /// The models of the scope, or else those of the environment.
    pub(super) fn of_scope() -> Result<Option<Arc<Self>>, JudgeError> {
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

    pub(crate) fn configured(&self) -> Result<Option<Arc<dyn LanguageModel>>, JudgeError> {
        match &self.configured {
            Some(JudgeModel::Held(lm)) => Ok(Some(Arc::clone(lm))),
            Some(JudgeModel::Named(id)) => self.named(id).map(Some),
            Some(JudgeModel::Configured) | None => Ok(None),
        }
    }

    pub(super) fn named(&self, id: &str) -> Result<Arc<dyn LanguageModel>, JudgeError> {
        if let Some(JudgeModel::Held(lm)) = &self.configured
            && lm.id() == id
        {
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
        f.debug_struct("Models").field("configured", &self.configured).finish_non_exhaustive()
    }
}
