//! Ids that count up, as the ids of most data sets do: `1`, `2`; `q0007`, `q0008`. They take no memory.

/// The ids of rows that follow each other. The number in each id is greater by one than the number in the id before.
#[derive(Default)]
pub(super) struct CountingIds {
    ids: Option<Ids>,
    /// Whether another id followed, so that no more are added.
    has_ended: bool,
}

/// The result of adding an id to a counting sequence.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Inserted {
    New,
    Duplicate {
        first: u64,
    },
    /// The id does not continue the sequence.
    NotCounting,
}

/// A prefix with the numbers from the first to the last.
struct Ids {
    /// The id that continues the others: the prefix, then the number.
    next: Vec<u8>,
    prefix_len: usize,
    /// The fewest digits of a number: more than one if the first was padded with zeros.
    min_digits: usize,
    /// The number and the place of the first and the last id.
    first: (u64, u64),
    last: (u64, u64),
}

impl CountingIds {
    /// Adds the id of the row at a place, if it continues the sequence.
    pub(super) fn insert(&mut self, id: &str, place: u64) -> Inserted {
        match &mut self.ids {
            Some(ids) if !self.has_ended && ids.is_continued_by(id, place) => {
                ids.advance();
                return Inserted::New;
            }
            Some(ids) => {
                if let Some(first) = ids.place(id) {
                    return Inserted::Duplicate { first };
                }
            }
            None if !self.has_ended => {
                self.ids = Ids::starting_with(id, place);
                if self.ids.is_some() {
                    return Inserted::New;
                }
            }
            None => {}
        }
        self.has_ended = true;
        Inserted::NotCounting
    }
}

impl Ids {
    fn starting_with(id: &str, place: u64) -> Option<Self> {
        let (prefix, digits) = split(id);
        let number = digits.parse().ok()?;
        let min_digits = if digits.starts_with('0') {
            digits.len()
        } else {
            1
        };
        let (prefix_len, first) = (prefix.len(), (number, place));
        let mut next = id.as_bytes().to_vec();
        increment(&mut next, prefix_len);
        Some(Self {
            next,
            prefix_len,
            min_digits,
            first,
            last: first,
        })
    }

    fn is_continued_by(&self, id: &str, place: u64) -> bool {
        id.as_bytes() == self.next
            && self.last.0 < u64::MAX
            && self.last.1.checked_add(1) == Some(place)
    }

    fn advance(&mut self) {
        let (number, place) = self.last;
        self.last = (number + 1, place + 1);
        increment(&mut self.next, self.prefix_len);
    }

    /// Returns the place of the row with this id.
    fn place(&self, id: &str) -> Option<u64> {
        let (prefix, digits) = split(id);
        if prefix.as_bytes() != &self.next[..self.prefix_len] {
            return None;
        }
        let is_padded = digits.starts_with('0');
        if digits.len() < self.min_digits || is_padded && digits.len() > self.min_digits {
            return None;
        }
        let number: u64 = digits.parse().ok()?;
        let is_in = (self.first.0..=self.last.0).contains(&number);
        is_in.then(|| self.first.1 + (number - self.first.0))
    }
}

/// Splits an id into a prefix and its last digits.
fn split(id: &str) -> (&str, &str) {
    id.split_at(
        id.trim_end_matches(|last: char| last.is_ascii_digit())
            .len(),
    )
}

/// Adds one to the number after the prefix. It gets another digit where it has only nines.
fn increment(id: &mut Vec<u8>, prefix_len: usize) {
    for digit in id[prefix_len..].iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return;
        }
        *digit = b'0';
    }
    id.insert(prefix_len, b'1');
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_continue_with_and_without_a_prefix_and_zeros() {
        for ids in [
            &["9", "10", "11"][..],
            &["0", "1"],
            &["q0998", "q0999", "q1000"],
            &["v2-é98", "v2-é99", "v2-é100"],
            &["00", "01"],
            &["18446744073709551614", "18446744073709551615"],
        ] {
            let mut counting = CountingIds::default();
            for (id, place) in ids.iter().zip(5..) {
                assert_eq!(counting.insert(id, place), Inserted::New, "{id}");
            }
            for (id, first) in ids.iter().zip(5..) {
                assert_eq!(
                    counting.insert(id, 99),
                    Inserted::Duplicate { first },
                    "{id}"
                );
            }
        }
    }

    #[test]
    fn ids_that_are_written_in_another_way_do_not_count() {
        for other in [
            "7",
            "007",
            "+08",
            "08 ",
            "q08",
            "0",
            "018446744073709551616",
            "",
            "x",
        ] {
            let mut counting = CountingIds::default();
            assert_eq!(counting.insert("07", 1), Inserted::New);
            assert_eq!(counting.insert(other, 2), Inserted::NotCounting, "{other}");
            assert_eq!(
                counting.insert("08", 3),
                Inserted::NotCounting,
                "numbers end at another id"
            );
            assert_eq!(counting.insert("07", 4), Inserted::Duplicate { first: 1 });
        }
        let mut counting = CountingIds::default();
        assert_eq!(counting.insert("7", 1), Inserted::New);
        assert_eq!(
            counting.insert("8", 3),
            Inserted::NotCounting,
            "rows follow each other"
        );
        let mut counting = CountingIds::default();
        assert_eq!(counting.insert("18446744073709551615", 1), Inserted::New);
        assert_eq!(
            counting.insert("18446744073709551616", 2),
            Inserted::NotCounting
        );
    }

    proptest! {
        #[test]
        fn every_duplicate_is_one_of_a_map(
            ids in prop::collection::vec(("a?0{0,2}", 0..12_u64, any::<bool>()), 0..40),
        ) {
            let (mut counting, mut all, mut added) = (CountingIds::default(), HashMap::new(), HashMap::new());
            let mut next = 0;
            for (place, (prefix, number, jumps)) in (1..).zip(ids) {
                next = if jumps { number } else { next + 1 };
                let id = format!("{prefix}{next}");
                match counting.insert(&id, place) {
                    Inserted::New => {
                        prop_assert_eq!(all.get(&id), None);
                        added.insert(id.clone(), place);
                    }
                    Inserted::Duplicate { first } => prop_assert_eq!(added.get(&id), Some(&first)),
                    Inserted::NotCounting => prop_assert_eq!(added.get(&id), None),
                }
                all.entry(id).or_insert(place);
            }
        }
    }
}
