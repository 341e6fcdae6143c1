//! Exact sums of floating-point numbers: bit for bit the same in every order of the summands. For data with many groups
//! there are sums of 32 bytes.

const LIMB_BITS: u32 = 32;
const LIMB_MASK: u64 = (1 << LIMB_BITS) - 1;
/// Covers 2^-1074 (the smallest `f64`) to 2^1024, times a 64-bit count, and carries.
const LIMBS: usize = 70;
/// Each addition adds less than 2^32 to a limb; carries are propagated after this many additions.
const MAX_PENDING: u32 = 1 << 30;
const FRACTION_BITS: u32 = 52;
const IMPLICIT_BIT: u64 = 1 << FRACTION_BITS;
const MAX_EXPONENT: u32 = 0x7ff;

/// A sum of finite numbers without rounding: a wide fixed-point number in units of 2^-1074, in
/// limbs of 32 bits whose carries are propagated late. Only reading the sum rounds, once.
#[derive(Clone)]
pub struct ExactSum {
    limbs: [i64; LIMBS],
    pending: u32,
}

impl Default for ExactSum {
    fn default() -> Self {
        Self {
            limbs: [0; LIMBS],
            pending: 0,
        }
    }
}

impl std::fmt::Debug for ExactSum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ExactSum").field(&self.value()).finish()
    }
}

impl ExactSum {
    /// Adds a finite number.
    pub fn add(&mut self, value: f64) {
        self.add_times(value, 1);
    }

    /// Adds a finite number `count` times.
    pub(crate) fn add_times(&mut self, value: f64, count: u64) {
        debug_assert!(value.is_finite());
        let (significand, shift) = units(value);
        for (half, shift) in [(count & LIMB_MASK, shift), (count >> 32, shift + 32)] {
            if half != 0 {
                let product = u128::from(significand) * u128::from(half);
                self.add_shifted(product, shift, value.is_sign_negative());
            }
        }
    }

    /// Adds another sum.
    pub(crate) fn add_all(&mut self, other: &Self) {
        let mut other = other.clone();
        other.carry();
        self.carry();
        for (limb, more) in self.limbs.iter_mut().zip(other.limbs) {
            *limb += more;
        }
        self.carry();
    }

    /// Returns the limbs that are not zero and those between them, after carries, with the position of the lowest. Equal sums
    /// have equal limbs.
    pub(super) fn limbs(&self) -> (usize, Vec<i64>) {
        let mut sum = self.clone();
        sum.carry();
        let is_set = |limb: &i64| *limb != 0;
        let lowest = sum.limbs.iter().position(is_set).unwrap_or(0);
        let end = sum
            .limbs
            .iter()
            .rposition(is_set)
            .map_or(lowest, |highest| highest + 1);
        (lowest, sum.limbs[lowest..end].to_vec())
    }

    /// Creates the sum with these limbs; `None` if [`limbs`](Self::limbs) does not return them.
    pub(super) fn from_limbs(lowest: usize, limbs: &[i64]) -> Option<Self> {
        let mut sum = Self::default();
        sum.limbs
            .get_mut(lowest..lowest + limbs.len())?
            .copy_from_slice(limbs);
        let (_, others) = sum.limbs.split_last()?;
        others
            .iter()
            .all(|limb| u32::try_from(*limb).is_ok())
            .then_some(sum)
    }

    /// Returns four numbers whose sum is this sum up to its highest 200 bits or so, largest first.
    pub(crate) fn parts(&self) -> [f64; 4] {
        let mut rest = self.clone();
        std::array::from_fn(|_| {
            let part = rest.value();
            rest.add(-part);
            part
        })
    }

    /// Adds `magnitude`, of at most 85 bits, times 2^`shift` units.
    fn add_shifted(&mut self, magnitude: u128, shift: u32, negative: bool) {
        let mut rest = magnitude << (shift % LIMB_BITS);
        for limb in &mut self.limbs[(shift / LIMB_BITS) as usize..] {
            if rest == 0 {
                break;
            }
            let part = i64::from(rest as u32);
            *limb += if negative { -part } else { part };
            rest >>= LIMB_BITS;
        }
        self.pending += 1;
        if self.pending == MAX_PENDING {
            self.carry();
        }
    }

    /// Propagates carries: every limb but the last is then in 0..2^32; the last has the sign.
    fn carry(&mut self) {
        let mut carry = 0;
        let (last, others) = self.limbs.split_last_mut().expect("there are limbs");
        for limb in others {
            let total = *limb + carry;
            carry = total >> LIMB_BITS;
            *limb = total & LIMB_MASK.cast_signed();
        }
        *last += carry;
        self.pending = 0;
    }

