//! Lists of names compared one to one: a name of one list is matched with at most one of the other.
//!
//! The pairs are a bipartite matching. The similarity of two names is defined in `distance.rs`.

use std::borrow::Cow;

use super::EditDistance;
use super::distance::share_left;
use super::sequences::length;
use crate::text::NormalForm;

/// How many of the expected entities were found, and how many entities each side has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EntityCounts {
    /// Matched pairs of an expected and a predicted entity. An entity is in at most one pair.
    pub found: u64,
    /// Number of expected entities.
    pub expected: u64,
    /// Number of predicted entities.
    pub predicted: u64,
}

impl EntityCounts {
    /// Matches predicted with expected entities whose similarity is at least `similarity`, one to
    /// one, in as many pairs as possible.
    ///
    /// Entities are compared in lower case and in NFC, without white space at their ends; empty
    /// ones are ignored. The similarity is
    /// [`EditDistance::Indel`](crate::text::EditDistance::Indel), which is `rapidfuzz.fuzz.ratio`
    /// over 100. The number of pairs is the size of a maximum matching (augmenting paths, Kuhn
    /// 1955), so it does not depend on the order of the lists. Repetitions in a list count.
    ///
    /// ```
    /// use dsrs_metrics::text::EntityCounts;
    ///
    /// let counts = EntityCounts::of(&["Rijksmuseum", "Rijksmuzeum"], &["Rijksmuseum"], 0.85);
    /// assert_eq!((counts.found, counts.expected, counts.predicted), (1, 1, 2));
    /// assert_eq!(counts.f1(), 2.0 / 3.0);
    /// ```
    pub fn of<P: AsRef<str>, E: AsRef<str>>(
        predicted: &[P],
        expected: &[E],
        similarity: f64,
    ) -> Self {
        let (predicted, expected) = (all_named(predicted, false), all_named(expected, false));
        Self::of_named(&predicted, &expected, similarity)
    }

    /// As [`of`](Self::of), but repetitions within a list are removed first, ignoring case and
    /// white space at the ends.
    pub fn of_distinct<P: AsRef<str>, E: AsRef<str>>(
        predicted: &[P],
        expected: &[E],
        similarity: f64,
    ) -> Self {
        let (predicted, expected) = (all_named(predicted, true), all_named(expected, true));
        Self::of_named(&predicted, &expected, similarity)
    }

    fn of_named(predicted: &[Name], expected: &[Name], similarity: f64) -> Self {
        let alike = all_alike(predicted, expected, similarity);
        Self {
            found: largest_matching(&alike, predicted.len()) as u64,
            expected: expected.len() as u64,
            predicted: predicted.len() as u64,
        }
    }

    /// Returns the expected entities without a predicted one in such a matching, and the predicted ones without an
    /// expected one, in the form in which they are compared.
    #[doc(hidden)]
    pub fn unmatched<P: AsRef<str>, E: AsRef<str>>(
        predicted: &[P],
        expected: &[E],
        similarity: f64,
        is_distinct: bool,
    ) -> [Vec<String>; 2] {
        let expected = all_named(expected, is_distinct);
        let predicted = all_named(predicted, is_distinct);
        let partner_of = matching(
            &all_alike(&predicted, &expected, similarity),
            predicted.len(),
        );
        let mut is_found = vec![false; expected.len()];
        partner_of
            .iter()
            .flatten()
            .for_each(|at| is_found[*at] = true);
        let missing = expected
            .iter()
            .zip(&is_found)
            .filter(|(_, is_found)| !**is_found);
        let extra = predicted
            .iter()
            .zip(&partner_of)
            .filter(|(_, partner)| partner.is_none());
        let text = |name: &Name| name.text.clone();
        [
            missing.map(|(it, _)| text(it)).collect(),
            extra.map(|(it, _)| text(it)).collect(),
        ]
    }

    /// Returns the harmonic mean of precision and recall, in [0, 1]: 1 if both sides are empty, 0
    /// if only one is.
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of entities stay far below 2^53"
    )]
    pub fn f1(self) -> f64 {
        match self.expected + self.predicted {
            0 => 1.0,
            both => 2.0 * self.found as f64 / both as f64,
        }
    }
}

/// The form in which an entity is compared.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    text: String,
    /// Number of characters.
    length: usize,
}

/// Returns the form in which entities are compared; `None` for an empty entity.
fn named(entity: &str) -> Option<Name> {
    let entity = entity.trim();
    let lower = match entity.is_ascii() {
        true => Cow::Owned(entity.to_ascii_lowercase()),
        false => Cow::Owned(NormalForm::Nfc.apply(entity).to_lowercase()),
    };
    let text = NormalForm::Nfc.apply(&lower).into_owned();
    (!text.is_empty()).then(|| Name {
        length: length(&text),
        text,
    })
}

