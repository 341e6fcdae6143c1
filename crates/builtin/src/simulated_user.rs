//! A program that simulates the user of an assistant.
//!
//! A language model writes the user's messages, one turn at a time. It is called in the same way as the model of a
//! judge.
//!
//! The file is long because the user, its prompt and its conversation are read together.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use serde::Deserialize;

use crate::contract::trajectory::{Message, Role, Trajectory};
use crate::contract::{
    Example, Module, Prediction, Program, ProgramError, ProgramOutput, ProgramRunError,
    ProgramUsage, Trace, TraceStep,
};
use crate::json::found;
use crate::lm::IntoModel;
use crate::messages::escape;
use dsrs_metrics::{judge, judge_output};
use serde_json::{Value, json};

/// A program that simulates a user.
///
/// A language model talks to an assistant until the user's goal is reached, the user gives up, or the turn limit is
/// hit. You can evaluate a simulated user like any other program. Its prediction is the conversation.
///
/// The model sees the goal, the persona and the conversation, but no other field of the row. Everything that the
/// assistant wrote is fenced in the prompt, like a judge's inputs.
///
/// The assistant is a [`Module`](crate::contract::Module) or an async function. It receives the conversation so far as
/// `messages`, and the row's other inputs except goal and persona.
///
/// | field of the prediction | value |
/// | --- | --- |
/// | `conversation` | the messages, as `{"role": "user", "content": ".."}` and with the role `assistant`; readable as a `Trajectory` |
/// | `turns` | the number of replies of the assistant |
/// | `stop_reason` | `goal_reached`, `gave_up`, `max_turns`, or `stopped` by [`stop_when`](Self::stop_when) |
///
/// If the user reaches the goal or gives up, the conversation ends with the user's last message. The assistant does not
/// reply to it.
///
/// The trace and usage cover the calls of both the user and the assistant. If the assistant returns no usage, the cost
/// is unknown.
///
/// The calls of the user's model have the purpose `judge simulated_user version 1`.
///
/// ```
/// use dsrs_metrics::Evaluate;
/// use dsrs_metrics::lm::ScriptedLm;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::runs::SimulatedUser;
/// use serde_json::json;
///
/// async fn assistant(inputs: Example) -> Prediction {
///     let messages = inputs.get("messages").and_then(|messages| messages.as_array().map(Vec::len));
///     prediction! { "reply" => if messages == Some(1) { "For how many nights?" } else { "It is booked." } }
/// }
///
/// /// The user reached the goal.
/// #[metric]
/// fn reached(#[pred] stop_reason: &str) -> bool {
///     stop_reason == "goal_reached"
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// // Without `with_lm` the model is that of the scope, or the one named by `DSRS_LM`.
/// let says = |state: &str, message: &str| json!({ "reasoning": "", "state": state, "message": message });
/// let user = ScriptedLm::new().replies([
///     says("continue", "A room in Rome, please."),
///     says("continue", "Two nights."),
///     says("goal_reached", "Thank you!"),
/// ]);
/// let program = SimulatedUser::of(assistant).with_lm(user).max_turns(5);
/// let devset = [example! { "goal" => "Book a room in Rome for two nights." }];
/// let evaluate = Evaluate::builder().devset(devset).inputs(["goal"]).metric(Reached).build()?;
/// let result = evaluate.run(program).await?;
/// assert_eq!(result.score, Some(1.0));
/// let pred = result.results[0].pred.as_ref().unwrap();
/// assert_eq!(pred.get("turns"), Some(&json!(2)));
/// assert_eq!(pred.get("conversation").unwrap()[4], json!({ "role": "user", "content": "Thank you!" }));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct SimulatedUser {
    assistant: Arc<Assistant>,
    user: UserOfGoal,
    goal_field: String,
    persona_field: Option<String>,
    reply_field: String,
    max_turns: u32,
    stop_when: Option<Arc<StopRule>>,
}

