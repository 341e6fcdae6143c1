//! JSON schemas in the form that providers require for structured replies.

use serde_json::{Map, Value};

/// The rules of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Every object lists all its properties as required, and an object with a `$ref` has no other keys.
    OpenAi,
    Anthropic,
}

/// Rewrites a schema such that the provider accepts it: objects have no additional properties, alternatives with a tag
/// are `anyOf`, and the rules of the [`Dialect`] apply.
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
    inlined: Vec<&'a str>,
}

impl<'a> Adapter<'a> {
    fn schema(&mut self, schema: &'a Value) -> Value {
        let Value::Object(fields) = schema else {
            return schema.clone();
        };
        if self.dialect == Dialect::OpenAi
            && let Some(replaced) = self.annotated_reference(fields)
        {
            return replaced;
        }
        let branches = fields
            .get("oneOf")
            .filter(|_| !fields.contains_key("anyOf"));
        let has_tag = branches.is_some_and(|branches| self.have_tag(branches));
        let adapted = fields.iter().map(|(key, value)| match key.as_str() {
            "oneOf" if has_tag => ("anyOf".to_owned(), self.member(key, value)),
            _ => (key.clone(), self.member(key, value)),
        });
        let mut adapted: Map<String, Value> = adapted.collect();
        self.close(&mut adapted);
        Value::Object(adapted)
    }

    /// Adapts a member of a schema: nested schemas, or a plain value.
    fn member(&mut self, key: &str, value: &'a Value) -> Value {
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

    /// Replaces a reference that has annotations beside it by its definition, or by the bare reference if the
    /// definition contains itself. Returns `None` if the schema is not such a reference.
    fn annotated_reference(&mut self, fields: &'a Map<String, Value>) -> Option<Value> {
        let reference = fields.get("$ref")?.as_str()?;
        let mut others = fields.iter().filter(|(key, _)| *key != "$ref").peekable();
        others.peek()?;
        let is_annotation =
            |key: &str| matches!(key, "title" | "description" | "default" | "nullable");
        if !others.clone().all(|(key, _)| is_annotation(key)) {
            return None;
        }
        let definition = self.resolved(self.definition(reference)?);
        if !definition.is_object() {
            return None;
        }
        if self.inlined.contains(&reference) {
            return Some(serde_json::json!({ "$ref": reference }));
        }
        self.inlined.push(reference);
        let mut replaced = self.schema(definition);
        self.inlined.pop();
        if let Value::Object(replaced) = &mut replaced {
            replaced.extend(others.map(|(key, value)| (key.clone(), value.clone())));
        }
        Some(replaced)
    }

    /// Returns `true` if the alternatives exclude each other by a required constant property, as in serde's tagged
    /// enums.
    fn have_tag(&self, branches: &'a Value) -> bool {
        let branches = branches.as_array().into_iter().flatten();
        let branches: Vec<&'a Value> = branches.map(|branch| self.resolved(branch)).collect();
        let first = branches.first().and_then(|branch| branch.get("properties"));
        let Some(Value::Object(properties)) = first else {
            return false;
        };
        let constant = |branch: &'a Value, name: &str| {
            let mut required = branch.get("required")?.as_array()?.iter();
            let property = branch.get("properties")?.get(name)?;
            property
                .get("const")
                .filter(|_| required.any(|required| required == name))
        };
        branches.len() >= 2
            && properties.keys().any(|name| {
                let constants = branches.iter().map(|branch| constant(branch, name));
                let constants: Option<Vec<_>> = constants.collect();
                constants.is_some_and(|constants| {
                    let is_repeated = |(at, constant)| constants[..at].contains(constant);
                    !constants.iter().enumerate().any(is_repeated)
                })
            })
    }

    /// Follows references that stand alone, and returns the schema they lead to.
    fn resolved(&self, schema: &'a Value) -> &'a Value {
        let next = |schema: &&'a Value| {
            let fields = schema.as_object().filter(|fields| fields.len() == 1)?;
            self.definition(fields.get("$ref")?.as_str()?)
        };
        // References may form a circle.
        let resolved = std::iter::successors(Some(schema), next);
        resolved.take(32).last().unwrap_or(schema)
    }

    fn definition(&self, reference: &str) -> Option<&'a Value> {
        self.root.pointer(reference.strip_prefix('#')?)
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
    fn alternatives_with_a_tag_are_any_of() {
        let branch = |kind: &str| {
            json!({
                "type": "object",
                "properties": { "kind": { "const": kind } },
                "required": ["kind"],
                "additionalProperties": false,
            })
        };
        let tagged = |branches: Value| json!({ "oneOf": branches, "$defs": { "B": branch("b") } });
        for dialect in [OpenAi, Anthropic] {
            let branches = json!([branch("a"), { "$ref": "#/$defs/B" }]);
            let adapted = adapt(&tagged(branches.clone()), dialect);
            assert_eq!((&adapted["anyOf"], adapted.get("oneOf")), (&branches, None));
            let overlapping = tagged(json!([branch("b"), { "$ref": "#/$defs/B" }]));
            assert_eq!(adapt(&overlapping, dialect), overlapping);
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
