//! An embedding model that reads its vectors from a folder.
//!
//! The files may be untrusted: their size is limited, safetensors validates the header
//! (at most 100 MB) and all offsets, and the tokenizer is read and called within `catch_unwind`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use dsrs_metrics_values::messages::hash::hexadecimal;
use half::{bf16, f16};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tokenizers::Tokenizer;

use super::{EmbeddingModel, Embeddings};
use crate::{LmError, LmErrorKind, Usage, lock};

/// An embedding model with one vector per token, read from a folder without network access.
///
/// The folder contains `model.safetensors` and `tokenizer.json`, as model2vec writes them. A string's vector is the
/// mean of its tokens' vectors, scaled to length 1.
///
/// Unknown tokens are skipped. A string without known tokens gets a vector of zeros.
///
/// Unlike model2vec, this model does not truncate strings to 512 tokens. A string longer than 1 MiB is an error.
///
/// The tensor `embeddings` (or `embedding.weight`, or `0`) has one row per token. It contains 16-, 32- or 64-bit
/// floating-point numbers or 8-bit integers. The tensors `weights` (a factor per token) and `mapping` (the row of each
/// token) are optional.
///
/// ```
/// use dsrs_metrics::lm::StaticEmbedder;
///
/// let error = StaticEmbedder::open("nowhere").unwrap_err().to_string();
/// assert!(error.starts_with("invalid embedding model `static:nowhere`: cannot read nowhere"), "{error}");
/// ```
pub struct StaticEmbedder {
    id: String,
    tokenizer: Tokenizer,
    unknown: Option<u32>,
    tensors: Tensors,
}

/// The maximum size of the vector file in bytes: a million tokens with a thousand numbers each.
const MAX_VECTORS_BYTES: u64 = 4 << 30;

/// The maximum size of the tokenizer file in bytes. A vocabulary of a million tokens takes about 50 MB.
const MAX_TOKENIZER_BYTES: u64 = 128 << 20;

/// The maximum length of a string in bytes.
const MAX_TEXT_BYTES: usize = 1 << 20;

impl StaticEmbedder {
    /// Reads the vectors and the tokenizer from a folder.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LmErrorKind, StaticEmbedder};
    ///
    /// let folder = std::env::temp_dir().join(format!("dsrs-doc-static-{}", std::process::id()));
    /// std::fs::create_dir_all(&folder)?;
    /// std::fs::write(folder.join("model.safetensors"), "not tensors")?;
    /// let error = StaticEmbedder::open(&folder).unwrap_err();
    /// assert!(matches!(error.kind(), LmErrorKind::Setting(_)));
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`LmErrorKind::Setting`](crate::LmErrorKind::Setting) if a file cannot be read, is too large or is
    /// invalid. Also returns this error if the tokenizer has more tokens than there are vectors.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, LmError> {
        let folder = folder.as_ref();
        Self::read(folder).map_err(|reason| {
            let folder = format!("static:{}", folder.display());
            LmError::setting("embedding model", &folder, reason)
        })
    }

    fn read(folder: &Path) -> Result<Self, String> {
        let vectors = contents(&folder.join("model.safetensors"), MAX_VECTORS_BYTES)?;
        let tensors =
            Tensors::read(&vectors).map_err(|reason| format!("model.safetensors: {reason}"))?;
        let json = contents(&folder.join("tokenizer.json"), MAX_TOKENIZER_BYTES)?;
        let (tokenizer, unknown) =
            tokenizer(&json).map_err(|reason| format!("tokenizer.json: {reason}"))?;
        let (tokens, rows) = (tokenizer.get_vocab_size(false), tensors.tokens.len());
        if tokens > rows {
            return Err(format!(
                "tokenizer.json has {tokens} tokens, but model.safetensors has vectors for {rows}; both files must come from the same model"
            ));
        }
        let mut hash = Sha256::new_with_prefix(Sha256::digest(&vectors));
        hash.update(Sha256::digest(&json));
        Ok(Self {
            id: format!("static:{}", hexadecimal(&hash.finalize()[..16])),
            tokenizer,
            unknown,
            tensors,
        })
    }

    /// Returns a string's vector and its number of tokens.
    fn vector(&self, text: &str) -> Result<(Vec<f32>, usize), String> {
        if text.len() > MAX_TEXT_BYTES {
            return Err(format!(
                "expected a string of at most {MAX_TEXT_BYTES} bytes, found {} bytes; shorten it",
                text.len()
            ));
        }
        let encode = || self.tokenizer.encode_fast(text, false);
        let encoded = caught(|| encode().map_err(|error| error.to_string()))?;
        let tokens = encoded.get_ids();
        let known = tokens.iter().filter(|token| Some(**token) != self.unknown);
        Ok((self.tensors.mean(known.copied())?, tokens.len()))
    }
}

/// Returns the model in a folder. A process reads each folder only once.
pub(super) fn shared(folder: &str) -> Result<Arc<dyn EmbeddingModel>, LmError> {
    static OPEN: Mutex<BTreeMap<String, Arc<StaticEmbedder>>> = Mutex::new(BTreeMap::new());
    let mut open = lock(&OPEN);
    if let Some(model) = open.get(folder) {
        return Ok(Arc::clone(model) as _);
    }
    let model = Arc::new(StaticEmbedder::open(folder)?);
    open.insert(folder.to_owned(), Arc::clone(&model));
    Ok(model)
}

