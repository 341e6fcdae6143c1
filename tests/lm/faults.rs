//! 5,000 calls to a server with every kind of fault: each call has the right result and the right
//! number of attempts, and no call is lost.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use dsrs_metrics::lm::{CallTotals, LanguageModel, LmError, LmErrorKind, LmReply};
use futures_util::StreamExt;

use crate::server::{Answer, Received, Server};
use crate::{ask, plain, quick};

const CALLS: usize = 5000;
const CONCURRENCY: usize = 200;
const ATTEMPTS: u32 = 5;
/// Long enough that a busy machine causes no timeouts of its own.
const TIMEOUT: Duration = Duration::from_secs(8);

/// A fault of the server in one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Fault {
    Busy,
    BusySeconds,
    BusyUntil,
    Internal,
    Unavailable,
    Cut,
    TooSlow,
    Html,
    HalfJson,
    /// Slow, but in time: not a fault.
    Slow,
    /// Permanent: the request is invalid.
    BadRequest,
}

const MIX: [Fault; 10] = [
    Fault::Busy,
    Fault::BusySeconds,
    Fault::BusyUntil,
    Fault::Internal,
    Fault::Unavailable,
    Fault::Cut,
    Fault::Html,
    Fault::HalfJson,
    Fault::Slow,
    Fault::BadRequest,
];

/// A pseudorandom number (SplitMix64).
fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The fault of an attempt, in three of five cases.
fn fault(call: usize, attempt: u32) -> Option<Fault> {
    let dice = mixed((call as u64) << 8 | u64::from(attempt));
    if call % 50 == 7 && attempt == 0 {
        return Some(Fault::TooSlow);
    }
    // Some calls fail every time.
    if call % 97 == 3 {
        return Some(MIX[(dice % 8) as usize]);
    }
    match dice % 10 {
        0..=3 => None,
        _ => Some(MIX[((dice >> 8) % MIX.len() as u64) as usize]),
    }
}

/// The expected result of a call, computed without the library: the fault, if any, and the number
/// of attempts.
fn expected(call: usize) -> (Option<Fault>, u32) {
    let mut was_truncated = false;
    for attempt in 0..ATTEMPTS {
        match fault(call, attempt) {
            None | Some(Fault::Slow) => return (None, attempt + 1),
            Some(last @ (Fault::BadRequest | Fault::Html)) => return (Some(last), attempt + 1),
            Some(last @ (Fault::Cut | Fault::HalfJson)) if was_truncated => {
                return (Some(last), attempt + 1);
            }
            Some(Fault::Cut | Fault::HalfJson) if attempt + 1 < ATTEMPTS => was_truncated = true,
            Some(last) if attempt + 1 == ATTEMPTS => return (Some(last), ATTEMPTS),
            Some(_) => {}
        }
    }
    unreachable!("the last attempt returns")
}

#[derive(Default)]
struct Seen {
    attempts: u32,
    /// The earliest time of the next attempt.
    not_before: Option<Instant>,
    too_early: bool,
}

fn answer(seen: &Mutex<HashMap<usize, Seen>>, received: &Received) -> Answer {
    let call: usize = received
        .prompt()
        .strip_prefix("call ")
        .unwrap()
        .parse()
        .unwrap();
    let mut seen = seen.lock().unwrap();
    let seen = seen.entry(call).or_default();
    let attempt = seen.attempts;
    seen.attempts += 1;
    seen.too_early |= seen
        .not_before
        .take()
        .is_some_and(|then| Instant::now() < then);
    let reply = Answer::chat(&format!("reply {call}"));
    let Some(fault) = fault(call, attempt) else {
        return reply;
    };
    let busy = || Answer::error(429, "slow down");
    match fault {
        Fault::Busy => busy(),
        Fault::BusySeconds => {
            seen.not_before = Some(Instant::now() + Duration::from_secs(1));
            busy().with_header("retry-after", "1")
        }
        Fault::BusyUntil => {
            let until = SystemTime::now() + Duration::from_secs(1);
            busy().with_header("retry-after", httpdate::fmt_http_date(until))
        }
        Fault::Internal => Answer::error(500, "oops"),
        Fault::Unavailable => {
            Answer::html(503, "<html>down</html>").with_header("retry-after", "0")
        }
        Fault::Cut => reply.interrupted(),
        Fault::TooSlow => reply.slow(TIMEOUT * 4),
        Fault::Html => Answer::html(200, "<html>log in</html>"),
        Fault::HalfJson => reply.truncated(),
        Fault::Slow => reply.slow(Duration::from_millis(80)),
        Fault::BadRequest => Answer::error(400, "no such parameter"),
    }
}

