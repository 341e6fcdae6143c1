//! The layer that counts calls instead of making them, to estimate a run.

use async_trait::async_trait;

use super::super::estimate::{self, CallEstimate, LmEstimate};
use super::super::key::Key;
use super::super::model::probe_request;
use super::super::price::Prices;
use super::super::store::Store;
use super::super::{LanguageModel, LmError, LmReply, LmRequest};
use super::find;
use super::priced::{limited, max_cost};

/// A model that returns replies from the store and counts all other calls.
pub(crate) struct Estimated<L> {
    pub(crate) inner: L,
    pub(crate) estimate: LmEstimate,
    pub(crate) prices: Prices,
    /// The replies that a run would find.
    pub(crate) store: Option<Store>,
}

impl<L: LanguageModel> Estimated<L> {
    /// Returns the stored reply to an effective request.
    fn stored(&self, request: &LmRequest) -> Result<Option<LmReply>, LmError> {
        let Some(store) = &self.store else {
            return Ok(None);
        };
        find(store, &Key::new(&self.inner, request), 0)
    }

    /// Counts a call with the most it can cost. If the request does not limit the reply, the limit that a budget sets
    /// is used.
    fn count(&self, request: &LmRequest) {
        let price = self.prices.get(self.inner.id());
        let cost = price.and_then(|price| max_cost(&self.prices, &price, &limited(request)));
        let call = CallEstimate {
            calls: 1,
            unpriced_calls: u64::from(cost.is_none()),
            replies_msats: cost.unwrap_or(0),
            ..CallEstimate::default()
        };
        self.estimate.add(&request.purpose, self.inner.id(), &call);
    }
}

#[async_trait]
impl<L: LanguageModel> LanguageModel for Estimated<L> {
    fn id(&self) -> &str {
        self.inner.id()
    }

    fn inner(&self) -> Option<&dyn LanguageModel> {
        Some(&self.inner)
    }

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        let (id, purpose) = (self.inner.id(), &request.purpose);
        let effective = self.inner.effective_request(request);
        if let Some(reply) = self.stored(&effective)? {
            let cached = CallEstimate {
                cached_calls: 1,
                ..CallEstimate::default()
            };
            self.estimate.add(purpose, id, &cached);
            return Ok(reply.into_cached());
        }
        self.count(request);
        Err(estimate::error(id))
    }

    /// Counts the probe, once. It returns a reply, as a real probe does, because a second probe may follow.
    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        self.count(&probe_request());
        Ok(Some(LmReply::new("")))
    }
}