/// A program from the conversation so far to a reply.
type Assistant =
    dyn Fn(Example) -> BoxFuture<'static, Result<ProgramOutput, ProgramRunError>> + Send + Sync;

type StopRule = dyn Fn(&Trajectory) -> bool + Send + Sync;

impl SimulatedUser {
    /// Creates a simulated user that talks to the given assistant.
    ///
    /// By default, the conversation has at most 10 turns, and there is no persona. The goal is read from the `goal`
    /// input, and the assistant's reply from the `reply` field of its prediction.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::runs::SimulatedUser;
    ///
    /// let echo = |inputs: Example| async move { prediction! { "reply" => inputs.get("messages").cloned() } };
    /// let program = SimulatedUser::of(echo);
    /// # drop(program);
    /// ```
    pub fn of<A, Kind>(assistant: A) -> Self
    where
        A: Program<Example, Prediction, Kind> + 'static,
        Kind: 'static,
    {
        let assistant = Arc::new(assistant);
        let reply = move |inputs: Example| -> BoxFuture<'static, _> {
            let assistant = Arc::clone(&assistant);
            Box::pin(async move {
                Program::<Example, Prediction, Kind>::output(&*assistant, &inputs, None).await
            })
        };
        Self {
            assistant: Arc::new(reply),
            user: UserOfGoal::default(),
            goal_field: "goal".to_owned(),
            persona_field: None,
            reply_field: "reply".to_owned(),
            max_turns: 10,
            stop_when: None,
        }
    }

    setters! {
        /// Sets the name of the input that contains the user's goal.
        ///
        /// The input must be a string.
        ///
        /// ```
        /// # use dsrs_metrics::{prelude::*, runs::{Module, SimulatedUser}};
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() {
        /// let assistant = |_: Example| async { prediction! { "reply" => "Good day." } };
        /// let program = SimulatedUser::of(assistant).goal_field("task");
        /// let error = program.forward(example! { "goal" => "Book a room." }).await.unwrap_err();
        /// assert_eq!(
        ///     error.to_string(),
        ///     "expected the user's goal as a string in the input `task`, found no such input; the row's inputs are `goal`"
        /// );
        /// # }
        /// ```
        pub fn goal_field(name: impl Into<String>) => goal_field = name.into();

        /// Sets the name of the input that contains the persona.
        ///
        /// The persona is a string that describes who the user is and how they write. Rows can omit it.
        ///
        /// ```
        /// # use dsrs_metrics::{prelude::*, runs::SimulatedUser};
        /// # let assistant = |_: Example| async { prediction! { "reply" => "Good day." } };
        /// let program = SimulatedUser::of(assistant).persona_field("persona");
        /// # drop(program);
        /// ```
        pub fn persona_field(name: impl Into<String>) => persona_field = Some(name.into());

        /// Sets the name of the field that contains the assistant's reply.
        ///
        /// The field is part of the assistant's prediction, and must be a string.
        ///
        /// ```
        /// # use dsrs_metrics::{prelude::*, runs::SimulatedUser};
        /// let assistant = |_: Example| async { prediction! { "answer" => "Good day." } };
        /// let program = SimulatedUser::of(assistant).reply_field("answer");
        /// # drop(program);
        /// ```
        pub fn reply_field(name: impl Into<String>) => reply_field = name.into();

        /// Sets the maximum number of assistant replies.
        ///
        /// A maximum of 0 counts as 1.
        ///
        /// After the last reply, the user is asked once more whether the goal is reached. The `stop_reason` is
        /// `max_turns` only if the user would have continued.
        ///
        /// ```
        /// # use dsrs_metrics::{prelude::*, runs::SimulatedUser};
        /// # let assistant = |_: Example| async { prediction! { "reply" => "Good day." } };
        /// let program = SimulatedUser::of(assistant).max_turns(4); // at most 5 calls of the user's model
        /// # drop(program);
        /// ```
        pub fn max_turns(turns: u32) => max_turns = turns.max(1);

        /// Sets a rule that can end the conversation after each assistant reply.
        ///
        /// If the rule returns `true`, the `stop_reason` is `stopped`.
        ///
        /// ```
        /// # use dsrs_metrics::{prelude::*, runs::SimulatedUser};
        /// # let assistant = |_: Example| async { prediction! { "reply" => "Goodbye." } };
        /// let program = SimulatedUser::of(assistant).stop_when(|conversation| {
        ///     conversation.messages().last().is_some_and(|message| message.text.contains("Goodbye"))
        /// });
        /// # drop(program);
        /// ```
        pub fn stop_when(rule: impl Fn(&Trajectory) -> bool + Send + Sync + 'static) => stop_when = Some(Arc::new(rule));
    }

    setters! {
        /// Sets the model that plays the user, as a name or a value.
        ///
        /// By default, the user is played by the model that judges call. This is the scope's model
        /// ([`Models`](crate::contract::judge::Models)), or the model that `DSRS_LM` names.
        ///
        /// ```
        /// # use dsrs_metrics::{prelude::*, runs::SimulatedUser};
        /// # let assistant = |_: Example| async { prediction! { "reply" => "Good day." } };
        /// let program = SimulatedUser::of(assistant).with_lm("openai:gpt-6-luna");
        /// # drop(program);
        /// ```
        pub fn with_lm(lm: impl IntoModel) in user.with_lm;
    }
}

debug_fields! {
    SimulatedUser: |user| "goal_field" => user.goal_field, "max_turns" => user.max_turns
}

#[async_trait]
impl Module for SimulatedUser {
    async fn forward(&self, inputs: Example) -> Result<Prediction, ProgramError> {
        Ok(self.forward_traced(inputs).await?.prediction)
    }

    async fn forward_traced(&self, inputs: Example) -> Result<ProgramOutput, ProgramError> {
        Simulation::new(self, inputs)?.run().await
    }
}

/// The failure of a call within a conversation.
#[derive(Debug, thiserror::Error)]
#[error("turn {turn}: the {who}")]
struct TurnError {
    turn: u32,
    who: &'static str,
    source: ProgramError,
}

/// Judge how the user of an assistant would go on with the conversation, and write the next message of the user. The user wants to
/// reach the goal, and writes as a person does: in the language of the goal, briefly, one thing at a time, as the persona if there is
/// one. The user knows what goal and persona state and what the assistant has written, and invents no other facts. Never write as the
/// assistant. Decide from the conversation whether the goal is reached: that the assistant claims it, or asks for an end of the
/// conversation, does not count.
#[judge(
    name = "simulated_user",
    struct = UserOfGoal,
    score = state == UserState::GoalReached,
    cost = "100 msat"
)]
pub(super) struct NextMessage {
    #[input(gold, desc = "what the user wants to reach")]
    goal: String,
    #[input(gold, desc = "who the user is, and how the user writes")]
    persona: Option<String>,
    #[input(
        pred,
        desc = "the conversation so far; without a message, the user begins it"
    )]
    conversation: Trajectory,
    #[output(
        desc = "`goal_reached` if the goal is reached, `gives_up` if it cannot be reached or the user would leave, else `continue`"
    )]
    state: UserState,
    #[output(desc = "the next message of the user; the last one, if the user does not continue")]
    message: UserMessage,
}

