//! A judge's signature, independent of any row: instruction, inputs, outputs, and the settings of its panel and prompt.
//! `#[judge]` generates it, a panel overrides the settings, and `prompt.rs` builds the prompt.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value, json};

use super::steps::Step;
use super::{Aggregation, JudgeError, Offline, OutputSpec, Scoring, Turns};
use crate::lm::{JudgeModel, ReplySchema, Sampling};
use crate::rows::Example;
use crate::spec::MetricSpec;

/// The seed for the first draw. With this seed and temperature 0, equal questions get equal answers from providers that
/// support seeds.
const SEED: u64 = 42;

/// A judge's question, with its instruction, inputs and outputs.
///
/// ```
/// use dsrs_metrics::judge::{Judge, shipped::SemanticF1};
///
/// let signature = SemanticF1::signature();
/// let inputs: Vec<_> = signature.inputs().collect();
/// assert_eq!(inputs, ["question", "ground_truth", "system_response"]);
/// assert_eq!(signature.schema()["required"][0], "reasoning", "it is written first");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Signature {
    pub(super) purpose: String,
    pub(super) instruction: String,
    pub(super) inputs: Vec<(&'static str, &'static str)>,
    /// The inputs that are traces.
    pub(super) traces: Vec<&'static str>,
    pub(super) outputs: Vec<OutputSpec>,
    pub(super) temperature: f64,
    pub(super) max_tokens: Option<u32>,
    pub(super) scoring: Scoring,
    pub(super) pairwise: Option<(usize, usize)>,
    pub(super) panel: PanelSettings,
    pub(super) offline: Option<Offline>,
    /// The score for a row, without a call, if one of these inputs is empty.
    pub(super) empty: Option<(f64, &'static [usize])>,
    /// The calls before the last one.
    pub(super) steps: Vec<Step>,
    /// The inputs and steps that the last call reads, by position; `None` if it reads all.
    pub(super) last_from: Option<&'static [usize]>,
    /// The turns to judge one by one.
    pub(super) turns: Option<Turns>,
    pub(super) name: String,
    reply: OnceLock<Arc<ReplySchema>>,
}

/// The settings of a panel. `#[judge]` sets them, and a [`Panel`] overrides them.
#[derive(Debug, Clone, Default)]
pub(super) struct PanelSettings {
    pub(super) models: Vec<JudgeModel>,
    pub(super) aggregation: Option<Aggregation>,
    pub(super) max_concurrent_judges: Option<usize>,
    pub(super) quorum: Option<usize>,
}

/// Ignores the concurrency, which does not affect the answer.
impl PartialEq for PanelSettings {
    fn eq(&self, other: &Self) -> bool {
        self.models == other.models
            && (self.aggregation, self.quorum) == (other.aggregation, other.quorum)
    }
}

/// A judge's instruction, demonstrations and context. `None` or an empty list selects the signature's own.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PromptSettings {
    pub(super) instruction: Option<String>,
    pub(super) demos: Vec<Example>,
    pub(super) context: Option<String>,
    /// `true` if the judge is one of two that share a score.
    pub(super) is_half: bool,
}

impl PromptSettings {
    /// Returns the settings for a step: the extra context, but not the instruction and demonstrations of the last call.
    pub(super) fn of_step(&self) -> Self {
        Self {
            context: self.context.clone(),
            ..Self::default()
        }
    }

    /// Validates everything except the demonstrations, which `demos.rs` checks.
    pub(super) fn check(&self) -> Result<(), JudgeError> {
        let is_empty =
            |text: &Option<String>| text.as_deref().is_some_and(|it| it.trim().is_empty());
        if is_empty(&self.instruction) {
            return Err(JudgeError::new(
                "expected an instruction, found an empty string; write what to judge",
            ));
        }
        if is_empty(&self.context) {
            return Err(JudgeError::new(
                "expected extra context, found an empty string; write the context, or leave it unset",
            ));
        }
        if self.is_half && (self.instruction.is_some() || !self.demos.is_empty()) {
            return Err(JudgeError::new(
                "instructions and demonstrations are not supported for two judges with one score; set them on each judge",
            ));
        }
        Ok(())
    }
}

impl Signature {
    /// Creates a signature without inputs or outputs.
    #[doc(hidden)]
    pub fn new(spec: &MetricSpec<'_>, instruction: &str) -> Self {
        Self {
            purpose: format!("judge {} version {}", spec.name, spec.version),
            instruction: instruction.to_owned(),
            name: spec.name.to_owned(),
            ..Self::default()
        }
    }

    /// Returns how many questions each judge is asked about a row: one per draw and per order of a pair.
    pub(super) fn questions(&self) -> u64 {
        u64::from(self.scoring.draws()) * if self.pairwise.is_some() { 2 } else { 1 }
    }

    /// Returns the declared cost of one call, in millisatoshis. `cost` in `#[judge]` is the cost of one verdict from
    /// one model, in both orders of a pair. Calls without their own cost share the rest.
    pub(super) fn cost_of_question(&self, spec: &MetricSpec<'_>) -> u64 {
        let own = self.steps.iter().filter_map(|step| step.cost_msats);
        let (declared, count) = own.fold((0_u64, 0), |(sum, count), cost| {
            (sum.saturating_add(cost), count + 1)
        });
        let others = (self.steps.len() + 1 - count) as u64;
        let rest = spec.cost_msats.saturating_sub(declared);
        rest.div_ceil(self.questions() * others)
    }

    /// Returns the instruction.
    ///
    /// ```
    /// use dsrs_metrics::judge::{Judge, shipped::AnswerGroundedness};
    ///
    /// let instruction = AnswerGroundedness::signature().instruction();
    /// assert!(instruction.starts_with("Judge if an answer is grounded in the retrieved context"));
    /// ```
    pub fn instruction(&self) -> &str {
        &self.instruction
    }