/// Returns all entities that are not empty, each once if `is_distinct`.
fn all_named<T: AsRef<str>>(entities: &[T], is_distinct: bool) -> Vec<Name> {
    let mut all: Vec<_> = entities
        .iter()
        .filter_map(|entity| named(entity.as_ref()))
        .collect();
    if is_distinct {
        all.sort_unstable();
        all.dedup();
    }
    all
}

/// Returns the possible partners of each expected entity.
fn all_alike(predicted: &[Name], expected: &[Name], similarity: f64) -> Vec<Vec<usize>> {
    let partners = |entity: &Name| {
        let alike = |at: &usize| are_alike(entity, &predicted[*at], similarity);
        (0..predicted.len()).filter(alike).collect()
    };
    expected.iter().map(partners).collect()
}

fn are_alike(a: &Name, b: &Name, similarity: f64) -> bool {
    let whole = a.length + b.length;
    // The difference in length is a lower bound of the distance.
    share_left(a.length.abs_diff(b.length), whole) >= similarity
        && share_left(EditDistance::Indel.of_strings(&a.text, &b.text), whole) >= similarity
}

/// Returns the size of a maximum matching.
fn largest_matching(alike: &[Vec<usize>], partners: usize) -> usize {
    matching(alike, partners).iter().flatten().count()
}

/// Returns a maximum matching: for each partner, whose it is. `alike[i]` are the possible partners of `i`.
fn matching(alike: &[Vec<usize>], partners: usize) -> Vec<Option<usize>> {
    let mut partner_of = vec![None; partners];
    // Each search marks visited partners with its own number, so that marks need not be cleared.
    let mut seen = vec![usize::MAX; partners];
    let mut number = 0;
    for from in 0..alike.len() {
        // Partners visited by a failed search lead nowhere until the matching changes, so the next
        // search can skip them.
        if augments(alike, from, number, &mut partner_of, &mut seen) {
            number += 1;
        }
    }
    partner_of
}

/// Searches an augmenting path, without recursion: a path may be as long as the list.
fn augments(
    alike: &[Vec<usize>],
    root: usize,
    number: usize,
    partner_of: &mut [Option<usize>],
    seen: &mut [usize],
) -> bool {
    // Each step of the path: an entity, and how many of its partners were tried.
    let mut path = vec![(root, 0)];
    while let Some((from, tried)) = path.last_mut() {
        // A free partner ends the search. Looking for one first avoids cubic time on lists of equal
        // names.
        let free = || alike[*from].iter().position(|to| partner_of[*to].is_none());
        if let Some(at) = if *tried == 0 { free() } else { None } {
            *tried = at + 1;
            for (from, tried) in path {
                partner_of[alike[from][tried - 1]] = Some(from);
            }
            return true;
        }
        let Some(&to) = alike[*from].get(*tried) else {
            path.pop();
            continue;
        };
        *tried += 1;
        if std::mem::replace(&mut seen[to], number) != number
            && let Some(taken) = partner_of[to]
        {
            path.push((taken, 0));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{EntityCounts, largest_matching};

    #[test]
    fn a_matching_gives_up_a_pair_to_make_two() {
        assert_eq!(largest_matching(&[vec![0, 1], vec![0]], 2), 2);
        assert_eq!(largest_matching(&[vec![0], vec![0], vec![0]], 1), 1);
        assert_eq!(largest_matching(&[vec![1, 0], vec![1], vec![1, 2]], 3), 3);
        assert_eq!(largest_matching(&[vec![], vec![0]], 1), 1);
        // The last two searches both visit partner 0.
        assert_eq!(
            largest_matching(&[vec![2, 3], vec![0, 1], vec![0, 2], vec![0]], 4),
            4
        );
    }

    #[test]
    fn long_chains_need_no_stack() {
        let length = 20_000;
        let alike: Vec<_> = (0..length)
            .map(|at| vec![at, at + 1])
            .chain([vec![0]])
            .collect();
        assert_eq!(largest_matching(&alike, length + 1), length + 1);
    }

    #[test]
    fn equal_names_take_no_cubic_time() {
        let same = vec![(0..3000).collect(); 3000];
        assert_eq!(largest_matching(&same, 3000), 3000);
        let half = vec![(0..1500).collect(); 3000];
        assert_eq!(largest_matching(&half, 3000), 1500);
    }

    #[test]
    fn forms_case_and_ends_do_not_matter() {
        assert_eq!(
            EntityCounts::of(&["émile"], &[" E\u{301}mile "], 1.0).found,
            1
        );
        let counts = EntityCounts::of(&[" "], &["", "  "], 0.8);
        assert_eq!((counts, counts.f1()), (EntityCounts::default(), 1.0));
    }
}
