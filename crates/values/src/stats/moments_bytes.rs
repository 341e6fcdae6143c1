//! [`Moments`] as bytes, for partial results that another process merges.

use super::FEW;
use super::exact_sum::ExactSum;
use super::moments::{Commonest, Moments};

/// The format, which a later version would change.
const FORMAT: u8 = 4;

/// The numbers that a sum consists of: the large ones are scaled.
type Parts = [Vec<f64>; 2];

/// The format; whether a value is large, infinite, and whether many differ; the number of values, and of ones; the sums of
/// the values and of their squares; the values that were counted one by one, each with its count.
type Written = (u8, [bool; 3], u64, u64, Parts, Parts, Vec<(u64, u64)>);

impl Moments {
    /// Returns the moments as bytes, from which [`from_bytes`](Self::from_bytes) restores them exactly.
    ///
    /// ```
    /// use dsrs_metrics::stats::Moments;
    ///
    /// let parts: [Moments; 2] = [[0.1, 1.0].into_iter().collect(), [0.7].into_iter().collect()];
    /// let mut merged = Moments::default();
    /// for part in parts {
    ///     merged.merge(&Moments::from_bytes(&part.to_bytes()).unwrap());
    /// }
    /// assert_eq!(merged.mean(), [0.7, 0.1, 1.0].into_iter().collect::<Moments>().mean());
    /// assert!(Moments::from_bytes(b"other").is_none());
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let flags = [self.has_large, self.has_infinite, self.commonest.is_varied];
        let mut counts = self.commonest.counts.clone();
        counts.sort_unstable();
        let (sum, squares) = (self.sum.canonical(), self.squares.canonical());
        let written: Written = (FORMAT, flags, self.count, self.ones, sum, squares, counts);
        // Numbers and lists are always JSON.
        serde_json::to_vec(&written).unwrap_or_default()
    }

    /// Restores moments from the bytes of [`to_bytes`](Self::to_bytes); `None` if they are anything else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let written: Written = serde_json::from_slice(bytes).ok()?;
        let (format, [has_large, has_infinite, is_varied], count, ones, sum, squares, counts) =
            written;
        let counted = counts
            .iter()
            .try_fold(0_u64, |sum, (_, count)| sum.checked_add(*count));
        let is_counted = match is_varied {
            true => counts.is_empty(),
            false => counted == Some(count) && counts.len() as u64 <= FEW,
        };
        (format == FORMAT && ones <= count && is_counted).then_some(Self {
            count,
            ones,
            sum: ExactSum::from_canonical(sum),
            squares: ExactSum::from_canonical(squares),
            commonest: Commonest { counts, is_varied },
            has_large,
            has_infinite,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Moments {
        values.iter().copied().collect()
    }

    #[test]
    fn bytes_restore_every_bit() {
        let tenths: Vec<f64> = (0..1_000).map(|row| f64::from(row % 11) / 10.0).collect();
        for values in [
            &[] as &[f64],
            &[1.0, 0.0],
            &[-0.3, 1e-300],
            &[1e200, 5e-324],
            &tenths,
        ] {
            let moments = of(values);
            let restored = Moments::from_bytes(&moments.to_bytes()).unwrap();
            assert_eq!(restored.count(), moments.count());
            assert_eq!(
                restored.mean().map(f64::to_bits),
                moments.mean().map(f64::to_bits)
            );
            assert_eq!(
                restored.variance().map(f64::to_bits),
                moments.variance().map(f64::to_bits)
            );
            assert_eq!(restored.to_bytes(), moments.to_bytes());
            assert_eq!(restored.commonest(), moments.commonest());
        }
        let infinite = Moments::from_bytes(&of(&[f64::INFINITY]).to_bytes()).unwrap();
        assert_eq!((infinite.count(), infinite.mean()), (1, None));
        // Every flag.
        let roots = (0..1_000).map(|row| f64::from(row).sqrt());
        let all: Moments = roots.chain([1e200, f64::INFINITY]).collect();
        assert!(all.to_bytes().starts_with(b"[4,[true,true,true],1002,"));
        assert_eq!(Moments::from_bytes(&all.to_bytes()).unwrap().count(), 1_002);
    }

    #[test]
    fn zeros_and_ones_are_short_and_order_does_not_change_the_bytes() {
        assert!(of(&[0.0, 1.0, 1.0]).to_bytes().len() < 100);
        let (mut one, two) = (of(&[0.1, 0.2]), of(&[0.7]));
        let mut other = two.clone();
        other.merge(&one);
        one.merge(&two);
        assert_eq!(one.to_bytes(), other.to_bytes());
    }

    #[test]
    fn other_bytes_are_rejected() {
        let bytes = "[4,[false,false,false],1,0,[[0.5],[]],[[0.25],[]],[[7,1]]]";
        let moments = Moments::from_bytes(bytes.as_bytes()).unwrap();
        assert_eq!((moments.count(), moments.commonest()), (1, Some(1)));
        // Another format, more ones than rows, a number that is none, a count of too many rows, counts of varied values, more
        // bytes.
        for (part, instead) in [
            ("[4,", "[3,"),
            (",1,0,", ",1,2,"),
            ("[0.25]", "[1e999]"),
            ("[7,1]", "[7,2]"),
            ("false]", "true]"),
            ("]]]", "]]]]"),
        ] {
            let changed = bytes.replacen(part, instead, 1);
            assert_ne!(changed, bytes);
            assert!(
                Moments::from_bytes(changed.as_bytes()).is_none(),
                "{changed}"
            );
        }
        for end in 0..bytes.len() {
            assert!(Moments::from_bytes(&bytes.as_bytes()[..end]).is_none());
        }
    }
}