    /// Returns an iterator over the names of the inputs, in prompt order.
    ///
    /// ```
    /// use dsrs_metrics::judge::{Judge, shipped::PairwisePreference};
    ///
    /// let signature = PairwisePreference::signature();
    /// let inputs: Vec<_> = signature.inputs().collect();
    /// assert_eq!(inputs, ["question", "response_1", "response_2"]);
    /// ```
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = &str> {
        self.inputs.iter().map(|(name, _)| *name)
    }

    /// Returns the answer's JSON schema.
    ///
    /// ```
    /// use dsrs_metrics::judge::Judge;
    /// use dsrs_metrics::prelude::*;
    /// use serde_json::json;
    ///
    /// /// Judge the tone of a reply to a customer.
    /// #[judge(score = (tone != "rude") as bool, reasoning = false)]
    /// struct Tone {
    ///     #[input(pred)]
    ///     reply: String,
    ///     #[output(labels = ["friendly", "neutral", "rude"])]
    ///     tone: String,
    /// }
    ///
    /// assert_eq!(ToneJudge::signature().schema(), json!({
    ///     "type": "object",
    ///     "properties": { "tone": { "type": "string", "enum": ["friendly", "neutral", "rude"] } },
    ///     "required": ["tone"],
    ///     "additionalProperties": false,
    /// }));
    /// ```
    pub fn schema(&self) -> Value {
        let mut properties = Map::new();
        let mut definitions = Map::new();
        for output in &self.outputs {
            let mut schema = output.full_schema();
            name_references(&mut schema, output.name);
            let own = schema.as_object_mut().and_then(|it| it.remove("$defs"));
            if let Some(Value::Object(own)) = own {
                let named = |(name, value)| (format!("{}_{name}", output.name), value);
                definitions.extend(own.into_iter().map(named));
            }
            properties.insert(output.name.to_owned(), schema);
        }
        let names: Vec<&str> = self.outputs.iter().map(|output| output.name).collect();
        let mut schema = json!({
            "type": "object",
            "properties": properties,
            "required": names,
            "additionalProperties": false,
        });
        if !definitions.is_empty() {
            schema["$defs"] = Value::Object(definitions);
        }
        schema
    }

    /// Returns the schema for requests. It is built only once.
    pub(super) fn reply_schema(&self) -> Arc<ReplySchema> {
        let schema = || Arc::new(ReplySchema::new(self.name.clone(), self.schema()));
        Arc::clone(self.reply.get_or_init(schema))
    }

    /// Returns the sampling parameters. Each draw has its own seed, because equal requests get equal replies.
    pub(super) fn sampling_of(&self, draw: u32) -> Sampling {
        Sampling {
            temperature: Some(self.temperature),
            max_tokens: self.max_tokens,
            seed: Some(SEED + u64::from(draw)),
            ..Sampling::default()
        }
    }

    /// Returns the output with this name, including outputs of steps.
    pub(super) fn output_spec(&self, name: &str) -> Option<&OutputSpec> {
        self.all_outputs().find(|output| output.name == name)
    }

    /// Iterates over the outputs of the last call and the steps.
    pub(super) fn all_outputs(&self) -> impl Iterator<Item = &OutputSpec> {
        let of_steps = self.steps.iter().flat_map(|step| &step.call.outputs);
        self.outputs.iter().chain(of_steps)
    }
}

/// Adds the output's name to each definition that its schema refers to, because types of two outputs may have the same
/// name.
fn name_references(schema: &mut Value, output: &str) {
    const DEFINITIONS: &str = "#/$defs/";
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                let reference = value.as_str().filter(|_| key == "$ref");
                match reference.and_then(|reference| reference.strip_prefix(DEFINITIONS)) {
                    Some(name) => *value = json!(format!("{DEFINITIONS}{output}_{name}")),
                    None => name_references(value, output),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|it| name_references(it, output)),
        _ => {}
    }
}

/// The builder methods that `#[judge]` calls.
#[doc(hidden)]
impl Signature {
    pub fn input(mut self, name: &'static str, desc: &'static str) -> Self {
        self.inputs.push((name, desc));
        self
    }

    pub fn trace(mut self, name: &'static str) -> Self {
        self.traces.push(name);
        self
    }

    pub fn reasoning(self) -> Self {
        let desc = "think step by step before you answer, in a few sentences";
        let schema = json!({ "type": "string" });
        self.output(OutputSpec::new("reasoning", desc, schema))
    }

    pub fn output(mut self, output: OutputSpec) -> Self {
        self.outputs.push(output);
        self
    }

    setters! {
        pub fn temperature(temperature: f64) => temperature = temperature;

        pub fn max_tokens(tokens: u32) => max_tokens = Some(tokens);

        pub fn scoring(scoring: Scoring) => scoring = scoring;

        pub fn pairwise(first: usize, second: usize) => pairwise = Some((first, second));

        pub fn turns(turns: Turns) => turns = Some(turns);

        pub fn reads(from: &'static [usize]) => last_from = Some(from);

        pub fn empty(score: f64, inputs: &'static [usize]) => empty = Some((score, inputs));

        pub fn offline(function: Offline) => offline = Some(function);
    }
}

/// A trait that no type implements.
///
/// Methods that exist on a judge's metric but not on its signature require this trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is the signature of a judge, not its metric",
    label = "this is the signature",
    note = "write `{J}`, the metric that `#[judge]` generates"
)]
#[doc(hidden)]
pub trait IsMetric<'judge, J> {}
