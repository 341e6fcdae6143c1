//! The turns of a conversation that a judge scores one by one. `turns_row.rs` judges them.

use crate::trajectory::{Message, Role, Trajectory};

/// The turns that a judge scores one by one.
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub struct Turns {
    /// The author of the judged messages.
    pub role: Role,
    /// The most messages before a turn that are shown; all by default.
    pub window: Option<usize>,
    /// The most turns of a row.
    pub max: usize,
    pub reduction: Reduction,
    /// Whether the score of a turn is a `bool`.
    pub is_verdict: bool,
}

/// A conversation in the inputs of a judge, and the inputs with another conversation in its place.
#[doc(hidden)]
pub type Conversation<'i, I> = (&'i Trajectory, fn(&I, Trajectory) -> I);

/// How the scores of the turns become the score of the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum Reduction {
    Mean,
    Min,
    Max,
}

impl Reduction {
    pub(super) fn of(self, values: &[f64]) -> f64 {
        match self {
            // Far fewer than 2^52 turns.
            Self::Mean => values.iter().sum::<f64>() / values.len() as f64,
            Self::Min => values.iter().copied().fold(f64::INFINITY, f64::min),
            Self::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

impl Turns {
    /// Returns the positions of the messages that are turns. A message without text, which only calls tools, is not a turn.
    pub(super) fn of(&self, conversation: &Trajectory) -> Vec<usize> {
        let is_turn =
            |message: &Message| message.role == self.role && !message.text.trim().is_empty();
        let messages = conversation.messages().iter().enumerate();
        messages
            .filter(|(_, message)| is_turn(message))
            .map(|(position, _)| position)
            .collect()
    }

    /// Returns the turn at a position, at the end of the messages before it.
    pub(super) fn window(&self, conversation: &Trajectory, position: usize) -> Trajectory {
        let start = self
            .window
            .map_or(0, |window| position.saturating_sub(window));
        Trajectory::new(conversation.messages()[start..=position].iter().cloned())
    }
}
