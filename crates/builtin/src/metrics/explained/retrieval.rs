//! Explanations of the metrics of rankings: the ranks of the relevant documents, and those that were not retrieved.

use std::collections::HashSet;

use super::{MAX_ITEMS, counted, joined, labelled, more};
use crate::messages::escape::quoted;
use crate::retrieval::{Relevant, Retrieved};

/// Returns the relevant documents among the first `depth`, and the others.
pub(in crate::metrics) fn ranks(
    relevant: &Relevant<'_>,
    retrieved: &Retrieved<'_>,
    depth: Option<usize>,
) -> String {
    let mut seen = HashSet::new();
    let ranked = retrieved
        .iter()
        .zip(1_usize..)
        .take(depth.unwrap_or(usize::MAX));
    let found: Vec<(&str, usize)> = ranked
        .filter(|(id, _)| relevant.grade(id) > 0.0 && seen.insert(*id))
        .collect();
    let all = relevant.ids();
    let missing: Vec<&str> = all
        .iter()
        .copied()
        .filter(|id| !seen.contains(id))
        .collect();
    let shown: Vec<String> = found
        .iter()
        .take(MAX_ITEMS)
        .map(|(id, rank)| format!("{} at rank {rank}", quoted(id)))
        .collect();
    let among = depth
        .map(|depth| format!(" among the first {depth}"))
        .unwrap_or_default();
    let documents = counted(all.len(), "relevant document");
    let found = match found.len() {
        0 => String::new(),
        count => format!(": {}", more(shown.join(", "), count)),
    };
    joined([
        format!("{} of {documents}{among}{found}", seen.len()),
        labelled("not found", &missing),
    ])
}
