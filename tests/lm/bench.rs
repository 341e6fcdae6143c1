//! The throughput of the layers, and their memory use.
//!
//! `cargo run --release -p dsrs-metrics-tests --features lm --bin lm_bench`
//!
//! Fails if a bound is missed.
//!
//! 1. An in-process model with a latency of 50 ms at 1,000 concurrent calls, alone and with all
//!    layers but the client: throughput as a share of concurrency / latency, at least 98%. The
//!    latency is measured, because a timer of 50 ms takes 51 to 52 ms: tokio's timers have a
//!    resolution of a millisecond, and the machine may be busy.
//! 2. 200,000 calls over HTTP, client and server in this process: calls/s, at least 2,000, and
//!    resident memory after each tenth of the calls, constant within 8 MiB.
//! 3. Calls whose replies are kept in a store, and the same calls answered from it:
//!    calls/s.

#[path = "server.rs"]
#[allow(dead_code)]
mod server;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dsrs_metrics::async_trait;
use dsrs_metrics::lm::{
    CircuitBreaker, CircuitPolicy, LanguageModel, Ledger, Lm, LmError, LmReply, LmRequest, Metered,
    Price, Priced, Prices, RateLimit, RateLimiter, Retry, RetryPolicy, ScriptedLm, Store, Stored,
    Usage,
};
use server::{Answer, Server};

const LATENCY: Duration = Duration::from_millis(50);
const PRICE: Price = Price {
    input: 0.25,
    output: 2.0,
    cached_input: None,
};

#[tokio::main]
async fn main() -> ExitCode {
    let passed = [in_process().await, over_http().await];
    stored().await;
    match passed {
        [true, true] => ExitCode::SUCCESS,
        _ => {
            println!("a bound was missed");
            ExitCode::FAILURE
        }
    }
}

/// A model with a latency of 50 ms, which adds up the latencies it measures.
struct Timed {
    inner: ScriptedLm,
    nanos: Arc<AtomicU64>,
    calls: Arc<AtomicU64>,
}

#[async_trait]
impl LanguageModel for Timed {
    fn id(&self) -> &str {
        self.inner.id()
    }

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        let begun = Instant::now();
        tokio::time::sleep(LATENCY).await;
        let nanos = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.inner.complete(request).await
    }
}

/// Makes `calls` calls, `concurrency` at a time, and returns the calls per second.
async fn run(lm: Arc<dyn LanguageModel>, calls: u64, concurrency: usize) -> f64 {
    let next = Arc::new(AtomicU64::new(0));
    let begun = Instant::now();
    let workers: Vec<_> = (0..concurrency)
        .map(|_| {
            let (lm, next) = (Arc::clone(&lm), Arc::clone(&next));
            tokio::spawn(async move {
                loop {
                    let call = next.fetch_add(1, Ordering::Relaxed);
                    if call >= calls {
                        return;
                    }
                    let request = LmRequest::new("bench").user(format!("call {call}"));
                    lm.complete(&request).await.unwrap();
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.unwrap();
    }
    calls as f64 / begun.elapsed().as_secs_f64()
}

fn scripted() -> ScriptedLm {
    ScriptedLm::new()
        .otherwise("yes")
        .usage(Usage::new(100, 10))
        .remember(0)
}

/// All layers but the client and the store.
fn layers(inner: Timed) -> Arc<dyn LanguageModel> {
    let priced = Priced::new(inner, Prices::empty().with("scripted:lm", PRICE));
    let limiter = RateLimiter::new()
        .requests_per_minute(u32::MAX)
        .tokens_per_minute(u32::MAX);
    let breaker = CircuitBreaker::new(RateLimit::new(priced, limiter), CircuitPolicy::default());
    Arc::new(Metered::new(
        Retry::new(breaker, RetryPolicy::default()),
        Ledger::new(),
    ))
}

async fn in_process() -> bool {
    const CONCURRENCY: usize = 1000;
    let calls = 200_000;
    println!("in process, 50 ms latency, {CONCURRENCY} at a time, {calls} calls");
    let mut passed = true;
    for (name, bare) in [("model alone", true), ("all layers", false)] {
        let (nanos, made) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
        let timed = Timed {
            inner: scripted(),
            nanos: nanos.clone(),
            calls: made.clone(),
        };
        let lm = if bare { Arc::new(timed) } else { layers(timed) };
        let rate = run(lm, calls, CONCURRENCY).await;
        let latency = nanos.load(Ordering::Relaxed) as f64 / made.load(Ordering::Relaxed) as f64;
        let share = rate * latency / 1e9 / CONCURRENCY as f64;
        let nominal = rate * LATENCY.as_secs_f64() / CONCURRENCY as f64;
        println!(
            "  {name}: {rate:.0} calls/s; the model took {:.2} ms: {:.2}% of concurrency / latency ({:.2}% of 50 ms)",
            latency / 1e6,
            share * 100.0,
            nominal * 100.0,
        );
        passed &= share >= 0.98;
    }
    passed
}

async fn over_http() -> bool {
    let server = Server::without_recording(|_| Answer::chat("yes")).await;
    let lm = Lm::builder("openai:gpt-6-luna")
        .variables(|_| None)
        .key("sk-none")
        .base_url(server.url("/v1"))
        .no_store()
        .no_proxy()
        .build()
        .unwrap();
    let lm: Arc<dyn LanguageModel> = Arc::new(lm);
    println!("over HTTP, client and server in this process, 64 at a time");
    let (mut first, mut slowest) = (0, f64::INFINITY);
    for tenth in 1..=10 {
        let rate = run(Arc::clone(&lm), 20_000, 64).await;
        let now = resident_kib();
        slowest = slowest.min(rate);
        first = if tenth == 1 { now } else { first };
        println!(
            "  {} calls: {rate:.0} calls/s, {now} KiB resident",
            tenth * 20_000
        );
    }
    let grown = resident_kib().saturating_sub(first);
    println!("  grown by {grown} KiB from 20,000 to 200,000 calls");
    slowest >= 2000.0 && grown < 8 << 10
}

async fn stored() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let lm: Arc<dyn LanguageModel> = Arc::new(Stored::new(scripted(), store));
    println!("store, 256 at a time, 100,000 calls");
    for name in [
        "stored, each written before it returns",
        "answered from the store",
    ] {
        let rate = run(Arc::clone(&lm), 100_000, 256).await;
        println!("  {name}: {rate:.0} calls/s");
    }
}

/// Resident memory of this process; 0 without `/proc`.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}
