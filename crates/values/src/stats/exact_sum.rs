//! Exact sums of floating-point numbers, bit-for-bit identical regardless of the order of the summands.

use smallvec::SmallVec;

/// Summands of at least this magnitude are divided by [`SCALE`], so the sum of 2^64 of them is finite.
const LARGE: f64 = f64::from_bits((1023 + 950) << 52);
/// 2^64.
const SCALE: f64 = 18_446_744_073_709_551_616.0;

/// Non-overlapping numbers, smallest first, whose sum is exact (Shewchuk 1997). Scores need one or two of them.
type Parts = SmallVec<[f64; 2]>;

/// An exact sum of finite numbers.
///
/// The sum is rounded only when you read it.
#[derive(Debug, Clone, Default)]
pub struct ExactSum {
    parts: Parts,
    large: Parts,
}

impl ExactSum {
    /// Adds a number to the sum.
    ///
    /// The number must be finite.
    pub fn add(&mut self, value: f64) {
        debug_assert!(value.is_finite());
        match value.abs() >= LARGE {
            true => grow(&mut self.large, value / SCALE),
            false => grow(&mut self.parts, value),
        }
    }

    /// Adds a finite number `count` times.
    pub(crate) fn add_times(&mut self, value: f64, count: u64) {
        if count == 1 {
            return self.add(value);
        }
        let (parts, value) = match value.abs() >= LARGE {
            true => (&mut self.large, value / SCALE),
            false => (&mut self.parts, value),
        };
        // Each half is exact as a float, and its product is a float plus that float's rounding error.
        let low = count & u64::from(u32::MAX);
        for half in [low as f64, (count - low) as f64] {
            let product = value * half;
            grow(parts, product);
            grow(parts, value.mul_add(half, -product));
        }
    }

    /// Adds another sum.
    pub(crate) fn add_all(&mut self, other: &Self) {
        let (parts, large) = (&mut self.parts, &mut self.large);
        other.parts.iter().for_each(|part| grow(parts, *part));
        other.large.iter().for_each(|part| grow(large, *part));
    }

    /// Returns the sum as numbers that depend only on its value. [`from_canonical`](Self::from_canonical) restores the
    /// sum from them.
    pub(super) fn canonical(&self) -> [Vec<f64>; 2] {
        [&self.parts, &self.large].map(|parts| {
            let mut rest = parts.clone();
            let largest = std::iter::from_fn(|| {
                let part = rounded(&rest);
                grow(&mut rest, -part);
                (part != 0.0).then_some(part)
            });
            largest.collect()
        })
    }

    /// Restores a sum from its canonical numbers.
    pub(super) fn from_canonical([parts, large]: [Vec<f64>; 2]) -> Self {
        let [parts, large] = [parts, large].map(|canonical| {
            let mut parts = Parts::new();
            canonical
                .into_iter()
                .for_each(|part| grow(&mut parts, part));
            parts
        });
        Self { parts, large }
    }

    /// Returns the four largest numbers that make up the sum. They cover all but a fraction of 2^-212.
    pub(crate) fn parts(&self) -> [f64; 4] {
        let mut rest = self.clone();
        std::array::from_fn(|_| {
            let part = rest.value();
            rest.add(-part);
            part
        })
    }

    /// Returns the sum, correctly rounded.
    pub(crate) fn value(&self) -> f64 {
        self.mean(1)
    }

    /// Returns the sum divided by `count`.
    ///
    /// The result is finite even if the sum itself is too large for a float.
    pub fn mean(&self, count: u64) -> f64 {
        if self.large.is_empty() {
            return rounded(&self.parts) / count as f64;
        }
        let mut scaled = self.large.clone();
        let parts = self.parts.iter();
        parts.for_each(|part| grow(&mut scaled, part / SCALE));
        rounded(&scaled) / count as f64 * SCALE
    }
}

impl From<f64> for ExactSum {
    fn from(value: f64) -> Self {
        let mut sum = Self::default();
        sum.add(value);
        sum
    }
}

impl PartialEq for ExactSum {
    fn eq(&self, other: &Self) -> bool {
        self.value() == other.value()
    }
}

/// Adds a number to the parts.
fn grow(parts: &mut Parts, mut value: f64) {
    let mut kept = 0;
    for at in 0..parts.len() {
        let (mut larger, mut smaller) = (value, parts[at]);
        if larger.abs() < smaller.abs() {
            std::mem::swap(&mut larger, &mut smaller);
        }
        value = larger + smaller;
        let rest = smaller - (value - larger);
        if rest != 0.0 {
            parts[kept] = rest;
            kept += 1;
        }
    }
    parts.truncate(kept);
    if value != 0.0 {
        parts.push(value);
    }
}

/// Returns the rounded sum of the parts. Ties round to even, unless a smaller part breaks the tie.
fn rounded(parts: &[f64]) -> f64 {
    let mut parts = parts.iter().rev().copied();
    let (mut sum, mut rest) = (parts.next().unwrap_or(0.0), 0.0);
    for part in parts.by_ref() {
        let before = sum;
        sum = before + part;
        rest = part - (sum - before);
        if rest != 0.0 {
            break;
        }
    }
    let breaks_tie = |next: f64| rest != 0.0 && (rest < 0.0) == (next < 0.0);
    let farther = sum + 2.0 * rest;
    match parts.next() {
        Some(next) if breaks_tie(next) && farther - sum == 2.0 * rest => farther,
        _ => sum,
    }
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

    proptest::proptest! {
        #[test]
        fn order_and_parts_do_not_change_a_bit(values in proptest::collection::vec(number(), 0..12), cut in 0_usize..12) {
            let cut = cut.min(values.len());
            let part = |values: &[f64]| {
                let mut sum = ExactSum::default();
                values.iter().rev().for_each(|value| sum.add(*value));
                sum
            };
            let (mut merged, other) = (part(&values[cut..]), part(&values[..cut]));
            merged.add_all(&other);
            let mut forwards = ExactSum::default();
            values.iter().for_each(|value| forwards.add(*value));
            assert_eq!(merged.canonical(), forwards.canonical());
            assert_eq!(merged.value().to_bits(), forwards.value().to_bits());
            let restored = ExactSum::from_canonical(merged.canonical());
            assert_eq!(restored.canonical(), forwards.canonical());
        }
    }

    fn number() -> impl proptest::strategy::Strategy<Value = f64> {
        let extremes = [
            0.0,
            5e-324,
            -5e-324,
            f64::MAX,
            f64::MIN,
            1e286,
            -1e285,
            2_f64.powi(-100),
        ];
        proptest::prop_oneof![
            4 => -1.0..1.0,
            1 => -1e9..1e9,
            1 => proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL,
            1 => proptest::sample::select(extremes.to_vec()),
        ]
    }
}
