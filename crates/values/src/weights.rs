//! Weights of a score's components, validated at run time. The weights of composites are validated in `composite/`,
//! mostly at compile time.

/// How far the weights' sum may be from 1, as in composites.
const TOLERANCE: f64 = 1e-9;

/// The weights of a score's `N` components.
///
/// All weights are finite and non-negative, and they sum to 1.
///
/// ```
/// use dsrs_metrics::contract::Weights;
///
/// assert_eq!(Weights::new([0.5, 0.3, 0.2]).unwrap().as_array(), [0.5, 0.3, 0.2]);
/// assert_eq!(
///     Weights::new([0.5, 0.3]).unwrap_err().to_string(),
///     "the weights 0.5, 0.3 sum to 0.8; they must sum to 1"
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights<const N: usize>([f64; N]);

crate::message_errors! {
    /// The error returned when weights are invalid.
    ///
    /// For example, a weight is negative, infinite or NaN, or the weights do not sum to 1.
    pub struct InvalidWeights;
}

impl<const N: usize> Weights<N> {
    /// Creates weights from an array and checks that they are valid.
    ///
    /// # Errors
    /// Returns [`InvalidWeights`] if a weight is negative or not finite, or if the weights do not sum to 1 (within
    /// 1e-9).
    pub fn new(weights: [f64; N]) -> Result<Self, InvalidWeights> {
        check(&weights)?;
        Ok(Self(weights))
    }

    /// Creates weights without checking that they are valid.
    ///
    /// Use this only for the weights in the reference documents, which are known to be valid.
    #[doc(hidden)]
    pub const fn unchecked(weights: [f64; N]) -> Self {
        Self(weights)
    }

    /// Returns the weights, in the order of the components.
    pub const fn as_array(self) -> [f64; N] {
        self.0
    }

    /// Returns the weighted mean of the values.
    ///
    /// Despite rounding, the mean is always within the range of the values.
    #[doc(hidden)]
    pub fn mean(self, values: [f64; N]) -> f64 {
        mean(self.0.into_iter().zip(values))
    }
}

/// Checks that weights are valid.
///
/// Returns [`InvalidWeights`] if a weight is negative or not finite, or if the weights do not sum to 1.
pub fn check(weights: &[f64]) -> Result<(), InvalidWeights> {
    let is_weight = |weight: &&f64| (0.0..f64::INFINITY).contains(*weight);
    if let Some(&weight) = weights.iter().find(|weight| !is_weight(weight)) {
        return Err(format!("expected a finite, non-negative weight, found {weight:?}").into());
    }
    let sum: f64 = weights.iter().sum();
    if (sum - 1.0).abs() > TOLERANCE {
        let sum = (sum * 1e12).round() / 1e12;
        let weights: Vec<String> = weights.iter().map(f64::to_string).collect();
        let weights = weights.join(", ");
        return Err(format!("the weights {weights} sum to {sum}; they must sum to 1").into());
    }
    Ok(())
}

/// Returns the weighted mean of `(weight, value)` pairs.
///
/// If all values are 1, the mean is exactly 1, even if rounding makes the weights sum to a different total.
pub fn mean(weighted: impl Iterator<Item = (f64, f64)>) -> f64 {
    let add = |(sum, total), (weight, value)| (sum + weight * value, total + weight);
    let (sum, total) = weighted.fold((0.0, 0.0), add);
    sum / total
}

#[cfg(test)]
mod tests {
    use super::Weights;

    #[test]
    fn weights_are_finite_not_negative_and_sum_to_one() {
        for (weights, found) in [
            ([1.5, -0.5], "-0.5"),
            ([f64::NAN, 1.0], "NaN"),
            ([f64::INFINITY, 0.0], "inf"),
        ] {
            let error = Weights::new(weights).unwrap_err().to_string();
            assert_eq!(
                error,
                format!("expected a finite, non-negative weight, found {found}")
            );
        }
        assert_eq!(
            Weights::new([0.3, 0.3]).unwrap_err().to_string(),
            "the weights 0.3, 0.3 sum to 0.6; they must sum to 1"
        );
        assert_eq!(
            Weights::new([0.0, 0.0])
                .unwrap_err()
                .to_string()
                .matches("sum to 0")
                .count(),
            1
        );
        assert_eq!(Weights::new([1.0, 0.0]).unwrap().as_array(), [1.0, 0.0]);
    }

    #[test]
    fn the_mean_of_ones_is_one() {
        for weights in [
            [0.4, 0.3, 0.2, 0.1],
            [0.1, 0.2, 0.3, 0.4],
            [0.7, 0.1, 0.1, 0.1],
        ] {
            let weights = Weights::new(weights).unwrap();
            assert_eq!((weights.mean([1.0; 4]), weights.mean([0.0; 4])), (1.0, 0.0));
        }
        assert_ne!(
            0.4 + 0.3 + 0.2 + 0.1,
            1.0,
            "which is why there is a division"
        );
    }
}
