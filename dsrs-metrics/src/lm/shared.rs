//! What the models of this process share that go the same way: the limits of an account, and what is known of whether
//! an address answers. A provider counts by account, not by model or by object of ours.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::{BreakerPolicy, Circuit, Limiter};

/// Hash of an address, or of an address with what identifies an account there; no key is kept.
pub(super) type Place = [u8; 32];

/// Requests and tokens per minute.
pub(super) type Limits = (Option<u32>, Option<u32>);

#[derive(Default)]
struct Shared {
    limiters: HashMap<(Place, Limits), Limiter>,
    circuits: HashMap<(Place, BreakerPolicy), Circuit>,
}

fn shared() -> &'static Mutex<Shared> {
    static SHARED: OnceLock<Mutex<Shared>> = OnceLock::new();
    SHARED.get_or_init(Mutex::default)
}

/// The one limiter of an account under these limits.
pub(super) fn limiter(account: Place, limits: Limits) -> Limiter {
    let make = || {
        let (requests, tokens) = limits;
        let limiter = Limiter::new();
        let limiter = match requests {
            Some(limit) => limiter.requests_per_minute(limit),
            None => limiter,
        };
        match tokens {
            Some(limit) => limiter.tokens_per_minute(limit),
            None => limiter,
        }
    };
    if limits == (None, None) {
        return make();
    }
    let mut shared = shared().lock().unwrap_or_else(PoisonError::into_inner);
    shared.limiters.entry((account, limits)).or_insert_with(make).clone()
}

/// The one circuit of an address under this policy.
pub(super) fn circuit(address: Place, policy: BreakerPolicy) -> Circuit {
    let mut shared = shared().lock().unwrap_or_else(PoisonError::into_inner);
    let place = (address, policy.clone());
    shared.circuits.entry(place).or_insert_with(|| Circuit::new(policy)).clone()
}
