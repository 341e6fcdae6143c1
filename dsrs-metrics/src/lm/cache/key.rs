//! What makes two calls the same call.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::super::{LanguageModel, LmRequest};

/// All that a reply depends on, written so that equal calls give equal bytes, and its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) text: String,
    pub(super) hash: Hash,
}

pub(super) type Hash = [u8; 32];

/// Goes up whenever the form of the key changes.
const FORM: u32 = 1;

impl Key {
    pub(super) fn of(lm: &dyn LanguageModel, request: &LmRequest) -> Self {
        let LmRequest { messages, schema, sampling, purpose, draw } = request;
        let value = json!({
            "form": FORM,
            "lm": lm.id(),
            "endpoint": lm.endpoint(),
            "messages": messages,
            "schema": schema,
            "sampling": sampling,
            "purpose": purpose,
            "draw": draw,
        });
        let mut text = String::new();
        write(&value, &mut text);
        let hash = Sha256::digest(text.as_bytes()).into();
        Self { text, hash }
    }
}

/// JSON with the keys of every object in order: how a schema was put together does not count.
fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| key.as_str());
            out.push('{');
            for (at, (key, value)) in entries.into_iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                write(item, out);
            }
            out.push(']');
        }
        plain => out.push_str(&plain.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Key;
    use crate::lm::{LmRequest, Message, ReplySchema, Role, Sampling, ScriptedLm};

    fn key(lm: &str, request: &LmRequest) -> Key {
        Key::of(&ScriptedLm::new().named(lm), request)
    }

    fn base() -> LmRequest {
        let schema = ReplySchema::new("s", json!({ "type": "object", "required": ["a", "b"] }));
        LmRequest::new("judge a version 1").system("x").user("y").with_schema(schema)
    }

    #[test]
    fn equal_calls_have_equal_keys_however_the_schema_was_written() {
        let schema: serde_json::Value =
            serde_json::from_str(r#"{"required":["a","b"],"type":"object"}"#).unwrap();
        let other = base().with_schema(ReplySchema::new("s", schema));
        assert_eq!(key("p:m", &base()), key("p:m", &other));
    }

    #[test]
    fn trap_21_everything_that_a_reply_depends_on_is_in_the_key() {
        let sampled = |sampling| base().with_sampling(sampling);
        let none = Sampling::default();
        let changed = [
            base().user("z"),
            base().assistant("y"),
            base().with_schema(ReplySchema::new("t", json!({ "type": "object" }))),
            base().with_draw(1),
            sampled(Sampling { temperature: Some(0.0), ..none }),
            sampled(Sampling { temperature: Some(1.0), ..none }),
            sampled(Sampling { top_p: Some(1.0), ..none }),
            sampled(Sampling { max_tokens: Some(1), ..none }),
            sampled(Sampling { seed: Some(1), ..none }),
            LmRequest { purpose: "judge a version 2".to_owned(), ..base() },
            LmRequest { schema: None, ..base() },
            LmRequest {
                messages: vec![Message { role: Role::User, content: "xy".to_owned() }],
                ..base()
            },
        ];
        let mut keys: Vec<_> = changed.iter().map(|request| key("p:m", request).hash).collect();
        keys.extend([key("p:m", &base()).hash, key("p:n", &base()).hash, key("q:m", &base()).hash]);
        let unique: std::collections::HashSet<_> = keys.iter().collect();
        assert_eq!(unique.len(), 15);
    }
}
