//! The models that replied to a judge, as providers report them, and their form in a score's metadata. Also the panel's
//! judges that gave no verdict.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::OFFLINE_JUDGE;

/// The keys of a judge's metadata: its judges with a verdict, and those without one.
pub(crate) const JUDGES: &str = "judges";
pub(crate) const FAILED: &str = "failed";

const REPLIED_BY: &str = "replied_by";

/// The panel's judges that gave no verdict for a scored row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LostJudges {
    /// `true` if the panel sets a quorum, which allows judges to fail.
    pub is_allowed: bool,
    /// The error of the first judge without a verdict.
    pub first_error: Box<str>,
}

/// A model that served as a judge for a row, with its number of replies.
///
/// The model is the one that the provider reported, not the configured one.
///
/// Providers report which model replied, because a name such as `gpt-6-luna` can point to different versions over time.
///
/// ```
/// use dsrs_metrics::contract::RepliedBy;
/// use dsrs_metrics::judge::shipped::SemanticEquivalence;
/// use dsrs_metrics::lm::{LmReply, ScriptedLm};
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> dsrs_metrics::Result<()> {
/// let reply = LmReply::new(r#"{ "reasoning": "", "equivalent": true }"#);
/// let reply = reply.with_model("gpt-6-luna-2026-09-22").with_fingerprint("fp_1");
/// let lm = ScriptedLm::new().named("openai:gpt-6-luna").otherwise(reply);
/// let judge = SemanticEquivalence::default().with_lm(lm);
/// let (gold, pred) = (example! { "answer" => "5 km" }, prediction! { "answer" => "five km" });
/// let scored = judge.answer(MetricCall::new(&gold, &pred)).await?;
/// let replied_by = scored.replied_by();
/// assert_eq!((replied_by[0].judge, replied_by[0].replies), ("openai:gpt-6-luna", 1));
/// assert_eq!((replied_by[0].model, replied_by[0].fingerprint), ("gpt-6-luna-2026-09-22", Some("fp_1")));
/// // The same, read from the metadata in result files.
/// assert_eq!(RepliedBy::of_metadata(scored.metadata().unwrap()), replied_by);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct RepliedBy<'a> {
    /// The judge's configured model, as `provider:model`.
    pub judge: &'a str,
    /// The model that the provider reported.
    ///
    /// The name is empty if the provider reported only a fingerprint.
    pub model: &'a str,
    /// The fingerprint that the provider reported, if any.
    ///
    /// See [`LmReply::fingerprint`](crate::lm::LmReply::fingerprint).
    pub fingerprint: Option<&'a str>,
    /// The number of replies.
    ///
    /// Replies from the store and replies that the judge could not read are included.
    pub replies: u64,
}

impl<'a> RepliedBy<'a> {
    /// Reads the entries from one score's metadata.
    ///
    /// The entries of the score's components are not included. Replies from the offline stand-in, or without a reported
    /// model, have no entry.
    pub fn of_metadata(metadata: &'a Map<String, Value>) -> Vec<Self> {
        if metadata
            .get("judge")
            .is_some_and(|label| label == OFFLINE_JUDGE)
        {
            return Vec::new();
        }
        let entries = metadata.iter().map(|(key, value)| match value {
            Value::Array(judges) if key == JUDGES || key == FAILED => {
                judges.iter().flat_map(Self::of_judge).collect()
            }
            // A metric with two judges has both judges' metadata under their names.
            Value::Object(metadata) => Self::of_metadata(metadata),
            _ => Vec::new(),
        });
        entries.flatten().collect()
    }

    /// Reads one judge's entries. Metadata in any other form has no entries.
    fn of_judge(entry: &'a Value) -> impl Iterator<Item = Self> {
        let found = entry[REPLIED_BY].as_array().into_iter().flatten();
        found.filter_map(move |found| {
            Some(Self {
                judge: entry["judge"].as_str()?,
                model: found["model"].as_str()?,
                fingerprint: found["fingerprint"].as_str(),
                replies: found["replies"].as_u64()?,
            })
        })
    }
}

