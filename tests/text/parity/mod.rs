//! The same results as Python's packages, over committed vectors and over fresh ones.

mod draw;
mod dspy;
mod inspect;
mod live;
mod metrics;
mod numbers;
mod replay;
mod stems;
mod trajectories;
pub(crate) mod versions;
