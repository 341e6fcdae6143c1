//! The tensors of a safetensors file: vectors, weights and rows of tokens.

use safetensors::tensor::{Dtype, SafeTensors, TensorView};

/// The vectors of tokens.
pub(super) struct Tensors {
    /// All rows, one after another.
    numbers: Vec<f32>,
    /// The length of a row, at least 1.
    dimensions: usize,
    /// A factor for each token.
    weights: Option<Vec<f32>>,
    /// The row of each token; if `None`, token `i` has row `i`.
    rows: Option<Vec<usize>>,
}

/// The names that model2vec and others give the tensor of vectors.
const NAMES: [&str; 3] = ["embeddings", "embedding.weight", "0"];

/// The longest vector.
const MAX_DIMENSIONS: usize = 1 << 14;

impl Tensors {
    pub(super) fn read(file: &[u8]) -> Result<Self, String> {
        let file = SafeTensors::deserialize(file).map_err(|error| error.to_string())?;
        let tensor = |name: &str| file.tensor(name).ok();
        let Some(vectors) = NAMES.into_iter().find_map(tensor) else {
            let mut names = file.names();
            names.sort_unstable();
            names.truncate(10);
            return Err(format!("expected a tensor `embeddings`, found {names:?}"));
        };
        let &[count, dimensions @ 1..=MAX_DIMENSIONS] = vectors.shape() else {
            return Err(format!(
                "expected vectors of 1 to {MAX_DIMENSIONS} numbers, found the shape {:?}",
                vectors.shape()
            ));
        };
        let numbers = numbers(&vectors)?;
        let weights = tensor("weights")
            .map(|weights| self::numbers(&weights))
            .transpose()?;
        let rows = tensor("mapping")
            .map(|rows| indexes(&rows, count))
            .transpose()?;
        let tensors = Self {
            numbers,
            dimensions,
            weights,
            rows,
        };
        match tensors.weights.as_ref().map(Vec::len) {
            Some(found) if found != tensors.tokens() => Err(format!(
                "expected {} weights, found {found}",
                tensors.tokens()
            )),
            _ => Ok(tensors),
        }
    }

    /// Returns the number of tokens that have a vector.
    pub(super) fn tokens(&self) -> usize {
        self.rows
            .as_ref()
            .map_or(self.numbers.len() / self.dimensions, Vec::len)
    }

    /// Returns the weighted mean of these tokens' vectors, scaled to length 1, or zeros if it has no direction.
    pub(super) fn mean(&self, tokens: impl Iterator<Item = u32>) -> Result<Vec<f32>, String> {
        // The result is scaled, so the sum will do.
        let mut sum = vec![0.0_f64; self.dimensions];
        for token in tokens {
            let (vector, weight) = usize::try_from(token)
                .ok()
                .and_then(|token| self.vector(token))
                .ok_or_else(|| {
                    format!("the tokenizer has the token {token}, which has no vector")
                })?;
            for (sum, number) in sum.iter_mut().zip(vector) {
                *sum += f64::from(*number) * f64::from(weight);
            }
        }
        let length = sum.iter().map(|number| number * number).sum::<f64>().sqrt();
        let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
        Ok(sum
            .into_iter()
            .map(|number| (number * scale) as f32)
            .collect())
    }

    fn vector(&self, token: usize) -> Option<(&[f32], f32)> {
        let row = match &self.rows {
            Some(rows) => *rows.get(token)?,
            None => token,
        };
        let start = row.checked_mul(self.dimensions)?;
        let vector = self
            .numbers
            .get(start..start.checked_add(self.dimensions)?)?;
        let weight = match &self.weights {
            Some(weights) => *weights.get(token)?,
            None => 1.0,
        };
        Some((vector, weight))
    }
}

/// Reads the values of a tensor, N bytes each.
fn values<const N: usize, T>(data: &[u8], value: impl Fn([u8; N]) -> T) -> Vec<T> {
    let (values, _) = data.as_chunks();
    values.iter().map(|bytes| value(*bytes)).collect()
}

/// Reads little-endian floating-point numbers or 8-bit integers.
fn numbers(tensor: &TensorView<'_>) -> Result<Vec<f32>, String> {
    let data = tensor.data();
    let numbers: Vec<f32> = match tensor.dtype() {
        Dtype::F32 => values(data, f32::from_le_bytes),
        Dtype::F64 => values(data, |bytes| f64::from_le_bytes(bytes) as f32),
        Dtype::F16 => values(data, |bytes| of_half(u16::from_le_bytes(bytes))),
        // The bits are the first half of an f32.
        Dtype::BF16 => values(data, |[low, high]| f32::from_le_bytes([0, 0, low, high])),
        Dtype::I8 => values(data, |[byte]| f32::from(byte.cast_signed())),
        other => {
            return Err(format!(
                "expected numbers of type F16, BF16, F32, F64 or I8, found {other:?}"
            ));
        }
    };
    match numbers.iter().find(|number| !number.is_finite()) {
        Some(number) => Err(format!("expected finite numbers, found {number}")),
        None => Ok(numbers),
    }
}

/// Reads row indexes, each below `count`.
fn indexes(tensor: &TensorView<'_>, count: usize) -> Result<Vec<usize>, String> {
    let data = tensor.data();
    let indexes: Vec<i64> = match tensor.dtype() {
        Dtype::I32 => values(data, |bytes| i32::from_le_bytes(bytes).into()),
        Dtype::I64 => values(data, i64::from_le_bytes),
        other => {
            return Err(format!(
                "expected a mapping of type I32 or I64, found {other:?}"
            ));
        }
    };
    let index = |index: i64| match usize::try_from(index) {
        Ok(row) if row < count => Ok(row),
        _ => Err(format!(
            "expected a mapping to rows below {count}, found {index}"
        )),
    };
    indexes.into_iter().map(index).collect()
}

/// Converts a half-precision number: 1 sign bit, 5 exponent bits, 10 fraction bits.
fn of_half(bits: u16) -> f32 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction * 2_f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction / 1024.0) * 2_f32.powi(exponent - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::of_half;

    #[test]
    fn half_precision_numbers_are_converted() {
        for (bits, number) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7bff, 65504.0),
            (0x0001, 5.960_464_5e-8),
            (0x7c00, f32::INFINITY),
            (0xfc00, f32::NEG_INFINITY),
        ] {
            assert_eq!(of_half(bits), number, "{bits:#x}");
        }
        assert!(of_half(0x7e00).is_nan());
    }
}
