//! Exact sums in 24 bytes, for data with many groups.

use super::exact_sum::{ExactSum, units};

/// The numbers of most sums are multiples of 2^-100: whole numbers, and numbers above 2^-48, such as scores.
const UNIT: u32 = 100;

/// The exponent of this unit in units of 2^-1074.
const SHIFT: u32 = 1074 - UNIT;

/// As [`ExactSum`].
#[derive(Debug, Clone)]
pub(super) enum CompactSum {
    /// The lower and the upper half of a number of units: an `i128` would be aligned to 16 bytes.
    Units(u64, i64),
    Exact(Box<ExactSum>),
}

impl Default for CompactSum {
    fn default() -> Self {
        Self::of(0)
    }
}

impl CompactSum {
    fn of(sum: i128) -> Self {
        Self::Units(sum as u64, (sum >> 64) as i64)
    }

    fn units(&self) -> Option<i128> {
        match self {
            Self::Units(low, high) => Some(i128::from(*high) << 64 | i128::from(*low)),
            Self::Exact(_) => None,
        }
    }

    /// Adds a finite number.
    pub(super) fn add(&mut self, value: f64) {
        match self
            .units()
            .and_then(|sum| sum.checked_add(units_of(value)?))
        {
            Some(sum) => *self = Self::of(sum),
            None => self.exact().add(value),
        }
    }

    /// Adds another sum.
    pub(super) fn add_all(&mut self, other: &Self) {
        let units = self.units().zip(other.units());
        match units.and_then(|(sum, more)| sum.checked_add(more)) {
            Some(sum) => *self = Self::of(sum),
            None => other.add_to(self.exact()),
        }
    }

    /// Adds this sum to an exact one.
    pub(super) fn add_to(&self, sum: &mut ExactSum) {
        match self {
            Self::Units(low, high) => {
                // The upper half has the sign.
                sum.add_units(u128::from(*low), SHIFT, false);
                sum.add_units(
                    u128::from(high.unsigned_abs()),
                    SHIFT + 64,
                    high.is_negative(),
                );
            }
            Self::Exact(exact) => sum.add_all(exact),
        }
    }

    fn exact(&mut self) -> &mut ExactSum {
        if let Self::Units(..) = self {
            let mut exact = Box::<ExactSum>::default();
            self.add_to(&mut exact);
            *self = Self::Exact(exact);
        }
        match self {
            Self::Exact(exact) => exact,
            Self::Units(..) => unreachable!("it was replaced"),
        }
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
    use proptest::prelude::*;

    use super::{CompactSum, ExactSum};

    fn value(sum: &CompactSum) -> f64 {
        let mut exact = ExactSum::default();
        sum.add_to(&mut exact);
        exact.value()
    }

    #[test]
    fn scores_take_no_memory_of_their_own() {
        assert_eq!(size_of::<CompactSum>(), 24);
        let mut sum = CompactSum::default();
        for score in [1.0 / 3.0, 0.5, -0.125, 100.0, 0.0, -0.0] {
            sum.add(score);
        }
        // The significand of 1/3, and 803/8.
        assert_eq!(
            sum.units(),
            Some((6_004_799_503_160_661 << 46) + (803 << 97))
        );
        sum.add(1e-300);
        assert_eq!((sum.units(), value(&sum)), (None, 1.0 / 3.0 + 100.375));
    }

    #[test]
    fn multiples_of_the_unit_are_whole_numbers() {
        let of = |number: f64| {
            let mut sum = CompactSum::default();
            sum.add(number);
            sum.units()
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
