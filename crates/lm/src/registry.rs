//! Rate limiters and circuits that all models of this process share: a limiter per account, a
//! circuit per address. Providers limit the rate of an account, whichever model is called and
//! however many `Lm` values there are.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use super::client::EndpointHash;
use super::lock::lock;
use super::{Circuit, CircuitPolicy, RateLimiter};

/// The limits of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct RateLimits {
    pub(super) requests_per_minute: Option<u32>,
    pub(super) tokens_per_minute: Option<u32>,
}

#[derive(Default)]
struct Registry {
    limiters: HashMap<(EndpointHash, RateLimits), RateLimiter>,
    circuits: HashMap<(EndpointHash, CircuitPolicy), Circuit>,
}

static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(Mutex::default);

impl RateLimits {
    fn limiter(self) -> RateLimiter {
        let limiter = RateLimiter::new();
        let limiter = match self.requests_per_minute {
            Some(limit) => limiter.requests_per_minute(limit),
            None => limiter,
        };
        match self.tokens_per_minute {
            Some(limit) => limiter.tokens_per_minute(limit),
            None => limiter,
        }
    }
}

/// The limiter of an account with these limits.
pub(super) fn limiter(account: EndpointHash, limits: RateLimits) -> RateLimiter {
    if limits
        .requests_per_minute
        .or(limits.tokens_per_minute)
        .is_none()
    {
        return RateLimiter::new();
    }
    let mut registry = lock(&REGISTRY);
    let limiter = registry.limiters.entry((account, limits));
    limiter.or_insert_with(|| limits.limiter()).clone()
}

/// The circuit of an address with this policy.
pub(super) fn circuit(address: EndpointHash, policy: CircuitPolicy) -> Circuit {
    let mut registry = lock(&REGISTRY);
    let circuit = registry.circuits.entry((address, policy.clone()));
    circuit.or_insert_with(|| Circuit::new(policy)).clone()
}
