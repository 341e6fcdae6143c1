//! The model that you set on a judge.

use std::sync::Arc;

use super::LanguageModel;

/// The model that a judge calls.
///
/// ```
/// use dsrs_metrics::lm::{IntoModel, JudgeModel, ScriptedLm};
///
/// assert_eq!("openai:gpt-6-luna".into_model(), JudgeModel::Named("openai:gpt-6-luna".into()));
/// // Models passed as values are equal if they are the same value.
/// let (one, other) = (ScriptedLm::new().into_model(), ScriptedLm::new().into_model());
/// assert_eq!((one == one.clone(), one == other), (true, false));
/// ```
#[derive(Debug, Clone)]
pub enum JudgeModel {
    /// The model configured in the scope or the environment.
    Configured,
    /// The model with this name, as `provider:model`.
    Named(String),
    /// A model passed as a value.
    Value(Arc<dyn LanguageModel>),
    /// No model is called, and the judge uses its offline stand-in.
    Offline,
}

impl PartialEq for JudgeModel {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Configured, Self::Configured) | (Self::Offline, Self::Offline) => true,
            (Self::Named(one), Self::Named(other)) => one == other,
            (Self::Value(one), Self::Value(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

/// A type that can be converted into the model of a judge.
///
/// ```
/// use dsrs_metrics::lm::{IntoModel, JudgeModel};
///
/// assert_eq!("default".into_model(), JudgeModel::Configured);
/// assert_eq!(
///     String::from("openai:gpt-6-luna").into_model(),
///     JudgeModel::Named("openai:gpt-6-luna".into())
/// );
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a language model",
    label = "expected a language model",
    note = "pass a name such as `\"openai:gpt-6-luna\"`, or a value that implements `LanguageModel`, optionally in an `Arc`"
)]
pub trait IntoModel {
    /// Converts the value into a model.
    fn into_model(self) -> JudgeModel;
}

impl IntoModel for JudgeModel {
    fn into_model(self) -> JudgeModel {
        self
    }
}

impl IntoModel for &str {
    fn into_model(self) -> JudgeModel {
        if self == "default" {
            JudgeModel::Configured
        } else {
            JudgeModel::Named(self.to_owned())
        }
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
        JudgeModel::Value(Arc::new(self))
    }
}
