//! Language models: the client with local servers, and the layers around it.
//!
//! `cargo test -p dsrs-metrics-tests --features lm --test lm`

mod budget_kills;
mod early;
mod embed_static;
mod embeddings;
mod errors;
mod estimate;
mod estimate_command;
mod estimate_shipped;
mod eval_kills;
mod evals;
mod exports;
mod fault_table;
mod faults;
mod judge_budget;
mod judge_command_line;
mod judge_faults;
mod judge_prompts;
mod judge_steps;
mod kept;
mod keys;
mod layers;
mod litellm;
mod logprobs;
mod money;
mod panels;
mod providers;
mod redirects;
mod refusals;
mod rejudge;
mod replay;
mod reported_models;
mod run_kills;
mod server;
mod settings;
mod shared;
mod simulated_user;
mod spent;
mod step_kills;
mod store;
mod store_command;
mod store_faults;
mod store_processes;
mod store_starts;
mod wire;

use std::time::Duration;

use dsrs_metrics::lm::{Lm, LmBuilder, LmRequest, RetryPolicy};

/// A model of a local server, without store, retries and environment variables.
fn plain(id: &str, url: &str) -> LmBuilder {
    Lm::builder(id)
        .variables(|_| None)
        .key(KEY)
        .base_url(url)
        .no_proxy()
        .no_store()
        .retry(RetryPolicy::never())
        .timeout(Duration::from_secs(10))
}

/// A key that must not appear in any output.
const KEY: &str = "sk-proj-verysecret-0123456789abcdef";

fn ask(text: &str) -> LmRequest {
    LmRequest::new("test version 1").user(text)
}

/// Retries with short delays.
fn quick(max_attempts: u32) -> RetryPolicy {
    RetryPolicy {
        max_attempts,
        initial_delay: Duration::from_millis(2),
        max_delay: Duration::from_millis(20),
        ..RetryPolicy::default()
    }
}