fn contents(path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    let unreadable = |error: std::io::Error| {
        format!(
            "cannot read {} ({error}); pass a folder with model.safetensors and tokenizer.json",
            path.display()
        )
    };
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(limit + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    match bytes.len() as u64 > limit {
        true => Err(format!(
            "{}: expected at most {limit} bytes, found more",
            path.display()
        )),
        false => Ok(bytes),
    }
}

/// The part of a tokenizer file that names its unknown token.
#[derive(Deserialize)]
struct WithModel {
    model: UnknownToken,
}

#[derive(Deserialize)]
struct UnknownToken {
    unk_token: Option<String>,
    unk_id: Option<u32>,
}

/// Reads the tokenizer and the id of its unknown token, without truncation or padding.
fn tokenizer(json: &[u8]) -> Result<(Tokenizer, Option<u32>), String> {
    let WithModel { model } = serde_json::from_slice(json).map_err(|error| error.to_string())?;
    let mut tokenizer = caught(|| Tokenizer::from_bytes(json).map_err(|error| error.to_string()))?;
    tokenizer.with_padding(None);
    let truncated = tokenizer.with_truncation(None);
    truncated.map_err(|error| error.to_string())?;
    let unknown = model
        .unk_token
        .and_then(|token| tokenizer.token_to_id(&token));
    Ok((tokenizer, unknown.or(model.unk_id)))
}

/// Calls the tokenizer, and turns a panic into an error.
fn caught<T>(call: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let panicked = |_| Err("the tokenizer cannot be used, because it panicked".to_owned());
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(panicked)
}

debug_fields!(StaticEmbedder: |model| "id" => model.id);

#[async_trait]
impl EmbeddingModel for StaticEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, LmError> {
        let (mut vectors, mut tokens) = (Vec::with_capacity(texts.len()), 0);
        for text in texts {
            let failed = |reason| LmError::new(&*self.id, LmErrorKind::Other(reason));
            let (vector, of_text) = self.vector(text).map_err(failed)?;
            vectors.push(vector);
            tokens += of_text as u64;
            tokio::task::consume_budget().await;
        }
        let embeddings = Embeddings::new(&self.id, texts.len(), vectors)?;
        Ok(embeddings.with_usage(Usage::new(tokens, 0)))
    }

    /// Always succeeds, because the files were validated when they were read.
    async fn probe(&self) -> Result<(), LmError> {
        Ok(())
    }
}

/// The token vectors.
struct Tensors {
    /// All rows, one after another.
    numbers: Vec<f32>,
    /// The length of a row, at least 1.
    dimensions: usize,
    /// The row of each token, and the factor for its vector.
    tokens: Vec<(usize, f32)>,
}

/// The names that model2vec and other tools give the tensor of vectors.
const NAMES: [&str; 3] = ["embeddings", "embedding.weight", "0"];

/// The maximum length of a vector.
const MAX_DIMENSIONS: usize = 1 << 14;

impl Tensors {
    fn read(file: &[u8]) -> Result<Self, String> {
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
        let rows = match tensor("mapping") {
            Some(rows) => indexes(&rows, count)?,
            None => (0..count).collect(),
        };
        let weights = match tensor("weights") {
            Some(weights) => self::numbers(&weights)?,
            None => vec![1.0; rows.len()],
        };
        let (expected, found) = (rows.len(), weights.len());
        if expected != found {
            return Err(format!("expected {expected} weights, found {found}"));
        }
        Ok(Self {
            numbers,
            dimensions,
            tokens: rows.into_iter().zip(weights).collect(),
        })
    }

    /// Returns the weighted mean of these tokens' vectors, scaled to length 1. Returns zeros if the mean has no
    /// direction.
    fn mean(&self, tokens: impl Iterator<Item = u32>) -> Result<Vec<f32>, String> {
        // The result is scaled, so the sum will do.
        let mut sum = vec![0.0_f64; self.dimensions];
        for token in tokens {
            let found = self.vector(token);
            let none = || format!("the tokenizer has the token {token}, which has no vector");
            let (vector, weight) = found.ok_or_else(none)?;
            for (sum, number) in sum.iter_mut().zip(vector) {
                *sum += f64::from(*number) * f64::from(weight);
            }
        }
        let length = sum.iter().map(|number| number * number).sum::<f64>().sqrt();
        let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
        let scaled = sum.into_iter().map(|number| (number * scale) as f32);
        Ok(scaled.collect())
    }

    fn vector(&self, token: u32) -> Option<(&[f32], f32)> {
        let (row, weight) = *self.tokens.get(usize::try_from(token).ok()?)?;
        let vector = self.numbers.chunks_exact(self.dimensions).nth(row)?;
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
        Dtype::F16 => values(data, |bytes| f16::from_le_bytes(bytes).to_f32()),
        Dtype::BF16 => values(data, |bytes| bf16::from_le_bytes(bytes).to_f32()),
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
