//! Log probabilities of the tokens of a reply.

use serde::{Deserialize, Serialize};

/// A request for the log probabilities of a reply's tokens, starting at the name of one field in the reply's JSON
/// object.
///
/// ```
/// use dsrs_metrics::lm::{LmRequest, Logprobs};
///
/// let request = LmRequest::new("example").user("?").with_logprobs(Logprobs::of("grade"));
/// assert_eq!(request.logprobs.map(|it| (it.field, it.top)), Some(("grade".to_owned(), 20)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Logprobs {
    /// The name of a field in the reply's JSON object. A model can omit the tokens before this name.
    pub field: String,
    /// The maximum number of alternatives per token. Some providers return fewer.
    pub top: u8,
}

impl Logprobs {
    /// Creates a request for the log probabilities of a field's tokens, with the 20 most probable alternatives for each
    /// token.
    ///
    /// ```
    /// assert_eq!(dsrs_metrics::lm::Logprobs::of("grade").top, 20);
    /// ```
    pub fn of(field: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            top: 20,
        }
    }
}

/// A token of a reply, with its most probable alternatives.
///
/// ```
/// use dsrs_metrics::lm::TokenLogprobs;
///
/// let token = TokenLogprobs::new("7", -0.25, [("7", -0.25), ("8", -1.5)]);
/// assert_eq!((&*token.token, token.top.len(), token.top[1].logprob), ("7", 2, -1.5));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TokenLogprobs {
    /// The token's text.
    pub token: String,
    /// The natural logarithm of the token's probability.
    pub logprob: f64,
    /// The most probable tokens at this position, usually including the token itself.
    pub top: Vec<TokenLogprob>,
}

/// A token that the model could have written, with the natural logarithm of the token's probability.
///
/// ```
/// use dsrs_metrics::lm::TokenLogprobs;
///
/// let token = TokenLogprobs::new("7", -0.25, [("7", -0.25)]);
/// assert_eq!((&*token.top[0].token, token.top[0].logprob), ("7", -0.25));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TokenLogprob {
    /// The token's text.
    pub token: String,
    /// The natural logarithm of the token's probability.
    pub logprob: f64,
}

impl TokenLogprobs {
    /// Creates a token with its alternatives.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LmReply, TokenLogprobs};
    ///
    /// // The tokens of a reply; together they are its text.
    /// let tokens = [("{\"ok\":", 0.0), ("true", -0.1), ("}", 0.0)]
    ///     .map(|(token, logprob)| TokenLogprobs::new(token, logprob, [(token, logprob)]));
    /// let reply = LmReply::new("{\"ok\":true}").with_logprobs(tokens.to_vec());
    /// assert_eq!(reply.logprobs.len(), 3);
    /// ```
    pub fn new<'a>(
        token: impl Into<String>,
        logprob: f64,
        top: impl IntoIterator<Item = (&'a str, f64)>,
    ) -> Self {
        let top = top.into_iter().map(|(token, logprob)| TokenLogprob {
            token: token.to_owned(),
            logprob,
        });
        Self {
            token: token.into(),
            logprob,
            top: top.collect(),
        }
    }
}

/// Drops the tokens before the last one in which the field's name begins. Replies are stored with their tokens, and the
/// alternatives of a reasoning take a hundred times its length.
#[cfg(feature = "lm")]
pub(super) fn from_field(mut tokens: Vec<TokenLogprobs>, field: &str) -> Vec<TokenLogprobs> {
    let text: String = tokens.iter().map(|token| &*token.token).collect();
    let Some(start) = text.rfind(&format!("\"{field}\"")) else {
        return tokens;
    };
    let mut end = 0;
    let before = tokens.iter().take_while(|token| {
        end += token.token.len();
        end <= start
    });
    tokens.drain(..before.count());
    tokens
}

#[cfg(all(test, feature = "lm"))]
mod tests {
    use super::{TokenLogprobs, from_field};

    fn tokens(all: &[&str]) -> Vec<TokenLogprobs> {
        all.iter()
            .map(|token| TokenLogprobs::new(*token, -0.5, []))
            .collect()
    }

    #[test]
    fn only_the_tokens_from_the_field_on_are_kept() {
        let all = tokens(&[
            "{\"why\":\"a ",
            "\\\"grade\\\"",
            "\", ",
            "\"gr",
            "ade\":",
            " 7",
            "}",
        ]);
        assert_eq!(from_field(all.clone(), "grade"), all[3..]);
        assert_eq!(from_field(all.clone(), "why"), all);
        assert_eq!(
            from_field(all.clone(), "score"),
            all,
            "a field that the reply does not have"
        );
        assert_eq!(from_field(Vec::new(), "score"), []);
    }
}
