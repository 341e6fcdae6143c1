//! Outputs with exactly one item for each item of a list. In a reply each item has its number, so that a missing, additional or
//! moved item is found: `{ "item": 1, "supported": true }`, or `{ "item": 1, "value": .. }` for items that are no objects.

use serde_json::{Map, Value, json};

use crate::messages::escape;

/// The field of an item for its number.
const NUMBER: &str = "item";

/// The field of an item that is no object.
const VALUE: &str = "value";

/// Whether items of this schema have their number among their own fields.
fn is_object(schema: &Value) -> bool {
    schema["properties"]
        .as_object()
        .is_some_and(|fields| !fields.contains_key(NUMBER))
}

/// Adds the number to the items of the schema of a list.
pub(super) fn number_items(schema: &mut Value) {
    let items = schema["items"].take();
    let number = json!({ "type": "integer" });
    schema["items"] = if is_object(&items) {
        let mut items = items;
        items["properties"][NUMBER] = number;
        let required = items["required"].take();
        let names = required.as_array().into_iter().flatten().cloned();
        items["required"] = std::iter::once(json!(NUMBER)).chain(names).collect();
        items
    } else {
        json!({
            "type": "object",
            "properties": { NUMBER: number, VALUE: items },
            "required": [NUMBER, VALUE],
            "additionalProperties": false,
        })
    };
}

/// Returns the items of a reply without their numbers; `schema` is the schema of the list. Adds the keys beside the value of an item
/// to `ignored`.
///
/// # Errors
/// What is wrong, for the model.
pub(super) fn without_numbers(
    (name, list): (&str, &str),
    count: usize,
    schema: &Value,
    value: Value,
    ignored: &mut Vec<String>,
) -> Result<Value, String> {
    let Value::Array(items) = value else {
        return Err(format!("`{name}` must be a list"));
    };
    if items.len() != count {
        let found = items.len();
        return Err(format!(
            "`{name}` must have exactly one item for each of the {count} items of `{list}`, found {found}"
        ));
    }
    let is_object = is_object(&schema["items"]);
    let items = items.into_iter().enumerate().map(|(index, item)| {
        let expected = index + 1;
        let Value::Object(mut fields) = item else {
            return Err(format!(
                "item {expected} of `{name}` must be an object with the field `{NUMBER}`"
            ));
        };
        let number = fields.remove(NUMBER);
        if number.as_ref().and_then(Value::as_f64) != Some(expected as f64) {
            let mut found = number.map_or_else(|| "none".to_owned(), |number| number.to_string());
            escape::truncate(&mut found, 40);
            return Err(format!(
                "item {expected} of `{name}` must have `{NUMBER}` {expected}, found {found}"
            ));
        }
        match is_object {
            true => Ok(Value::Object(fields)),
            false => {
                let value = fields.remove(VALUE);
                ignored.extend(fields.into_iter().map(|(key, _)| key));
                value.ok_or_else(|| {
                    format!(
                        "item {expected} of `{name}` must have the fields `{NUMBER}` and `{VALUE}`"
                    )
                })
            }
        }
    });
    items.collect()
}

/// Returns the items of a reply if their field `list` has numbers of the items of the list only.
///
/// # Errors
/// What is wrong, for the model.
pub(super) fn cited(
    name: &str,
    (list, count): (&str, usize),
    items: Value,
) -> Result<Value, String> {
    for (index, item) in items.as_array().into_iter().flatten().enumerate() {
        let numbers = item[list].as_array().into_iter().flatten();
        let is_other = |number: &&Value| {
            !number
                .as_f64()
                .is_some_and(|number| (1.0..=count as f64).contains(&number))
        };
        if let Some(other) = numbers.into_iter().find(is_other) {
            let mut found = other.to_string();
            escape::truncate(&mut found, 40);
            return Err(format!(
                "`{list}` of item {} of `{name}` must have numbers from 1 to {count}, the number of items of `{list}`, found {found}",
                index + 1
            ));
        }
    }
    Ok(items)
}

/// Adds the numbers to the items of an answer, as a model replies with them.
pub(super) fn with_numbers(schema: &Value, value: Value) -> Value {
    let Value::Array(items) = value else {
        return value;
    };
    let is_object = is_object(&schema["items"]);
    let items = items.into_iter().enumerate().map(|(index, item)| {
        let mut numbered = Map::from_iter([(NUMBER.to_owned(), json!(index + 1))]);
        match item {
            Value::Object(fields) if is_object => numbered.extend(fields),
            item => drop(numbered.insert(VALUE.to_owned(), item)),
        }
        Value::Object(numbered)
    });
    items.collect()
}
