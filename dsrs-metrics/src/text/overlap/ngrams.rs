//! Shared n-grams of several sequences, found without hashing: positions are sorted by the n-gram
//! that starts there.
//!
//! A sequence is a list of numbers, each of which stands for a word or a character.

/// The longest n-grams that are counted.
pub(crate) const MAX_ORDER: usize = 16;

/// Calls `visit(order, counts)` for each n-gram of length 1 to `orders` that the first sequence
/// shares with another. `counts` are its occurrences in each sequence; the order of an n-gram is
/// its length minus 1.
pub(super) fn shared(texts: &[&[u32]], orders: usize, mut visit: impl FnMut(usize, &[u64])) {
    let mut grams = Grams::starting(texts);
    let mut counts = vec![0; texts.len()];
    for order in 0..orders {
        if grams.places.is_empty() {
            return;
        }
        grams.lengthen(texts, order, |group| {
            counts.fill(0);
            group.iter().for_each(|place| counts[place.text as usize] += 1);
            let is_shared = counts[0] > 0 && counts[1..].iter().any(|count| *count > 0);
            if is_shared {
                visit(order, &counts);
            }
            is_shared
        });
    }
}

/// Returns the number of n-grams of this order in a sequence of this length.
pub(super) fn total(length: usize, order: usize) -> u64 {
    length.saturating_sub(order) as u64
}

/// A position where an n-gram begins.
#[derive(Clone, Copy)]
struct Place {
    /// The number of the n-gram without its last item, and the last item.
    gram: (u32, u32),
    text: u32,
    at: u32,
}

struct Grams {
    /// Positions whose n-grams so far are shared. Only these can begin a longer shared n-gram.
    places: Vec<Place>,
}

impl Grams {
    fn starting(texts: &[&[u32]]) -> Self {
        let mut places = Vec::with_capacity(texts.iter().map(|text| text.len()).sum());
        for (text, items) in (0..).zip(texts) {
            places.extend((0..).zip(*items).map(|(at, _)| Place { gram: (0, 0), text, at }));
        }
        Self { places }
    }

    /// Extends the n-grams by one item and retains the groups of equal ones that `keep` accepts.
    fn lengthen(&mut self, texts: &[&[u32]], order: usize, mut keep: impl FnMut(&[Place]) -> bool) {
        self.places.retain_mut(|place| {
            let next = texts[place.text as usize].get(place.at as usize + order);
            next.is_some_and(|item| {
                place.gram.1 = *item;
                true
            })
        });
        self.places.sort_unstable_by_key(|place| place.gram);
        let mut kept = 0;
        let mut start = 0;
        let mut number = 0;
        while start < self.places.len() {
            let gram = self.places[start].gram;
            let length = self.places[start..].iter().take_while(|place| place.gram == gram).count();
            let group = start..start + length;
            if keep(&self.places[group.clone()]) {
                for from in group {
                    self.places[kept] = Place { gram: (number, 0), ..self.places[from] };
                    kept += 1;
                }
                number += 1;
            }
            start += length;
        }
        self.places.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::shared;

    #[test]
    fn shared_grams_are_counted_once_each() {
        let mut seen = Vec::new();
        shared(&[&[1, 2, 1, 2, 3], &[1, 2, 9], &[2, 1, 2]], 4, |order, counts| {
            seen.push((order, counts.to_vec()));
        });
        let expected =
            [(0, [2, 1, 1]), (0, [2, 1, 2]), (1, [2, 1, 1]), (1, [1, 0, 1]), (2, [1, 0, 1])];
        assert_eq!(seen, expected.map(|(order, counts)| (order, counts.to_vec())));
    }
}