/// The number of replies to one judge for each reported model and fingerprint.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReplyCounts(BTreeMap<(String, Option<String>), u64>);

impl ReplyCounts {
    /// Counts a reply, unless neither model nor fingerprint was reported.
    pub(crate) fn add(&mut self, model: &str, fingerprint: Option<&str>, replies: u64) {
        if model.is_empty() && fingerprint.is_none() {
            return;
        }
        let key = (model.to_owned(), fingerprint.map(str::to_owned));
        let count = self.0.entry(key).or_default();
        *count = count.saturating_add(replies);
    }

    pub(crate) fn add_all(&mut self, others: &Self) {
        for ((model, fingerprint), replies) in &others.0 {
            self.add(model, fingerprint.as_deref(), *replies);
        }
    }

    /// Adds the counts, if any, to their judge's entry.
    pub(crate) fn add_to(&self, mut judge: Value) -> Value {
        if !self.0.is_empty() {
            let counts = self.0.iter();
            let counts = counts.map(|((model, fingerprint), replies)| match fingerprint {
                None => json!({ "model": model, "replies": replies }),
                Some(it) => json!({ "model": model, "fingerprint": it, "replies": replies }),
            });
            judge[REPLIED_BY] = counts.collect();
        }
        judge
    }
}

/// Returns the judges' metadata for several evaluations of one row, summing their replies.
pub(super) fn sum<'a>(entries: impl Iterator<Item = RepliedBy<'a>>) -> Option<Value> {
    let mut by_judge: BTreeMap<&str, ReplyCounts> = BTreeMap::new();
    for entry in entries {
        let counts = by_judge.entry(entry.judge).or_default();
        counts.add(entry.model, entry.fingerprint, entry.replies);
    }
    let entry = |(judge, counts): (&&str, &ReplyCounts)| counts.add_to(json!({ "judge": judge }));
    (!by_judge.is_empty()).then(|| by_judge.iter().map(entry).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::RepliedBy;

    fn read(metadata: &Value) -> Vec<(&str, &str, Option<&str>, u64)> {
        let metadata: &Map<_, _> = metadata.as_object().unwrap();
        let all = RepliedBy::of_metadata(metadata).into_iter();
        all.map(|it| (it.judge, it.model, it.fingerprint, it.replies))
            .collect()
    }

    #[test]
    fn metadata_of_another_form_has_no_entries() {
        for other in [
            json!({}),
            json!({ "judges": 3, "failed": "no" }),
            json!({ "judges": [1, null, [], { "replied_by": [{ "model": "m", "replies": 1 }] }] }),
            json!({ "judges": [{ "judge": "a:b", "replied_by": { "model": "m", "replies": 1 } }] }),
            json!({ "judges": [{ "judge": "a:b", "replied_by": [{ "model": 1, "replies": 1 }] }] }),
            json!({ "judges": [{ "judge": "a:b", "replied_by": [{ "model": "m", "replies": -1 }] }] }),
            json!({ "judges": [{ "judge": "a:b", "answers": [{ "replied_by": [] }] }] }),
            json!({ "rows": [{ "judge": "a:b", "replied_by": [{ "model": "m", "replies": 1 }] }] }),
        ] {
            assert_eq!(read(&other), [], "{other}");
        }
    }

    #[test]
    fn judges_with_and_without_a_verdict_and_the_judges_of_two_halves_are_read() {
        let judge =
            |id: &str| json!({ "judge": id, "replied_by": [{ "model": "m", "replies": 2 }] });
        let metadata = json!({ "failed": [judge("a:1")], "judges": [judge("a:2")] });
        let both = [("a:1", "m", None, 2), ("a:2", "m", None, 2)];
        assert_eq!(read(&metadata), both);
        let halves = json!({ "completeness": metadata, "groundedness": { "judges": [] } });
        assert_eq!(read(&halves), both);
        let offline = json!({ "judge": "offline-lexical", "answer": { "judges": [judge("a:1")] } });
        assert_eq!(read(&offline), []);
    }
}
