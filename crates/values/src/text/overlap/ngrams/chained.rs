//! Shared n-grams of any length: a round for each length numbers the n-grams that are shared, and extends them by an item.

use smallvec::smallvec;

use super::{Matches, clipped};

/// As [`matches`](super::matches), for n-grams that are too long to be packed.
pub(super) fn matches(texts: &[&[u32]], orders: usize) -> Matches {
    let mut matches: Matches = smallvec![0; orders];
    let mut grams = Grams::starting(texts);
    let mut counts = vec![0; texts.len()];
    for (order, matches) in matches.iter_mut().enumerate() {
        grams.lengthen(texts, order, |group| {
            counts.fill(0);
            group
                .iter()
                .for_each(|place| counts[place.text as usize] += 1);
            let shared = clipped(&counts);
            *matches += shared;
            shared > 0
        });
    }
    matches
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
            places.extend((0..).zip(*items).map(|(at, _)| Place {
                gram: (0, 0),
                text,
                at,
            }));
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
            let length = self.places[start..]
                .iter()
                .take_while(|place| place.gram == gram)
                .count();
            let group = start..start + length;
            if keep(&self.places[group.clone()]) {
                for from in group {
                    self.places[kept] = Place {
                        gram: (number, 0),
                        ..self.places[from]
                    };
                    kept += 1;
                }
                number += 1;
            }
            start += length;
        }
        self.places.truncate(kept);
    }
}
