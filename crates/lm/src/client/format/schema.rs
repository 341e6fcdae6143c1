//! JSON schemas in the form that providers require for structured replies.

use serde_json::{Map, Value, json};

/// A provider's rules for schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Every object lists all its properties as required, and an object with a `$ref` has no other keys.
    OpenAi,
    Anthropic,
}

/// Rewrites a schema so that the provider accepts it: objects have no additional properties, `oneOf` is `anyOf`, and
/// the rules of the [`Dialect`] apply.
pub(super) fn adapt(schema: &Value, dialect: Dialect) -> Value {
    Adapter {
        root: schema,
        dialect,
        inlined: Vec::new(),
    }
    .schema(schema)
}

struct Adapter<'a> {
    root: &'a Value,
    dialect: Dialect,
    /// The references being replaced by their definitions, which may contain them.
    inlined: Vec<String>,
}

impl Adapter<'_> {
    fn schema(&mut self, schema: &Value) -> Value {
        let Value::Object(fields) = schema else {
            return schema.clone();
        };
        if self.dialect == Dialect::OpenAi
            && let Some(replaced) = self.annotated_reference(fields)
        {
            return replaced;
        }
        let has_any_of = fields.contains_key("anyOf");
        let adapted = fields.iter().map(|(key, value)| match key.as_str() {
            "oneOf" if !has_any_of => ("anyOf".to_owned(), self.member(key, value)),
            _ => (key.clone(), self.member(key, value)),
        });
        let mut adapted: Map<String, Value> = adapted.collect();
        self.close(&mut adapted);
        Value::Object(adapted)
    }

    /// Adapts a member of a schema, which can be nested schemas or a plain value.
    fn member(&mut self, key: &str, value: &Value) -> Value {
        match (key, value) {
            ("const" | "default" | "enum" | "examples" | "required", _) => value.clone(),
            (
                "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions",
                Value::Object(schemas),
            ) => schemas
                .iter()
                .map(|(name, schema)| (name.clone(), self.schema(schema)))
                .collect(),
            (_, Value::Array(schemas)) => {
                schemas.iter().map(|schema| self.schema(schema)).collect()
            }
            _ => self.schema(value),
        }
    }

    /// Forbids additional properties of an object and, for OpenAI, requires all of its own.
    fn close(&self, fields: &mut Map<String, Value>) {
        if !fields.contains_key("properties") && fields.get("type") != Some(&"object".into()) {
            return;
        }
        fields
            .entry("additionalProperties")
            .or_insert(Value::Bool(false));
        let Some(Value::Object(properties)) = fields.get("properties") else {
            return;
        };
        if self.dialect == Dialect::OpenAi {
            let declared = fields.get("required").and_then(Value::as_array);
            let declared = declared.into_iter().flatten().filter_map(Value::as_str);
            let others = declared.filter(|name| !properties.contains_key(*name));
            let names = properties.keys().map(String::as_str).chain(others);
            let names = names.map(Value::from).collect();
            fields.insert("required".to_owned(), names);
        }
    }

    /// Replaces a reference that has other keys next to it with its definition plus these keys, or with the bare
    /// reference if the definition contains itself. Returns `None` if the schema is not such a reference.
    fn annotated_reference(&mut self, fields: &Map<String, Value>) -> Option<Value> {
        let reference = fields.get("$ref")?.as_str()?;
        let pointer = reference.strip_prefix('#').filter(|_| fields.len() > 1)?;
        let mut merged = self.root.pointer(pointer)?.as_object()?.clone();
        if self.inlined.iter().any(|inlined| inlined == reference) {
            return Some(json!({ "$ref": reference }));
        }
        let others = fields.iter().filter(|(key, _)| *key != "$ref");
        merged.extend(others.map(|(key, value)| (key.clone(), value.clone())));
        self.inlined.push(reference.to_owned());
        let replaced = self.schema(&Value::Object(merged));
        self.inlined.pop();
        Some(replaced)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Dialect::{Anthropic, OpenAi};
    use super::adapt;

    #[test]
    fn objects_are_closed_and_for_openai_all_properties_are_required() {
        let optional = json!({
            "type": "object",
            "properties": {
                "a": { "type": "string", "default": { "properties": {} } },
                "b": { "type": "array", "items": { "properties": { "c": {} } } },
            },
            "required": ["a"],
        });
        let openai = adapt(&optional, OpenAi);
        assert_eq!(openai["required"], json!(["a", "b"]));
        assert_eq!(openai["additionalProperties"], false);
        assert_eq!(openai["properties"]["b"]["items"]["required"], json!(["c"]));
        assert_eq!(
            openai["properties"]["b"]["items"]["additionalProperties"],
            false
        );
        assert_eq!(
            openai["properties"]["a"], optional["properties"]["a"],
            "values are unchanged"
        );
        let anthropic = adapt(&optional, Anthropic);
        assert_eq!(anthropic["required"], json!(["a"]));
        assert_eq!(
            anthropic["properties"]["b"]["items"]["additionalProperties"],
            false
        );
        let map = json!({ "type": "object", "additionalProperties": { "type": "number" } });
        assert_eq!(adapt(&map, OpenAi), map);
    }

    /// A property may be named like a keyword.
    #[test]
    fn properties_are_not_keywords() {
        let schema = json!({ "properties": { "enum": { "properties": {} }, "oneOf": {} } });
        let adapted = adapt(&schema, OpenAi);
        assert_eq!(adapted["properties"]["enum"]["additionalProperties"], false);
        assert_eq!(adapted["required"], json!(["enum", "oneOf"]));
    }

    #[test]
    fn alternatives_are_any_of() {
        for dialect in [OpenAi, Anthropic] {
            let branches = json!([{ "const": "a" }, { "$ref": "#/$defs/B" }]);
            let adapted = adapt(&json!({ "oneOf": branches }), dialect);
            assert_eq!(adapted, json!({ "anyOf": branches }));
            let both = json!({ "oneOf": branches, "anyOf": [{ "type": "string" }] });
            assert_eq!(adapt(&both, dialect), both);
        }
    }

    /// In a recursive type, a documented field has such a reference inside its own definition.
    #[test]
    fn for_openai_no_reference_has_siblings() {
        let annotated = json!({ "$ref": "#/$defs/Node", "description": "next" });
        let closed = |next: &Value| {
            json!({
                "type": "object",
                "properties": { "next": next },
                "required": ["next"],
                "additionalProperties": false,
            })
        };
        let schema = json!({ "anyOf": [annotated], "$defs": { "Node": closed(&annotated) } });
        assert_eq!(adapt(&schema, Anthropic), schema);
        let alone = json!({ "$ref": "#/$defs/Node" });
        let mut inlined = closed(&alone);
        inlined["description"] = "next".into();
        let expected = json!({ "anyOf": [inlined], "$defs": { "Node": closed(&inlined) } });
        assert_eq!(adapt(&schema, OpenAi), expected);
        let unknown = json!({ "$ref": "#/$defs/None", "description": "next" });
        assert_eq!(adapt(&unknown, OpenAi), unknown);
    }
}
