//! Replies that are longer than a budget allows for.

use std::fmt;

/// Replies with more tokens than `max_tokens` allowed: a provider that does not apply the limit, so
/// that its calls may cost more than was reserved for them. See [`LmBudget::overrun`](super::LmBudget::overrun).
///
/// ```
/// use dsrs_metrics::lm::{
///     LanguageModel, LmBudget, LmError, LmRequest, Priced, Prices, Sampling, ScriptedLm, Usage,
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LmError> {
/// # let price = dsrs_metrics::lm::Price { input: 1.0, output: 1.0, cached_input: None };
/// let budget = LmBudget::msats(5000);
/// let lm = ScriptedLm::new().otherwise("yes").usage(Usage::new(80, 900));
/// let lm = Priced::new(lm, Prices::empty().with("scripted:lm", price)).budget(budget.clone());
/// let sampling = Sampling { max_tokens: Some(100), ..Sampling::default() };
/// let request = LmRequest::new("example").user("?").with_sampling(sampling);
/// lm.complete(&request).await?;
/// lm.complete(&request).await?;
/// let overrun = budget.overrun().expect("the replies have more than 100 tokens");
/// assert_eq!((overrun.replies, overrun.tokens, overrun.max_tokens), (2, 900, 100));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BudgetOverrun {
    /// The number of such replies.
    pub replies: u64,
    /// The model of the reply with the most tokens, as `provider:model`.
    pub model: String,
    /// The tokens of that reply.
    pub tokens: u64,
    /// The limit of that call.
    pub max_tokens: u32,
}

/// `openai:m reported 1000000 tokens for a reply limited to 4096 (in 3 replies)`
impl fmt::Display for BudgetOverrun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            replies,
            model,
            tokens,
            max_tokens,
        } = self;
        write!(
            f,
            "{model} reported {tokens} tokens for a reply limited to {max_tokens}"
        )?;
        match replies {
            1 => Ok(()),
            replies => write!(f, " ({replies} replies exceed their limit)"),
        }
    }
}
