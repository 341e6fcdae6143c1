//! Language models: the client against servers, and the layers around it.
//!
//! `cargo test -p dsrs-metrics-tests --features lm --test lm`

mod cache;
mod errors;
mod faults;
mod judge_command_line;
mod judge_faults;
mod kept;
mod keys;
mod killed;
mod layers;
mod litellm;
mod money;
mod refusals;
mod server;
mod settings;
mod shared;
mod spent;
mod wire;

use std::time::Duration;

use dsrs_metrics::lm::{CacheMode, Lm, LmBuilder, LmRequest, RetryPolicy};

/// A model at a server on this machine, without a cache, that retries never; no variable counts.
fn plain(id: &str, url: &str) -> LmBuilder {
    Lm::builder(id)
        .variables(|_| None)
        .key(KEY)
        .base_url(url)
        .no_proxy()
        .cache_mode(CacheMode::Off)
        .retry(RetryPolicy::never())
        .timeout(Duration::from_secs(10))
}

/// A key that must never be seen.
const KEY: &str = "sk-proj-verysecret-0123456789abcdef";

fn ask(text: &str) -> LmRequest {
    LmRequest::new("test version 1").user(text)
}

/// Retries without delays worth mentioning.
fn quick(attempts: u32) -> RetryPolicy {
    RetryPolicy {
        attempts,
        first_delay: Duration::from_millis(2),
        max_delay: Duration::from_millis(20),
        ..RetryPolicy::default()
    }
}
