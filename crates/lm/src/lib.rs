//! Language models, and clients for common providers.
//!
//! All models implement the [`LanguageModel`] trait. This crate also contains the requests, replies and errors of
//! models.
//!
//! The trait, the [`Ledger`], and [`ScriptedLm`] for tests are always available. The `lm` feature adds `Lm`, a model
//! from any common provider, and its layers. `dsrs_metrics::judge` writes the prompts for judges and reads the replies.
//!
//! # Path of a request
//!
//! A layer is a [`LanguageModel`] that wraps another model. `Lm` is the following stack of layers. A request passes
//! through the stack from top to bottom until a layer answers:
//!
//! | layer | what it does with a call |
//! | --- | --- |
//! | [`Metered`] | adds calls, tokens and cost to the [`Ledger`], even for cancelled calls |
//! | `Stored` | returns a stored reply or stores the new one; equal concurrent calls become one |
//! | `Retry` | repeats a call after a transient failure, with exponential backoff |
//! | `CircuitBreaker` | rejects calls for a while if the provider keeps failing |
//! | `RateLimit` | waits for the account's requests and tokens per minute |
//! | `Priced` | reserves the highest possible cost from the budget, then settles the actual cost |
//! | client | sends one HTTP request in the provider's format, and converts its reply or error |
//!
//! A stored reply therefore never waits for a rate limit. Each attempt at a retried call is subject to the limits and
//! the budget.
//!
//! For an estimate, a single layer replaces all of these layers; see `LmBuilder::estimate`. The layer returns stored
//! replies and counts all other calls.
//!
//! During a replay, `Lm` looks up calls in a file of recorded replies before it calls any layer. It can also record new
//! replies there.

#[macro_use]
extern crate dsrs_metrics_values;

#[cfg(feature = "lm")]
mod builder;
#[cfg(feature = "lm")]
mod client;
mod embedding;
mod error;
#[cfg(feature = "lm")]
#[doc(hidden)]
pub mod estimate;
mod layers;
mod ledger;
mod model;
mod money;
#[cfg(feature = "lm")]
mod price;
#[cfg_attr(not(feature = "store"), allow(dead_code, reason = "keys of the store"))]
mod record;
#[doc(hidden)]
pub mod recording;
#[cfg(feature = "lm")]
#[doc(hidden)]
pub mod replay;
mod reply;
mod request;
mod scripted;
#[cfg(feature = "store")]
mod store;

#[cfg(not(feature = "store"))]
pub(crate) use self::record::no_store as store;

#[cfg(feature = "embed-static")]
pub use self::embedding::StaticEmbedder;
pub use self::embedding::{Embedder, EmbeddingModel, Embeddings, ScriptedEmbedder, cosine};
pub use self::error::{LmError, LmErrorKind};
pub use self::layers::Metered;
#[cfg(feature = "lm")]
#[doc(hidden)]
pub use self::layers::{Quote, reserve_for_panel};
pub use self::ledger::{CallTotals, Ledger, ObservedCall};
pub use self::model::{IntoModel, JudgeModel, LanguageModel};
pub use self::money::parse_msats;
pub use self::reply::{LmReply, Logprobs, StopReason, TokenLogprob, TokenLogprobs, Usage};
pub use self::request::{LmRequest, Message, ReplySchema, Role, Sampling};
pub use self::scripted::{ByClosure, ByValue, IntoReply, ScriptedLm, ScriptedReply};
#[cfg_attr(not(feature = "store"), doc(hidden))]
pub use self::store::Store;
#[cfg(feature = "lm")]
pub use self::{
    builder::{Lm, LmBuilder},
    embedding::ProviderEmbedder,
    estimate::{CallEstimate, LmEstimate},
    layers::{
        BudgetOverrun, Circuit, CircuitBreaker, CircuitPolicy, LmBudget, Priced, RateLimit,
        RateLimiter, Retry, RetryPolicy,
    },
    price::{MSATS_PER_USD, Price, Prices},
};
pub use self::{
    embedding::static_embedder,
    model::{PROBE_PURPOSE, logprobs_probe},
    record::Hash,
    reply::reported,
};
#[cfg(feature = "store")]
pub use self::{
    layers::Stored,
    store::{Pruned, ReservedPart, StoreInfo},
};

use std::fs::DirBuilder;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex. The lock survives a panic, because no code leaves a value half changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates a directory that is accessible only to this user.
///
/// Missing parent directories are created too. If the directory exists, its mode does not change.
#[doc(hidden)]
pub fn create_private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}
