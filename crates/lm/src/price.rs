//! Token prices: the shipped table, your own prices, and the conversion from dollars to msat.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use super::{LmError, Usage};
use crate::client::canonical_id;

/// The prices of one model, in US dollars per million tokens.
///
/// ```
/// use dsrs_metrics::lm::{Price, Usage};
///
/// let price = Price { input: 0.25, output: 2.0, cached_input: None };
/// assert_eq!(price.dollars(&Usage::new(1_000_000, 500_000)), Some(1.25));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The price of a million prompt tokens.
    pub input: f64,
    /// The price of a million reply tokens.
    pub output: f64,
    /// The price of a million prompt tokens from the provider's prompt cache.
    ///
    /// If it is `None`, these tokens cost the same as [`input`](Self::input).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
}

impl Price {
    /// Returns the cost of a call in US dollars.
    ///
    /// Returns `None` if the provider did not report the number of tokens.
    ///
    /// ```
    /// use dsrs_metrics::lm::{Price, Usage};
    ///
    /// let price = Price { input: 2.0, output: 8.0, cached_input: Some(0.5) };
    /// let usage = Usage { cached_prompt_tokens: Some(400_000), ..Usage::new(1_000_000, 100_000) };
    /// // 600,000 tokens at 2 dollars per million, 400,000 at 0.5, and 100,000 at 8.
    /// assert_eq!(price.dollars(&usage), Some(2.2));
    /// assert_eq!(price.dollars(&Usage::default()), None);
    /// ```
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

    fn is_valid(&self) -> bool {
        let is_valid = |price: f64| price.is_finite() && price >= 0.0;
        is_valid(self.input) && is_valid(self.output) && self.cached_input.is_none_or(is_valid)
    }
}

/// The default number of msat per US dollar.
///
/// The rate values a bitcoin (10^11 msat) at 100,000 dollars. It is a round number for comparing runs, not an exchange
/// rate.
///
/// ```
/// use dsrs_metrics::lm::{MSATS_PER_USD, parse_msats};
///
/// # if std::env::var_os("DSRS_MSATS_PER_USD").is_some() { return Ok(()) }
/// assert_eq!(parse_msats("1 usd")?, MSATS_PER_USD as u64);
/// # Ok::<(), dsrs_metrics::lm::LmError>(())
/// ```
pub const MSATS_PER_USD: f64 = 1_000_000.0;

/// The shipped prices, from LiteLLM's public table of 2026-11-21, without surcharges for long prompts.
const SHIPPED: &str = include_str!("prices.json");

/// A table of model prices, keyed by `provider:model`.
///
/// Provider names and aliases are the same as for [`Lm`](super::Lm).
///
/// A model is looked up by its full name, then without a trailing date or `-latest`, then as `provider:*`. Your own
/// file (`DSRS_PRICES=FILE`) takes precedence over the shipped table.
///
/// The file is JSON, with prices in US dollars per million tokens:
///
/// ```json
/// {
///   "openai:my-model": { "input": 0.25, "output": 2.0, "cached_input": 0.025 },
///   "openai:*": { "input": 1.0, "output": 4.0 }
/// }
/// ```
///
/// ```
/// use dsrs_metrics::lm::{Price, Prices, Usage};
///
/// let free = Price { input: 0.0, output: 0.0, cached_input: None };
/// let prices = Prices::shipped().with("local:*", free);
/// let usage = Usage::new(1_000_000, 500_000);
/// assert_eq!(prices.cost_msats("openai:gpt-6-luna-2026-09-22", &usage), Some(350_000));
/// assert_eq!(prices.cost_msats("local:anything", &usage), Some(0));
/// assert_eq!(prices.cost_msats("openai:unknown", &usage), None);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Prices {
    table: BTreeMap<String, Price>,
    msats_per_usd: f64,
}

impl Prices {
    /// Creates an empty price table.
    ///
    /// ```
    /// use dsrs_metrics::lm::Prices;
    ///
    /// assert_eq!(Prices::empty().get("openai:gpt-6-luna"), None);
    /// ```
    pub fn empty() -> Self {
        Self {
            table: BTreeMap::new(),
            msats_per_usd: MSATS_PER_USD,
        }
    }

