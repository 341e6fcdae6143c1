//! The models that replied to a run's judges, as reported by their providers, counted over all rows.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::contract::RepliedBy;
use crate::messages::escape;

/// A model that a judge used, with its number of replies.
///
/// The provider reports the name of the model that replied. For an example, see the guide's `judges` page.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JudgedBy {
    /// The configured model of the judge, as `provider:model`.
    pub judge: String,
    /// The model that the provider reported.
    ///
    /// The name is empty if the provider reported only a fingerprint.
    pub model: String,
    /// The fingerprint that the provider reported.
    ///
    /// See [`LmReply::fingerprint`](dsrs_metrics_core::lm::LmReply::fingerprint).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// The number of replies from this model.
    ///
    /// The number includes stored replies and replies that the judge could not parse.
    pub replies: u64,
}

/// The replies to one judge, counted by model and by fingerprint.
///
/// `Display` writes `openai:m replied as m-1 (20 replies), m-2 (1 reply); fingerprints: fp_a (21 replies)`.
#[doc(hidden)]
#[derive(Default)]
pub struct JudgeReplies<'a> {
    pub judge: &'a str,
    pub models: ReportedNames<'a>,
    pub fingerprints: ReportedNames<'a>,
}

impl<'a> JudgeReplies<'a> {
    /// Returns a metric's replies, grouped by judge.
    ///
    /// Replies without a model name or fingerprint are not counted.
    pub fn of_each(metric: &'a [JudgedBy]) -> impl Iterator<Item = Self> {
        metric
            .chunk_by(|one, other| one.judge == other.judge)
            .map(|entries| {
                let mut replies = Self {
                    judge: &entries[0].judge,
                    ..Self::default()
                };
                for entry in entries {
                    let fingerprint = entry.fingerprint.as_deref().unwrap_or_default();
                    replies.models.add(&entry.model, entry.replies);
                    replies.fingerprints.add(fingerprint, entry.replies);
                }
                replies
            })
    }
}

impl fmt::Display for JudgeReplies<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            judge,
            models,
            fingerprints,
        } = self;
        write!(f, "{} replied as ", escape::name(judge))?;
        match models.len() {
            0 => f.write_str("an unknown model")?,
            _ => write!(f, "{models}")?,
        }
        match fingerprints.len() {
            0 => Ok(()),
            1 => write!(f, "; fingerprint: {fingerprints}"),
            _ => write!(f, "; fingerprints: {fingerprints}"),
        }
    }
}

/// Reply counts, by model name or by fingerprint.
///
/// `Display` writes `m-1 (20 replies), m-2 (1 reply)`.
#[doc(hidden)]
#[derive(Default)]
pub struct ReportedNames<'a>(BTreeMap<&'a str, u64>);

/// The maximum number of names in a message.
const SHOWN: usize = 5;

impl<'a> ReportedNames<'a> {
    fn add(&mut self, name: &'a str, replies: u64) {
        if !name.is_empty() {
            let count = self.0.entry(name).or_default();
            *count = count.saturating_add(replies);
        }
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.0.keys().copied()
    }

    /// Formats the names as `m-1 and m-2`, or `none`.
    pub(crate) fn joined(&self) -> String {
        match self.len() {
            0 => "none".to_owned(),
            _ => self.listed(" and ", |name, _| escape::name(name).into_owned()),
        }
    }

    fn listed(&self, separator: &str, shown: impl Fn(&str, u64) -> String) -> String {
        let names = self
            .0
            .iter()
            .take(SHOWN)
            .map(|(name, replies)| shown(name, *replies));
        let names = names.collect::<Vec<_>>().join(separator);
        match self.len().saturating_sub(SHOWN) {
            0 => names,
            more => format!("{names} and {more} more"),
        }
    }
}

impl fmt::Display for ReportedNames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.listed(", ", |name, replies| {
            let plural = if replies == 1 { "reply" } else { "replies" };
            format!("{} ({replies} {plural})", escape::name(name))
        }))
    }
}

/// The maximum number of models named per metric. The number is limited because a provider may report a new fingerprint
/// with each reply.
const MAX_NAMED: usize = 100;

/// The number of replies to one metric's judge, by model.
///
/// If there are too many models, only the first ones in alphabetical order are kept. The counts therefore do not depend
/// on the order of the rows.
#[derive(Default)]
pub struct JudgedByTally {
    /// The models, without counts, and the number of replies from each.
    named: BTreeMap<JudgedBy, u64>,
    others: u64,
}

impl JudgedByTally {
    pub fn add(&mut self, replied_by: RepliedBy<'_>) {
        let reported = JudgedBy {
            judge: replied_by.judge.to_owned(),
            model: replied_by.model.to_owned(),
            fingerprint: replied_by.fingerprint.map(str::to_owned),
            replies: 0,
        };
        let count = self.named.entry(reported).or_default();
        *count = count.saturating_add(replied_by.replies);
        if self.named.len() > MAX_NAMED
            && let Some((_, replies)) = self.named.pop_last()
        {
            self.others = self.others.saturating_add(replies);
        }
    }

    pub fn named(&self) -> Vec<JudgedBy> {
        let counted = |(model, replies): (&JudgedBy, &u64)| JudgedBy {
            replies: *replies,
            ..model.clone()
        };
        self.named.iter().map(counted).collect()
    }

    /// Returns the number of replies from other models.
    pub(crate) fn others(&self) -> u64 {
        self.others
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{JudgedByTally, MAX_NAMED, RepliedBy};

    fn tally(fingerprints: impl Iterator<Item = usize>) -> JudgedByTally {
        let mut tally = JudgedByTally::default();
        for number in fingerprints {
            let metadata: Value = json!({ "judges": [{
                "judge": "openai:m",
                "replied_by": [{ "model": "m-1", "fingerprint": format!("fp_{number:04}"), "replies": 2 }],
            }] });
            let metadata = metadata.as_object().unwrap();
            RepliedBy::of_metadata(metadata)
                .into_iter()
                .for_each(|it| tally.add(it));
        }
        tally
    }

    #[test]
    fn the_models_that_are_named_do_not_depend_on_the_order_of_the_rows() {
        let ascending = tally((0..300).chain(0..300));
        let descending = tally((0..300).rev().chain(0..300));
        let mixed = tally((0..600).map(|number| number * 7 % 300));
        for tally in [&ascending, &descending, &mixed] {
            let named = tally.named();
            assert_eq!((named.len(), tally.others()), (MAX_NAMED, 200 * 4));
            assert!(named.iter().all(|it| it.replies == 4), "{named:?}");
            assert_eq!(named, ascending.named());
            assert_eq!(named[99].fingerprint.as_deref(), Some("fp_0099"));
        }
    }
}
