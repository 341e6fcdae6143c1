//! [`Moments`] as bytes, for partial results that another process merges.
//!
//! Little endian: counts, flags, then for each sum the position of its lowest limb that is not zero, the number of limbs up
//! to the highest one, and these. The values 0 and 1, which most scores are, take no limbs. At the end are the number of
//! values that were counted one by one, and each of them with its count.

use super::FEW;
use super::commonest::Commonest;
use super::exact_sum::ExactSum;
use super::moments::Moments;

/// The first byte, which a later format would change.
const FORMAT: u8 = 2;
const HAS_LARGE: u8 = 1;
const HAS_INFINITE: u8 = 2;
const IS_VARIED: u8 = 4;

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
        let flags = HAS_LARGE * u8::from(self.has_large)
            + HAS_INFINITE * u8::from(self.has_infinite)
            + IS_VARIED * u8::from(self.commonest.is_varied);
        let mut bytes = vec![FORMAT, flags];
        bytes.extend(self.count.to_le_bytes());
        bytes.extend(self.ones.to_le_bytes());
        for sum in [&self.sum, &self.squares] {
            let (lowest, limbs) = sum.limbs();
            // There are fewer than 256 limbs.
            bytes.extend([lowest as u8, limbs.len() as u8]);
            limbs
                .iter()
                .for_each(|limb| bytes.extend(limb.to_le_bytes()));
        }
        let mut counts = self.commonest.counts.clone();
        counts.sort_unstable();
        // There are at most `FEW`.
        bytes.push(counts.len() as u8);
        for (key, count) in counts {
            bytes.extend(key.to_le_bytes());
            bytes.extend(count.to_le_bytes());
        }
        bytes
    }

    /// Restores moments from the bytes of [`to_bytes`](Self::to_bytes); `None` if they are anything else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let [format, flags] = take(&mut rest)?;
        let count = u64::from_le_bytes(take(&mut rest)?);
        let ones = u64::from_le_bytes(take(&mut rest)?);
        let [sum, squares] = [read_sum(&mut rest)?, read_sum(&mut rest)?];
        let commonest = read_commonest(&mut rest, flags & IS_VARIED != 0, count)?;
        let is_valid = format == FORMAT && flags < 2 * IS_VARIED && ones <= count;
        let (has_large, has_infinite) = (flags & HAS_LARGE != 0, flags & HAS_INFINITE != 0);
        let moments = Self {
            count,
            ones,
            sum,
            squares,
            commonest,
            has_large,
            has_infinite,
        };
        (is_valid && rest.is_empty()).then_some(moments)
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, others) = rest.split_first_chunk()?;
    *rest = others;
    Some(*first)
}

fn read_commonest(rest: &mut &[u8], is_varied: bool, all: u64) -> Option<Commonest> {
    let [len] = take(rest)?;
    let number = |rest: &mut &[u8]| take(rest).map(u64::from_le_bytes);
    let counts = (0..len)
        .map(|_| Some((number(rest)?, number(rest)?)))
        .collect::<Option<Vec<_>>>()?;
    let sum = counts
        .iter()
        .try_fold(0_u64, |sum, (_, count)| sum.checked_add(*count));
    let is_valid = match is_varied {
        true => counts.is_empty(),
        false => sum == Some(all) && counts.len() as u64 <= FEW,
    };
    is_valid.then_some(Commonest { counts, is_varied })
}

fn read_sum(rest: &mut &[u8]) -> Option<ExactSum> {
    let [lowest, len] = take(rest)?;
    let limbs = (0..len).map(|_| take(rest).map(i64::from_le_bytes));
    ExactSum::from_limbs(lowest.into(), &limbs.collect::<Option<Vec<_>>>()?)
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
        assert_eq!(all.to_bytes()[1], HAS_LARGE | HAS_INFINITE | IS_VARIED);
        assert_eq!(Moments::from_bytes(&all.to_bytes()).unwrap().count(), 1_002);
    }

    #[test]
    fn zeros_and_ones_are_short_and_order_does_not_change_the_bytes() {
        assert_eq!(of(&[0.0, 1.0, 1.0]).to_bytes().len(), 55);
        let (mut one, two) = (of(&[0.1, 0.2]), of(&[0.7]));
        let mut other = two.clone();
        other.merge(&one);
        one.merge(&two);
        assert_eq!(one.to_bytes(), other.to_bytes());
    }

    #[test]
    fn other_bytes_are_rejected() {
        let bytes = of(&[0.1]).to_bytes();
        let with = |position: usize, byte: u8| {
            let mut bytes = bytes.clone();
            bytes[position] = byte;
            bytes
        };
        let longer = [bytes.as_slice(), &[0]].concat();
        let last = bytes.len() - 1;
        // Another format, unknown flags, more ones than rows, a limb beyond the last one, a limb that is too large, a count
        // of too many rows.
        let changed = [
            with(0, 9),
            with(1, 8),
            with(10, 2),
            with(18, 255),
            with(27, 0x7f),
            with(last, 1),
            longer,
        ];
        for bytes in &changed {
            assert!(Moments::from_bytes(bytes).is_none(), "{bytes:?}");
        }
        for end in 0..bytes.len() {
            assert!(Moments::from_bytes(&bytes[..end]).is_none());
        }
    }
}