    /// Returns the price table that ships with the library.
    ///
    /// ```
    /// use dsrs_metrics::lm::{Price, Prices};
    ///
    /// let haiku = Price { input: 0.1, output: 0.5, cached_input: Some(0.01) };
    /// assert_eq!(Prices::shipped().get("anthropic:claude-haiku-5-5"), Some(haiku));
    /// ```
    pub fn shipped() -> Self {
        // A test parses the table, so it is always valid.
        Self {
            table: serde_json::from_str(SHIPPED).unwrap_or_default(),
            ..Self::empty()
        }
    }

    /// Sets the price of a model.
    ///
    /// The `id` is written as `provider:model`. The id `provider:*` covers all models of a provider that have no price
    /// of their own.
    ///
    /// ```
    /// use dsrs_metrics::lm::{Price, Prices};
    ///
    /// let price = |input| Price { input, output: 0.0, cached_input: None };
    /// let prices = Prices::empty().with("ollama:*", price(0.0)).with("ollama:qwen3", price(0.1));
    /// assert_eq!(prices.get("ollama:llama3.2"), Some(price(0.0)));
    /// assert_eq!(prices.get("ollama:qwen3"), Some(price(0.1)));
    /// ```
    pub fn with(mut self, id: impl Into<String>, price: Price) -> Self {
        let id = id.into();
        self.table.insert(canonical_id(&id).unwrap_or(id), price);
        self
    }

    setters! {
        /// Sets the number of msat per US dollar.
        ///
        /// The default is [`MSATS_PER_USD`].
        ///
        /// ```
        /// use dsrs_metrics::lm::{Price, Prices, Usage};
        ///
        /// let price = Price { input: 1.0, output: 1.0, cached_input: None };
        /// let prices = Prices::empty().with("local:small", price).msats_per_usd(2_000_000.0);
        /// // 1,000 tokens cost 0.001 dollars.
        /// assert_eq!(prices.cost_msats("local:small", &Usage::new(900, 100)), Some(2000));
        /// ```
        pub fn msats_per_usd(msats: f64) => msats_per_usd = msats;
    }

    /// Adds the prices from a JSON file.
    ///
    /// The new prices replace any earlier prices for the same models.
    ///
    /// ```
    /// use dsrs_metrics::lm::Prices;
    ///
    /// # let file = std::env::temp_dir().join(format!("dsrs-doc-prices-{}.json", std::process::id()));
    /// std::fs::write(&file, r#"{ "openai:my-model": { "input": 0.25, "output": 2.0 } }"#)?;
    /// let prices = Prices::shipped().with_file(&file)?;
    /// assert_eq!(prices.get("openai:my-model").map(|price| price.output), Some(2.0));
    /// # std::fs::remove_file(file)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`LmErrorKind::Setting`](crate::LmErrorKind::Setting) if the file cannot be read, or if a model or price
    /// in it is invalid.
    pub fn with_file(self, path: impl AsRef<Path>) -> Result<Self, LmError> {
        self.with_setting(path.as_ref(), "price table")
    }

    /// Works like [`with_file`](Self::with_file), but errors name the setting that `path` comes from.
    pub(super) fn with_setting(mut self, path: &Path, setting: &str) -> Result<Self, LmError> {
        let invalid =
            |reason: String| LmError::setting(setting, &path.display().to_string(), reason);
        let text = std::fs::read_to_string(path)
            .map_err(|error| invalid(error.to_string()).with_source(error))?;
        let table: BTreeMap<String, Price> = serde_json::from_str(&text)
            .map_err(|error| invalid(error.to_string()).with_source(error))?;
        if let Some((id, _)) = table.iter().find(|(_, price)| !price.is_valid()) {
            return Err(invalid(format!(
                "the price of `{id}` is negative or not finite; write US dollars per million tokens"
            )));
        }
        for (id, price) in table {
            let Some(id) = canonical_id(&id) else {
                return Err(invalid(format!(
                    "invalid model `{id}`: expected provider:model, such as openai:gpt-6-luna, or openai:* for all models of a provider"
                )));
            };
            self.table.insert(id, price);
        }
        Ok(self)
    }