    /// Returns the sum, rounded once to the nearest number, ties to even; infinite if too large.
    pub(crate) fn value(&self) -> f64 {
        self.scaled_down(0)
    }

    /// Returns the sum divided by `count`, with two roundings regardless of the number of rows. The
    /// mean is finite even if the sum is not.
    pub fn mean(&self, count: u64) -> f64 {
        // A count of rows.
        let count = count as f64;
        let sum = self.value();
        if sum.is_finite() {
            return sum / count;
        }
        let scale = 64;
        self.scaled_down(scale) / count * 2_f64.powi(scale.cast_signed())
    }

    /// Returns the sum times 2^-`scale`, if the result is a normal number.
    fn scaled_down(&self, scale: u32) -> f64 {
        let mut sum = self.clone();
        sum.carry();
        let negative = sum.limbs[LIMBS - 1] < 0;
        if negative {
            sum.limbs.iter_mut().for_each(|limb| *limb = -*limb);
            sum.carry();
        }
        let magnitude = sum.rounded_magnitude(scale);
        if negative { -magnitude } else { magnitude }
    }

    /// As [`scaled_down`](Self::scaled_down), for a sum that is not negative and has no pending
    /// carries.
    fn rounded_magnitude(&self, scale: u32) -> f64 {
        let Some(top) = self.limbs.iter().rposition(|limb| *limb != 0) else {
            return 0.0;
        };
        let limb = |index: usize| u128::from(self.limbs[index].cast_unsigned());
        let below = |distance: usize| top.checked_sub(distance).map_or(0, limb);
        // The three highest limbs have at least 65 significant bits; the rest only breaks ties.
        let window = limb(top) << 64 | below(1) << 32 | below(2);
        let sticky = self.limbs[..top.saturating_sub(2)]
            .iter()
            .any(|limb| *limb != 0);
        let lowest = (u32::try_from(top).unwrap_or(u32::MAX) * LIMB_BITS).cast_signed() - 64;
        let length = 128 - window.leading_zeros();
        let highest = lowest + length.cast_signed() - 1;
        if highest <= FRACTION_BITS.cast_signed() {
            // Below 2^53 units, the bits of a number are the number of units.
            return f64::from_bits((window >> -lowest) as u64);
        }
        let dropped = length - FRACTION_BITS - 1;
        let significand = round_to_even(window, dropped, sticky);
        let exponent = i64::from(highest) - i64::from(FRACTION_BITS + scale) + 1;
        compose(significand, exponent)
    }
}

/// Returns a finite number, without its sign, as a significand times 2^shift units.
fn units(value: f64) -> (u64, u32) {
    let bits = value.to_bits();
    let exponent = (bits >> FRACTION_BITS) as u32 & MAX_EXPONENT;
    let fraction = bits & (IMPLICIT_BIT - 1);
    match exponent {
        0 => (fraction, 0),
        _ => (fraction | IMPLICIT_BIT, exponent - 1),
    }
}

/// Returns `window` without its lowest `dropped` bits, rounded to nearest, ties to even.
fn round_to_even(window: u128, dropped: u32, sticky: bool) -> u64 {
    let kept = (window >> dropped) as u64;
    let remainder = window & ((1 << dropped) - 1);
    let half = 1_u128 << (dropped - 1);
    let above = remainder > half || (remainder == half && (sticky || kept & 1 == 1));
    kept + u64::from(above)
}

/// Returns the number with this significand (of 53 bits, or 2^53) and biased exponent.
fn compose(significand: u64, exponent: i64) -> f64 {
    match u64::try_from(exponent) {
        // The implicit bit is added, not set, so that 2^53 carries into the exponent.
        Ok(exponent) if exponent < u64::from(MAX_EXPONENT) => {
            let bits = ((exponent - 1) << FRACTION_BITS) + significand;
            f64::from_bits(bits)
        }
        _ => f64::INFINITY,
    }
}

/// The numbers of most sums are multiples of 2^-100: whole numbers, and numbers above 2^-48, such as scores.
const UNIT: u32 = 100;

/// The exponent of this unit in units of 2^-1074.
const SHIFT: u32 = 1074 - UNIT;

/// As [`ExactSum`], in 32 bytes for most sums.
#[derive(Debug, Clone)]
pub(super) enum CompactSum {
    Units(i128),
    Exact(Box<ExactSum>),
}

