//! Pairing of the items of two lists.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::compare::FieldOptions;
use super::leaves;

/// Whether the order of items in a list matters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ListOrder {
    /// The first item is compared with the first, the second with the second.
    #[default]
    Ordered,
    /// The order is ignored. Pairs are chosen greedily: the pair with most correct fields first,
    /// then the best of the remaining items. Of equal pairs the first in order is chosen. This is
    /// optimal for lists of strings, and nearly always otherwise.
    Unordered,
}

/// Returns the pairs of predicted and gold items, followed by the items without partner.
pub(super) fn pairs<'a>(
    options: &FieldOptions,
    pred: &'a [Value],
    gold: &'a [Value],
) -> Vec<(Option<&'a Value>, Option<&'a Value>)> {
    let partner_of = match options.lists {
        ListOrder::Ordered => (0..gold.len())
            .map(|at| (at < pred.len()).then_some(at))
            .collect(),
        ListOrder::Unordered => most_alike(options, pred, gold),
    };
    let mut is_free = vec![true; pred.len()];
    partner_of
        .iter()
        .flatten()
        .for_each(|at: &usize| is_free[*at] = false);
    let paired = gold.iter().zip(partner_of);
    let mut pairs: Vec<_> = paired
        .map(|(item, at)| (at.map(|at| &pred[at]), Some(item)))
        .collect();
    let free = pred.iter().zip(is_free).filter(|(_, is_free)| *is_free);
    pairs.extend(free.map(|(item, _)| (Some(item), None)));
    pairs
}

/// Returns the partner of each gold item.
fn most_alike(options: &FieldOptions, pred: &[Value], gold: &[Value]) -> Vec<Option<usize>> {
    let mut candidates = Vec::new();
    for (at, item) in gold.iter().enumerate() {
        for (other_at, other) in pred.iter().enumerate() {
            let correct = options.compare(other, item).counts.correct;
            let wrong = leaves::count(other).saturating_sub(correct);
            candidates.push((std::cmp::Reverse(correct), wrong, at, other_at));
        }
    }
    candidates.sort_unstable();
    let mut partner_of = vec![None; gold.len()];
    let mut is_taken = vec![false; pred.len()];
    for (_, _, at, other) in candidates {
        if partner_of[at].is_none() && !is_taken[other] {
            partner_of[at] = Some(other);
            is_taken[other] = true;
        }
    }
    partner_of
}
