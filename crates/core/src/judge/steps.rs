//! The steps of a judge: calls before the last one, which read inputs and earlier steps. `pipeline.rs` makes the calls.

use serde_json::{Map, Value, json};

use super::{Content, JudgeError, OutputSpec, Signature};
use crate::messages::escape;

/// A call before the last one.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// The call's instruction, inputs and output.
    pub(super) call: Signature,
    /// The inputs and steps that the call reads, by position among the inputs of the last call.
    pub(super) from: &'static [usize],
    /// The declared cost of the call, in millisatoshis.
    pub(super) cost_msats: Option<u64>,
}

impl Step {
    pub(super) fn name(&self) -> &'static str {
        self.call.outputs.first().map_or("", |output| output.name)
    }

    pub(super) fn read(&self, contents: &[Content]) -> Vec<Content> {
        let read = self.from.iter().filter_map(|index| contents.get(*index));
        read.cloned().collect()
    }
}

impl Signature {
    /// Returns `true` if there are several calls, or an output has one item for each item of a list.
    pub(super) fn has_steps_or_lists(&self) -> bool {
        !self.steps.is_empty() || self.outputs.iter().any(|output| output.each.is_some())
    }

    /// Returns `true` if an output has one item for each item of this input or step, or the step is a list.
    pub(super) fn is_list(&self, name: &str) -> bool {
        self.all_outputs().any(|output| {
            output.each.is_some_and(|each| each.list == name)
                || output.cites == Some(name)
                || output.name == name && output.schema["type"] == "array"
        })
    }

    /// Returns the names and descriptions of the inputs that the call reads, each with its value from `values`.
    pub(super) fn read<'a, T>(
        &'a self,
        values: &'a [T],
    ) -> impl Iterator<Item = (&'a (&'static str, &'static str), &'a T)> {
        let is_read = |place: &usize| self.last_from.is_none_or(|from| from.contains(place));
        let all = self.inputs.iter().zip(values).enumerate();
        all.filter(move |(place, _)| is_read(place))
            .map(|(_, input)| input)
    }

    /// Checks that the steps' declared costs do not exceed the cost of a verdict.
    pub(super) fn check_costs(&self, cost_msats: u64) -> Result<(), JudgeError> {
        let costs = self.steps.iter().filter_map(|step| step.cost_msats);
        let sum = costs.fold(0, u64::saturating_add);
        if sum <= cost_msats {
            return Ok(());
        }
        Err(JudgeError::new(format!(
            "expected a verdict to cost at least {sum} msat, the total cost of its steps, found {cost_msats} msat; raise it"
        )))
    }

    /// Adds a call that runs before the final call.
    ///
    /// `call` contains the step's instruction and output. `from` lists the inputs and earlier steps that the call
    /// reads, by position.
    #[doc(hidden)]
    pub fn step(mut self, mut call: Self, from: &'static [usize], cost_msats: Option<u64>) -> Self {
        if let Some(OutputSpec { name, desc, .. }) = call.outputs.first() {
            self.inputs.push((name, desc));
            call.purpose = format!("{}, step {name}", self.purpose);
            call.name = format!("{}_{name}", self.name);
        }
        let inputs = from.iter().filter_map(|index| self.inputs.get(*index));
        call.inputs = inputs.copied().collect();
        self.steps.push(Step {
            call,
            from,
            cost_msats,
        });
        self
    }
}

/// The list that determines how many items an output has.
///
/// An `Each` also says how to score a row if the list is empty.
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub struct Each {
    pub list: &'static str,
    pub empty: Empty,
}

/// How to score a row whose list has no items.
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub enum Empty {
    /// The row gets this score.
    Score(f64),
    /// The judge abstains.
    Abstain,
}

/// A row's inputs and the results of the steps so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Earlier {
    /// The values of the steps, by name.
    pub(super) values: Map<String, Value>,
    /// The number of items, by the name of the input or step.
    items: Vec<(&'static str, usize)>,
}

impl Earlier {
    /// Creates the state before the first step, from a row's inputs.
    pub(super) fn new(signature: &Signature, contents: &[Content]) -> Self {
        let inputs = signature.inputs.iter().zip(contents);
        Self {
            values: Map::new(),
            items: inputs.map(|((name, _), it)| (*name, it.items)).collect(),
        }
    }

    /// Adds the value of a step.
    pub(super) fn add(&mut self, name: &'static str, value: Value) {
        let items = value.as_array().map_or(0, Vec::len);
        self.items.push((name, items));
        self.values.insert(name.to_owned(), value);
    }

    pub(super) fn items_of(&self, list: &str) -> usize {
        let list = self.items.iter().find(|(name, _)| *name == list);
        list.map_or(0, |(_, items)| *items)
    }

    /// Returns the first empty list that a call has an output for.
    pub(super) fn empty(&self, call: &Signature) -> Option<Each> {
        let mut lists = call.outputs.iter().filter_map(|output| output.each);
        lists.find(|each| self.items_of(each.list) == 0)
    }
}

/// The field with an item's number.
const NUMBER: &str = "item";

/// The field with an item that is not an object.
const VALUE: &str = "value";

/// Returns `true` if items with this schema store their number among their own fields.
fn is_object(schema: &Value) -> bool {
    let fields = schema["properties"].as_object();
    fields.is_some_and(|fields| !fields.contains_key(NUMBER))
}

/// Adds the number to the schema of a list's items.
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

/// Returns a reply's items without their numbers. `schema` is the schema of the list. Extra keys next to an item's
/// value are added to `ignored`.
///
/// # Errors
/// Returns a message for the model that says what is wrong.
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
        let mut fields = match item {
            Value::Object(fields) => fields,
            _ => Map::new(),
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
                let fields = format_args!("the fields `{NUMBER}` and `{VALUE}`");
                value.ok_or_else(|| format!("item {expected} of `{name}` must have {fields}"))
            }
        }
    });
    items.collect()
}

/// Returns a reply's items if their field `list` contains only numbers of items in the list.
///
/// # Errors
/// Returns a message for the model that says what is wrong.
pub(super) fn cited(
    name: &str,
    (list, count): (&str, usize),
    items: Value,
) -> Result<Value, String> {
    for (index, item) in items.as_array().into_iter().flatten().enumerate() {
        let numbers = item[list].as_array().into_iter().flatten();
        let is_number = |number: f64| (1.0..=count as f64).contains(&number);
        let is_other = |number: &&Value| !number.as_f64().is_some_and(is_number);
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

/// Adds the numbers to an answer's items, as in a model's reply.
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