impl Default for CompactSum {
    fn default() -> Self {
        Self::Units(0)
    }
}

impl CompactSum {
    /// Adds a finite number.
    pub(super) fn add(&mut self, value: f64) {
        match self {
            Self::Units(sum) => match units_of(value).and_then(|units| sum.checked_add(units)) {
                Some(more) => *sum = more,
                None => self.exact().add(value),
            },
            Self::Exact(sum) => sum.add(value),
        }
    }

    /// Adds another sum.
    pub(super) fn add_all(&mut self, other: &Self) {
        if let (Self::Units(sum), Self::Units(more)) = (&mut *self, other)
            && let Some(both) = sum.checked_add(*more)
        {
            *sum = both;
        } else {
            other.add_to(self.exact());
        }
    }

    /// Returns the sum divided by `count`, as [`ExactSum::mean`].
    pub(super) fn mean(&self, count: u64) -> f64 {
        let mut sum = ExactSum::default();
        self.add_to(&mut sum);
        sum.mean(count)
    }

    /// Adds this sum to an exact one.
    pub(super) fn add_to(&self, sum: &mut ExactSum) {
        match self {
            Self::Units(units) => {
                let (magnitude, is_negative) = (units.unsigned_abs(), *units < 0);
                sum.add_shifted(u128::from(magnitude as u64), SHIFT, is_negative);
                sum.add_shifted(magnitude >> 64, SHIFT + 64, is_negative);
            }
            Self::Exact(exact) => sum.add_all(exact),
        }
    }

    fn exact(&mut self) -> &mut ExactSum {
        let mut exact = Box::<ExactSum>::default();
        if let Self::Units(_) = self {
            self.add_to(&mut exact);
            *self = Self::Exact(exact);
        }
        match self {
            Self::Exact(exact) => exact,
            Self::Units(_) => unreachable!("it was replaced"),
        }
    }
}

impl From<f64> for CompactSum {
    fn from(value: f64) -> Self {
        let mut sum = Self::default();
        sum.add(value);
        sum
    }
}

impl PartialEq for CompactSum {
    fn eq(&self, other: &Self) -> bool {
        self.mean(1) == other.mean(1)
    }
}

/// Returns the number of units; `None` if it is too large or not a whole number.
fn units_of(value: f64) -> Option<i128> {
    let (significand, shift) = units(value);
    let magnitude = match shift.checked_sub(SHIFT) {
        // 53 bits of the significand, and no sign.
        Some(left) if left <= 127 - 53 => i128::from(significand) << left,
        Some(_) => return None,
        None if significand == 0 => 0,
        None if significand.trailing_zeros() < SHIFT - shift => return None,
        None => i128::from(significand >> (SHIFT - shift)),
    };
    Some(if value.is_sign_negative() {
        -magnitude
    } else {
        magnitude
    })
}

#[cfg(test)]
mod tests {
    use super::ExactSum;

    fn sum(values: &[f64]) -> f64 {
        let mut sum = ExactSum::default();
        values.iter().for_each(|value| sum.add(*value));
        sum.value()
    }

    #[test]
    fn one_number_is_itself() {
        let extremes = [
            f64::MIN_POSITIVE,
            f64::MAX,
            f64::MIN,
            5e-324,
            -5e-324,
            2.3e-308,
        ];
        for value in extremes
            .into_iter()
            .chain([1.0, -0.1, 1.0 / 3.0, 1e16 + 2.0])
        {
            assert_eq!(sum(&[value]), value);
        }
    }

    #[test]
    fn known_sums_are_correctly_rounded() {
        assert_eq!(sum(&[]), 0.0);
        assert_eq!(sum(&[0.1; 10]), 1.0);
        assert_eq!(sum(&[1e100, 1.0, -1e100]), 1.0);
        assert_eq!(sum(&[1e16, 1.0]), 1e16, "a tie goes to even");
        assert_eq!(
            sum(&[1e16, 1.0, 1e-300]),
            1e16 + 2.0,
            "what breaks the tie is not lost"
        );
        assert_eq!(sum(&[-1e16, -1.0, -1e-300]), -1e16 - 2.0);
        assert_eq!(
            sum(&[9_007_199_254_740_991.0, 0.5]),
            9_007_199_254_740_992.0
        );
        assert_eq!(sum(&[f64::MAX, f64::MAX, f64::MIN]), f64::MAX);
        assert_eq!(sum(&[5e-324, 5e-324, -1e-323]), 0.0);
        assert_eq!(sum(&[f64::MAX, f64::MAX]), f64::INFINITY);
        assert_eq!(sum(&[f64::MIN, -2_f64.powi(1000)]), f64::NEG_INFINITY);
    }

