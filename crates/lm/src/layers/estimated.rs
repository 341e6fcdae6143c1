//! The layer that counts calls in place of making them, for the estimate of a run.

use super::super::estimate::{self, CallEstimate, LmEstimate, is_repair};
use super::super::key::Key;
use super::super::model::probe_request;
use super::super::price::{Price, Prices};
use super::super::store::Store;
use super::super::{
    LanguageModel, LmError, LmErrorKind, LmReply, LmRequest, PROBE_PURPOSE, Sampling,
};
use super::priced::{limited, max_cost};
use super::{Layer, find};

/// A model that returns the replies that the store has, and counts all other calls.
pub(crate) struct Estimated<L> {
    pub(crate) inner: L,
    pub(crate) estimate: LmEstimate,
    pub(crate) prices: Prices,
    pub(crate) price: Option<Price>,
    pub(crate) attempts: u32,
    /// The replies that a run would find.
    pub(crate) store: Option<Store>,
}

impl<L: LanguageModel> Estimated<L> {
    /// The stored reply to an effective request.
    fn stored(&self, request: &LmRequest) -> Result<Option<LmReply>, LmError> {
        let Some(store) = &self.store else {
            return Ok(None);
        };
        find(store, &Key::new(&self.inner, request), 0)
    }

    /// The most that one attempt can cost. A request that does not limit the reply counts with the limit that a budget sets.
    fn max_cost(&self, request: &LmRequest) -> Option<u64> {
        max_cost(&self.prices, self.price.as_ref()?, &limited(request))
    }

    fn count(&self, request: &LmRequest, attempts: u32) -> CallEstimate {
        let cost = self.max_cost(request);
        CallEstimate {
            calls: 1,
            unlimited_calls: u64::from(request.sampling.max_tokens.is_none()),
            unpriced_calls: u64::from(cost.is_none()),
            replies_msats: cost.unwrap_or(0),
            worst_case_msats: cost.unwrap_or(0).saturating_mul(attempts.into()),
            ..CallEstimate::default()
        }
    }

    /// The sampling parameter that the model rejected, if the reply to the same request without it is stored: a judge omits
    /// such a parameter after a call that costs nothing.
    fn rejected_parameter(&self, request: &LmRequest) -> Result<Option<&'static str>, LmError> {
        let Sampling {
            temperature, seed, ..
        } = request.sampling;
        let without = [
            (temperature.is_some(), false, "temperature"),
            (false, seed.is_some(), "seed"),
            (temperature.is_some() && seed.is_some(), true, "temperature"),
        ];
        for (is_temperature, is_seed, parameter) in without {
            if !is_temperature && !is_seed {
                continue;
            }
            let mut request = request.clone();
            if is_temperature {
                request.sampling.temperature = None;
            }
            if is_seed {
                request.sampling.seed = None;
            }
            if self.stored(&request)?.is_some() {
                return Ok(Some(parameter));
            }
        }
        Ok(None)
    }
}

impl<L: LanguageModel> Layer for Estimated<L> {
    fn inner(&self) -> &dyn LanguageModel {
        &self.inner
    }

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        let (id, purpose) = (self.inner.id(), &request.purpose);
        if is_repair() {
            let CallEstimate {
                worst_case_msats, ..
            } = self.count(request, self.attempts);
            let repair = CallEstimate {
                worst_case_msats,
                ..CallEstimate::default()
            };
            self.estimate.add(purpose, id, &repair);
            return Err(estimate::error(id));
        }
        let effective = self.inner.effective_request(request);
        if let Some(reply) = self.stored(&effective)? {
            let cached = CallEstimate {
                cached_calls: 1,
                ..CallEstimate::default()
            };
            self.estimate.add(purpose, id, &cached);
            return Ok(reply.into_cached());
        }
        if let Some(parameter) = self.rejected_parameter(&effective)? {
            let (parameter, message) = (parameter.to_owned(), "rejected before".to_owned());
            let kind = LmErrorKind::ParameterUnsupported { parameter, message };
            return Err(LmError::new(id, kind));
        }
        self.estimate
            .add(purpose, id, &self.count(request, self.attempts));
        Err(estimate::error(id))
    }

    /// Counts the probe, which is made once and not repeated. As after a call there is a reply, which a second probe may follow.
    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        self.estimate.add(
            PROBE_PURPOSE,
            self.inner.id(),
            &self.count(&probe_request(), 1),
        );
        Ok(Some(LmReply::new("")))
    }
}
