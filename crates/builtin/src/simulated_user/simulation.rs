//! One conversation of a simulated user.

use serde_json::{Value, json};

use super::{SimulatedUser, SimulationError, UserState, UserTurn};

use crate::contract::trajectory::{Message, Role, Trajectory};
use crate::contract::{
    Example, Module as _, Prediction, ProgramOutput, ProgramUsage, Trace, TraceStep,
};
use crate::json::describe::found;
use crate::messages::escape;

/// The assistant's input field with the conversation so far.
const MESSAGES: &str = "messages";

/// A conversation that has not ended.
pub(super) struct Simulation<'a> {
    program: &'a SimulatedUser,
    /// The goal and the persona, if there is one.
    of_user: Example,
    /// The other inputs of the row.
    of_row: Example,
    conversation: Vec<Message>,
    trace: Vec<TraceStep>,
    usage: ProgramUsage,
    /// The replies of the assistant.
    turns: u32,
}

impl<'a> Simulation<'a> {
    pub(super) fn new(
        program: &'a SimulatedUser,
        mut inputs: Example,
    ) -> Result<Self, SimulationError> {
        let goal = string_of(&inputs, &program.goal_field).map_err(|found| {
            let names = inputs.keys().collect::<Vec<_>>();
            let others = match (found.is_some(), names.is_empty()) {
                (true, _) => String::new(),
                (false, true) => "; the row has no inputs".to_owned(),
                (false, false) => {
                    format!(
                        "; the row's inputs are {}",
                        escape::names(names.into_iter())
                    )
                }
            };
            SimulationError::Input(format!(
                "expected the user's goal as a string in the input `{}`, found {}{others}",
                escape::name(&program.goal_field),
                found.as_deref().unwrap_or("no such input"),
            ))
        })?;
        let mut of_user = Example::from_iter([("goal", goal)]);
        if let Some(name) = &program.persona_field {
            match string_of(&inputs, name) {
                Ok(persona) => {
                    of_user.data.insert("persona", persona);
                }
                Err(None) => {}
                Err(Some(found)) => {
                    return Err(SimulationError::Input(format!(
                        "expected the user's persona as a string in the input `{}`, found {found}; leave it out for a user \
                         without a persona",
                        escape::name(name)
                    )));
                }
            }
            inputs.data.remove(name);
        }
        inputs.data.remove(&program.goal_field);
        if inputs.get(MESSAGES).is_some() {
            return Err(SimulationError::Input(format!(
                "the input `{MESSAGES}` is reserved for the conversation that the assistant receives; rename the row's field"
            )));
        }
        Ok(Self {
            program,
            of_user,
            of_row: inputs,
            conversation: Vec::new(),
            trace: Vec::new(),
            usage: ProgramUsage::default(),
            turns: 0,
        })
    }

    pub(super) async fn run(mut self) -> Result<ProgramOutput, SimulationError> {
        let stop_reason = self.stop_reason().await?;
        let prediction = Prediction::from_iter([
            ("conversation", json!(self.conversation)),
            ("turns", json!(self.turns)),
            ("stop_reason", json!(stop_reason)),
        ]);
        let output = ProgramOutput::new(prediction).with_trace(Trace { steps: self.trace });
        Ok(output.with_usage(self.usage))
    }

    /// Runs the turns until the conversation ends, and returns why it ends.
    async fn stop_reason(&mut self) -> Result<&'static str, SimulationError> {
        loop {
            let UserTurn { state, message } = self.next_message().await?;
            if state == UserState::Continue && self.turns == self.program.max_turns.get() {
                return Ok("max_turns");
            }
            self.conversation.push(Message::new(Role::User, message.0));
            match state {
                UserState::Continue => {}
                UserState::GoalReached => return Ok("goal_reached"),
                UserState::GivesUp => return Ok("gave_up"),
            }
            let reply = self.reply().await?;
            self.conversation.push(Message::new(Role::Assistant, reply));
            self.turns += 1;
            if let Some(stops) = &self.program.stop_when
                && stops(&Trajectory::new(self.conversation.iter().cloned()))
            {
                return Ok("stopped");
            }
        }
    }

    /// Asks the user's model for its next message.
    async fn next_message(&mut self) -> Result<UserTurn, SimulationError> {
        let turn = self.turns + 1;
        let mut inputs = self.of_user.clone();
        inputs.data.insert("conversation", json!(self.conversation));
        let output = self.program.user.forward_traced(inputs).await;
        let who = "simulated user";
        let failed = |source| SimulationError::Turn { turn, who, source };
        let output = output.map_err(failed)?;
        let turn = serde_json::to_value(&output.prediction).and_then(serde_json::from_value);
        self.count(output);
        turn.map_err(|error| failed(error.into()))
    }

    /// Asks the assistant for its reply to the conversation so far.
    async fn reply(&mut self) -> Result<String, SimulationError> {
        let turn = self.turns + 1;
        let who = "assistant";
        let failed = |source| SimulationError::Turn { turn, who, source };
        let mut inputs = self.of_row.clone();
        inputs.data.insert(MESSAGES, json!(self.conversation));
        let names: Vec<String> = inputs.keys().map(str::to_owned).collect();
        let inputs = inputs.with_inputs(names);
        let mut output = (self.program.assistant)(inputs.clone())
            .await
            .map_err(|it| failed(it.into()))?;
        let name = &self.program.reply_field;
        let reply = match output.prediction.get(name) {
            Some(Value::String(reply)) if !reply.trim().is_empty() => reply.clone(),
            other => {
                let found = match other {
                    None => "no such field".to_owned(),
                    Some(Value::String(_)) => "an empty string".to_owned(),
                    Some(other) => found(other),
                };
                let reason = format!(
                    "expected its reply as a string in its prediction's `{}` field, found {found}; return it there, or name \
                     another field with `reply_field`",
                    escape::name(name)
                );
                return Err(failed(reason.into()));
            }
        };
        if output.trace.is_none() {
            let (predictor, outputs) = ("assistant".to_owned(), output.prediction.clone());
            let inputs = Example::from(inputs.data);
            output.trace = Some(Trace {
                steps: vec![TraceStep {
                    predictor,
                    inputs,
                    outputs,
                }],
            });
        }
        self.count(output);
        Ok(reply)
    }

    /// Adds the trace and usage of a call. Without usage, the cost of the run is unknown.
    fn count(&mut self, output: ProgramOutput) {
        self.trace
            .extend(output.trace.into_iter().flat_map(|trace| trace.steps));
        self.usage += output.usage.unwrap_or(const { ProgramUsage::new(0, 0) });
    }
}

/// Returns an input that is a non-blank string, or else what was found instead, if anything.
fn string_of(inputs: &Example, name: &str) -> Result<String, Option<String>> {
    match inputs.get(name) {
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text.clone()),
        Some(Value::String(_)) => Err(Some("an empty string".to_owned())),
        Some(other) => Err(Some(found(other))),
        None => Err(None),
    }
}
