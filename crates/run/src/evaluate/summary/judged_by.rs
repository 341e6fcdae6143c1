//! The models that answered for a metric's judges, counted over all rows.

use std::collections::BTreeMap;

use crate::contract::RepliedBy;
use crate::evaluate::manifest::JudgedBy;

/// At most this many models are named per metric, because a provider may report a new fingerprint with each reply.
const MAX_NAMED: usize = 100;

/// Counts one metric's replies by model. If there are too many models, only the first ones in alphabetical order are
/// kept. The counts therefore do not depend on the order of the rows.
#[derive(Default)]
pub struct JudgedByTally {
    named: BTreeMap<Reported, u64>,
    others: u64,
}

/// A judge, and the model and fingerprint that its provider reported.
type Reported = (String, String, Option<String>);

impl JudgedByTally {
    pub fn add(&mut self, replied_by: RepliedBy<'_>) {
        let reported = (
            replied_by.judge.to_owned(),
            replied_by.model.to_owned(),
            replied_by.fingerprint.map(str::to_owned),
        );
        let count = self.named.entry(reported).or_default();
        *count = count.saturating_add(replied_by.replies);
        if self.named.len() > MAX_NAMED
            && let Some((_, replies)) = self.named.pop_last()
        {
            self.others = self.others.saturating_add(replies);
        }
    }

    pub fn named(&self) -> Vec<JudgedBy> {
        let named = self.named.iter();
        let named = named.map(|((judge, model, fingerprint), replies)| JudgedBy {
            judge: judge.clone(),
            model: model.clone(),
            fingerprint: fingerprint.clone(),
            replies: *replies,
        });
        named.collect()
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
