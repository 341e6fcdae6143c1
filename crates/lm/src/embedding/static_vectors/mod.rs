//! Static vectors in a folder. A string's vector is the mean of its tokens' vectors.
//!
//! `tensors.rs` reads the vectors. The files may be untrusted: their size is limited, safetensors validates the header
//! (at most 100 MB) and all offsets, and the tokenizer is read and called within `catch_unwind`.

mod tensors;

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};

use async_trait::async_trait;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tokenizers::Tokenizer;

use self::tensors::Tensors;
use super::{EmbeddingModel, Embeddings};
use crate::private::lock;
use crate::{LmError, LmErrorKind, Usage};

/// An embedding model with one vector per token, read from a folder without network access.
///
/// The folder contains `model.safetensors` and `tokenizer.json`, as model2vec writes them. A string's vector is the
/// mean of its tokens' vectors, scaled to length 1. Unknown tokens are skipped, and a string without known tokens gets
/// a vector of zeros. Unlike model2vec, this model does not truncate strings to 512 tokens. A string longer than 1 MiB
/// is an error.
///
/// The tensor `embeddings` (or `embedding.weight`, or `0`) has one row per token, containing 16-, 32- or 64-bit
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

/// The largest vector file in bytes: a million tokens with a thousand numbers each.
const MAX_VECTORS_BYTES: u64 = 4 << 30;

/// The largest tokenizer file in bytes. A vocabulary of a million tokens takes about 50 MB.
const MAX_TOKENIZER_BYTES: u64 = 128 << 20;

/// The longest string in bytes.
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
    /// Returns [`LmErrorKind::Setting`](crate::LmErrorKind::Setting) if a file cannot be read, is too large or invalid,
    /// or the tokenizer has more tokens than there are vectors.
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
        let (tokens, rows) = (tokenizer.get_vocab_size(false), tensors.tokens());
        if tokens > rows {
            return Err(format!(
                "tokenizer.json has {tokens} tokens, but model.safetensors has vectors for {rows}; both files must come from the same model"
            ));
        }
        let mut hash = Sha256::new_with_prefix(Sha256::digest(&vectors));
        hash.update(Sha256::digest(&json));
        let hash: String = hash
            .finalize()
            .iter()
            .take(16)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Ok(Self {
            id: format!("static:{hash}"),
            tokenizer,
            unknown,
            tensors,
        })
    }

    /// Returns the vector of a string and the number of its tokens.
    fn vector(&self, text: &str) -> Result<(Vec<f32>, usize), String> {
        if text.len() > MAX_TEXT_BYTES {
            return Err(format!(
                "expected a string of at most {MAX_TEXT_BYTES} bytes, found {} bytes; shorten it",
                text.len()
            ));
        }
        let encoded = caught(|| {
            self.tokenizer
                .encode_fast(text, false)
                .map_err(|error| error.to_string())
        })?;
        let tokens = encoded.get_ids();
        let known = tokens.iter().filter(|token| Some(**token) != self.unknown);
        Ok((self.tensors.mean(known.copied())?, tokens.len()))
    }
}

/// Returns the model of a folder, which is read once per process.
pub(super) fn shared(folder: &str) -> Result<Arc<dyn EmbeddingModel>, LmError> {
    static OPEN: LazyLock<Mutex<HashMap<PathBuf, Arc<StaticEmbedder>>>> =
        LazyLock::new(Mutex::default);
    // A folder that does not exist has no canonical path; reading it reports the error.
    let path = Path::new(folder)
        .canonicalize()
        .unwrap_or_else(|_| PathBuf::from(folder));
    let mut open = lock(&OPEN);
    if let Some(model) = open.get(&path) {
        return Ok(Arc::clone(model) as _);
    }
    let model = Arc::new(StaticEmbedder::open(folder)?);
    open.insert(path, Arc::clone(&model));
    Ok(model)
}

fn contents(path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    let unreadable = |error: std::io::Error| {
        format!(
            "cannot read {} ({error}); name a folder with model.safetensors and tokenizer.json",
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
    #[serde(default)]
    unk_token: Option<String>,
    #[serde(default)]
    unk_id: Option<u32>,
}

/// Reads the tokenizer and the id of its unknown token, without truncation or padding.
fn tokenizer(json: &[u8]) -> Result<(Tokenizer, Option<u32>), String> {
    let WithModel { model } = serde_json::from_slice(json).map_err(|error| error.to_string())?;
    let mut tokenizer = caught(|| Tokenizer::from_bytes(json).map_err(|error| error.to_string()))?;
    tokenizer.with_padding(None);
    tokenizer
        .with_truncation(None)
        .map_err(|error| error.to_string())?;
    let unknown = model
        .unk_token
        .and_then(|token| tokenizer.token_to_id(&token))
        .or(model.unk_id);
    Ok((tokenizer, unknown))
}

/// Calls the tokenizer, and turns a panic into an error.
fn caught<T>(call: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let panicked = |_| Err("the tokenizer cannot be used, because it panicked".to_owned());
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(panicked)
}

impl fmt::Debug for StaticEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticEmbedder")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl EmbeddingModel for StaticEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, LmError> {
        let (mut vectors, mut tokens) = (Vec::with_capacity(texts.len()), 0);
        for text in texts {
            let (vector, of_text) = self
                .vector(text)
                .map_err(|reason| LmError::new(&*self.id, LmErrorKind::Other(reason)))?;
            vectors.push(vector);
            tokens += of_text as u64;
            tokio::task::consume_budget().await;
        }
        let embeddings = Embeddings::new(&self.id, texts.len(), vectors)?;
        Ok(embeddings.with_usage(Usage::new(tokens, 0)))
    }

    /// Succeeds: the files were validated when read.
    async fn probe(&self) -> Result<(), LmError> {
        Ok(())
    }
}
