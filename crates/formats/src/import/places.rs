//! The places of the parts of rows in a file, in which they may be in any order: the epochs of a sample, the filters of a document.

use std::cmp::Ordering;

/// The parts of rows, each with its place in the file.
pub(super) struct Places<P> {
    /// All ids, one after the other.
    ids: String,
    parts: Vec<Part<P>>,
}

/// A part of a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<P> {
    start: u64,
    length: u32,
    /// The number of the part within its row.
    pub(super) number: u32,
    /// Its position among all parts.
    position: u64,
    pub(super) place: P,
}

impl<P: Copy> Places<P> {
    pub(super) const fn new() -> Self {
        Self {
            ids: String::new(),
            parts: Vec::new(),
        }
    }

    /// Adds a part of the row with this id.
    pub(super) fn push(&mut self, id: &str, number: u32, place: P) {
        let (start, position) = (self.ids.len() as u64, self.parts.len() as u64);
        let length = u32::try_from(id.len()).unwrap_or(u32::MAX);
        self.ids.push_str(id);
        self.parts.push(Part {
            start,
            length,
            number,
            position,
            place,
        });
    }

    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    pub(super) fn id(&self, part: &Part<P>) -> &str {
        let start = usize::try_from(part.start).unwrap_or(usize::MAX);
        self.ids
            .get(start..start.saturating_add(part.length as usize))
            .unwrap_or_default()
    }

    /// Sorts the parts by id and number: numbers by their value, and before other ids.
    pub(super) fn sort(&mut self) {
        let mut parts = std::mem::take(&mut self.parts);
        let key = |part: &Part<P>| (part.number, part.position);
        parts.sort_unstable_by(|a, b| {
            order(self.id(a), self.id(b)).then_with(|| key(a).cmp(&key(b)))
        });
        self.parts = parts;
    }

    /// Returns two parts with one id and number. The parts are sorted.
    pub(super) fn duplicate(&self) -> Option<[&Part<P>; 2]> {
        let same = |[a, b]: [&Part<P>; 2]| a.number == b.number && self.id(a) == self.id(b);
        self.parts
            .windows(2)
            .map(|pair| [&pair[0], &pair[1]])
            .find(|pair| same(*pair))
    }

    /// Keeps of parts with one id and number the last one. The parts are sorted.
    #[cfg(feature = "inspect")]
    pub(super) fn keep_last(&mut self) {
        let mut parts = std::mem::take(&mut self.parts);
        parts.reverse();
        parts.dedup_by(|a, b| a.number == b.number && self.id(a) == self.id(b));
        parts.reverse();
        self.parts = parts;
    }

    /// Returns the parts of each row. The parts are sorted.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[Part<P>]> {
        self.parts.chunk_by(|a, b| self.id(a) == self.id(b))
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
            (places.id(&row[0]), parts.collect::<Vec<_>>())
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
