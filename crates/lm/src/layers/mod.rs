//! Layers, which are language models that wrap another language model.
//!
//! Each file contains one layer and the state that its clones share. Methods that a layer does not override are
//! forwarded to the inner model.

#[cfg(feature = "lm")]
mod budget;
#[cfg(feature = "lm")]
mod circuit_breaker;
mod metered;
#[cfg(feature = "lm")]
mod priced;
#[cfg(feature = "lm")]
mod rate_limit;
#[cfg(feature = "lm")]
mod retry;
#[cfg(feature = "store")]
mod stored;

pub use self::metered::Metered;
#[cfg(feature = "lm")]
pub(super) use self::priced::{DEFAULT_MAX_TOKENS, limited, max_cost};
#[cfg(feature = "store")]
pub(crate) use self::stored::SingleFlight;
#[cfg(feature = "store")]
pub use self::stored::Stored;
#[cfg(feature = "lm")]
pub(crate) use self::stored::find;
#[cfg(feature = "lm")]
pub use self::{
    budget::{BudgetOverrun, LmBudget, Quote, reserve_for_panel},
    circuit_breaker::{Circuit, CircuitBreaker, CircuitPolicy},
    priced::Priced,
    rate_limit::{RateLimit, RateLimiter},
    retry::{Retry, RetryPolicy},
};
