//! The store's records, and the key of a reply in the store and in a file of recorded calls.

use serde_json::json;
use sha2::{Digest, Sha256};

use crate::{LanguageModel, LmRequest};

/// The SHA-256 hash of a key.
#[doc(hidden)]
pub type Hash = [u8; 32];

/// Everything that a reply depends on, as JSON text and as its hash.
///
/// The key includes the request as sent, in the same order: a model answers in the order of the schema's properties, so
/// even their order matters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(super) text: String,
    pub(crate) hash: Hash,
}

/// The format version of keys and entries. Increment it with every change to either, except for a new optional field in
/// replies.
const FORMAT_VERSION: u32 = 3;

impl Key {
    /// Creates the key for an [effective request](LanguageModel::effective_request).
    pub(crate) fn new(lm: &dyn LanguageModel, request: &LmRequest) -> Self {
        Self::of(lm.id(), lm.endpoint(), request)
    }

    /// Creates the key for an effective request to the model with this name and address.
    pub(crate) fn of(id: &str, endpoint: Option<&str>, request: &LmRequest) -> Self {
        let call =
            json!({ "format": FORMAT_VERSION, "lm": id, "endpoint": endpoint, "request": request });
        let text = call.to_string();
        let hash = Sha256::digest(text.as_bytes()).into();
        Self { text, hash }
    }
}

/// A stand-in for the store if the `store` feature is off. It cannot be created.
#[cfg(not(feature = "store"))]
#[allow(missing_docs, reason = "it is hidden")]
pub(crate) mod no_store {
    use std::path::Path;

    use super::Hash;
    use crate::{LmError, LmErrorKind};

    #[derive(Debug, Clone)]
    pub struct Store {
        _private: (),
    }

    impl Store {
        pub fn open(_: impl AsRef<Path>) -> Result<Self, LmError> {
            Err(LmErrorKind::NoStoreFolder.into())
        }

        pub fn last_number(&self) -> Result<i64, LmError> {
            Ok(0)
        }

        pub fn find(&self, _: &Hash, _: i64) -> Result<Option<String>, LmError> {
            Ok(None)
        }

        pub fn put(
            &self,
            _: &str,
            _: (&Hash, &str),
            _: &str,
            _: Option<u64>,
        ) -> Result<(), LmError> {
            Ok(())
        }

        pub fn remove(&self, _: &Hash) -> Result<(), LmError> {
            Ok(())
        }

        pub fn spent_msats(&self, _: &str) -> Result<u64, LmError> {
            Ok(0)
        }

        pub fn reserve_msats(&self, _: &str, _: u64) -> Result<i64, LmError> {
            Ok(0)
        }

        pub fn settle_msats(&self, _: i64, _: u64) -> Result<(), LmError> {
            Ok(())
        }

        pub fn forget_spending(&self, _: &str) -> Result<(), LmError> {
            Ok(())
        }
    }
}

// Without the feature, the order of JSON objects depends on the features of another crate.
#[cfg(test)]
#[cfg(feature = "lm")]
mod tests {
    use serde_json::json;

    use super::Key;
    use crate::{LmRequest, Logprobs, Message, ReplySchema, Role, Sampling, ScriptedLm};

    fn key(lm: &str, request: &LmRequest) -> Key {
        Key::new(&ScriptedLm::new().named(lm), request)
    }

    fn base() -> LmRequest {
        let schema = ReplySchema::new("s", json!({ "type": "object", "required": ["a", "b"] }));
        LmRequest::new("judge a version 1")
            .system("x")
            .user("y")
            .with_schema(schema)
    }

    /// Feature `lm` keeps the order of JSON objects as sent.
    fn in_order(schema: &str) -> ReplySchema {
        ReplySchema::new("s", serde_json::from_str(schema).unwrap())
    }

    #[test]
    fn equal_requests_have_equal_keys() {
        assert_eq!(key("p:m", &base()), key("p:m", &base().clone()));
    }

    #[test]
    fn the_key_contains_every_input_that_a_reply_depends_on() {
        let sampled = |sampling| base().with_sampling(sampling);
        let none = Sampling::default();
        let changed = [
            base().user("z"),
            base().assistant("y"),
            base().with_schema(ReplySchema::new("t", json!({ "type": "object" }))),
            base().with_schema(in_order(r#"{"properties":{"a":{},"b":{}}}"#)),
            base().with_schema(in_order(r#"{"properties":{"b":{},"a":{}}}"#)),
            base().with_draw(1),
            base().with_logprobs(Logprobs::of("score")),
            base().with_logprobs(Logprobs::of("grade")),
            sampled(Sampling {
                temperature: Some(0.0),
                ..none
            }),
            sampled(Sampling {
                temperature: Some(1.0),
                ..none
            }),
            sampled(Sampling {
                top_p: Some(1.0),
                ..none
            }),
            sampled(Sampling {
                max_tokens: Some(1),
                ..none
            }),
            sampled(Sampling {
                seed: Some(1),
                ..none
            }),
            LmRequest {
                purpose: "judge a version 2".to_owned(),
                ..base()
            },
            LmRequest {
                schema: None,
                ..base()
            },
            LmRequest {
                messages: vec![Message {
                    role: Role::User,
                    content: "xy".into(),
                }],
                ..base()
            },
        ];
        let mut keys: Vec<_> = changed
            .iter()
            .map(|request| key("p:m", request).hash)
            .collect();
        keys.extend([
            key("p:m", &base()).hash,
            key("p:n", &base()).hash,
            key("q:m", &base()).hash,
        ]);
        let unique: std::collections::HashSet<_> = keys.iter().collect();
        assert_eq!((unique.len(), keys.len()), (19, 19));
    }
}