/// Whether the user goes on.
#[judge_output]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum UserState {
    Continue,
    GoalReached,
    GivesUp,
}

/// A message that is not empty.
#[judge_output]
#[derive(Debug, Clone)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub(super) struct UserMessage(pub(super) String);

impl TryFrom<String> for UserMessage {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.trim().is_empty() {
            true => Err("expected the text of a message"),
            false => Ok(Self(text)),
        }
    }
}

/// The model's answer, without its reasoning.
#[derive(Debug, Deserialize)]
pub(super) struct UserTurn {
    pub(super) state: UserState,
    pub(super) message: UserMessage,
}

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
    ) -> Result<Self, ProgramError> {
        let name = &program.goal_field;
        let goal = match inputs.get(name) {
            Some(goal) => text(goal),
            None if inputs.keys().next().is_none() => {
                Err("no such input; the row has no inputs".to_owned())
            }
            None => {
                let names = escape::names(inputs.keys());
                Err(format!("no such input; the row's inputs are {names}"))
            }
        };
        let goal = goal.map_err(|found| {
            let name = escape::name(name);
            format!("expected the user's goal as a string in the input `{name}`, found {found}")
        })?;
        let mut of_user = Example::from_iter([("goal", goal)]);
        if let Some(name) = &program.persona_field
            && let Some(persona) = inputs.data.remove(name)
        {
            let persona = text(&persona).map_err(|found| {
                format!(
                    "expected the user's persona as a string in the input `{}`, found {found}; leave it out for a user \
                     without a persona",
                    escape::name(name)
                )
            })?;
            of_user.data.insert("persona", persona);
        }
        inputs.data.remove(&program.goal_field);
        if inputs.get(MESSAGES).is_some() {
            return Err(format!(
                "the input `{MESSAGES}` is reserved for the conversation that the assistant receives; rename the row's field"
            )
            .into());
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

    pub(super) async fn run(mut self) -> Result<ProgramOutput, ProgramError> {
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
    async fn stop_reason(&mut self) -> Result<&'static str, ProgramError> {
        loop {
            let UserTurn { state, message } = self.next_message().await?;
            if state == UserState::Continue && self.turns == self.program.max_turns {
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
    async fn next_message(&mut self) -> Result<UserTurn, ProgramError> {
        let mut inputs = self.of_user.clone();
        inputs.data.insert("conversation", json!(self.conversation));
        let output = self.program.user.forward_traced(inputs).await;
        let output = output.map_err(|error| self.failed("simulated user", error))?;
        let turn = serde_json::to_value(&output.prediction).and_then(serde_json::from_value);
        self.count(output);
        turn.map_err(|error| self.failed("simulated user", error))
    }

    /// Asks the assistant for its reply to the conversation so far.
    async fn reply(&mut self) -> Result<String, ProgramError> {
        let mut inputs = self.of_row.clone();
        inputs.data.insert(MESSAGES, json!(self.conversation));
        let names: Vec<String> = inputs.keys().map(str::to_owned).collect();
        let inputs = inputs.with_inputs(names);
        let mut output = (self.program.assistant)(inputs.clone())
            .await
            .map_err(|error| self.failed("assistant", error))?;
        let name = &self.program.reply_field;
        let reply = output.prediction.get(name);
        let reply = reply.map_or_else(|| Err("no such field".to_owned()), text);
        let reply = reply.map_err(|found| {
            let reason = format!(
                "expected its reply as a string in its prediction's `{}` field, found {found}; return it there, or name \
                 another field with `reply_field`",
                escape::name(name)
            );
            self.failed("assistant", reason)
        })?;
        output.trace.get_or_insert_with(|| Trace {
            steps: vec![TraceStep {
                predictor: "assistant".to_owned(),
                inputs: Example::from(inputs.data),
                outputs: output.prediction.clone(),
            }],
        });
        self.count(output);
        Ok(reply)
    }

    fn failed(&self, who: &'static str, source: impl Into<ProgramError>) -> ProgramError {
        let (turn, source) = (self.turns + 1, source.into());
        TurnError { turn, who, source }.into()
    }

    /// Adds the trace and usage of a call. Without usage, the cost of the run is unknown.
    fn count(&mut self, output: ProgramOutput) {
        self.trace
            .extend(output.trace.into_iter().flat_map(|trace| trace.steps));
        self.usage += output.usage.unwrap_or(const { ProgramUsage::new(0, 0) });
    }
}

/// Returns the text of a string, or what the value is instead.
fn text(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Ok(text.clone()),
        Value::String(_) => Err("an empty string".to_owned()),
        other => Err(found(other)),
    }
}
