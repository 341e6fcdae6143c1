//! What tokens cost: the shipped table, the user's own, and the way from dollars to msat.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::client::{by_one_name, split};
use super::{LmError, Usage};

/// Prices of one model, in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// A million tokens of prompts.
    pub input: f64,
    /// A million tokens of replies.
    pub output: f64,
    /// A million tokens of prompts that the provider had in its cache; as [`input`](Self::input) if it
    /// is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
}

impl Price {
    /// What a call cost in US dollars; `None` if the provider did not say how many tokens it took.
    #[must_use]
    pub fn dollars(&self, usage: &Usage) -> Option<f64> {
        let (prompt, completion) = (usage.prompt_tokens?, usage.completion_tokens?);
        let cached = usage.cached_prompt_tokens.unwrap_or(0).min(prompt);
        let millions = |tokens: u64| tokens as f64 / 1e6;
        Some(
            millions(prompt - cached) * self.input
                + millions(cached) * self.cached_input.unwrap_or(self.input)
                + millions(completion) * self.output,
        )
    }

    fn is_sound(&self) -> bool {
        let sound = |price: f64| price.is_finite() && price >= 0.0;
        sound(self.input) && sound(self.output) && self.cached_input.is_none_or(sound)
    }
}

/// msat per US dollar, unless the user says otherwise: a bitcoin (10^11 msat) at 100,000 dollars. It is a round
/// number to compare runs by, not a rate of exchange.
pub const MSATS_PER_USD: f64 = 1_000_000.0;

/// The shipped prices, as LiteLLM's public table had them on 2026-11-21; without surcharges
/// for long prompts.
const SHIPPED: &str = include_str!("prices.json");

/// Prices by `provider:model`; a provider may be written as it may be for [`Lm`](super::Lm).
///
/// A model is looked up by its full name, then without a date or `-latest` at its end, then as
/// `provider:*`. A file of the user's (`DSRS_PRICES=FILE`, JSON like the shipped table) goes before it:
///
/// ```json
/// { "openai:my-model": { "input": 0.25, "output": 2.0, "cached_input": 0.025 }, "openai:*": { "input": 1.0, "output": 4.0 } }
/// ```
///
/// ```
/// use dsrs_metrics::lm::{Price, Prices, Usage};
///
/// let prices = Prices::shipped().with("local:*", Price { input: 0.0, output: 0.0, cached_input: None });
/// let usage = Usage::new(1_000_000, 500_000);
/// assert_eq!(prices.cost_msats("openai:gpt-5-mini-2025-08-07", &usage), Some(1_250_000));
/// assert_eq!(prices.cost_msats("local:anything", &usage), Some(0));
/// assert_eq!(prices.cost_msats("openai:unheard-of", &usage), None);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Prices {
    table: BTreeMap<String, Price>,
    msats_per_usd: f64,
}

impl Prices {
    /// No prices at all.
    #[must_use]
    pub fn none() -> Self {
        Self { table: BTreeMap::new(), msats_per_usd: MSATS_PER_USD }
    }

    /// The shipped table.
    #[must_use]
    pub fn shipped() -> Self {
        // A test reads it, so that a mistake in it can't be shipped.
        let table = serde_json::from_str(SHIPPED).unwrap_or_default();
        Self { table, msats_per_usd: MSATS_PER_USD }
    }

    /// Sets one price; `provider:*` is for all models of a provider that have none of their own.
    #[must_use]
    pub fn with(mut self, id: impl Into<String>, price: Price) -> Self {
        let id = id.into();
        self.table.insert(by_one_id(&id).unwrap_or(id), price);
        self
    }

    /// Sets how many msat a US dollar is; [`MSATS_PER_USD`] unless this is called.
    #[must_use]
    pub fn msats_per_usd(mut self, msats: f64) -> Self {
        self.msats_per_usd = msats;
        self
    }

    /// Adds the prices of a JSON file, instead of equal ones.
    ///
    /// # Errors
    /// [`LmError::BadSetting`], if the file can't be read or a price in it is none.
    pub fn with_file(mut self, path: impl AsRef<Path>) -> Result<Self, LmError> {
        let path = path.as_ref();
        let bad = |reason: String| LmError::BadSetting {
            setting: "the price table".to_owned(),
            found: path.display().to_string(),
            reason,
        };
        let text = std::fs::read_to_string(path).map_err(|error| bad(error.to_string()))?;
        let table: BTreeMap<String, Price> =
            serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
        if let Some((id, _)) = table.iter().find(|(_, price)| !price.is_sound()) {
            return Err(bad(format!("the price of `{id}` is negative or not finite")));
        }
        for (id, price) in table {
            let Some(id) = by_one_id(&id) else {
                return Err(bad(format!(
                    "`{id}` names no model: write provider:model, such as openai:gpt-5-mini, or openai:* for all of a provider"
                )));
            };
            self.table.insert(id, price);
        }
        Ok(self)
    }

