//! The question to the model that plays the user.

use serde::Deserialize;

use crate::core::trajectory::Trajectory;
use dsrs_metrics::{judge, judge_output};

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

/// The answer of the model, without its reasoning.
#[derive(Debug, Deserialize)]
pub(super) struct UserTurn {
    pub(super) state: UserState,
    pub(super) message: UserMessage,
}
