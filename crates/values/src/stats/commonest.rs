//! How many values differ from the commonest one, in memory that does not grow.

use super::FEW;

/// Counts the values that differ from the commonest one, up to [`FEW`].
///
/// Neither the order of the values nor how they are split and merged changes the count.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Commonest {
    /// Each value with its count; empty once at least `FEW` values differ from the commonest one. There are at most `FEW`.
    pub(super) counts: Vec<(u64, u64)>,
    pub(super) is_varied: bool,
}

impl Commonest {
    pub(super) fn record(&mut self, value: f64, times: u64) {
        if !self.is_varied {
            self.add(key(value), times);
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.is_varied |= other.is_varied;
        for (key, times) in &other.counts {
            if !self.is_varied {
                self.add(*key, *times);
            }
        }
        if self.is_varied {
            self.counts.clear();
        }
    }

    fn add(&mut self, key: u64, times: u64) {
        match self.counts.iter_mut().find(|(known, _)| *known == key) {
            Some((_, count)) => *count += times,
            None => self.counts.push((key, times)),
        }
        if self.all() - self.largest() >= FEW {
            *self = Self {
                counts: Vec::new(),
                is_varied: true,
            };
        }
    }

    fn all(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    fn largest(&self) -> u64 {
        self.counts
            .iter()
            .map(|(_, count)| *count)
            .max()
            .unwrap_or(0)
    }

    /// Returns how often the commonest value occurs; `None` if at least [`FEW`] values differ from it. A value that occurs
    /// once is not common, so that all of 30 different values differ from it.
    pub(super) fn count(&self) -> Option<u64> {
        let count = self.largest();
        (!self.is_varied && (count > 1 || self.all() < FEW)).then_some(count)
    }
}

/// Values that are equal but for rounding have the same key, unless they are at its edge.
fn key(value: f64) -> u64 {
    // Zero has no sign.
    (value + 0.0).to_bits().wrapping_add(1 << 7) >> 8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Commonest {
        let mut commonest = Commonest::default();
        values.iter().for_each(|value| commonest.record(*value, 1));
        commonest
    }

    fn distinct(values: u32) -> Vec<f64> {
        (0..values).map(f64::from).collect()
    }

    #[test]
    fn thirty_values_that_differ_from_the_commonest_are_enough() {
        let ones = [1.0; 1_000];
        assert_eq!(of(&[&ones[..], &[0.5; 29]].concat()).count(), Some(1_000));
        assert_eq!(of(&[&ones[..], &[0.5; 30]].concat()).count(), None);
        assert_eq!((of(&[]).count(), of(&ones).count()), (Some(0), Some(1_000)));
        // 29 values of 30 differ from any of them, but none is common.
        assert_eq!(
            [of(&distinct(29)).count(), of(&distinct(30)).count()],
            [Some(1), None]
        );
        assert_eq!(of(&[0.0, -0.0, 0.1 + 0.2, 0.3]).counts.len(), 2);
    }

    #[test]
    fn parts_have_the_count_of_the_whole() {
        let values = [vec![0.25; 40], vec![0.5; 20], distinct(9)].concat();
        for split in 0..values.len() {
            let (a, b) = values.split_at(split);
            let (mut merged, mut reversed) = (of(a), of(b));
            merged.merge(&of(b));
            reversed.merge(&of(a));
            assert_eq!([merged.count(), reversed.count()], [of(&values).count(); 2]);
        }
        assert_eq!(of(&values).count(), Some(40));
        let mut more = of(&values);
        more.merge(&of(&[0.75]));
        assert_eq!((more.count(), more.counts.len()), (None, 0));
    }
}
