//! The faults of a judge's server: the fault of each attempt on each row, and the outcome that each row must have.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use dsrs_metrics::judge::Prompt;
use dsrs_metrics::prelude::*;
use serde_json::json;

use crate::server::{Answer, Received};

/// Grade the answer.
#[judge(reasoning = false, range = 0.0..=1.0)]
pub(crate) struct Graded {
    #[input(pred)]
    answer: String,
    #[output(range = 0.0..=1.0)]
    score: f64,
}

/// The attempts of a request before it fails.
pub(crate) const ATTEMPTS: u32 = 4;

/// A fault of the server in one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Busy,
    Internal,
    Unavailable,
    Cut,
    Html,
    HalfJson,
    /// From here on replies that are not valid verdicts.
    OutOfRange,
    Missing,
    HalfVerdict,
    /// Not a fault.
    Slow,
}

const MIX: [Fault; 10] = [
    Fault::Busy,
    Fault::Internal,
    Fault::Unavailable,
    Fault::Cut,
    Fault::Html,
    Fault::HalfJson,
    Fault::OutOfRange,
    Fault::Missing,
    Fault::HalfVerdict,
    Fault::Slow,
];

impl Fault {
    fn is_reply(self) -> bool {
        matches!(
            self,
            Self::OutOfRange | Self::Missing | Self::HalfVerdict | Self::Slow
        )
    }

    /// A part of the error of the row.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::Busy => "rate limit exceeded",
            Self::Internal => "status 500",
            Self::Unavailable => "status 503",
            Self::Html => "cannot parse the provider's response",
            Self::Cut | Self::HalfJson => "truncated response",
            Self::OutOfRange => "expected `score` between 0 and 1, found 7.5",
            Self::Missing => "`score` is missing",
            Self::HalfVerdict => "the reply was truncated before the verdict",
            Self::Slow => unreachable!("no fault"),
        }
    }
}

/// A pseudorandom number (SplitMix64).
fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The fault of an attempt at the first request (round 0) or at the repair (round 1), in three of
/// five cases. Some rows fail every time.
fn fault(row: usize, round: usize, attempt: u32) -> Option<Fault> {
    let dice = mixed((row as u64) << 16 | (round as u64) << 8 | u64::from(attempt));
    if row % 97 == 3 {
        return Some(MIX[(dice % 9) as usize]);
    }
    (dice % 10 >= 4).then(|| MIX[((dice >> 8) % MIX.len() as u64) as usize])
}

/// The expected outcome of a row, computed without the library: the last fault, if any, and the
/// attempts of both rounds.
pub(crate) fn expected(row: usize) -> (Option<Fault>, [u32; 2]) {
    let mut attempts = [0; 2];
    for round in 0..2 {
        let mut was_truncated = false;
        let last = loop {
            let fault = fault(row, round, attempts[round]);
            attempts[round] += 1;
            match fault {
                // The same call returns the same page, and a truncated reply is asked for once more.
                Some(Fault::Html) => break fault,
                Some(Fault::Cut | Fault::HalfJson)
                    if std::mem::replace(&mut was_truncated, true) =>
                {
                    break fault;
                }
                Some(fault) if !fault.is_reply() && attempts[round] < ATTEMPTS => {}
                last => break last,
            }
        };
        match last {
            None | Some(Fault::Slow) => return (None, attempts),
            Some(fault) if !fault.is_reply() || round == 1 => return (Some(fault), attempts),
            Some(_) => {}
        }
    }
    unreachable!("the second round returns")
}

/// The score of a row that the judge answers.
pub(crate) fn score(row: usize) -> f64 {
    (row % 101) as f64 / 100.0
}

/// The attempts of each row: at the first request, and at the repair.
pub(crate) type Seen = Mutex<HashMap<usize, [u32; 2]>>;

/// The row and the round of a request; `None` for the probe.
fn row_and_round(received: &Received) -> Option<(usize, usize)> {
    let messages = received.body["messages"].as_array()?;
    let inputs = Prompt::parse(messages.get(1)?["content"].as_str()?)?;
    let row = inputs[0].content?.strip_prefix("answer ")?.parse().ok()?;
    Some((row, usize::from(messages.len() > 2)))
}

/// Answers a request, and counts it.
pub(crate) fn answer(seen: &Seen, received: &Received) -> Answer {
    let Some((row, round)) = row_and_round(received) else {
        return Answer::chat(r#"{"ok": true}"#);
    };
    let attempt = {
        let mut seen = seen.lock().unwrap();
        let attempts = &mut seen.entry(row).or_default()[round];
        *attempts += 1;
        *attempts - 1
    };
    let verdict = Answer::chat(&json!({ "score": score(row) }).to_string());
    match fault(row, round, attempt) {
        None => verdict,
        Some(Fault::Slow) => verdict.slow(Duration::from_millis(60)),
        Some(Fault::Busy) => {
            let wait = if row % 20 == 0 { "1" } else { "0" };
            Answer::error(429, "slow down").with_header("retry-after", wait)
        }
        Some(Fault::Internal) => Answer::error(500, "oops"),
        Some(Fault::Unavailable) => Answer::html(503, "<html>down</html>"),
        Some(Fault::Cut) => verdict.interrupted(),
        Some(Fault::Html) => Answer::html(200, "<html>log in</html>"),
        Some(Fault::HalfJson) => verdict.truncated(),
        Some(Fault::OutOfRange) => Answer::chat(r#"{"score": 7.5}"#),
        Some(Fault::Missing) => Answer::chat("{}"),
        Some(Fault::HalfVerdict) => Answer::chat(r#"{"score": 0."#),
    }
}