    /// The price of a model.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<Price> {
        let id = &*by_one_id(id).unwrap_or_else(|| id.to_owned());
        let provider = id.split(':').next().unwrap_or_default();
        let find = |id: &str| self.table.get(id).copied();
        find(id).or_else(|| find(undated(id))).or_else(|| find(&format!("{provider}:*")))
    }

    /// What a call cost, rounded up to whole msat; `None` if there is no price, or the usage is not known.
    #[must_use]
    pub fn cost_msats(&self, id: &str, usage: &Usage) -> Option<u64> {
        self.get(id).and_then(|price| self.msats(&price, usage))
    }

    pub(super) fn msats(&self, price: &Price, usage: &Usage) -> Option<u64> {
        let msats = price.dollars(usage)? * self.msats_per_usd;
        // Rounding errors of the product must not cost another msat.
        Some((msats - 1e-6).ceil().max(0.0) as u64)
    }
}

/// A model's name as the table has it, with the provider by its one name.
fn by_one_id(id: &str) -> Option<String> {
    let (provider, model) = split(id)?;
    Some(format!("{}:{model}", by_one_name(provider)))
}

/// A model's name without `-latest`, `-20251001` or `-2025-10-01` at its end.
fn undated(id: &str) -> &str {
    if let Some(name) = id.strip_suffix("-latest") {
        return name;
    }
    let digits = |text: &str, shape: &[usize]| {
        let mut parts = text.split('-');
        shape.iter().all(|len| {
            parts.next().is_some_and(|p| p.len() == *len && p.bytes().all(|b| b.is_ascii_digit()))
        }) && parts.next().is_none()
    };
    for shape in [&[8][..], &[4, 2, 2]] {
        let len = shape.iter().sum::<usize>() + shape.len();
        let Some(at) = id.len().checked_sub(len) else { continue };
        let Some((name, date)) = id.split_at_checked(at) else { continue };
        if date.strip_prefix('-').is_some_and(|date| digits(date, shape)) {
            return name;
        }
    }
    id
}

#[cfg(test)]
mod tests {
    use super::{Price, Prices, by_one_id, undated};
    use crate::lm::Usage;

    #[test]
    fn the_shipped_table_is_read_and_sound() {
        let prices = Prices::shipped();
        assert!(prices.table.len() > 100, "{}", prices.table.len());
        let unsound: Vec<_> = prices.table.iter().filter(|(_, price)| !price.is_sound()).collect();
        assert_eq!(unsound, []);
        let other = |id: &&String| by_one_id(id).as_ref() != Some(*id);
        assert_eq!(prices.table.keys().find(other), None, "no price that is never found");
        let haiku = Price { input: 1.0, output: 5.0, cached_input: Some(0.1) };
        assert_eq!(prices.get("anthropic:claude-haiku-4-5"), Some(haiku));
    }

    #[test]
    fn dates_at_the_end_of_a_name_do_not_count() {
        assert_eq!(undated("a:b-2025-08-07"), "a:b");
        assert_eq!(undated("a:b-20250807"), "a:b");
        assert_eq!(undated("a:b-latest"), "a:b");
        assert_eq!(undated("a:b-0807"), "a:b-0807");
        assert_eq!(undated("é-1"), "é-1");
    }

    #[test]
    fn tokens_from_the_providers_cache_cost_their_own_price() {
        let price = Price { input: 2.0, output: 10.0, cached_input: Some(0.5) };
        let prices = Prices::none().with("a:b", price);
        let usage = Usage { cached_prompt_tokens: Some(600), ..Usage::new(1000, 100) };
        // 400 * 2 + 600 * 0.5 + 100 * 10 = 2,100 dollars per million, a million msat a dollar.
        assert_eq!(prices.cost_msats("a:b", &usage), Some(2100));
        assert_eq!(prices.cost_msats("a:b", &Usage::default()), None);
        assert_eq!(prices.msats_per_usd(1.5e-3).cost_msats("a:b", &usage), Some(1), "rounded up");
    }
}
