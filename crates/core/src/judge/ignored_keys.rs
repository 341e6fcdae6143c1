//! Removes the keys of a reply that its schema does not have: models without strict schemas add some beside the answer.

use serde_json::{Map, Value};

use super::output_spec::OutputSpec;

/// The fields of a reply that are its outputs.
#[derive(Debug)]
pub(super) struct Fields {
    pub(super) values: Map<String, Value>,
    /// The number of keys of the reply, at any depth, that no output has.
    pub(super) ignored_keys: usize,
}

/// Returns the fields without the keys that no output has, whose names are added to `ignored`.
pub(super) fn without<'s>(
    mut values: Map<String, Value>,
    output: impl Fn(&str) -> Option<&'s OutputSpec>,
    ignored: &mut Vec<String>,
) -> Fields {
    values.retain(|name, value| match output(name) {
        Some(OutputSpec { schema, .. }) => {
            remove(value, schema, schema, ignored);
            true
        }
        None => {
            ignored.push(name.clone());
            false
        }
    });
    Fields {
        values,
        ignored_keys: ignored.len(),
    }
}

/// Removes the keys that `schema` does not have from a value, at any depth, and adds their names to `ignored`. References of the
/// schema are to definitions of `root`.
pub(super) fn remove(value: &mut Value, schema: &Value, root: &Value, ignored: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            let schema = referred(schema, root);
            for (index, item) in items.iter_mut().enumerate() {
                let of_item = schema["prefixItems"].get(index).unwrap_or(&schema["items"]);
                remove(item, of_item, root, ignored);
            }
        }
        Value::Object(object) => {
            let mut schemas = Vec::new();
            add_schemas(schema, root, object, &mut schemas);
            let is_closed = schemas
                .iter()
                .any(|schema| schema["additionalProperties"] == false);
            let of_key = |key: &str| schemas.iter().find_map(|it| it["properties"].get(key));
            object.retain(|key, value| match of_key(key) {
                Some(schema) => {
                    remove(value, schema, root, ignored);
                    true
                }
                None if is_closed => {
                    ignored.push(key.clone());
                    false
                }
                None => {
                    let of_values = schemas.iter().map(|schema| &schema["additionalProperties"]);
                    of_values.for_each(|schema| remove(value, schema, root, ignored));
                    true
                }
            });
        }
        _ => {}
    }
}

/// Returns the definition that a schema refers to, or the schema.
fn referred<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    let reference = schema["$ref"]
        .as_str()
        .and_then(|reference| reference.strip_prefix('#'));
    reference
        .and_then(|reference| root.pointer(reference))
        .unwrap_or(schema)
}

/// Adds the schemas that describe an object: the schema, the one that it refers to, and those of the alternative that the object is.
fn add_schemas<'s>(
    schema: &'s Value,
    root: &'s Value,
    object: &Map<String, Value>,
    schemas: &mut Vec<&'s Value>,
) {
    let definition = referred(schema, root);
    if !std::ptr::eq(definition, schema) {
        schemas.push(schema);
    }
    schemas.push(definition);
    let parts = |key: &str| definition[key].as_array().into_iter().flatten();
    parts("allOf").for_each(|part| add_schemas(part, root, object, schemas));
    for mut alternatives in [parts("anyOf"), parts("oneOf")] {
        if let Some(one) = alternatives.find(|one| fits(referred(one, root), object)) {
            add_schemas(one, root, object, schemas);
        }
    }
}

/// Returns `true` if an object may be of this alternative: it has the tag of the alternative, or else all of its required keys.
fn fits(alternative: &Value, object: &Map<String, Value>) -> bool {
    if alternative["type"] != "object" {
        return false;
    }
    let properties = alternative["properties"].as_object().into_iter().flatten();
    let mut tags = properties
        .filter_map(|(key, of)| Some((key, of.get("const")?)))
        .peekable();
    if tags.peek().is_some() {
        return tags.all(|(key, tag)| object.get(key) == Some(tag));
    }
    let mut required = alternative["required"].as_array().into_iter().flatten();
    required.all(|key| key.as_str().is_some_and(|key| object.contains_key(key)))
}