    /// Returns the price of a model, or `None` if the table has none.
    ///
    /// ```
    /// use dsrs_metrics::lm::Prices;
    ///
    /// let prices = Prices::shipped();
    /// assert_eq!(prices.get("openai:gpt-6-luna-2026-09-22"), prices.get("openai:gpt-6-luna"));
    /// // `google` is an alias of `gemini`.
    /// assert_eq!(prices.get("google:gemini-3.8-flash"), prices.get("gemini:gemini-3.8-flash"));
    /// assert_eq!(prices.get("openai:unknown"), None);
    /// ```
    pub fn get(&self, id: &str) -> Option<Price> {
        let id = &*canonical_id(id).unwrap_or_else(|| id.to_owned());
        let provider = id.split(':').next().unwrap_or_default();
        let find = |id: &str| self.table.get(id).copied();
        find(id)
            .or_else(|| find(without_date(id)))
            .or_else(|| find(&format!("{provider}:*")))
    }

    /// Returns the cost of a call in msat, rounded up.
    ///
    /// Returns `None` if the model has no price or the usage is unknown.
    ///
    /// ```
    /// use dsrs_metrics::lm::{Price, Prices, Usage};
    ///
    /// let price = Price { input: 0.25, output: 2.0, cached_input: None };
    /// let prices = Prices::empty().with("openai:my-model", price);
    /// assert_eq!(prices.cost_msats("openai:my-model", &Usage::new(1000, 100)), Some(450));
    /// assert_eq!(prices.cost_msats("openai:my-model", &Usage::new(1, 0)), Some(1), "rounded up");
    /// assert_eq!(prices.cost_msats("openai:other", &Usage::new(1, 0)), None);
    /// ```
    pub fn cost_msats(&self, id: &str, usage: &Usage) -> Option<u64> {
        self.get(id).and_then(|price| self.msats(&price, usage))
    }

    pub(super) fn msats(&self, price: &Price, usage: &Usage) -> Option<u64> {
        let msats = price.dollars(usage)? * self.msats_per_usd;
        // A rounding error in the product must not add a msat.
        Some((msats - 1e-6).ceil().max(0.0) as u64)
    }
}

/// Returns the name of a model without a trailing `-latest`, `-20251001` or `-2025-10-01`.
fn without_date(id: &str) -> &str {
    static DATE: LazyLock<Regex> = LazyLock::new(|| {
        let date = "-(latest|[0-9]{8}|[0-9]{4}-[0-9]{2}-[0-9]{2})$";
        Regex::new(date).expect("the pattern is valid")
    });
    DATE.find(id).map_or(id, |date| &id[..date.start()])
}

#[cfg(test)]
mod tests {
    use super::{Price, Prices, without_date};
    use crate::Usage;
    use crate::client::canonical_id;

    #[test]
    fn the_shipped_table_is_valid() {
        let prices = Prices::shipped();
        assert!(prices.table.len() > 100, "{}", prices.table.len());
        let invalid: Vec<_> = prices
            .table
            .iter()
            .filter(|(_, price)| !price.is_valid())
            .collect();
        assert_eq!(invalid, []);
        let other = |id: &&String| canonical_id(id).as_ref() != Some(*id);
        assert_eq!(
            prices.table.keys().find(other),
            None,
            "a price that is never looked up"
        );
        let haiku = Price {
            input: 0.1,
            output: 0.5,
            cached_input: Some(0.01),
        };
        assert_eq!(prices.get("anthropic:claude-haiku-5-5"), Some(haiku));
    }

    #[test]
    fn dates_at_the_end_of_a_name_are_ignored() {
        assert_eq!(without_date("a:b-2025-08-07"), "a:b");
        assert_eq!(without_date("a:b-20250807"), "a:b");
        assert_eq!(without_date("a:b-latest"), "a:b");
        assert_eq!(without_date("a:b-0807"), "a:b-0807");
        assert_eq!(without_date("é-1"), "é-1");
    }

    #[test]
    fn cached_prompt_tokens_have_a_price_of_their_own() {
        let price = Price {
            input: 2.0,
            output: 10.0,
            cached_input: Some(0.5),
        };
        let prices = Prices::empty().with("a:b", price);
        let usage = Usage {
            cached_prompt_tokens: Some(600),
            ..Usage::new(1000, 100)
        };
        // 400 * 2 + 600 * 0.5 + 100 * 10 = 2,100 millionths of a dollar, at a million msat per
        // dollar.
        assert_eq!(prices.cost_msats("a:b", &usage), Some(2100));
        assert_eq!(prices.cost_msats("a:b", &Usage::default()), None);
        assert_eq!(
            prices.msats_per_usd(1.5e-3).cost_msats("a:b", &usage),
            Some(1),
            "rounded up"
        );
    }
}
