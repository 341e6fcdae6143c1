//! Who judges: which models are asked, how many at once, how many must answer. How their answers become
//! one is in `fold.rs`.

use std::sync::Arc;

use serde::Deserialize;

use super::error::JudgeError;
use super::models::{IntoModel, JudgeModel, Models};
use super::signature::Signature;
use crate::lm::LanguageModel;

/// How the answers of several judges become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Aggregation {
    /// Of yes and no, what more than half of the judges say that answered; judges that are divided, one half against
    /// the other, have given no verdict. Of grades, the one that most judges give, and of several such the middle
    /// one. The default for judges that say yes or no.
    Majority,
    /// The middle value; of two in the middle, their mean. The default for grades.
    Median,
    /// The mean.
    Average,
}

/// Which models a judge asks, where that differs from what `#[judge]` says.
///
/// On a command line each part is a parameter of the judge: `--param NAME.models=openai:gpt-5-mini,default`,
/// `--param NAME.aggregation=median`, and so on. A metric of yours that asks judges itself has them too if it
/// takes `#[param(default)] panel: dsrs_metrics::judge::Panel`.
#[derive(Debug, Clone, Default)]
pub struct Panel {
    lm: Option<JudgeModel>,
    models: Vec<JudgeModel>,
    aggregation: Option<Aggregation>,
    max_concurrent_judges: Option<usize>,
    quorum: Option<usize>,
}

/// How many judges are called at the same time does not affect the answer. Models that are values are equal if they are
/// the same value.
impl PartialEq for Panel {
    fn eq(&self, other: &Self) -> bool {
        let Self { lm, models, aggregation, max_concurrent_judges: _, quorum } = self;
        (lm, models, aggregation, quorum)
            == (&other.lm, &other.models, &other.aggregation, &other.quorum)
    }
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
            return Err(JudgeError::Panel(match asked {
                1 => format!(
                    "a quorum of {quorum} makes no sense for one judge: set it to 1, or ask more judges"
                ),
                asked => format!(
                    "a quorum of {quorum} makes no sense for {asked} judges: set one from 1 to {asked}"
                ),
            }));
        }
        let aggregation = self.aggregation_of(signature, is_bool);
        if is_bool && aggregation != Aggregation::Majority {
            return Err(JudgeError::Panel(format!(
                "judges that say yes or no vote, and the {} of votes is neither: take the majority",
                format!("{aggregation:?}").to_lowercase()
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
                    let configured =
                        scope.as_ref().map(|models| models.configured()).transpose()?;
                    match configured.flatten() {
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
