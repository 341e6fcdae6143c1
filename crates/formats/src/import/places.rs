//! The places of the parts of rows in a file, in which they may be in any order: the epochs of a sample, the filters of a document.

use std::cmp::Ordering;

/// The parts of rows, each with its place in the file.
pub(super) struct Places<P>(Vec<Part<P>>);

/// A part of a row.
#[derive(Debug)]
pub(super) struct Part<P> {
    /// The id of the row.
    pub(super) id: Box<str>,
    /// The number of the part within its row.
    pub(super) number: u32,
    pub(super) place: P,
}

impl<P> Places<P> {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a part of the row with this id.
    pub(super) fn push(&mut self, id: &str, number: u32, place: P) {
        self.0.push(Part {
            id: id.into(),
            number,
            place,
        });
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Sorts the parts by id and number: numbers by their value, and before other ids.
    pub(super) fn sort(&mut self) {
        self.0
            .sort_by(|a, b| order(&a.id, &b.id).then_with(|| a.number.cmp(&b.number)));
    }

    /// Returns two parts with one id and number. The parts are sorted.
    pub(super) fn duplicate(&self) -> Option<[&Part<P>; 2]> {
        let is_same =
            |pair: &&[Part<P>]| pair[0].number == pair[1].number && pair[0].id == pair[1].id;
        let pair = self.0.windows(2).find(is_same)?;
        Some([&pair[0], &pair[1]])
    }

    /// Keeps of parts with one id and number the last one. The parts are sorted.
    #[cfg(feature = "inspect")]
    pub(super) fn keep_last(&mut self) {
        self.0.reverse();
        self.0.dedup_by(|a, b| a.number == b.number && a.id == b.id);
        self.0.reverse();
    }

    /// Returns the parts of each row. The parts are sorted.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[Part<P>]> {
        self.0.chunk_by(|a, b| a.id == b.id)
    }
}

fn order(a: &str, b: &str) -> Ordering {
    match (a.parse::<u64>(), b.parse::<u64>()) {
        (Ok(first), Ok(second)) => first.cmp(&second).then_with(|| a.cmp(b)),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => a.cmp(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_their_ids_and_the_last_of_equal_parts_counts() {
        let mut places = Places::new();
        for (place, (id, number)) in [("10", 1), ("b", 1), ("9", 2), ("9", 1), ("a", 1), ("9", 2)]
            .into_iter()
            .enumerate()
        {
            places.push(id, number, place);
        }
        places.sort();
        let [first, second] = places.duplicate().unwrap();
        assert_eq!((first.place, second.place), (2, 5));
        places.keep_last();
        assert_eq!(
            places.duplicate().map(|pair| pair.map(|part| part.place)),
            None
        );
        let rows = places.rows().map(|row| {
            let parts = row.iter().map(|part| (part.number, part.place));
            (&*row[0].id, parts.collect::<Vec<_>>())
        });
        let expected = [
            ("9", vec![(1, 3), (2, 5)]),
            ("10", vec![(1, 0)]),
            ("a", vec![(1, 4)]),
            ("b", vec![(1, 1)]),
        ];
        assert_eq!(rows.collect::<Vec<_>>(), expected);
    }
}
