//! Compares two lists of names one to one: each name matches at most one name in the other list.
//!
//! The pairs form a bipartite matching. `edits` defines the similarity of two names.

use super::edits::{EditDistance, length, share_left};
use super::unicode::NormalForm;
use crate::bipartite::unmatched;
use crate::stats::share;

/// The number of expected entities that were found in a prediction.
///
/// Also includes the total number of entities on each side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EntityCounts {
    /// The number of expected entities that were paired with a predicted entity.
    ///
    /// Each entity is in at most one pair.
    pub found: u64,
    /// The number of expected entities.
    pub expected: u64,
    /// The number of predicted entities.
    pub predicted: u64,
}

impl EntityCounts {
    /// Counts the predicted entities that match expected entities.
    ///
    /// Entities are matched one to one, in as many pairs as possible. Two entities can be paired if their similarity is
    /// at least `similarity`.
    ///
    /// Entities are compared in lower case and NFC, without surrounding whitespace. Empty entities are ignored.
    /// Duplicates in a list count separately.
    ///
    /// The similarity is [`EditDistance::Indel`](crate::text::EditDistance::Indel), which equals `rapidfuzz.fuzz.ratio`
    /// divided by 100.
    ///
    /// The number of pairs is the size of a maximum matching (augmenting paths, Kuhn 1955). It does not depend on the
    /// order of the lists.
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
        Self::compared(predicted, expected, similarity, false).0
    }

    /// Counts the predicted entities that match expected entities, after removing duplicates.
    ///
    /// Duplicates are removed from each list, ignoring case and surrounding whitespace. In all other respects, this
    /// function works like [`of`](Self::of).
    pub fn of_distinct<P: AsRef<str>, E: AsRef<str>>(
        predicted: &[P],
        expected: &[E],
        similarity: f64,
    ) -> Self {
        Self::compared(predicted, expected, similarity, true).0
    }

    /// Returns the counts, and the normalized forms of the unmatched expected and predicted entities.
    ///
    /// If `is_distinct` is `true`, duplicates are removed as in [`of_distinct`](Self::of_distinct).
    #[doc(hidden)]
    pub fn compared<P: AsRef<str>, E: AsRef<str>>(
        predicted: &[P],
        expected: &[E],
        similarity: f64,
        is_distinct: bool,
    ) -> (Self, [Vec<String>; 2]) {
        let predicted = all_named(predicted, is_distinct);
        let expected = all_named(expected, is_distinct);
        let [extra, missing] = unmatched(predicted.len(), expected.len(), |one, other| {
            are_alike(&expected[other], &predicted[one], similarity)
        });
        let counts = Self {
            found: (expected.len() - missing.len()) as u64,
            expected: expected.len() as u64,
            predicted: predicted.len() as u64,
        };
        let of = |names: Vec<Name>, places: Vec<usize>| {
            places.into_iter().map(|at| names[at].0.clone()).collect()
        };
        (counts, [of(expected, missing), of(predicted, extra)])
    }

    /// Returns the harmonic mean of precision and recall, in [0, 1].
    ///
    /// The result is 1 if both sides are empty, and 0 if only one side is empty.
    pub fn f1(self) -> f64 {
        share(2 * self.found, self.expected + self.predicted)
    }
}

/// An entity's normalized form, and its length in characters.
type Name = (String, usize);

/// Returns an entity's normalized form, or `None` if the entity is empty.
fn named(entity: &str) -> Option<Name> {
    let lower = NormalForm::Nfc.apply(entity.trim()).to_lowercase();
    let text = NormalForm::Nfc.apply(&lower).into_owned();
    let length = length(&text);
    (length > 0).then_some((text, length))
}

/// Returns all entities that are not empty, without duplicates if `is_distinct` is `true`.
fn all_named<T: AsRef<str>>(entities: &[T], is_distinct: bool) -> Vec<Name> {
    let all = entities.iter().filter_map(|entity| named(entity.as_ref()));
    let mut all: Vec<_> = all.collect();
    if is_distinct {
        all.sort_unstable();
        all.dedup();
    }
    all
}

fn are_alike((a, a_length): &Name, (b, b_length): &Name, similarity: f64) -> bool {
    let whole = a_length + b_length;
    // The difference in length is a lower bound on the distance.
    share_left(a_length.abs_diff(*b_length), whole) >= similarity
        && share_left(EditDistance::Indel.of_strings(a, b), whole) >= similarity
}

#[cfg(test)]
mod tests {
    use super::EntityCounts;

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