    #[test]
    fn a_mean_is_finite_even_where_the_sum_is_not() {
        let mut sum = ExactSum::default();
        sum.add_times(f64::MAX, 3);
        assert_eq!(sum.value(), f64::INFINITY);
        assert_eq!(sum.mean(3), f64::MAX);
    }

    #[test]
    fn adding_many_times_is_adding_again_and_again() {
        for value in [0.1, -0.3, 1e300, 5e-324, 123_456.789] {
            let mut at_once = ExactSum::default();
            at_once.add_times(value, 1_000);
            assert_eq!(at_once.value(), sum(&vec![value; 1_000]));
        }
        let mut huge = ExactSum::default();
        huge.add_times(3.0, 1 << 40);
        assert_eq!(huge.value(), 3.0 * (1_u64 << 40) as f64);
    }

    #[test]
    fn carries_are_passed_on_before_a_limb_overflows() {
        let mut sum = ExactSum::default();
        sum.add_times(-1.5, u64::from(u32::MAX));
        sum.pending = super::MAX_PENDING - 1;
        sum.add(0.5);
        assert_eq!(
            (sum.pending, sum.value()),
            (0, 0.5 - 1.5 * f64::from(u32::MAX))
        );
    }

    #[test]
    fn debug_output_is_the_sum() {
        let mut sum = ExactSum::default();
        [0.25, -1.0].into_iter().for_each(|value| sum.add(value));
        assert_eq!(format!("{sum:?}"), "ExactSum(-0.75)");
    }
}

#[cfg(test)]
mod compact_tests {
    use proptest::prelude::*;

    use super::{CompactSum, ExactSum};

    fn value(sum: &CompactSum) -> f64 {
        let mut exact = ExactSum::default();
        sum.add_to(&mut exact);
        exact.value()
    }

    fn units(sum: &CompactSum) -> Option<i128> {
        match sum {
            CompactSum::Units(units) => Some(*units),
            CompactSum::Exact(_) => None,
        }
    }

    #[test]
    fn scores_take_no_memory_of_their_own() {
        assert_eq!(size_of::<CompactSum>(), 32);
        let mut sum = CompactSum::default();
        for score in [1.0 / 3.0, 0.5, -0.125, 100.0, 0.0, -0.0] {
            sum.add(score);
        }
        // The significand of 1/3, and 803/8.
        assert_eq!(
            units(&sum),
            Some((6_004_799_503_160_661 << 46) + (803 << 97))
        );
        sum.add(1e-300);
        assert_eq!((units(&sum), value(&sum)), (None, 1.0 / 3.0 + 100.375));
    }

    #[test]
    fn multiples_of_the_unit_are_whole_numbers() {
        let of = |number: f64| {
            let mut sum = CompactSum::default();
            sum.add(number);
            units(&sum)
        };
        assert_eq!(of(2_f64.powi(-100)), Some(1));
        assert_eq!(of(-3.0 * 2_f64.powi(-100)), Some(-3));
        assert_eq!(of(2_f64.powi(-60)), Some(1 << 40));
        assert_eq!(of(2_f64.powi(-101)), None);
        assert_eq!(of(1.5 * 2_f64.powi(-100)), None);
    }

    proptest! {
        #[test]
        fn sums_are_those_of_exact_sums(parts in prop::collection::vec(prop::collection::vec(number(), 0..6), 0..4)) {
            let (mut whole, mut exact) = (CompactSum::default(), ExactSum::default());
            for part in parts {
                let mut sum = CompactSum::default();
                for number in part {
                    sum.add(number);
                    exact.add(number);
                }
                whole.add_all(&sum);
            }
            prop_assert_eq!(value(&whole).to_bits(), exact.value().to_bits());
        }
    }

    fn number() -> impl Strategy<Value = f64> {
        let extremes = [
            0.0,
            5e-324,
            -5e-324,
            f64::MAX,
            f64::MIN,
            2_f64.powi(26),
            -2_f64.powi(27),
            2_f64.powi(-100),
            2_f64.powi(-101),
        ];
        prop_oneof![
            4 => -1.0..1.0,
            1 => -1e9..1e9,
            1 => prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL,
            1 => prop::sample::select(extremes.to_vec()),
        ]
    }
}
