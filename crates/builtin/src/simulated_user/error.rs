//! Why a conversation has no end.

use std::error::Error;

/// The error of a simulated conversation. Turns are numbered from 1.
#[derive(Debug, thiserror::Error)]
pub(super) enum SimulationError {
    #[error("{0}")]
    Input(String),
    #[error("turn {turn}: the simulated user")]
    User {
        turn: u32,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    #[error("turn {turn}: the assistant")]
    Assistant {
        turn: u32,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}
