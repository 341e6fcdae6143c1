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

/// Returns the messages that are turns, by their numbers from 1, each at the end of the messages before it. A message without text,
/// which only calls tools, is no turn.
#[must_use]
#[doc(hidden)]
pub fn turns_of(conversation: &Trajectory, turns: &Turns) -> Vec<(usize, Trajectory)> {
    let messages = conversation.messages();
    let is_turn = |message: &Message| message.role == turns.role && !message.text.trim().is_empty();
    let ends = messages.iter().enumerate().filter(|(_, message)| is_turn(message));
    let windows = ends.take(turns.max.saturating_add(1)).map(|(end, _)| {
        let start = turns.window.map_or(0, |window| end.saturating_sub(window));
        (end + 1, Trajectory::new(messages[start..=end].iter().cloned()))
    });
    windows.collect()
}
