//! A step of a judge: a call before the last one, which reads inputs and earlier steps. `pipeline.rs` makes the calls.

use serde_json::{Map, Value};

use super::error::JudgeError;
use super::output_spec::OutputSpec;
use super::signature::Signature;
use super::untrusted::Content;

/// A call before the last one.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// Its instruction, its inputs and its output.
    pub(super) call: Signature,
    /// The inputs and steps that it reads, by their places among the inputs of the last call.
    pub(super) from: &'static [usize],
    /// The declared cost of the call, in millisatoshis.
    pub(super) cost_msats: Option<u64>,
}

impl Step {
    pub(super) fn name(&self) -> &'static str {
        self.call.outputs.first().map_or("", |output| output.name)
    }

    pub(super) fn read(&self, contents: &[Content]) -> Vec<Content> {
        self.from
            .iter()
            .filter_map(|index| contents.get(*index).cloned())
            .collect()
    }
}

impl Signature {
    /// Whether there are several calls, or outputs with an item for each item of a list.
    pub(super) fn has_steps_or_lists(&self) -> bool {
        !self.steps.is_empty() || self.outputs.iter().any(|output| output.each.is_some())
    }

    /// Whether an output has an item for each item of this input or step, or the step is a list.
    pub(super) fn is_list(&self, name: &str) -> bool {
        let of_steps = self.steps.iter().flat_map(|step| &step.call.outputs);
        let mut outputs = self.outputs.iter().chain(of_steps);
        outputs.any(|output| {
            output.each.is_some_and(|each| each.list == name)
                || output.cites == Some(name)
                || output.name == name && output.schema["type"] == "array"
        })
    }

    /// Returns the names and descriptions of the inputs that the call reads, with the value that `values` has at the place of each.
    pub(super) fn read<'a, T>(
        &'a self,
        values: &'a [T],
    ) -> impl Iterator<Item = (&'a (&'static str, &'static str), &'a T)> {
        let is_read = |place: &usize| self.last_from.is_none_or(|from| from.contains(place));
        let all = self.inputs.iter().zip(values).enumerate();
        all.filter(move |(place, _)| is_read(place))
            .map(|(_, input)| input)
    }

    /// Checks that the declared costs of the steps are a part of the cost of a verdict.
    pub(super) fn check_costs(&self, cost_msats: u64) -> Result<(), JudgeError> {
        let costs = self.steps.iter().filter_map(|step| step.cost_msats);
        let sum = costs.fold(0, u64::saturating_add);
        if sum <= cost_msats {
            return Ok(());
        }
        Err(JudgeError::new(format!(
            "the cost of a verdict must be at least the sum of the costs of its steps, {sum} msat, found {cost_msats} msat; raise it"
        )))
    }

    /// Adds a call before the last one: `call` has its instruction and its output, `from` the inputs and steps that it reads, by
    /// their places among the inputs and the steps so far.
    #[doc(hidden)]
    pub fn step(mut self, mut call: Self, from: &'static [usize], cost_msats: Option<u64>) -> Self {
        if let Some(OutputSpec { name, desc, .. }) = call.outputs.first() {
            self.inputs.push((name, desc));
            call.purpose = format!("{}, step {name}", self.purpose);
            call.name = format!("{}_{name}", self.name);
        }
        call.inputs = from
            .iter()
            .filter_map(|index| self.inputs.get(*index).copied())
            .collect();
        self.steps.push(Step {
            call,
            from,
            cost_msats,
        });
        self
    }
}

/// The list that an output has an item for each item of, and what a row is where the list is empty.
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub struct Each {
    pub list: &'static str,
    pub empty: Empty,
}

/// What a row is where a list has no item.
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub enum Empty {
    /// It has this score.
    Score(f64),
    /// The judge abstains.
    Abstain,
}

/// What the inputs of a row and the steps so far are.
#[derive(Debug, Clone, Default)]
pub(super) struct Earlier {
    /// The values of the steps, by name.
    pub(super) values: Map<String, Value>,
    /// The numbers of items, by the names of inputs and steps.
    items: Vec<(&'static str, usize)>,
}

impl Earlier {
    /// Returns the state after the inputs of a row.
    pub(super) fn new(signature: &Signature, contents: &[Content]) -> Self {
        let items = signature
            .inputs
            .iter()
            .zip(contents)
            .map(|((name, _), it)| (*name, it.items));
        Self {
            values: Map::new(),
            items: items.collect(),
        }
    }

    /// Adds the value of a step.
    pub(super) fn add(&mut self, name: &'static str, value: Value) {
        self.items
            .push((name, value.as_array().map_or(0, Vec::len)));
        self.values.insert(name.to_owned(), value);
    }

    pub(super) fn items_of(&self, list: &str) -> usize {
        self.items
            .iter()
            .find(|(name, _)| *name == list)
            .map_or(0, |(_, items)| *items)
    }

    /// Returns the list without items that a call has an output for.
    pub(super) fn empty(&self, call: &Signature) -> Option<Each> {
        let mut lists = call.outputs.iter().filter_map(|output| output.each);
        lists.find(|each| self.items_of(each.list) == 0)
    }
}
