//! The models that replied to a judge in two runs, as their providers reported them.

use std::collections::BTreeMap;

use super::identity::Places;
use crate::evaluate::JudgeReplies;
use crate::evaluate::manifest::RunManifest;
use crate::messages::escape;

/// A comparison of the reported models of one metric, one sentence each.
#[derive(Default)]
pub(super) struct ReportedModels {
    /// Judges with other reported models.
    pub(super) differences: Vec<String>,
    /// Other fingerprints, and judges whose models only one run has.
    pub(super) notes: Vec<String>,
}

impl ReportedModels {
    /// Compares a metric whose configured models are the same in both runs.
    pub(super) fn of(metric: &str, a: &RunManifest, b: &RunManifest, places: Places) -> Self {
        let mut found = Self::default();
        let mut judges: BTreeMap<&str, [JudgeReplies<'_>; 2]> = BTreeMap::new();
        for (side, run) in [a, b].into_iter().enumerate() {
            let replies = run
                .judged_by
                .get(metric)
                .map(Vec::as_slice)
                .unwrap_or_default();
            for replies in JudgeReplies::of_each(replies) {
                let judge = replies.judge;
                judges.entry(judge).or_default()[side] = replies;
            }
        }
        for (judge, replies) in judges {
            found.compare(metric, judge, &replies, places);
        }
        let [in_a, in_b] = [a, b].map(|run| run.judged_by_others.get(metric).copied().unwrap_or(0));
        if in_a > 0 || in_b > 0 {
            found.notes.push(format!(
                "{}: replies from models or fingerprints that the manifest does not name in A: {in_a}; in B: {in_b}",
                escape::name(metric)
            ));
        }
        found
    }

    fn compare(
        &mut self,
        metric: &str,
        judge: &str,
        [a, b]: &[JudgeReplies<'_>; 2],
        Places([in_a, in_b]): Places,
    ) {
        let judge = escape::name(judge);
        let (what, of_a, of_b) = if a.models.names().ne(b.models.names()) {
            if a.models.len() > 0 && b.models.len() > 0 {
                let (a, b) = (a.models.joined(), b.models.joined());
                return self
                    .differences
                    .push(format!("{judge} replied as {a} {in_a}, {b} {in_b}"));
            }
            ("reported models", &a.models, &b.models)
        } else if a.fingerprints.names().ne(b.fingerprints.names()) {
            ("fingerprints", &a.fingerprints, &b.fingerprints)
        } else {
            return;
        };
        let (metric, of_a, of_b) = (escape::name(metric), of_a.joined(), of_b.joined());
        self.notes.push(format!(
            "{metric}: {what} of {judge} in A: {of_a}; in B: {of_b}"
        ));
    }
}