/// Returns `true` if the error corresponds to the fault.
fn matches(error: &LmError, fault: Fault) -> bool {
    let kind = error.kind();
    match fault {
        Fault::Busy | Fault::BusySeconds | Fault::BusyUntil => {
            matches!(kind, LmErrorKind::RateLimited { .. })
        }
        Fault::Internal => matches!(kind, LmErrorKind::Status { status: 500, .. }),
        Fault::Unavailable => matches!(kind, LmErrorKind::Status { status: 503, .. }),
        Fault::TooSlow => matches!(kind, LmErrorKind::Timeout { .. }),
        Fault::Html => matches!(kind, LmErrorKind::InvalidReply { .. }),
        Fault::Cut | Fault::HalfJson => matches!(kind, LmErrorKind::TruncatedReply { .. }),
        Fault::BadRequest => matches!(kind, LmErrorKind::Status { status: 400, .. }),
        Fault::Slow => false,
    }
}

fn check(call: usize, result: &Result<LmReply, LmError>, seen: &Seen) {
    let (outcome, attempts) = expected(call);
    assert_eq!(
        seen.attempts, attempts,
        "call {call}: attempts of {result:?}"
    );
    assert!(
        !seen.too_early,
        "call {call} was retried before Retry-After had elapsed"
    );
    match (result, outcome) {
        (Ok(reply), None) => assert_eq!(reply.text, format!("reply {call}")),
        (Err(error), Some(fault)) => {
            assert!(
                matches(error, fault),
                "call {call}: {fault:?} became {error:?}"
            );
            assert_eq!(error.attempts(), attempts, "call {call}: {error:?}");
        }
        (result, outcome) => panic!("call {call}: {outcome:?} became {result:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn five_thousand_calls_with_every_kind_of_fault() {
    let seen: Arc<Mutex<HashMap<usize, Seen>>> = Arc::default();
    let shared = Arc::clone(&seen);
    let server = Server::without_recording(move |received| answer(&shared, received)).await;
    let lm = plain("openai:m", &server.url("/v1"))
        .timeout(TIMEOUT)
        .retry(quick(ATTEMPTS));
    let lm = lm.build().unwrap();
    let calls = futures_util::stream::iter(0..CALLS).map(|call| {
        let lm = lm.clone();
        async move { (call, lm.complete(&ask(&format!("call {call}"))).await) }
    });
    let results: Vec<_> = calls.buffer_unordered(CONCURRENCY).collect().await;

    let seen = seen.lock().unwrap();
    assert_eq!(
        (results.len(), seen.len()),
        (CALLS, CALLS),
        "no call is lost"
    );
    for (call, result) in &results {
        check(*call, result, &seen[call]);
    }
    let failed = results.iter().filter(|(_, result)| result.is_err()).count() as u64;
    assert!(failed > 200, "some calls fail: {failed}");
    let CallTotals {
        calls,
        failed: counted,
        usage,
        ..
    } = lm.ledger().total();
    assert_eq!((calls, counted), (CALLS as u64, failed));
    assert_eq!(
        usage.prompt_tokens,
        Some((CALLS as u64 - failed) * 100),
        "counted once per call"
    );
}
